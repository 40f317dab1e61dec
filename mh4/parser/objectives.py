"""The terms of a tree's loss: a margin violation (Section 4.3) or a negative log-likelihood, and the cost of arcs.

The *target* is the tree to learn: the gold tree, or the nearest tree that the system can produce. The *prediction* has
the highest score plus cost. It is a whole derivation in global parsers, a single transition in greedy ones. The
*violation* is the excess of this sum over the target's score; the systems compute it (System.violation in systems.py).
Nothing here needs DyNet: mh4.training.loss adds the loss to the graph.
"""

from typing import NamedTuple

import numpy as np

Parts = dict[str, np.ndarray]  # for each tensor, the index rows of the scores used


class Violation(NamedTuple):
    """The sum of the scores that the prediction uses, minus the sum of those that the target uses, plus the prediction's cost.

    It is never negative, as the target competes for the prediction at no cost.
    """

    predicted: Parts
    target: Parts
    cost: float


def hamming_cost(heads: np.ndarray) -> np.ndarray:
    """Return cost[h, m], float32 (n+1, n+1): 1 for arcs that are not in the target tree, 0 if m's head is open (-1)."""
    cost = np.ones((len(heads), len(heads)), dtype=np.float32)
    cost[heads[1:], np.arange(1, len(heads))] = 0.0
    cost[:, 1:][:, heads[1:] < 0] = 0.0
    return cost


class Likelihood(NamedTuple):
    """The negative log-likelihood of the target, `value`, and its derivatives by the scores of each tensor."""

    derivatives: dict[str, np.ndarray]
    value: float


def predicted_classes(scores: np.ndarray, gold: np.ndarray, rivals: np.ndarray | None = None) -> np.ndarray:
    """Return, for each of N decisions, the class with the highest score + 1 (+ 0 for the gold class): scores (classes, N), gold (N,).

    rivals: bool (classes, N), the classes that compete with the gold one; by default all.
    """
    decisions = np.arange(len(gold))
    augmented = scores + 1.0 if rivals is None else np.where(rivals, scores + 1.0, -np.inf)
    augmented[gold, decisions] = scores[gold, decisions]
    return augmented.argmax(axis=0)


def coefficients(predicted: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of a tensor's scores in a violation: how often the prediction uses each minus how often the target does.

    Both are given as index rows. Returns distinct index rows and their coefficients, omitting zero coefficients.
    """
    rows = np.concatenate([predicted, target])
    signs = np.repeat([1.0, -1.0], [len(predicted), len(target)])
    # Encode each row as one number, which sorts much faster.
    shape = rows.max(axis=0, initial=0) + 1
    numbers, positions = np.unique(np.ravel_multi_index(rows.T, shape), return_inverse=True)
    counts = np.bincount(positions, weights=signs, minlength=len(numbers))
    used = counts != 0
    return np.stack(np.unravel_index(numbers[used], shape), axis=1), counts[used]
