"""The methods `parse` and `test`, which single parsers and ensembles share."""

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from conllu.models import TokenList

from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu, token_lists
from mh4.data.block import SKIPPED
from mh4.data.sentence import Sentence
from mh4.errors import InputError, OutOfMemory, check_flags, counted, shown, warn
from mh4.parser import long_sentences
from mh4.parser.choices import Beyond
from mh4.parser.given import Gold, Unparsed, as_sentences, given_items, with_tree
from mh4.parser.long_sentences import Progress
from mh4.util.reading import Path

if TYPE_CHECKING:
    from mh4.data.segmenter import Segmenter

Parsed = list[Any]  # a TokenList for each TokenList, a Sentence for any other input


class Options(TypedDict, total=False):
    """The options of BaseParser.parse."""

    confidence: bool
    transitions: bool
    segmenter: "Segmenter | Path | None"
    tags: bool
    allow_empty: bool
    keep_deps: bool
    longest: int | None
    beyond: Beyond | None
    keep_heads: bool
    best: int


class BaseParser:
    """The base class of Parser and Ensemble."""

    @overload
    def parse(
        self, sentences: Iterable[TokenList], progress: Progress | None = ..., **options: Unpack[Options]
    ) -> list[TokenList]: ...
    @overload
    def parse(
        self, sentences: Iterable[Sentence | Iterable[str]], progress: Progress | None = ..., **options: Unpack[Options]
    ) -> list[Sentence]: ...
    @overload
    def parse(
        self, sentences: Unparsed, progress: Progress | None = ..., **options: Unpack[Options]
    ) -> list[Sentence | TokenList]: ...
    def parse(
        self,
        sentences: Unparsed,
        progress: Progress | None = None,
        confidence: bool = False,
        transitions: bool = False,
        segmenter: "Segmenter | Path | None" = None,
        *,
        tags: bool = False,
        allow_empty: bool = False,
        keep_deps: bool = False,
        longest: int | None = None,
        beyond: Beyond | None = None,
        keep_heads: bool = False,
        best: int = 1,
    ) -> Parsed:
        """Parse sentences given as lists (or other iterables) of words, as Sentences, or as conllu.models.TokenLists.

        Returns a copy of each TokenList, with the changes that `mh4 parse` makes: without DEPS and empty nodes, unless
        `keep_deps`. For any other input, returns a new Sentence with heads (int32 array (n+1,), heads[0] = -1) and
        deprels (with subtypes).

        progress: called with the number of words parsed after each minibatch.
        confidence: Sentences also have the probabilities of their arcs (float64 (n+1,), probabilities[0] = 1), and of
        their labels given these arcs (label_probabilities, of the same shape). Both are computed at the model's
        temperatures; a model without them uses 1, with a RuntimeWarning.
        transitions: Sentences also have the transitions of their derivations, if the system has transitions.
        segmenter: a file that `mh4 segmenter train` has written, or a mh4.data.segmenter.Segmenter. Strings are then
        raw text. Each string is replaced by its sentences, so more sentences may be returned than were given.
        tags: upos, xpos and feats are predicted, as by `mh4 parse --tags`, if the model's treebank has such a column.
        Otherwise they stay as given, None for lists of words.
        longest, beyond: sentences of more than `longest` words, and those too long for the memory, are decoded in the
        way `beyond` ("beam", "mst" or "skip"; see mh4.parser.long_sentences). They have a note about it, and no
        probabilities.
        keep_heads: words keep their given heads and labels (where there is none, the head is -1 or None, the label
        "_"). The other words get theirs from the best tree with the given heads. Probabilities are conditional on these
        heads. If trees have these heads, but none in the system's class, the other heads come from "mst", and a note
        says so.
        best: if above 1, each Sentence also has its next best trees as `alternatives`, up to `best` trees in all. The
        notes of all trees give their score and probability.

        Raises InputError, with the number of the sentence, for a sentence without words; with `allow_empty`, it gets an
        empty tree instead. Raises InputError if the model needs contextual vectors and has none, and if tags or
        probabilities are requested that the model cannot compute. Unless `beyond` is "skip", raises InputError, naming
        the word, for heads to keep that no tree has (for mh5-hybrid, which has no "mst", that no tree in the class
        has), and OutOfMemory, naming the sentence, if memory does not suffice even for a part of the sentence.
        """
        flags = {"confidence": confidence, "transitions": transitions, "tags": tags, "keep_heads": keep_heads}
        check_flags(**flags, keep_deps=keep_deps, allow_empty=allow_empty)
        if progress is not None and not callable(progress):
            raise InputError("progress cannot be %s, expected a function" % shown(progress))
        progress = progress or (lambda words: None)
        given, unparsed = as_sentences(sentences, segmenter, allow_empty, keep_heads)
        if best != 1 and any(isinstance(one, TokenList) for one in given):
            raise InputError("best: a TokenList has no place for other trees: give Sentences")
        parsed = long_sentences.parse(self, unparsed, longest, beyond, progress, **flags, best=best)
        if best != 1:  # sentences that were decoded otherwise, such as long ones, have only one tree
            parsed = [one if one.alternatives is not None else replace(one, alternatives=[]) for one in parsed]
        for number, sentence in enumerate(parsed if beyond != "skip" else (), start=1):
            check_parsed(sentence, keep_heads, "sentence %d" % number)
        return [
            token_lists.parsed(one, sentence, tags, keep_deps) if isinstance(one, TokenList) else sentence
            for one, sentence in zip(given, parsed, strict=True)
        ]

    def test(self, gold: Gold, progress: Progress | None = None) -> dict[str, float]:
        """Parse the words of `gold`, a CoNLL-U file or sentences with trees, and score the result as `mh4 test` does.

        Returns {"uas": ..., "las": ...}: words with the correct head, and with the correct head and label (without
        subtypes), in percent of all words. `progress` is called as by `parse`. Raises InputError if the file is not
        CoNLL-U, and for sentences without trees. A RuntimeWarning counts the sentences that were too long to be decoded
        as usual.
        """
        if isinstance(gold, (str, bytes, PathLike)):
            sentences = conllu.read(gold)
        else:
            sentences = [with_tree(one, number) for number, one in enumerate(given_items(gold, "test on"), start=1)]
        if not sentences:
            raise InputError("there are no sentences to test on")
        parsed = self.parse(sentences, progress)
        if noted := sum(bool(sentence.note) for sentence in parsed):
            message = "%d of %s decoded otherwise, as with `mh4 parse`: too long for the usual decoder"
            were = counted(len(parsed), "sentence") + (" was" if noted == 1 else " were")
            warn(message % (noted, were), stacklevel=2)
        return attachment_scores(sentences, parsed)


def check_parsed(sentence: Sentence, keep_heads: bool = False, name: str = "a sentence") -> Sentence:
    """Return the sentence. Raises OutOfMemory if it has no tree, because not even its shortest windows fit into memory.

    With `keep_heads`, raises InputError instead, with the reason why the sentence was skipped.
    name: what messages call a sentence that has no name.
    """
    if sentence.heads is not None:
        return sentence
    if keep_heads:
        raise InputError("%s: %s" % (sentence.name or name, str(sentence.note).removeprefix(SKIPPED + ", ")))
    raise OutOfMemory("%s: not enough memory to parse %s" % (sentence.name or name, counted(len(sentence), "word")))
