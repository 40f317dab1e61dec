"""A parser's neural network: encoder, scorer, taggers and labeller over one set of parameters; saving and loading."""

import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mh4.data.sentence import Sentence
from mh4.errors import InputError, counted, shown, unknown
from mh4.parser import authors, model_files, systems
from mh4.parser import config as configuration
from mh4.parser.config import Config
from mh4.parser.contextual_vectors import Contextual
from mh4.parser.network.encoder import node_columns
from mh4.parser.network.graph import dy, forward, lock
from mh4.parser.network.scorer import Classifier
from mh4.parser.temperatures import Temperatures
from mh4.parser.vectors import Vectors
from mh4.parser.vocabulary import TAGS, Vocabulary
from mh4.util import memory, reading
from mh4.util.batching import batches
from mh4.util.files import write_text

FORMAT = 2  # of the model folder; incremented when an older program could not read it or would parse differently

# Words per graph in parsing. With twice as many, the matrices no longer fit into the processor's caches, which is slower.
_BATCH_TOKENS = 500


# The most parameters of a network, 40 times the paper's. A larger one would take minutes to begin, and then all memory.
_MOST_PARAMETERS = 100_000_000
_MORE_ARRAYS = 10  # arrays that a file of weights may have besides: checksums, and the state of training


class Model:
    """The network of one system, randomly initialised from `seed` (Glorot).

    Raises InputError for more than _MOST_PARAMETERS parameters, and MemoryError if this machine has too little memory.

    lock: a thread must hold it while it uses this or any other model; see mh4.parser.network.graph.
    """

    lock = lock

    def __init__(self, system: str, config: Config, vocabulary: Vocabulary, seed: int, vectors: Vectors | None = None) -> None:
        self._parts = authors.parts(systems.get(system), config)
        self.system = self._parts.system
        self.config = config
        self.vocabulary = vocabulary
        self.vectors = vectors  # from a file, unless config.encoder.vectors is "none"
        self.seed = seed
        self.temperature: float | None = None  # for probabilities of arcs; None before calibration, which means 1
        self.label_temperature = 1.0
        counter = _Counter()
        self._make(counter)
        if counter.count > _MOST_PARAMETERS:
            raise InputError("a network of these sizes has %d parameters, expected up to %d" % (counter.count, _MOST_PARAMETERS))
        memory.require(8 * counter.count, "a network of %d parameters" % counter.count)  # with gradients
        with lock:
            dy.renew_cg()
            dy.reset_random_seed(seed)
            self.parameters = dy.ParameterCollection()
            self._make(self.parameters)

    def _make(self, parameters: "dy.ParameterCollection | _Counter") -> None:
        """Make the network, whose parameters are added to `parameters`."""
        config, vocabulary, units = self.config, self.vocabulary, self.config.encoder.units
        self.encoder = self._parts.encoder(config, vocabulary, self.vectors, parameters)
        self.scorer = self._parts.scorer(self.system, config, parameters)
        self.taggers = {column: Classifier(units, len(getattr(vocabulary, column)), config, parameters) for column in TAGS}
        self.labeller = Classifier(2 * units, len(vocabulary.labels), config, parameters)

    @property
    def learned_tags(self) -> list[str]:
        """The columns of tags that the network is trained to predict."""
        return [column for column in TAGS if getattr(self.config.training, column + "_weight") > 0]

    @cached_property
    def predicted_tags(self) -> list[str]:
        """The columns that the model predicts: those that were not always `_` in the treebank."""
        known = {column: getattr(self.vocabulary, column).strings[1:] for column in self.learned_tags}
        return [column for column, found in known.items() if {*self.written(column, found)} != {"_"}]

    def written(self, column: str, predicted: list[str]) -> list[str]:
        """Return the text of a column for predicted strings of the vocabulary."""
        return authors.written(column, predicted, self.config)

    def kind(self, column: str) -> object:
        """Return the kind of strings that the model predicts in a column; only models of the same kind vote together."""
        return authors.kind(column, self.config)

    def __reduce__(self) -> tuple[Any, ...]:
        made = (self.system.name, self.config, self.vocabulary, self.seed, self.vectors)
        return Model, made, (self._arrays(), self.encoder.contextual, self.temperature, self.label_temperature)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        arrays, self.encoder.contextual, self.temperature, self.label_temperature = state
        self._set(arrays)

    def read_contextual(self, paths: reading.Paths, sentences: Iterable[Sentence] = ()) -> None:
        """Use the contextual vectors of sentences in these files.

        Raises InputError if they differ in dimensions from those in training, or lack one of `sentences`.
        """
        found, dimensions = Contextual(paths), self.config.encoder.contextual
        if found.dimensions != dimensions:
            known = "needs %d" % dimensions if dimensions else "was trained without contextual vectors"
            has = counted(found.dimensions, "dimension")
            raise InputError("%s: vectors of %s, but the model %s" % (found.paths[0], has, known))
        for sentence in sentences:
            found.check(sentence)
        self.encoder.contextual = found

    def build(self, sentences: Sequence[Sentence], rng: "np.random.Generator | None" = None) -> "Scores":
        """Return a new graph over a minibatch, not yet evaluated. With `rng`, words and units are dropped at random as in training."""
        dy.renew_cg()
        return Scores(self, sentences, rng)

    def score(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], "Scores"]]:
        """Score sentences, a minibatch at a time: yields the sentences' indices and their Scores. See score_with."""
        for batch, (scores,) in score_with([self], sentences):
            yield batch, scores

    # The model folder

    def save(self, folder: str) -> None:
        """Write config.toml, vocabulary.json, vectors.npz (if it has any) and weights.npz into `folder`, which must exist."""
        self.save_all_but_weights(folder)
        self.save_weights(os.path.join(folder, "weights.npz"))

    def save_all_but_weights(self, folder: str) -> None:
        """Write the files that `save` writes, except the weights: a folder without weights is no trained model."""
        if self.vectors:
            self.vectors.save(folder)
        write_text(os.path.join(folder, "vocabulary.json"), self.vocabulary.to_json())
        write_text(os.path.join(folder, "config.toml"), self.describe())

    def describe(self) -> str:
        """Return the text of config.toml: a description of this model, then all its settings."""
        head = '[model]\nformat = %d\nsystem = "%s"\nseed = %d\n\n' % (FORMAT, self.system.name, self.seed)
        return head + self.config.to_toml()

    @classmethod
    def load(cls, path: reading.Path) -> "Model":
        """Load the model in a folder, or in a file that ``mh4 pack`` made of one.

        Raises InputError if there is none, if it is damaged, or if it has another format.
        """
        files = model_files.opened(reading.path_of(path))
        system, seed, config = description(files)
        with files.intact("vocabulary.json"):
            vocabulary = Vocabulary.from_tables(files.record("vocabulary.json"))
        vectors = None if config.encoder.vectors == "none" else Vectors.load(files)
        try:
            model = cls(system, config, vocabulary, seed, vectors)
        except InputError as error:
            raise InputError("%s: %s" % (files.place("config.toml"), error)) from None
        model.load_weights(files)
        if found := Temperatures.load(files):
            model.calibrate(found)
        return model

    def calibrate(self, found: Temperatures) -> None:
        """Use these temperatures for probabilities."""
        self.temperature, self.label_temperature = found.temperature, found.label_temperature

    def _arrays(self) -> dict[str, np.ndarray]:
        """Return all parameters by name."""
        with lock:
            arrays = {"p%d" % k: p.as_array() for k, p in enumerate(self.parameters.parameters_list())}
            arrays.update(("l%d" % k, p.as_array()) for k, p in enumerate(self.parameters.lookup_parameters_list()))
        return arrays

    def _set(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Set all parameters from _arrays()."""
        with lock:
            for k, parameter in enumerate(self.parameters.parameters_list()):
                parameter.set_value(arrays["p%d" % k])
            for k, parameter in enumerate(self.parameters.lookup_parameters_list()):
                parameter.init_from_array(arrays["l%d" % k])

    def begin_with(self, other: "Model") -> None:
        """Copy the weights of a model with the same settings, whose vocabulary this model's vocabulary extends.

        The weights of new strings stay as they are.
        """
        arrays, given = self._arrays(), other._arrays()
        # The rows of "l0", the first table. Boundary symbols, which come last in it, may have moved.
        chars = self.encoder.chars.numbers(other.encoder.chars.strings)
        for name, weights in given.items():
            arrays[name][chars if name == "l0" else slice(len(weights))] = weights
        self._set(arrays)

    def save_weights(self, path: str, **extra: np.ndarray) -> None:
        """Write all parameters to `path` (npz), with the arrays `extra` and checksums of all arrays and of the vocabulary."""
        arrays = {**self._arrays(), **extra, "vocabulary": np.array(self.vocabulary.checksum())}
        if self.vectors:
            arrays["vectors"] = np.array(self.vectors.checksum)
        model_files.write_arrays(path, {**arrays, "checksum": np.array(_checksum(arrays))})

    def load_weights(self, files: model_files.Folder, name: str = "weights.npz") -> dict[str, np.ndarray]:
        """Set all parameters from a file of weights; returns all its arrays.

        Raises InputError if the file is damaged or made for another model. Files of earlier versions have no checksums;
        in these, only the names, shapes and values of the arrays are checked.
        """
        path = files.place(name)
        if not files.has(name):
            raise InputError("%s: no weights there, expected a trained model" % path)
        shapes = {name: array.shape for name, array in self._arrays().items()}
        most = 10**7 + 64 * self.parameters.parameter_count()  # bytes
        with files.arrays(name, most, "damaged, or not the weights of this model") as file:
            if len(file.files) > len(shapes) + _MORE_ARRAYS:
                raise ValueError("more arrays than this model can have")
            arrays = dict(file)
            if shapes != {name: array.shape for name, array in arrays.items() if name[:1] in "pl" and name[1:].isdigit()}:
                raise ValueError("other arrays than this model has")
            checksum = _checksum(arrays)  # this fails, like the check above, if numpy has returned bytes, not an array
        if "checksum" in arrays and str(arrays["checksum"]) != checksum:
            raise reading.wrong_checksum(path)
        if "vocabulary" in arrays and str(arrays["vocabulary"]) != self.vocabulary.checksum():
            raise InputError("%s: vocabulary.json is damaged, or does not belong to these weights" % path)
        if self.vectors and str(arrays.get("vectors")) != self.vectors.checksum:
            raise InputError("%s: vectors.npz is damaged, or does not belong to these weights" % path)
        if not all(_numbers(arrays[name]) for name in shapes):
            raise InputError("%s: damaged: some weights are not numbers, or too large" % path)
        self._set(arrays)
        return arrays


class Scores:
    """The network's scores for the sentences of one minibatch, added to the current graph.

    trees: the score tensors of derivations; tags: for each column that the model learns, (tags, words of the
    minibatch); last: the newest expression, so that evaluating it evaluates all scores. With `rng`, dropout is applied.
    """

    def __init__(self, model: Model, sentences: Sequence[Sentence], rng: "np.random.Generator | None" = None) -> None:
        self._model, self._training = model, rng is not None
        tagged, self._vectors = model.encoder(sentences, rng)
        self._columns = node_columns(sentences)
        self._words = [column for start, stop in self._columns for column in range(start + 1, stop - 1)]
        self.trees = model.scorer(self._vectors, self._columns, self._training)
        self.tags = {tag: model.taggers[tag](dy.select_cols(tagged, self._words), self._training) for tag in model.learned_tags}
        self.last = dy.zeros(1)

    def labels(self, heads: Sequence[np.ndarray]) -> "dy.Expression":
        """Label scores for the arcs of given trees, one heads array per sentence: (labels, words of the minibatch).

        They are new nodes of the graph, evaluated on demand.
        """
        head_columns = [start + int(head) for (start, _), tree in zip(self._columns, heads, strict=True) for head in tree[1:]]
        ends = dy.concatenate([dy.select_cols(self._vectors, each) for each in (head_columns, self._words)])
        return self._model.labeller(ends, self._training)


def score_with(models: Sequence[Model], sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], list[Scores]]]:
    """Score sentences with several models, a minibatch at a time: yields the sentences' indices, and the Scores of each model.

    The models share a graph, as DyNet has only one at a time. The graph has been evaluated, and is valid until the next
    minibatch is requested; the caller must hold Model.lock until then. Sentences of similar length share a minibatch,
    so that their LSTM steps batch well.
    """
    length = [len(sentence) for sentence in sentences].__getitem__
    for batch in batches(sorted(range(len(sentences)), key=length), length, _BATCH_TOKENS):
        dy.renew_cg()
        scores = [Scores(model, [sentences[k] for k in batch]) for model in models]
        forward(scores[-1].last)
        yield batch, scores


def description(files: model_files.Folder) -> tuple[str, int, Config]:
    """Return the system, seed and settings of a model. Raises InputError if there is none, or if it has another format."""
    path = files.place("config.toml")
    settings = configuration.tables(files.text("config.toml", configuration.MOST), path)
    about = settings.pop("model", None)
    known = about if isinstance(about, dict) else {}
    if type(known.get("format")) is not int or known["format"] != FORMAT:
        raise InputError(
            "%s: a model of format %s, but this mh4 reads format %d; retrain it or use the version of mh4 that made it"
            % (files.path, shown(known["format"]) if "format" in known else "unknown", FORMAT)
        )
    system, seed = known.get("system"), known.get("seed")
    if type(system) is not str or system not in systems.SYSTEMS:
        raise InputError("%s: %s" % (path, unknown("system", system, systems.SYSTEMS)))
    if type(seed) is not int or not 0 <= seed < 2**31:
        raise InputError("%s: the seed cannot be %s, expected a whole number from 0 to 2**31 - 1" % (path, shown(seed)))
    return system, seed, configuration.override(Config(), settings, path)


def trained_on(path: str, field: Literal["file", "git_blob"] = "file") -> list[str]:
    """Return the names, or git blob ids, of the files that the model at `path` was trained on; none if not recorded."""
    try:
        sources = model_files.each_source(model_files.opened(path).record("summary.json")["sources"])
        return [str(source[field]) for name, source in sources if name == "train"]
    except (InputError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


class _Counter:
    """Stands in for a dy.ParameterCollection and counts the parameters of a network without making them."""

    def __init__(self) -> None:
        self.count = 0

    def add_parameters(self, dim: int | tuple[int, ...], init: Any = None) -> None:
        self.count += math.prod(dim) if isinstance(dim, tuple) else dim

    add_lookup_parameters = add_parameters


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of the names, types, shapes and values of all arrays except "checksum"."""
    sha256 = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        if name != "checksum":
            sha256.update(("%s %s %s\n" % (name, array.dtype.str, array.shape)).encode("utf-8"))
            sha256.update(np.ascontiguousarray(array).tobytes())
    return sha256.hexdigest()


def _numbers(array: np.ndarray) -> bool:
    """Return whether these are floating-point numbers in the range of float32, in which the network computes."""
    return array.dtype.kind == "f" and bool((np.abs(array) <= np.finfo(np.float32).max).all())
