"""UAS and LAS: over all words with gold segmentation, or by the official scorer of the CoNLL 2018 shared task.

Development scores use gold segmentation and count every word, including punctuation (Section 5 of the paper). Scores on predicted
segmentation need an alignment of words, which is left to the official scorer as shipped by `udtools`.

The scorer needs about 30 KB for a sentence. Its scores come from counts, and these are sums over parts of the text, if the files are
cut where all of them end a sentence; see `chunks`.
"""

import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from mh4.data import conllu
from mh4.errors import InputError, counted, needs
from mh4.util.batching import batches

# The metrics of the shared task, in its order; those for enhanced graphs do not concern a tree parser.
METRICS = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


class Score(NamedTuple):
    """Scores in percent; aligned_accuracy is over the aligned words, None for metrics that align nothing."""

    precision: float
    recall: float
    f1: float
    aligned_accuracy: float | None


class Counts(NamedTuple):
    """Counts in gold and in the system's file, and of correct items; aligned is None for metrics that align nothing."""

    gold: int
    system: int
    correct: int
    aligned: int | None = None

    def shares(self) -> Score:
        """Compute the scores by the scorer's formulas, as shares of 1: 0 where there is nothing to count."""

        def share(correct: int, of: int) -> float:
            return correct / of if of else 0.0

        aligned = None if self.aligned is None else share(self.correct, self.aligned)
        f1 = share(2 * self.correct, self.system + self.gold)
        return Score(share(self.correct, self.system), share(self.correct, self.gold), f1, aligned)

    def score(self) -> Score:
        """The same in percent."""
        return Score(*(None if share is None else 100.0 * share for share in self.shares()))  # type: ignore[arg-type]


_CHUNK = 1500  # words
_TOKEN = re.compile("\ufeff?[0-9-]+\t")  # how the line of a word or of a multiword token begins


def add(totals: dict[str, Counts], counts: dict[str, Counts]) -> None:
    """Add counts to the totals of the same names, or begin with them."""
    for name, count in counts.items():
        if name in totals:
            pairs = zip(totals[name], count, strict=True)
            count = Counts(*(None if one is None else one + more for one, more in pairs))  # type: ignore[arg-type, operator]
        totals[name] = count


@dataclass(frozen=True)
class Chunk:
    """Consecutive sentences of a CoNLL-U file, with trees, and the official scorer's representation of them."""

    path: str
    sentences: list[conllu.Sentence]
    representation: Any

    def starts(self) -> np.ndarray:
        """int64 (words,): where each word, or the multiword token that it is part of, begins in the file's text without spaces."""
        return np.array([word.span.start for word in self.representation.words], dtype=np.int64)


class Evaluation(NamedTuple):
    """The scorer's results for a chunk: the counts of each of METRICS, and the alignment of words.

    gold_words: int64 (system words,), the number of the gold word that each system word is aligned with, from 0 in the chunk; -1 for
    none.
    """

    counts: dict[str, Counts]
    gold_words: np.ndarray


def official(gold: str, system: str) -> dict[str, Score]:
    """The official scorer's metrics (see METRICS) of CoNLL-U file `system` against CoNLL-U file `gold`.

    The words may differ, but not the text. Raises InputError for files the scorer rejects: not CoNLL-U, not a tree, a different text.
    """
    totals: dict[str, Counts] = {}
    for chunk, (of_system,) in chunks(gold, [system]):
        add(totals, evaluate(chunk, of_system).counts)
    return {metric: counts.score() for metric, counts in totals.items()}


def chunks(gold_path: str, system_paths: Sequence[str]) -> Iterator[tuple[Chunk, list[Chunk]]]:
    """Read CoNLL-U files of the same text ("-" is standard input) in corresponding chunks, whose counts add up to those of the files.

    A path may be a folder, whose files are read one after another; if that of gold is one, those of other folders need the same names.
    Files of systems are no gold, although their folder may be in that of gold.
    A chunk has some 1,500 words. It has more, up to the whole files, only if they have no sentence end in common for that long, or
    none where the scorer's alignment of words begins afresh. Raises InputError for files that the scorer rejects: not
    CoNLL-U, not a tree, a different text.
    """
    for path in system_paths:
        _check_names(gold_path, path, system_paths)
    gold, systems = _Reader(gold_path, system_paths), [_Reader(path) for path in system_paths]
    while not gold.done:
        wanted = max(2 * gold.words(), 1)  # twice as much as the last time, if that could not be cut
        while gold.words() < wanted and not gold.done:
            gold.read()
        for system in systems:
            system.read_to(gold.end + gold.done)
            _check_same_text(gold, system)
        cut = gold.end if gold.done else _meeting(gold, systems)
        if cut > gold.start:
            yield gold.take(cut), [system.take(cut) for system in systems]


def evaluate(gold: Chunk, system: Chunk) -> Evaluation:
    """The official scorer's counts and its alignment of words, for corresponding chunks of two files."""
    tags = [word.columns[conllu.XPOS] for word in system.representation.words]
    for tag in tags:
        tag.partner = -1
    scores = _scorer().evaluate(gold.representation, system.representation)
    found = {name: scores[name] for name in METRICS}
    counts = {name: Counts(one.gold_total, one.system_total, one.correct, one.aligned_total) for name, one in found.items()}
    gold_words = np.array([tag.partner for tag in tags], dtype=np.int64)
    if (gold_words >= 0).sum() != counts["Words"].correct:
        raise InputError("this udtools does not show which words it aligns: mh4 was tested with udtools 0.2.9")
    return Evaluation(counts, gold_words)


def _scorer() -> Any:
    """Return the module of the official scorer. Raises NotInstalled without it: its licence is not ours."""
    with needs("the official scorer", "evaluate"):
        from udtools import udeval
    return udeval


def scorer_name() -> str:
    """Return the name and version of the official scorer. Raises NotInstalled without it."""
    with needs("the official scorer", "evaluate"):
        return "udtools " + metadata.version("udtools")


class _Numbered(str):
    """The XPOS of a word, together with the word's number in its chunk.

    The scorer does not expose its alignment of words, but to score XPOS it compares the tag of every gold word with the tag of
    the word aligned with it: at that point, the latter records its partner.
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
    """The percentages or, with `counts`, the counts of all METRICS, as the official scorer prints them."""
    totals = {
        name: SimpleNamespace(
            gold_total=one.gold, system_total=one.system, correct=one.correct, aligned_total=one.aligned, **one.shares()._asdict()
        )
        for name, one in metrics.items()
    }
    return _scorer().build_evaluation_table(totals, counts=counts)


class _Read(NamedTuple):
    """A sentence and what the scorer makes of it. Its spans are in the text without spaces; the lines of tokens are those of `file`."""

    sentence: conllu.Sentence
    text: str
    span: Any
    tokens: list[Any]
    words: list[Any]
    file: str


class _Reader:
    """A CoNLL-U file, or the files in a folder, which the scorer reads as far as is asked for.

    start, end: which part of the text without spaces has been read, but not taken yet. done: whether all has been read to the end.
    name: what messages call the file that is being read.
    """

    def __init__(self, path: str, omitted: Sequence[str] = ()) -> None:
        self.path, self.name = path, conllu.name_of(path)
        self.start = self.end = 0
        self.done = False
        self._batches = (
            (conllu.name_of(file), batch)
            for file, blocks in conllu.each_file(path, omitted)
            for batch in batches(blocks, lambda block: len(block.sentence), _CHUNK)
        )
        self._sentences: list[_Read] = []
        self._lines = 0  # how many have been read of it
        self._several_roots = 0  # how many sentences have more than one

    def words(self) -> int:
        """How many there are in the sentences that have been read, but not taken yet."""
        return sum(len(read.words) for read in self._sentences)

    def text(self) -> str:
        """Of these sentences, without spaces."""
        return "".join(read.text for read in self._sentences)

    def ends(self) -> dict[int, tuple[int, bool]]:
        """Where these sentences end; where the last token before that begins, and whether a multiword token may come next."""
        return {
            read.span.end: (read.tokens[-1].start, following is None or following.words[0].is_multiword)
            for read, following in zip(self._sentences, [*self._sentences[1:], None], strict=True)
        }

    def line(self, place: int) -> tuple[str, int]:
        """The file and the line of the token that has the character at this place of the text."""
        return next((read.file, token.line) for read in self._sentences for token in read.tokens if token.end > place)

    def read_to(self, place: int) -> None:
        """Read up to this place in the text, or to the end."""
        while self.end < place and not self.done:
            self.read()

    def read(self) -> None:
        """Read some more sentences of a file, or to the end."""
        name, blocks = next(self._batches, ("", []))
        if not blocks:
            self.done = True
            if self._several_roots:
                said = "%s: %s with several roots, which the official scorer refuses without its option --multiple-roots-okay"
                warnings.warn(said % (self.path, counted(self._several_roots, "sentence")), RuntimeWarning, stacklevel=2)
            return
        self._several_roots += sum((block.sentence.heads == 0).sum() > 1 for block in blocks)
        if name != self.name:
            self.name, self._lines = name, 0
        read = _represented(blocks, self._lines)
        words, tokens = iter(read.words), iter(read.tokens)
        for block, span in zip(blocks, read.sentences, strict=True):
            text = "".join(read.characters[span.start : span.end])
            of_sentence, place = [], span.start
            while place < span.end:
                of_sentence.append(next(tokens))
                place = of_sentence[-1].end
            for one in (span, *of_sentence):
                one.start += self.end
                one.end += self.end
            its_words = [next(words) for _ in block.sentence.words]
            self._sentences.append(_Read(block.sentence, text, span, of_sentence, its_words, self.name))
            self._lines += len(block.lines)
        self.end += len(read.characters)

    def take(self, end: int) -> Chunk:
        """The sentences up to this place in the text."""
        count = sum(read.span.end <= end for read in self._sentences)
        taken, self._sentences, self.start = self._sentences[:count], self._sentences[count:], end
        words = [word for read in taken for word in read.words]
        for number, word in enumerate(words):
            word.columns[conllu.XPOS] = _Numbered(word.columns[conllu.XPOS], number)
        representation = SimpleNamespace(
            path=self.name,
            characters="".join(read.text for read in taken),
            sentences=[read.span for read in taken],
            tokens=[token for read in taken for token in read.tokens],
            words=words,
        )
        return Chunk(self.path, [read.sentence for read in taken], representation)


def _represented(blocks: Sequence[conllu.Block], before: int) -> Any:
    """The scorer's representation of consecutive sentences; before: the number of lines before them in the file.

    The scorer gets what it scores, since it accepts less than our reader: words and multiword tokens, without DEPS, and a blank line after
    each sentence. A sentence may have several roots, as with the scorer's option --multiple-roots-okay.
    """
    rows, numbers = [], []
    for block in blocks:
        for number, line in enumerate(block.lines, start=before + 1):
            if _TOKEN.match(line):
                cells = line.rstrip("\r\n").lstrip("\ufeff").split("\t")
                cells[conllu.DEPS] = "_"
                rows.append("\t".join(cells))
                numbers.append(number)
        rows.append("")
        numbers.append(before := before + len(block.lines))
    udeval, limit = _scorer(), sys.getrecursionlimit()
    sys.setrecursionlimit(
        limit + max(len(block.sentence) for block in blocks)
    )  # the scorer makes a call for each arc above a word
    try:
        found = udeval.load_conllu(io.StringIO("\n".join([*rows, ""]), newline="\n"), "", {"multiple_roots_okay": True})
    except udeval.UDError as error:
        raise InputError("%s: the official scorer rejects it: %s" % (blocks[0].sentence.name, error)) from None
    finally:
        sys.setrecursionlimit(limit)
    for token in found.tokens:
        token.line = numbers[token.line - 1]
    return found


def _meeting(gold: _Reader, systems: Sequence[_Reader]) -> int:
    """The last place where the files can be cut, or where they begin if there is none.

    All have to end a sentence there: no span, no arc and no multiword token crosses it. The scorer goes through the words of two
    files in step, but where a token of one is several of the other, one side can get ahead; if it comes to a multiword token, this
    is aligned with what the other side has not yet passed, even if that is in another sentence. So either no multiword token follows,
    or the last tokens of both begin together: then none gets ahead.
    """
    ends, others = gold.ends(), [system.ends() for system in systems]

    def afresh(place: int, other: dict[int, tuple[int, bool]]) -> bool:
        if place not in other:
            return False
        (last, multiword), (its_last, its_multiword) = ends[place], other[place]
        return last == its_last or not (multiword or its_multiword)

    return max((place for place in ends if all(afresh(place, other) for other in others)), default=gold.start)


def _check_same_text(gold: _Reader, system: _Reader) -> None:
    """Raise InputError, stating where they diverge, unless the texts that have been read are the same, as far as both go."""
    texts = gold.text(), system.text()
    both = min(map(len, texts))
    if texts[0][:both] == texts[1][:both] and not any(
        file.done and len(text) < len(other) for file, text, other in zip((gold, system), texts, reversed(texts), strict=True)
    ):
        return
    start = gold.start + next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), both)

    def place(file: _Reader) -> str:
        file.read_to(start + 20)
        text = file.text()[start - file.start :][:20]
        return "%s, line %d: %r" % (*file.line(start), text) if text else "%s: the end" % conllu.name_of(file.path)

    raise InputError("%s, but %s: the scorer needs the same text in both" % (place(system), place(gold)))


def _check_names(gold: str, system: str, omitted: Sequence[str]) -> None:
    """Raise InputError if both are folders, and a file of one is missing in the other."""
    if os.path.isdir(gold) and os.path.isdir(system):
        names = [conllu.files_of(gold, omitted), conllu.files_of(system)]
        for name in sorted(names[0].keys() ^ names[1].keys()):
            has, lacks = (gold, system) if name in names[0] else (system, gold)
            raise InputError("%s has no %s, which is in %s" % (lacks, name, has))
