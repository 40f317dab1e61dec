"""UAS and LAS: over all words with gold segmentation, or by the official scorer of the CoNLL 2018 shared task.

Development scores use gold segmentation and count every word, including punctuation (Section 5 of the paper). Scores on predicted
segmentation need an alignment of words, which is left to the official scorer as shipped by `udtools`.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, NamedTuple, Optional

import numpy as np

from mh4 import conllu, trees
from mh4.errors import InputError
from mh4.vocabulary import without_subtype

# The metrics of the shared task, in its order; those for enhanced graphs do not concern a tree parser.
METRICS = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


class Score(NamedTuple):
    """In percent; aligned_accuracy is over the aligned words, None for metrics that align nothing."""

    precision: float
    recall: float
    f1: float
    aligned_accuracy: Optional[float]


class Counts(NamedTuple):
    """Counts in gold and in the system's file, and of correct items; aligned is None for metrics that align nothing."""

    gold: int
    system: int
    correct: int
    aligned: Optional[int] = None

    def score(self) -> Score:
        """Percentages by the scorer's formulas: 0 where there is nothing to count."""

        def percent(correct: int, of: int) -> float:
            return 100.0 * (correct / of) if of else 0.0

        aligned = None if self.aligned is None else percent(self.correct, self.aligned)
        return Score(
            percent(self.correct, self.system),
            percent(self.correct, self.gold),
            percent(2 * self.correct, self.system + self.gold),
            aligned,
        )


# The scorer aligns multiword tokens that overlap, and their words, in time and memory proportional to the product of the numbers
# of their words in the two files. Those of UD have fewer than ten words; with this many pairs, it takes several seconds.
_MOST_PAIRS = 4_000_000


def percentages(counts: dict[str, Counts]) -> dict[str, Score]:
    """The score of each metric."""
    return {metric: one.score() for metric, one in counts.items()}


@dataclass(frozen=True)
class File:
    """A CoNLL-U file read by the official scorer: its sentences, with trees, and the scorer's representation of it."""

    path: str
    sentences: list[conllu.Sentence]
    representation: Any

    def starts(self) -> np.ndarray:
        """int64 (words,): where each word, or the multiword token that it is part of, begins in the text without spaces."""
        return np.array([word.span.start for word in self.representation.words], dtype=np.int64)


class Evaluation(NamedTuple):
    """The scorer's results: the counts of each of METRICS, and the alignment of words.

    gold_words: int64 (system words,), the number of the gold word that each system word is aligned with, from 0; -1 for none.
    """

    counts: dict[str, Counts]
    gold_words: np.ndarray


def attachment_scores(gold: Sequence[conllu.Sentence], system: Sequence[conllu.Sentence]) -> dict[str, float]:
    """{"uas": ..., "las": ...}: words with the correct head, and with the correct head and label, in percent of all words.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared tasks,
    labels are compared without their subtypes (what follows ":"). Raises ValueError if the sentences do not correspond.
    """
    words = heads = labelled = 0
    if len(gold) != len(system):
        raise ValueError("%d gold sentences, but the system has %d" % (len(gold), len(system)))
    for g, s in zip(gold, system):
        if len(g) != len(s):
            raise ValueError("%s: %d gold words, but the system has %d" % (g.name or "a sentence", len(g), len(s)))
        right = g.heads[1:] == s.heads[1:]
        words += len(g)
        heads += int(right.sum())
        labelled += sum(
            head and without_subtype(a) == without_subtype(b) for head, a, b in zip(right.tolist(), g.deprels, s.deprels)
        )
    if not words:
        raise ValueError("no words to score")
    return {"uas": 100.0 * heads / words, "las": 100.0 * labelled / words}


def official(gold: str, system: str) -> dict[str, Score]:
    """The official scorer's metrics (see METRICS) of CoNLL-U file `system` against CoNLL-U file `gold`.

    The words may differ, but not the text. Raises InputError for files the scorer rejects: not CoNLL-U, not a tree, several
    roots, a different text.
    """
    return percentages(evaluate(load(gold), load(system)).counts)


def load(path: str) -> File:
    """Read CoNLL-U file `path` ("-" is standard input) for the official scorer.

    Raises InputError for files it rejects: not CoNLL-U, not a tree, several roots.
    """
    scorer = _scorer()
    name = conllu.name_of(path)
    blocks = list(conllu.blocks(path))  # unlike the scorer, its errors name the line and the sentence
    sentences = [block.sentence for block in blocks]
    text = "".join(line for block in blocks for line in block.lines).lstrip("\ufeff")
    try:
        representation = scorer.load_conllu(io.StringIO(text), name, {})
    except scorer.UDError as error:
        raise InputError("%s: the official scorer rejects it: %s" % (name, str(error)[:300].rstrip("."))) from None
    except (ValueError, IndexError):  # it does not validate column DEPS
        raise InputError("%s: the official scorer cannot read its column DEPS" % name) from None
    except RecursionError:
        deepest = max(sentences, key=lambda sentence: trees.depth(sentence.heads))
        depth = trees.depth(deepest.heads)
        raise InputError("%s: a tree %d arcs deep, too deep for the official scorer" % (deepest.name, depth)) from None
    for number, word in enumerate(representation.words):
        word.columns[conllu.XPOS] = _Numbered(word.columns[conllu.XPOS], number)
    return File(path, sentences, representation)


def evaluate(gold: File, system: File) -> Evaluation:
    """The official scorer's counts and its alignment of words. Raises InputError if the two texts are not the same."""
    scorer = _scorer()
    _check_multiword_tokens(gold, system)
    tags = [word.columns[conllu.XPOS] for word in system.representation.words]
    for tag in tags:
        tag.partner = -1
    try:
        scores = scorer.evaluate(gold.representation, system.representation)
    except scorer.UDError:
        raise InputError(_difference(gold, system)) from None
    found = {name: scores[name] for name in METRICS}
    counts = {name: Counts(one.gold_total, one.system_total, one.correct, one.aligned_total) for name, one in found.items()}
    gold_words = np.array([tag.partner for tag in tags], dtype=np.int64)
    if (gold_words >= 0).sum() != counts["Words"].correct:
        raise InputError("this udtools does not show which words it aligns: mh4 was tested with udtools 0.2.9")
    return Evaluation(counts, gold_words)


def scorer_name() -> str:
    """The name and version of the installed official scorer. Raises InputError if there is none."""
    _scorer()
    return "udtools " + metadata.version("udtools")


class _Numbered(str):
    """The XPOS of a word, together with the word's number in the file.

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


def format_table(scores: dict[str, Score]) -> str:
    """The scores as the official scorer prints them."""
    lines = ["Metric     | Precision |    Recall |  F1 Score | AligndAcc"]
    lines.append("-----------+-----------+-----------+-----------+-----------")
    for metric, score in scores.items():
        columns = ["" if value is None else "%10.2f" % value for value in score]
        lines.append("%-11s|" % metric + " |".join(columns))
    return "\n".join(lines)


def format_counts(counts: dict[str, Counts]) -> str:
    """The counts as the official scorer prints them."""
    lines = ["Metric     | Correct   |      Gold | Predicted | Aligned"]
    lines.append("-----------+-----------+-----------+-----------+-----------")
    for metric, count in counts.items():
        aligned = count.correct if metric == "Words" else count.aligned or ""  # for words, aligned and correct coincide
        lines.append("%-11s|%10d |%10d |%10d |%10s" % (metric, count.correct, count.gold, count.system, aligned))
    return "\n".join(lines)


def _scorer() -> Any:
    try:
        from udtools import udeval
    except (ImportError, OSError):  # OSError: udtools 0.1, without its data files
        raise InputError(
            "the official scorer needs udtools 0.2.9 or later: pip install --ignore-requires-python --no-deps 'udtools>=0.2.9'"
        ) from None
    return udeval


def _difference(gold: File, system: File) -> str:
    """A message stating where the two texts diverge."""
    texts = gold.representation.characters, system.representation.characters
    start = next((i for i, (a, b) in enumerate(zip(*texts)) if a != b), min(map(len, texts)))

    def place(file: File) -> str:
        line: Any = next((token.line for token in file.representation.tokens if token.end > start), None)
        text = "".join(file.representation.characters[start : start + 20])
        name = conllu.name_of(file.path)
        return "%s, line %d: %r" % (name, line, text) if text else "%s: the end" % name

    return "%s, but %s: the scorer needs the same text in both" % (place(system), place(gold))


def _check_multiword_tokens(gold: File, system: File) -> None:
    """Raise InputError where multiword tokens overlap so much that the scorer would take hours, or all memory."""
    files = (gold, system)
    tokens = sorted({(w.span.start, w.span.end) for file in files for w in file.representation.words if w.is_multiword})
    starts = [file.starts() for file in files]
    begin = end = 0  # of multiword tokens that overlap
    for start, stop in tokens:
        if start >= end:
            begin = start
        end = max(end, stop)
        words = [int(np.searchsorted(of_file, end) - np.searchsorted(of_file, begin)) for of_file in starts]
        if words[0] * words[1] > _MOST_PAIRS:
            raise InputError(
                "%s: %d words in multiword tokens that overlap with those of %s, too many for the official scorer"
                % (conllu.name_of(system.path), words[1], conllu.name_of(gold.path))
            )
