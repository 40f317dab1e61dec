"""UAS and LAS: over all words of gold segmentation, or by the official scorer of the CoNLL 2018 shared task.

Development scores take gold segmentation and count every word, punctuation too (section 5 of the paper). Scores on predicted
segmentation need an alignment of words: that is the official scorer's business, as `udtools` ships it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, NamedTuple, Optional

import numpy as np

from mh4 import conllu
from mh4.errors import InputError
from mh4.vocabulary import without_subtype

# What the shared task reports, in its order; the scorer's metrics of enhanced graphs do not concern a tree parser.
METRICS = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


class Score(NamedTuple):
    """In percent; aligned_accuracy is over the words that could be aligned, None where nothing is aligned."""

    precision: float
    recall: float
    f1: float
    aligned_accuracy: Optional[float]


class Counts(NamedTuple):
    """How many there are in gold and in the system's file, how many are right; aligned is None where nothing is aligned."""

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


@dataclass(frozen=True)
class File:
    """A CoNLL-U file that the official scorer has read: its sentences, with trees, and the scorer's representation of it."""

    path: str
    sentences: list[conllu.Sentence]
    representation: Any

    def starts(self) -> np.ndarray:
        """int64 (words,): where each word begins in the text without spaces; in a multiword token, where the token does."""
        return np.array([word.span.start for word in self.representation.words], dtype=np.int64)


class Evaluation(NamedTuple):
    """What the scorer finds: the counts of each of METRICS, and which words correspond.

    gold_words: int64 (words of the system,), the number of the gold word that each is aligned with, from 0; -1 for none.
    """

    counts: dict[str, Counts]
    gold_words: np.ndarray


def attachment_scores(gold: Sequence[conllu.Sentence], system: Sequence[conllu.Sentence]) -> dict[str, float]:
    """{"uas": ..., "las": ...}: right heads, and right heads with right labels, in percent of all words.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared tasks,
    labels are compared without their subtypes (what follows ":"). Raises ValueError if the sentences do not correspond.
    """
    words = heads = labelled = 0
    if len(gold) != len(system):
        raise ValueError("%d gold sentences but %d of the system" % (len(gold), len(system)))
    for g, s in zip(gold, system):
        if len(g) != len(s):
            raise ValueError("%s: %d gold words but %d of the system" % (g.name or "a sentence", len(g), len(s)))
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

    The words may differ, the text may not. Raises InputError for files the scorer refuses: no CoNLL-U, no tree, several roots,
    another text.
    """
    counts = evaluate(load(gold), load(system)).counts
    return {metric: counts[metric].score() for metric in METRICS}


def load(path: str) -> File:
    """Read CoNLL-U file `path` for the official scorer.

    Raises InputError for files it refuses: no CoNLL-U, no tree, several roots.
    """
    scorer = _scorer()
    sentences = conllu.read(path)  # names the line and the sentence of what is wrong, where the scorer does not
    try:
        with open(path, encoding="utf-8") as file:
            representation = scorer.load_conllu(file, path, {})
    except scorer.UDError as error:
        raise InputError("%s: the official scorer refuses it: %s" % (path, str(error).rstrip("."))) from None
    except (ValueError, IndexError):  # it does not check what it reads of column DEPS and of multiword tokens
        raise InputError("%s: the official scorer cannot read its column DEPS or its multiword tokens" % path) from None
    except RecursionError:
        raise InputError("%s: a tree is too deep for the official scorer" % path) from None
    for number, word in enumerate(representation.words):
        word.columns[conllu.XPOS] = _Numbered(word.columns[conllu.XPOS], number)
    return File(path, sentences, representation)


def evaluate(gold: File, system: File) -> Evaluation:
    """The official scorer's counts and its alignment of words. Raises InputError if the two texts are not the same."""
    scorer = _scorer()
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
    """Which official scorer there is, with its version, for the record. Raises InputError if there is none."""
    _scorer()
    return "udtools " + metadata.version("udtools")


class _Numbered(str):
    """The XPOS of a word, and its number in the file.

    The scorer keeps its alignment of words to itself, but to score XPOS it compares the tag of every gold word with the tag
    of the word aligned with it: then the latter notes its partner.
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
        aligned = count.correct if metric == "Words" else count.aligned or ""  # words are what is aligned
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
    """Where the two texts part."""
    texts = gold.representation.characters, system.representation.characters
    start = next((i for i, (a, b) in enumerate(zip(*texts)) if a != b), min(map(len, texts)))

    def place(file: File) -> str:
        line: Any = next((token.line for token in file.representation.tokens if token.end > start), None)
        text = "".join(file.representation.characters[start : start + 20])
        return "%s, line %d: %r" % (file.path, line, text) if text else "%s: the end" % file.path

    return "%s, but %s: the scorer needs the same text in both" % (place(system), place(gold))
