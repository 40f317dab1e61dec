"""Reads what there is to show: the sentences of a CoNLL-U file with their trees, beside those of another file or of a model."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import tee

import numpy as np

from mh4.data import conllu
from mh4.data.conllu import Block, Sentence
from mh4.errors import InputError, OutOfMemory

_Numbered = Iterator[tuple[int, tuple[Block, list[Block]]]]  # the number of each sentence, its block and those of other files


@dataclass(frozen=True)
class Analysis:
    """A tree of a sentence of n words: heads int32 (n+1,), deprels n strings.

    tags: for each word its lemma, if known, and UPOS, XPOS and FEATS. probabilities: of the arcs, float64 (n+1,), nan where
    unknown; None if none is known. transitions: of the model's derivation, as in mh4.decoders.Derivation; None without a model.
    """

    heads: np.ndarray
    deprels: list[str]
    tags: list[tuple[str, str, str, str]]
    probabilities: np.ndarray | None = None
    transitions: np.ndarray | None = None

    def differing(self, other: "Analysis") -> list[int]:
        """The words, from 1, whose head or label differs in the other analysis of the same sentence."""
        differs = (self.heads[1:] != other.heads[1:]) | (np.array(self.deprels, object) != np.array(other.deprels, object))
        return (np.flatnonzero(differs) + 1).tolist()


@dataclass(frozen=True)
class SentenceView:
    """A sentence to show. number: its place in the file, from 1; text: as written, if the file has it; one or two analyses."""

    number: int
    sent_id: str
    text: str
    words: list[str]
    analyses: list[Analysis]


def read(path: str, second: str | None = None, model: str | None = None, sentence: str | None = None) -> Iterator[SentenceView]:
    """The sentences of CoNLL-U file `path`, as needed, each with its tree and with that of file `second`, or of a `model`.

    sentence: show only the sentence of this number, or with this sent_id. Raises InputError for bad files, if the words of the
    two differ, if there is no such sentence, and as mh4.load and Parser.parse do.
    """
    pairs: _Numbered = enumerate(conllu.in_parallel(conllu.blocks(path), [second] if second else []), start=1)
    if sentence is not None:
        pairs = _only(sentence, pairs, conllu.name_of(path))
    if model:
        yield from _with_model(model, pairs)
        return
    for number, (block, others) in pairs:
        yield _shown(number, block, [_analysis(of_file) for of_file in (block, *others)])


def parsed(number: int, block: Block, parses: Sequence[Sentence]) -> SentenceView:
    """Sentence `number` of a file as one or two models have parsed it."""
    return _shown(number, block, [_predicted(sentence, block) for sentence in parses])


def _only(wanted: str, pairs: _Numbered, file: str) -> _Numbered:
    number, called = 0, []  # those with this sent_id, of which the first is meant, unless it is also a number
    for number, pair in pairs:
        if pair[0].sent_id == wanted:
            called.append((number, pair))
        if str(number) == wanted or called and not wanted.isdecimal():
            yield number, pair
            return
    if called:
        yield called[0]
        return
    raise InputError("%s: no sentence %s, expected a number from 1 to %d or a sent_id" % (file, wanted, number))


def _with_model(folder: str, pairs: _Numbered) -> Iterator[SentenceView]:
    """The sentences with their own analysis and the model's, which are parsed as `mh4 parse` does, also where they are long."""
    from mh4.parser import parallel
    from mh4.parser.parsing import Parser

    parser = Parser.load(folder)
    numbered, given = tee(pairs)
    blocks, confidence = (block for _, (block, _) in given), parser.model.system.marginals is not None
    parses = parallel.parse(lambda: parser, (), blocks, confidence=confidence, transitions=True)
    for (block, sentence), (number, _) in zip(parses, numbered, strict=True):
        yield _shown(number, block, [_analysis(block), _predicted(sentence, block)])


def _shown(number: int, block: Block, analyses: list[Analysis]) -> SentenceView:
    sentence = block.sentence
    return SentenceView(number, block.sent_id, block.comment("text") or " ".join(sentence.words), sentence.words, analyses)


def _analysis(block: Block) -> Analysis:
    analysis = _of(block.sentence, block.column(conllu.LEMMA))
    probabilities = np.array([1.0, *map(_probability, block.column(conllu.MISC))])
    return analysis if np.isnan(probabilities[1:]).all() else replace(analysis, probabilities=probabilities)


def _predicted(sentence: Sentence, block: Block) -> Analysis:
    """What a model says. Raises OutOfMemory if it is nothing, as not even the shortest windows of the sentence fit into the memory."""
    if sentence.heads is None:
        raise OutOfMemory("%s: not enough memory to parse %d words" % (sentence.name or "a sentence", len(sentence)))
    return _of(sentence, block.column(conllu.LEMMA))


def _of(sentence: Sentence, lemmas: list[str]) -> Analysis:
    tags = [column if column else [""] * len(sentence) for column in (sentence.upos, sentence.xpos, sentence.feats)]
    return Analysis(
        sentence.heads, sentence.deprels, list(zip(lemmas, *tags, strict=True)), sentence.probabilities, sentence.transitions
    )


def _probability(misc: str) -> float:
    """The probability of an arc according to MISC, nan if there is none."""
    given = dict(attribute.split("=", 1) for attribute in misc.split("|") if "=" in attribute)
    with suppress(KeyError, ValueError):
        if 0 <= (probability := float(given[conllu.ARC_PROB])) <= 1:
            return probability
    return math.nan
