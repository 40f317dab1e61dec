"""Measure the reliability of the probabilities of arcs: likelihood, calibration error, and accuracy by coverage."""

from dataclasses import dataclass

import numpy as np

# A lower bound on probabilities. Without it, the temperature would mainly depend on a few gold arcs that the system
# considers almost impossible, such as arcs of trees outside its class. On Hungarian, mh3's calibration error would
# triple.
_LOWEST_PROBABILITY = 1e-3


def negative_log_likelihood(probabilities: np.ndarray) -> float:
    """Return the mean of -log p over gold arcs, in nats; each p counts as at least 0.001."""
    return float(-np.log(np.maximum(probabilities, _LOWEST_PROBABILITY)).mean())


@dataclass(frozen=True)
class Bin:
    """Arcs of similar probability: their number, mean probability, and share of correct ones."""

    low: float
    high: float
    arcs: int
    confidence: float
    accuracy: float


def reliability(probabilities: np.ndarray, correct: np.ndarray, bins: int = 10) -> list[Bin]:
    """Sort predicted arcs into bins of probability of equal width. Empty bins are omitted. Both arrays: (arcs,)."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    found = []
    for k in range(bins):
        chosen = which == k
        if chosen.any():
            means = float(probabilities[chosen].mean()), float(correct[chosen].mean())
            found.append(Bin(k / bins, (k + 1) / bins, int(chosen.sum()), *means))
    return found


def expected_calibration_error(probabilities: np.ndarray, correct: np.ndarray, bins: int = 10) -> float:
    """Return the mean over predicted arcs of |confidence - accuracy| of their bin, from 0 to 1.

    Defined by Naeini, Cooper & Hauskrecht (AAAI 2015).
    """
    found = reliability(probabilities, correct, bins)
    return sum(b.arcs * abs(b.confidence - b.accuracy) for b in found) / len(probabilities)


def accuracy_at_coverage(probabilities: np.ndarray, correct: np.ndarray, coverage: float) -> float:
    """Return the share of correct arcs among the most probable share `coverage` of arcs. Both are from 0 to 1."""
    kept = max(1, round(coverage * len(probabilities)))
    return float(correct[np.argsort(-probabilities, kind="stable")[:kept]].mean())
