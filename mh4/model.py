"""A parser's neural network: encoder, scorer, taggers and labeller over one set of parameters; saving and loading."""

import os
from collections.abc import Iterator, Sequence
from typing import Optional

import numpy as np

from mh4 import calibration, systems
from mh4 import config as configuration
from mh4.batching import batches
from mh4.config import Config
from mh4.conllu import Sentence
from mh4.errors import InputError
from mh4.files import atomic_path, write_text
from mh4.network.encoder import Encoder, node_columns
from mh4.network.graph import dy, forward
from mh4.network.scorer import Labeller, Tagger, TensorScorer
from mh4.vocabulary import TAGS, Vocabulary

FORMAT = 2  # of the model folder; incremented when an older program could not read it or would parse differently

# Words per graph in parsing. With twice as many, the matrices no longer fit into the processor's caches, which is slower.
_BATCH_TOKENS = 500


class Model:
    """The network of one system, randomly initialised from `seed` (Glorot)."""

    def __init__(self, system: str, config: Config, vocabulary: Vocabulary, seed: int) -> None:
        self.system = systems.get(system)
        self.config = config
        self.vocabulary = vocabulary
        self.seed = seed
        self.temperature: Optional[float] = None  # for probabilities; None before calibration, which means 1
        dy.renew_cg()
        dy.reset_random_seed(seed)
        self.parameters = dy.ParameterCollection()
        self.encoder = Encoder(config, vocabulary, self.parameters)
        self.scorer = TensorScorer(self.system, config, self.parameters)
        self.taggers = {column: Tagger(len(getattr(vocabulary, column)), config, self.parameters) for column in TAGS}
        self.labeller = Labeller(len(vocabulary.labels), config, self.parameters)

    def build(self, sentences: Sequence[Sentence], rng: Optional["np.random.Generator"] = None) -> "Scores":
        """A new graph over a minibatch, not yet evaluated. With `rng`, words and units are dropped at random as in training."""
        dy.renew_cg()
        return Scores(self, sentences, rng)

    def score(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], "Scores"]]:
        """Score sentences, a minibatch at a time: yields the sentences' indices and their Scores. See score_with."""
        for batch, (scores,) in score_with([self], sentences):
            yield batch, scores

    # The model folder

    def save(self, folder: str) -> None:
        """Write config.toml, vocabulary.json and weights.npz into `folder`, which must exist."""
        write_text(os.path.join(folder, "vocabulary.json"), self.vocabulary.to_json())
        write_text(os.path.join(folder, "config.toml"), self.describe())
        self.save_weights(os.path.join(folder, "weights.npz"))

    def describe(self) -> str:
        """The text of config.toml: a description of this model, then all its settings."""
        head = '[model]\nformat = %d\nsystem = "%s"\nseed = %d\n\n' % (FORMAT, self.system.name, self.seed)
        return head + self.config.to_toml()

    @classmethod
    def load(cls, folder: str) -> "Model":
        """Load the model saved in `folder`. Raises InputError if there is none, or if its format is another."""
        system, seed, config = description(folder)
        try:
            vocabulary = Vocabulary.from_json(_read(folder, "vocabulary.json"))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("%s: vocabulary.json is damaged" % folder) from None
        model = cls(system, config, vocabulary, seed)
        model.load_weights(os.path.join(folder, "weights.npz"))
        found = calibration.load(folder)
        model.temperature = found.temperature if found else None
        return model

    def save_weights(self, path: str, **extra: np.ndarray) -> None:
        """Write all parameters to `path` (npz), together with the arrays `extra`."""
        arrays = {"p%d" % k: p.as_array() for k, p in enumerate(self.parameters.parameters_list())}
        arrays.update(("l%d" % k, p.as_array()) for k, p in enumerate(self.parameters.lookup_parameters_list()))
        with atomic_path(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, **arrays, **extra)  # type: ignore[arg-type]

    def load_weights(self, path: str) -> dict[str, np.ndarray]:
        """Set all parameters from `path`; returns all its arrays."""
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file)
            for k, parameter in enumerate(self.parameters.parameters_list()):
                parameter.set_value(_same_shape(arrays["p%d" % k], parameter))
            for k, parameter in enumerate(self.parameters.lookup_parameters_list()):
                parameter.init_from_array(_same_shape(arrays["l%d" % k], parameter))
        except OSError:
            raise InputError("%s: no weights there, expected a trained model" % path) from None
        except Exception:  # zipfile, zlib and numpy each raise their own errors for a damaged file
            raise InputError("%s: damaged, or not the weights of this model" % path) from None
        return arrays


class Scores:
    """The network's scores for the sentences of one minibatch, added to the current graph.

    trees: the score tensors of derivations; tags: by column, (tags, words of the minibatch). With `rng`, dropout is applied.
    """

    def __init__(self, model: Model, sentences: Sequence[Sentence], rng: Optional["np.random.Generator"] = None) -> None:
        self._model, self._training = model, rng is not None
        layers = model.encoder(sentences, rng)
        self._vectors, self._columns = layers[-1], node_columns(sentences)
        words = [column for start, stop in self._columns for column in range(start + 1, stop - 1)]
        self.trees = model.scorer(layers[-1], self._columns, self._training)
        self.tags = {column: tagger(layers[0], words, self._training) for column, tagger in model.taggers.items()}

    def labels(self, heads: Sequence[np.ndarray]) -> "dy.Expression":
        """Label scores for the arcs of given trees, one heads array per sentence: (labels, words of the minibatch).

        They are new nodes of the graph, evaluated when their values are asked for.
        """
        columns_of_heads: list[int] = []
        columns: list[int] = []
        for (start, _), tree in zip(self._columns, heads):
            columns_of_heads.extend(start + int(head) for head in tree[1:])
            columns.extend(range(start + 1, start + len(tree)))
        return self._model.labeller(self._vectors, columns_of_heads, columns, self._training)


def score_with(models: Sequence[Model], sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], list[Scores]]]:
    """Score sentences with several models, a minibatch at a time: yields the sentences' indices, and the Scores of each model.

    The models share a graph, as DyNet has only one at a time. It has been evaluated, and is valid until the next minibatch is
    requested. Sentences of similar length share a minibatch, so that their LSTM steps batch well.
    """
    length = [len(sentence) for sentence in sentences].__getitem__
    for batch in batches(sorted(range(len(sentences)), key=length), length, _BATCH_TOKENS):
        dy.renew_cg()
        scores = [Scores(model, [sentences[k] for k in batch]) for model in models]
        forward(scores[-1].tags[TAGS[-1]])
        yield batch, scores


def description(folder: str) -> tuple[str, int, Config]:
    """The system, seed and settings of the model in `folder`. Raises InputError if there is none, or if its format is another."""
    path = os.path.join(folder, "config.toml")
    settings = configuration.tables(_read(folder, "config.toml"), path)
    about = settings.pop("model", {})
    if about.get("format") != FORMAT:
        raise InputError(
            "%s: a model of format %s, but this mh4 reads format %d; retrain it or use the version of mh4 that made it"
            % (folder, about.get("format", "unknown"), FORMAT)
        )
    return about.get("system", ""), about.get("seed", 0), configuration.override(Config(), settings, path)


def _same_shape(array: np.ndarray, parameter: "dy.Parameters") -> np.ndarray:
    if array.shape != parameter.as_array().shape:
        raise ValueError
    return array


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()
    except OSError:
        raise InputError("%s: no %s there, expected the folder of a trained model" % (folder, name)) from None
    except UnicodeDecodeError:
        raise InputError("%s: %s is damaged" % (folder, name)) from None
