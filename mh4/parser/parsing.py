"""Parse sentences with one model: the decoder finds the best tree, whose arcs are then labelled."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mh4.data.sentence import ROOT, Sentence
from mh4.decoders import Derivation, Marginals, arguments, mst
from mh4.decoders.kbest import kbest
from mh4.errors import InputError, OutOfMemory, because, counted, shown, warn, working_on
from mh4.parser import kept_heads
from mh4.parser.base import BaseParser
from mh4.parser.choices import BEAM, ONLY_TREES, Decoding, Wanted
from mh4.parser.columns import annotated, arc_probabilities, best_strings, headed_by_root, softmax, with_label_probabilities
from mh4.parser.long_sentences import Progress
from mh4.parser.temperatures import FILE, at_temperature
from mh4.util.reading import Path, Paths, path_of

if TYPE_CHECKING:  # DyNet is slow to start, and not every importer parses
    from mh4.parser.model import Model, Scores
    from mh4.parser.systems import Marginalize

AROUND_HEADS = ("exact", "mbr")  # ways of decoding that find the best tree with given heads
MOST_TREES = 1000  # the largest number of best trees of a sentence
Scored = TypeVar("Scored")  # the scores that one or several models give to a minibatch
Found = TypeVar("Found")  # a decoder's result for the scores of a sentence
Tensors = dict[str, np.ndarray]  # the scores of a sentence


class Parser(BaseParser):
    """A trained parser.

    Threads may share a parser or use several in the same process; they parse in turn. A parser can be pickled, and used
    after a fork.

    >>> parser = mh4.load("models/hu")
    >>> parser.parse([["Ez", "egy", "mondat", "."]])[0].heads
    """

    vote_class = None  # only an Ensemble has one

    def __init__(self, model: "Model", decode: Decoding | None = None, beam: int | None = None) -> None:
        if not hasattr(model, "system"):
            raise InputError("no parser can be made of %s; load one from the folder of a model, by mh4.load" % shown(model))
        self.model = model
        self.folder: str | None = None  # from which it was loaded
        self.decode = model.system.decoder(decode, beam)
        self.decoding, self.beam = model.system.default if decode is None else decode, BEAM if beam is None else beam

    @classmethod
    def load(cls, folder: Path, decode: Decoding | None = None, beam: int | None = None, contextual: Paths = ()) -> "Parser":
        """Load the parser that ``mh4 train`` saved in `folder`. Raises InputError if there is none, or if it has another format.

        decode: "exact", "greedy", "beam" (of width `beam`, 8 by default) or "mbr" (see System.minimum_bayes_risk); if None, exact
        for global models and greedy for greedy ones. Raises InputError if the system does not support this decoding.
        contextual: a file, or several, with the vectors of the sentences to parse, for models that were trained with
        contextual vectors (mh4.parser.contextual_vectors).
        """
        from mh4.parser.model import Model

        model = Model.load(folder)
        if contextual:
            model.read_contextual(contextual)
        parser = cls(model, decode, beam)
        parser.folder = path_of(folder)
        return parser

    @property
    def members(self) -> list["Parser"]:
        """This parser alone; an Ensemble has several members."""
        return [self]

    def __repr__(self) -> str:
        """Return its system and decoding, its training files if they are recorded in its folder, and the size of its vocabulary."""
        from mh4.parser.model import trained_on

        vocabulary = self.model.vocabulary
        sizes = [len(table) - 1 for table in (vocabulary.words, vocabulary.chars, vocabulary.labels)]
        files = trained_on(self.folder) if self.folder else []
        source = ", trained on " + " + ".join(files) if files else ""
        knows = ", ".join(map(counted, sizes, ("word", "character", "label")))
        return "<mh4.Parser %s, %s decoding%s; %s>" % (self.model.system.name, self.decoding, source, knows)

    def parse_as_usual(
        self, sentences: Sequence[Sentence], progress: Progress = lambda words: None, wanted: Wanted = ONLY_TREES
    ) -> list[Sentence]:
        """Parse sentences of any length in the same way; see parse. Raises OutOfMemory, naming the sentence, if one is too long."""
        self.check_vectors()
        if wanted.tags:
            check_tags([self])
        if wanted.confidence:
            self.check_probabilities()
        if wanted.keep_heads and self.decoding not in AROUND_HEADS:
            able = [decoding for decoding in self.model.system.decodings if decoding in AROUND_HEADS]
            others = "only %s can" % " and ".join(able) if able else "and %s has no decoding that can" % self.model.system.name
            raise InputError("%s decoding cannot keep heads, %s" % (self.decoding, others))
        check_best(wanted.best, self.decoding)
        parse = partial(self.parse_scored if wanted.best == 1 else self._parse_best, wanted=wanted)
        with self.model.lock:
            return in_order(sentences, self.model.score, parse, progress, wanted.confidence)

    def derivations(self, sentences: Sequence[Sentence], scores: "Scores", keep_heads: bool = False) -> list[Derivation]:
        """Return the best derivation of each sentence of a minibatch, given its scores and, with `keep_heads`, heads.

        Raises OutOfMemory as `parse` does, and InputError if the scores are not numbers, as in damaged models.
        """
        if self.decoding == "mbr":
            self._warn_if_not_calibrated()
        return self._of_each(self._derivation, sentences, scores, keep_heads)

    def marginals(self, sentences: Sequence[Sentence], scores: "Scores", keep_heads: bool = False) -> list[Marginals]:
        """Return the marginals of each sentence of a minibatch, at the model's temperature.

        The arguments are as for `derivations`. Raises as `derivations` does, and InputError if the system has no
        marginals.
        """
        self.check_probabilities()
        self._warn_if_not_calibrated()
        return self._of_each(self._marginals, sentences, scores, keep_heads)

    def _of_each(
        self,
        search: Callable[[Tensors, np.ndarray | None], Found],
        sentences: Sequence[Sentence],
        scores: "Scores",
        keep_heads: bool,
    ) -> list[Found]:
        """Return what `search` finds for each sentence of a minibatch, given its scores and its heads to keep, if any."""
        found = []
        for sentence, tensors in zip(sentences, scores.trees.arrays(), strict=True):
            try:
                with naming(sentence, "parse"), working_on(sentence.name):
                    found.append(search(tensors, kept_heads.given(sentence) if keep_heads else None))
            except ValueError as error:
                raise InputError(
                    "the scores of %s cannot be decoded, so its weights are damaged (%s)" % (self._name, error)
                ) from error
        return found

    # Searches for _of_each. A complete tree may be of any class.

    def _derivation(self, tensors: Tensors, heads: np.ndarray | None) -> Derivation:
        if heads is not None and kept_heads.whole(heads):
            return mst.decode(np.zeros((len(heads), len(heads))), heads=heads)
        if self.decoding == "mbr":
            tensors = at_temperature(tensors, self.model.temperature or 1)
        return self.decode(**tensors, **self._constraints(heads))

    def _marginals(self, tensors: Tensors, heads: np.ndarray | None) -> Marginals:
        if heads is not None and kept_heads.whole(heads):
            return mst.marginals(np.zeros((len(heads), len(heads))), heads=heads)
        tensors = at_temperature(tensors, self.model.temperature or 1)
        return self.check_probabilities()(**tensors, **self._constraints(heads))

    def _best_trees(self, k: int, tensors: Tensors, heads: np.ndarray | None) -> list[tuple[Derivation, str]]:
        """Return the k best trees, each with its score and probability in words, for its note."""
        if heads is not None and kept_heads.whole(heads):
            return [(self._derivation(tensors, heads), "")]
        single_root, marginals = self.model.config.scorer.single_root, self.model.system.marginals
        trees = kbest(self.decode, tensors, k, heads=heads, single_root=single_root)
        notes = [", score %.4f" % tree.score for tree in trees]
        if marginals:
            scaled = at_temperature(tensors, self.model.temperature or 1)
            every, *of_trees = (
                marginals(**scaled, heads=kept, single_root=single_root).log_partition
                for kept in (heads, *(tree.heads for tree in trees))
            )
            notes = ["%s, probability %.4g" % (note, np.exp(log - every)) for note, log in zip(notes, of_trees, strict=True)]
        return list(zip(trees, notes, strict=True))

    def _constraints(self, heads: np.ndarray | None) -> dict[str, Any]:
        """Return the arguments of a decoder besides the scores. Only decoders that can keep heads have an argument for them."""
        single_root = self.model.config.scorer.single_root
        return {"single_root": single_root} if heads is None else {"single_root": single_root, "heads": heads}

    def _warn_if_not_calibrated(self) -> None:
        if self.model.temperature is None:
            message = "%s has no %s, so its probabilities are at temperature 1" % (self._name, FILE)
            warn(message, stacklevel=3)

    @property
    def _name(self) -> str:
        """The name of the model in messages."""
        return self.folder or "the model"

    def check_vectors(self) -> None:
        """Raise InputError if the network needs contextual vectors, and has none."""
        if self.model.config.encoder.contextual and self.model.encoder.contextual is None:
            raise InputError(
                "%s needs contextual vectors of the sentences: only mh4 train, parse and test take them, by --contextual FILE, "
                "and in Python mh4.train and mh4.load, by contextual=FILE" % self._name
            )

    def check_probabilities(self) -> "Marginalize":
        """Return the function that computes the system's probabilities of arcs. Raises InputError if it has none."""
        if self.model.system.marginals is None:
            from mh4.parser.systems import no_marginals

            raise no_marginals(self.model.system.name)
        return self.model.system.marginals

    def _parse_best(self, sentences: Sequence[Sentence], scores: "Scores", wanted: Wanted) -> list[Sentence]:
        """Parse as `parse_scored` does, and return each sentence with its next best trees as alternatives."""
        if self.model.system.marginals:
            self._warn_if_not_calibrated()
        found = self._of_each(partial(self._best_trees, wanted.best), sentences, scores, wanted.keep_heads)
        parsed: list[list[Sentence]] = [[] for _ in sentences]
        for rank in range(max(map(len, found))):
            # The labels of a minibatch are scored together: a sentence without so many trees repeats its last one.
            derivations = [trees[min(rank, len(trees) - 1)][0] for trees in found]
            ranked = self.parse_scored(sentences, scores, wanted, derivations)
            for tree, trees, others in zip(ranked, found, parsed, strict=True):
                if rank < len(trees):
                    others.append(replace(tree, note="tree %d of %d%s" % (rank + 1, len(trees), trees[rank][1])))
        return [replace(first, alternatives=others) for first, *others in parsed]

    def parse_scored(
        self,
        sentences: Sequence[Sentence],
        scores: "Scores",
        wanted: Wanted = ONLY_TREES,
        derivations: list[Derivation] | None = None,
    ) -> list[Sentence]:
        """Parse the sentences of a minibatch, given its scores and, if they are known, the derivations; see parse."""
        vocabulary = self.model.vocabulary
        derivations = derivations or self.derivations(sentences, scores, wanted.keep_heads)
        heads = [derivation.heads for derivation in derivations]
        columns = {
            column: self.model.written(column, best_strings(scores.tags[column].npvalue(), getattr(vocabulary, column)))
            for column in (self.model.predicted_tags if wanted.tags else ())
        }
        labels = scores.labels(heads).npvalue()
        columns["deprels"] = best_strings(labels, vocabulary.labels, self.root_labels(heads))
        parsed = annotated(sentences, heads, columns)
        if wanted.confidence:
            with_label_probabilities(parsed, self.label_probabilities(labels, heads).max(axis=0))
            for sentence, marginals in zip(parsed, self.marginals(sentences, scores, wanted.keep_heads), strict=True):
                sentence.probabilities = arc_probabilities(marginals.arcs, sentence.heads)
        if wanted.keep_heads:
            for sentence, new in zip(sentences, parsed, strict=True):
                new.deprels = kept_heads.labelled(sentence, new.deprels)
                if wanted.confidence:
                    new.label_probabilities[1:][kept_heads.has_label(sentence)] = 1
        if wanted.transitions:
            for sentence, derivation in zip(parsed, derivations, strict=True):
                sentence.transitions = derivation.transitions  # type: ignore[assignment]
        return parsed

    @property
    def labels_roots(self) -> bool:
        """Whether all words headed by the root, and no others, are labelled `root`."""
        return self.model.config.scorer.root_label and bool(self.model.vocabulary.labels[ROOT])

    def root_labels(self, heads: Sequence[np.ndarray]) -> np.ndarray | None:
        """Return which words, concatenated over all trees, must be labelled `root`: bool (words,).

        Returns None if the scores decide.
        """
        return headed_by_root(heads) if self.labels_roots else None

    def label_probabilities(self, scores: np.ndarray, heads: Sequence[np.ndarray]) -> np.ndarray:
        """Return the probabilities of labels for these arcs, at the model's temperature: float64 (labels, words).

        scores: the scores of labels, of the same shape.
        """
        return softmax(scores / self.model.label_temperature, self.model.vocabulary.labels, self.root_labels(heads))


def in_order(
    sentences: Sequence[Sentence],
    score: Callable[[list[Sentence]], Iterable[tuple[list[int], Scored]]],
    parse: Callable[[list[Sentence], Scored], list[Sentence]],
    progress: Progress,
    confidence: bool = False,
) -> list[Sentence]:
    """Parse sentences a minibatch at a time, and return them in their own order; those without words get an empty tree.

    score: a function that yields the indices and the scores of the sentences of each minibatch.
    parse: a function of the sentences and scores of a minibatch, which returns the parsed sentences.
    progress: called with the number of words parsed after each minibatch.
    confidence: whether `parse` adds probabilities; then sentences without words get them, too.

    If memory runs out, OutOfMemory names the sentence or, if it runs out in the network, the longest sentence.
    """
    parsed: dict[int, Sentence] = {}
    for k, sentence in enumerate(sentences):
        if not len(sentence):
            (parsed[k],) = annotated([sentence], [np.array([-1], dtype=np.int32)], {"deprels": []})
            if confidence:
                parsed[k].probabilities, parsed[k].label_probabilities = np.ones(1), np.ones(1)
    numbers = [k for k in range(len(sentences)) if k not in parsed]
    with naming(longest(sentences), "parse"):
        for batch, scores in score([sentences[k] for k in numbers]):
            in_batch = [numbers[k] for k in batch]
            parsed.update(zip(in_batch, parse([sentences[k] for k in in_batch], scores), strict=True))
            progress(sum(len(sentences[k]) for k in in_batch))
    return [parsed[k] for k in range(len(sentences))]


@contextmanager
def naming(sentence: Sentence, doing: str) -> Iterator[None]:
    """Turn a MemoryError in the block into an OutOfMemory that names this sentence; keep an OutOfMemory as it is.

    doing: what needs the memory, for the message, such as "parse".
    """
    try:
        yield
    except OutOfMemory:
        raise
    except MemoryError as error:
        where = sentence.name or "a sentence"
        words = counted(len(sentence), "word")
        raise OutOfMemory("%s: not enough memory to %s %s%s" % (where, doing, words, because(error))) from None


def check_best(best: int, decoding: str) -> None:
    """Raise InputError if `best` is not a possible number of best trees for this way of decoding."""
    if not arguments.is_count(best) or best > MOST_TREES:
        raise InputError("best is %s, expected 1 to %d" % (shown(best), MOST_TREES))
    if best > 1 and decoding != "exact":
        raise InputError("%s decoding finds one tree, only exact decoding finds the best %d" % (decoding, best))


def check_tags(parsers: Iterable[Parser]) -> None:
    """Raise InputError if none of the parsers predicts tags."""
    if not any(parser.model.predicted_tags for parser in parsers):
        raise InputError("tags: none are predicted, as none were learned")


def longest(sentences: Sequence[Sentence]) -> Sentence:
    """Return the first of the longest sentences; a sentence without words if there are no sentences."""
    return max(sentences, key=len, default=Sentence([]))
