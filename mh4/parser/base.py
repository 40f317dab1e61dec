"""What parsers and ensembles have in common: what `parse` takes and returns, and `test`."""

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

if TYPE_CHECKING:  # DyNet is slow to start, and not every importer parses
    from mh4.data.segmenter import Segmenter

Parsed = list[Any]  # a Sentence for each, or for a TokenList, a TokenList


class Options(TypedDict, total=False):
    """What `parse` is asked to do; see BaseParser.parse."""

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
    """What a Parser and an Ensemble have in common."""

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
        """Parse sentences, given as lists (or other iterables) of words, as Sentence, or as TokenLists of the package conllu.

        With `segmenter`, a file that `mh4 segmenter train` has written, or a mh4.data.segmenter.Segmenter, strings are raw text: each
        is replaced by its sentences, so that more sentences may be returned than were given.

        Returns copies of TokenLists, as `mh4 parse` changes them (without DEPS and empty nodes, unless `keep_deps`), and of
        others new Sentences with heads (int32 array (n+1,), heads[0] = -1) and deprels (with subtypes). With `tags`, as with
        `mh4 parse --tags`, upos, xpos and feats are those that the model predicts, if its treebank has such a column; otherwise
        they stay as they were given, None for lists of words. With `confidence`, the Sentences also have the probabilities of
        their arcs (float64 (n+1,), probabilities[0] = 1), at the model's temperature, or if it has none, at 1 with a
        RuntimeWarning, and of their labels given the arcs (label_probabilities, of the same shape);
        with `transitions`, also the transitions of their derivations, if the system has them.
        With `keep_heads`, words keep the heads and labels that they have (heads: -1 or None for none; deprels: "_"), and the others get
        theirs from the best tree with these heads; probabilities are given these heads. With `best` above 1, each Sentence has the next
        best trees, up to that number in all, as its `alternatives`, and the notes of all give score and probability.
        `progress`, if given, is called with the number of words parsed after each minibatch.

        As with `mh4 parse`, sentences of more words than `longest`, and those too long for the memory, are decoded as `beyond` says
        ("beam", "mst" or "skip"; see mh4.parser.long_sentences), and have a note that says so, and no probabilities.
        Raises InputError, with the number of the sentence, for one without words, unless `allow_empty`: then it gets an empty tree. Raises
        InputError for heads to keep that no tree has, naming the word. If there is such a tree, but none in the system's class, a note
        says so, and the other heads come from "mst", unless `beyond` is "skip"; for mh5-hybrid, which has no "mst", it is an error. Raises
        InputError also if the model needs contextual vectors that it has not been given, or if tags or probabilities are asked for and
        it has none; and OutOfMemory, naming the sentence, if there is not even memory for a part of one, unless `beyond` is "skip".
        """
        check_flags(confidence=confidence, transitions=transitions, tags=tags, keep_deps=keep_deps, keep_heads=keep_heads)
        check_flags(allow_empty=allow_empty)
        if progress is not None and not callable(progress):
            raise InputError("progress cannot be %s, expected a function" % shown(progress))
        progress = progress or (lambda words: None)
        given, unparsed = as_sentences(sentences, segmenter, allow_empty, keep_heads)
        if best != 1 and any(isinstance(one, TokenList) for one in given):
            raise InputError("best: a TokenList has no place for other trees: give Sentences")
        options: dict[str, Any] = {"transitions": True} if transitions else {}
        options |= {} if type(best) is int and best == 1 else {"best": best}
        parsed = long_sentences.parse(self, unparsed, longest, beyond, confidence, tags, progress, keep_heads, **options)
        if best != 1:  # those that have only one tree, as long ones, have no others
            parsed = [one if one.alternatives is not None else replace(one, alternatives=[]) for one in parsed]
        for number, sentence in enumerate(parsed if beyond != "skip" else (), start=1):
            check_parsed(sentence, keep_heads, "sentence %d" % number)
        return [
            token_lists.parsed(one, sentence, tags, keep_deps) if isinstance(one, TokenList) else sentence
            for one, sentence in zip(given, parsed, strict=True)
        ]

    def test(self, gold: Gold, progress: Progress | None = None) -> dict[str, float]:
        """Parse the words of `gold`, a CoNLL-U file or sentences with trees, and score the result as `mh4 test` does.

        Returns {"uas": ..., "las": ...}: words with the correct head, and with the correct head and label (without subtypes), in percent
        of all words. `progress` is called as by `parse`. Raises InputError for what is not CoNLL-U, and for sentences without trees. Warns
        of sentences that were too long to be decoded as usual, and counts them.
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
    """Return the sentence. Raises OutOfMemory for one without a tree, as not even its shortest windows fit into the memory.

    Where heads were kept, raises InputError instead, with the reason why the sentence was skipped. name: for a sentence without one.
    """
    if sentence.heads is not None:
        return sentence
    if keep_heads:
        raise InputError("%s: %s" % (sentence.name or name, str(sentence.note).removeprefix(SKIPPED + ", ")))
    raise OutOfMemory("%s: not enough memory to parse %s" % (sentence.name or name, counted(len(sentence), "word")))
