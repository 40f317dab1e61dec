"""Score parses with the official scorer of the CoNLL 2018 shared task, from `udtools`, which aligns the words.

The scorer needs about 30 KB per sentence. Files are therefore scored in parts, and the counts are added up: see
`chunks`.
"""

import io
import os
import re
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from mh4.analysis.arcs import Arcs
from mh4.data import conllu
from mh4.data.cells import DEPS, FORM, ID, XPOS
from mh4.data.sentence import Sentence
from mh4.errors import InputError, counted, needs, normal_forms, on_line, warn
from mh4.util import reading

# The metrics of the shared task, in its order; those for enhanced graphs do not concern a tree parser.
METRICS = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


class Score(NamedTuple):
    """Scores in percent; aligned_accuracy is over the aligned words, None for metrics that align nothing."""

    precision: float
    recall: float
    f1: float
    aligned_accuracy: float | None


class Counts(NamedTuple):
    """Counts of gold items, system items and correct ones; aligned is None for metrics that align nothing."""

    gold: int
    system: int
    correct: int
    aligned: int | None = None

    def shares(self) -> Score:
        """Return the scores by the scorer's formulas, as fractions of 1: 0 where there is nothing to count."""

        def share(correct: int, of: int) -> float:
            return correct / of if of else 0.0

        aligned = None if self.aligned is None else share(self.correct, self.aligned)
        f1 = share(2 * self.correct, self.system + self.gold)
        return Score(share(self.correct, self.system), share(self.correct, self.gold), f1, aligned)

    def score(self) -> Score:
        """Return the scores in percent."""
        return Score(*(None if share is None else 100.0 * share for share in self.shares()))  # type: ignore[arg-type]


_CHUNK = 1500  # words
_MOST_PAIRS = 250_000  # of words; the scorer aligns so many within multiword tokens in about a second
_SPACES = re.compile("[ \xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # of category Zs, which the scorer omits
_TOKEN = re.compile("\ufeff?[0-9-]+\t")  # how the line of a word or of a multiword token begins


def add(totals: dict[str, Counts], counts: dict[str, Counts]) -> None:
    """Add counts to the totals of the same names; the first counts become the totals."""
    for name, count in counts.items():
        if name in totals:
            pairs = zip(totals[name], count, strict=True)
            count = Counts(*(None if one is None else one + more for one, more in pairs))  # type: ignore[arg-type, operator]
        totals[name] = count


def records(counts: dict[str, Counts]) -> dict[str, dict[str, Any]]:
    """Return the counts and scores for JSON."""
    return {name: {**one._asdict(), **one.score()._asdict()} for name, one in counts.items()}


@dataclass(frozen=True)
class Chunk:
    """Consecutive sentences of a CoNLL-U file, with trees, and the official scorer's representation of them."""

    path: str
    sentences: list[Sentence]
    representation: Any

    @cached_property
    def arcs(self) -> Arcs:
        """Return the arcs of the sentences."""
        return Arcs.of(self.sentences)

    def starts(self) -> np.ndarray:
        """Return where each word, or its multiword token, begins in the chunk's text without spaces: int64 (words,)."""
        return np.array([word.span.start for word in self.representation.words], dtype=np.int64)

    def sentence_of(self, word: int) -> str:
        """Return the name of the sentence that contains the word with this number in the chunk, from 0."""
        return next(sentence.name for sentence in self.sentences if (word := word - len(sentence)) < 0)


class Evaluation(NamedTuple):
    """The scorer's results for a chunk: counts for each of METRICS, and the alignment of words.

    gold_words: int64 (system words,), the number in the chunk, from 0, of the gold word aligned with each system word; -1 for
    none.
    """

    counts: dict[str, Counts]
    gold_words: np.ndarray


def official(gold: str, system: str) -> dict[str, Score]:
    """Return the official scorer's metrics (see METRICS) of CoNLL-U file `system` against CoNLL-U file `gold`.

    Words may differ, but not the text. Raises InputError for files that the scorer rejects: not CoNLL-U, not a tree,
    another text.
    """
    totals: dict[str, Counts] = {}
    for chunk, (parsed,) in chunks(gold, [system]):
        add(totals, evaluate(chunk, parsed).counts)
    return {metric: counts.score() for metric, counts in totals.items()}


def chunks(gold_path: str, system_paths: Sequence[str]) -> Iterator[tuple[Chunk, list[Chunk]]]:
    """Read CoNLL-U files of the same text ("-" is standard input) in corresponding chunks.

    The counts of the chunks add up to the counts of the files.
    A path may be a folder, whose files are read one after another. If gold is a folder, all folders need the same file names.
    A system's folder may lie in the gold folder.
    A chunk ends, after some 1,500 words, where all files end a sentence at the same token, so that no span, arc or alignment
    crosses its end; it is longer if there is no such place. Raises InputError for files that the
    scorer rejects: not CoNLL-U, not a tree, another text.
    """
    for path in system_paths:
        _check_names(gold_path, path, system_paths)
    gold, systems = _Reader(gold_path, system_paths), [_Reader(path) for path in system_paths]
    readers = [gold, *systems]
    while behind := min((reader for reader in readers if not reader.done), key=lambda reader: len(reader.text), default=None):
        start = len(behind.text)
        behind.read()
        for system in systems if behind is gold else [behind]:
            _check_same_text(gold, system, start)
        together = gold.words >= _CHUNK and all(reader.end == gold.end for reader in readers)
        if gold.tokens and (together or all(reader.done for reader in readers)):
            yield gold.take(), [system.take() for system in systems]


def evaluate(gold: Chunk, system: Chunk) -> Evaluation:
    """Return the official scorer's counts and its alignment of words, for corresponding chunks of two files.

    Raises InputError for multiword tokens of too many words.
    """
    _check_multiword_tokens(gold, system)
    tags = [word.columns[XPOS] for word in system.representation.words]
    for tag in tags:
        tag.partner = -1
    scores = _scorer().evaluate(gold.representation, system.representation)
    found = {name: scores[name] for name in METRICS}
    counts = {name: Counts(one.gold_total, one.system_total, one.correct, one.aligned_total) for name, one in found.items()}
    gold_words = np.array([tag.partner for tag in tags], dtype=np.int64)
    if (gold_words >= 0).sum() != counts["Words"].correct:
        raise InputError("this udtools does not show which words it aligns: mh4 was tested with udtools 0.2.9")
    return Evaluation(counts, gold_words)


def _check_multiword_tokens(gold: Chunk, system: Chunk) -> None:
    """Raise InputError for multiword tokens that are too long to align: the scorer makes a table of pairs of words."""
    gold_starts, system_starts = gold.starts(), system.starts()
    spans = {word.span for chunk in (gold, system) for word in chunk.representation.words if word.is_multiword}
    first, end = 0, 0
    for span in sorted(spans, key=lambda span: span.start):
        if span.start >= end:
            first = span.start
        end = max(end, span.end)
        a, a_end = np.searchsorted(gold_starts, (first, end)).tolist()
        b, b_end = np.searchsorted(system_starts, (first, end)).tolist()
        if (a_end - a) * (b_end - b) > _MOST_PAIRS:
            found = system.sentence_of(b), counted(b_end - b, "word", ","), f"{a_end - a:,}", gold.sentence_of(a)
            raise InputError("%s: multiword tokens cover %s here and %s in %s, too many for the scorer to align" % found)


def _scorer() -> Any:
    """Return the module of the official scorer. Raises NotInstalled without it: its licence makes it optional."""
    with needs("the official scorer", "evaluate"):
        from udtools import udeval
    return udeval


def scorer_name() -> str:
    """Return the name and version of the official scorer. Raises NotInstalled without it."""
    with needs("the official scorer", "evaluate"):
        return "udtools " + metadata.version("udtools")


class _Numbered(str):
    """The XPOS of a word, together with the word's number in its chunk.

    The scorer does not expose its alignment of words. But to score XPOS, it compares the tag of every gold word with
    the tag of the system word aligned with it. In this comparison, the tag of the system word stores the gold word's
    number in `partner`.
    """

    number: int
    partner: int

    def __new__(cls, tag: str, number: int) -> "_Numbered":
        made = super().__new__(cls, tag)
        made.number, made.partner = number, -1
        return made

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Numbered):
            other.partner = self.number
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def official_table(metrics: dict[str, Counts], counts: bool = False) -> str:
    """Format the percentages or, with `counts`, the counts of all METRICS, as the official scorer prints them."""
    totals = {
        name: SimpleNamespace(
            gold_total=one.gold, system_total=one.system, correct=one.correct, aligned_total=one.aligned, **one.shares()._asdict()
        )
        for name, one in metrics.items()
    }
    return _scorer().build_evaluation_table(totals, counts=counts)


class _Token(NamedTuple):
    """A token: where it begins in the chunk's text without spaces, its file and line, and whether it has several words."""

    start: int
    file: str
    line: int
    multiword: bool


class _Reader:
    """Reads a CoNLL-U file, or the files in a folder, a sentence at a time, and cuts it into chunks.

    text, tokens, words: the characters without spaces, the tokens and the number of words that were read for the next chunk.
    """

    def __init__(self, path: str, omitted: Sequence[str] = ()) -> None:
        self.path, self.done = path, False
        self._blocks = ((reading.name_of(file), block) for file, blocks in conllu.each_file([path], omitted) for block in blocks)
        self._file, self._line = "", 0  # where the last sentence ends
        self._several_roots = 0  # how many sentences have more than one
        self._begin_chunk()

    def _begin_chunk(self) -> None:
        self.text: list[str] = []
        self.tokens: list[_Token] = []
        self.words = 0
        self._sentences: list[Sentence] = []
        self._rows: list[str] = []

    @property
    def end(self) -> tuple[int, int]:
        """Return where the last token begins, and where it ends."""
        return self.tokens[-1].start if self.tokens else 0, len(self.text)

    def token_at(self, place: int) -> _Token | None:
        """Return the last token that begins at this character of the text or before it."""
        number = bisect_right(self.tokens, place, key=lambda token: token.start)
        return self.tokens[number - 1] if number else None

    def read(self) -> bool:
        """Read the next sentence. Return False if there is none.

        The scorer accepts less than our reader. It therefore gets only words and multiword tokens, without DEPS.
        """
        file, block = next(self._blocks, ("", None))
        if block is None:
            self.done = True
            if self._several_roots:
                message = "%s: %s with several roots, which the official scorer refuses without its option --multiple-roots-okay"
                roots = reading.name_of(self.path), counted(self._several_roots, "sentence")
                warn(message % roots, stacklevel=3)
            return False
        if file != self._file:
            self._file, self._line = file, 0
        inside = 0  # the last word of a multiword token
        for number, line in enumerate(block.lines, start=self._line + 1):
            if _TOKEN.match(line):
                cells = line.rstrip("\r\n").lstrip("\ufeff").split("\t")
                cells[DEPS] = "_"
                self._rows.append("\t".join(cells))
                first, _, last = cells[ID].partition("-")
                if int(first) > inside:
                    self.tokens.append(_Token(len(self.text), file, number, bool(last)))
                    self.text += _SPACES.sub("", cells[FORM])
                    inside = int(last or 0)
        self._rows.append("")
        self._line += len(block.lines)
        self._sentences.append(block.sentence)
        self.words += len(block.sentence)
        self._several_roots += (block.sentence.heads == 0).sum() > 1
        return True

    def take(self) -> Chunk:
        """Return the sentences read since the last chunk."""
        udeval, rows = _scorer(), io.StringIO("\n".join([*self._rows, ""]), newline="\n")
        try:
            with _deeper(max(map(len, self._sentences))):  # the scorer's recursion follows the arcs above a word
                found = udeval.load_conllu(rows, "", {"multiple_roots_okay": True})
        except udeval.UDError as error:
            raise InputError("%s: the official scorer rejects it: %s" % (self._sentences[0].name, error)) from None
        for number, word in enumerate(found.words):
            word.columns[XPOS] = _Numbered(word.columns[XPOS], number)
        chunk = Chunk(self.path, self._sentences, found)
        self._begin_chunk()
        return chunk


_depth = threading.Lock()


@contextmanager
def _deeper(calls: int) -> Iterator[None]:
    """Allow this many more nested calls, in one thread at a time, since the limit applies to the whole process."""
    with _depth:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + calls)
        try:
            yield
        finally:
            sys.setrecursionlimit(limit)


def _check_same_text(gold: _Reader, system: _Reader, start: int) -> None:
    """Raise InputError if the texts differ as far as both are read, or if one ends before the other.

    The message has the first difference. The texts are the same up to `start`.
    """
    a, b = gold.text, system.text
    both = min(len(a), len(b))
    if a[start:both] == b[start:both] and not any(file.done and len(file.text) < max(len(a), len(b)) for file in (gold, system)):
        return
    place = next((k for k in range(start, both) if a[k] != b[k]), both)

    def multiword(file: _Reader) -> bool:  # at this character, or at the one before it
        return any(token.multiword for token in map(file.token_at, (place, max(place - 1, 0))) if token)

    def described(file: _Reader) -> tuple[str, str]:  # the place, and the text there
        while len(file.text) < place + 20 and file.read():
            pass
        token, text = file.token_at(place), "".join(file.text[place : place + 20])
        if not token or not text:
            return "%s: the end" % reading.name_of(file.path), ""
        return "%s: %r" % (on_line(token.file, token.line), text), text

    why = ""
    if multiword(system) != multiword(gold):
        one, other = (system, gold) if multiword(system) else (gold, system)
        names = reading.name_of(one.path), reading.name_of(other.path)
        why = "; %s has a multiword token there, and %s words only" % names
    (here, text), (there, gold_text) = described(system), described(gold)
    why += normal_forms(text, gold_text, 20)
    raise InputError("%s, but %s: the scorer needs the same text in both%s" % (here, there, why))


def _check_names(gold: str, system: str, omitted: Sequence[str]) -> None:
    """Raise InputError if both are folders, and a file in one is missing in the other."""
    if os.path.isdir(gold) and os.path.isdir(system):
        names = [conllu.files_of([gold], omitted), conllu.files_of([system])]
        for name in sorted(names[0].keys() ^ names[1].keys()):
            has, lacks = (gold, system) if name in names[0] else (system, gold)
            raise InputError("%s has no %s, which is in %s" % (lacks, name, has))
