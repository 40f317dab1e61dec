"""How reliable the probabilities of arcs are: their likelihood, their calibration error, and accuracy by coverage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mh4.data.conllu import Sentence
from mh4.parser.parsing import Parser, arc_probabilities, longest, naming

# A lower bound on probabilities: without it, a few gold arcs that the system finds all but impossible, such as those of trees outside
# its class, would decide on the temperature, to the detriment of all others (on Hungarian, mh3's calibration error would triple).
_LOWEST_PROBABILITY = 1e-3


def of_gold(parser: Parser, gold: Sequence[Sentence]) -> np.ndarray:
    """The probabilities that a parser gives to gold arcs, float64 (words,), of sentences of similar length together."""
    found = []
    with parser.model.lock, naming(longest(gold), "parse"):
        for batch, scores in parser.model.score(gold):
            found += [
                arc_probabilities(each.arcs, gold[k].heads)[1:]
                for k, each in zip(batch, parser.marginals([gold[k] for k in batch], scores), strict=True)
            ]
    return np.concatenate(found)


def negative_log_likelihood(probabilities: np.ndarray) -> float:
    """-log of the probabilities of gold arcs, on average, in nats. Each counts as at least 0.001."""
    return float(-np.log(np.maximum(probabilities, _LOWEST_PROBABILITY)).mean())


@dataclass(frozen=True)
class Bin:
    """Arcs of similar probability: their number, the mean of their probabilities, and the share of them that is correct."""

    low: float
    high: float
    arcs: int
    confidence: float
    accuracy: float


def reliability(probabilities: np.ndarray, correct: np.ndarray, bins: int = 10) -> list[Bin]:
    """Predicted arcs by probability, in bins of equal width; empty ones are omitted. probabilities, correct: (arcs,)."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    return [
        Bin(k / bins, (k + 1) / bins, int(chosen.sum()), float(probabilities[chosen].mean()), float(correct[chosen].mean()))
        for k in range(bins)
        for chosen in [which == k]
        if chosen.any()
    ]


def expected_calibration_error(probabilities: np.ndarray, correct: np.ndarray, bins: int = 10) -> float:
    """The mean over predicted arcs of |confidence - accuracy| of their bin (Naeini, Cooper & Hauskrecht, AAAI 2015), from 0 to 1."""
    found = reliability(probabilities, correct, bins)
    return sum(b.arcs * abs(b.confidence - b.accuracy) for b in found) / len(probabilities)


def accuracy_at_coverage(probabilities: np.ndarray, correct: np.ndarray, coverage: float) -> float:
    """The share that is correct of the given share of predicted arcs, those of the highest probability; both from 0 to 1."""
    kept = max(1, round(coverage * len(probabilities)))
    return float(correct[np.argsort(-probabilities, kind="stable")[:kept]].mean())


def predictions(parser: Parser, gold: Sequence[Sentence]) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of the arcs that a parser predicts, and which of them are correct: float64 and bool (words,)."""
    parsed = parser.parse_as_usual(gold, confidence=True)
    probabilities = np.concatenate([sentence.probabilities[1:] for sentence in parsed])
    return probabilities, np.concatenate([a.heads[1:] == b.heads[1:] for a, b in zip(gold, parsed, strict=True)])
