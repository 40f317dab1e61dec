"""Read the sentences of a CoNLL-U file to show, with their trees and perhaps those of another file or of a model."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, tee
from typing import Any

import numpy as np

from mh4.data import conllu
from mh4.data.block import Block
from mh4.data.cells import LEMMA, MISC
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser.base import check_parsed
from mh4.util import reading

# The number of each sentence, its block and the blocks of other files.
_Numbered = Iterator[tuple[int, tuple[Block, list[Block]]]]


@dataclass(frozen=True)
class SentenceView:
    """A sentence to show.

    number: its place in the file, from 1. text: from the comment in the file if there is one, otherwise the words.
    analyses: one or two Sentences of the same words. Unknown probabilities of arcs are nan; if all are unknown,
    `probabilities` is None.
    """

    number: int
    sent_id: str
    text: str
    lemmas: list[str]
    analyses: list[Sentence]

    @property
    def words(self) -> list[str]:
        return self.analyses[0].words

    def differing_heads(self) -> list[int]:
        """Return the words, from 1, whose head is not the same in both analyses."""
        return _unequal([one.heads[1:].tolist() for one in self.analyses])

    def differing_labels(self) -> list[int]:
        """Return the words, from 1, whose label is not the same in both analyses."""
        return _unequal([one.deprels for one in self.analyses])

    def differing(self) -> list[int]:
        """Return the words, from 1, whose head or label is not the same in both analyses."""
        return sorted({*self.differing_heads(), *self.differing_labels()})


def read(path: str, second: str | None = None, model: str | None = None, sentence: str | None = None) -> Iterator[SentenceView]:
    """Yield the sentences of CoNLL-U file `path` with their trees and perhaps those of file `second` or of a `model`.

    sentence: yield only the sentence with this number or sent_id. Raises InputError for bad files, if the words of the
    two files differ, if there is no such sentence, and as mh4.load and Parser.parse do.
    """
    blocks = chain.from_iterable(of_file for _, of_file in conllu.each_file([path], [second] if second else []))
    pairs: _Numbered = enumerate(conllu.in_parallel(blocks, [second] if second else []), start=1)
    if sentence is not None:
        pairs = _only(sentence, pairs, reading.name_of(path))
    if model:
        yield from _with_model(model, pairs)
        return
    for number, (block, others) in pairs:
        yield shown(number, block, list(map(_as_read, (block, *others))))


def _unequal(columns: Sequence[Sequence[Any]]) -> list[int]:
    return [m for m, of_word in enumerate(zip(*columns, strict=True), start=1) if len(set(of_word)) > 1]


def _only(wanted: str, pairs: _Numbered, file: str) -> _Numbered:
    number, called = 0, None  # called: the first sentence with this sent_id
    for number, pair in pairs:
        if str(number) == wanted:
            yield number, pair
            return
        if pair[0].sent_id == wanted:
            called = called or (number, pair)
            if not wanted.isdecimal():  # otherwise a sentence with this number may follow
                break
    if not called:
        message = "%s: no sentence %s, expected a number from 1 to %d or a sent_id"
        raise InputError(message % (file, wanted or "without a name", number))
    yield called


def _with_model(folder: str, pairs: _Numbered) -> Iterator[SentenceView]:
    """Yield the sentences with the tree of the file and the model's, parsed as by `mh4 parse`, including long ones."""
    from mh4.parser import parallel
    from mh4.parser.parsing import Parser

    model = (parser := Parser.load(folder)).model
    numbered, given = tee(pairs)
    blocks = (block for _, (block, _) in given)
    able: dict[str, Any] = {"confidence": model.system.marginals is not None, "tags": bool(model.predicted_tags)}
    parses = parallel.parse(lambda: parser, (), blocks, transitions=True, **able)
    for (block, sentence), (number, _) in zip(parses, numbered, strict=True):
        yield shown(number, block, [_as_read(block), check_parsed(sentence)])


def shown(number: int, block: Block, analyses: list[Sentence]) -> SentenceView:
    """Return a view of sentence `number` of a file, with one or two trees."""
    text = block.comment("text") or " ".join(block.sentence.words)
    return SentenceView(number, block.sent_id, text, block.column(LEMMA), analyses)


def _as_read(block: Block) -> Sentence:
    probabilities = np.array([1.0, *map(_probability, block.column(MISC))])
    return block.sentence if np.isnan(probabilities[1:]).all() else replace(block.sentence, probabilities=probabilities)


def _probability(misc: str) -> float:
    """Return the probability of an arc in MISC; nan if there is none."""
    given = dict(attribute.split("=", 1) for attribute in misc.split("|") if "=" in attribute)
    with suppress(KeyError, ValueError):
        if 0 <= (probability := float(given["ArcProb"])) <= 1:
            return probability
    return math.nan
