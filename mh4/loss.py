"""Large-margin losses (Section 4.3): structured hinge for trees, multiclass hinge for tags and labels.

Both are the score of what the model prefers, cost included, minus the score of gold. Once the preferred structure is known
the loss is linear in the scores, with coefficients +1 where a score is used by the prediction and -1 where by gold: one
sparse constant per tensor.
"""

from typing import Mapping, Optional, Sequence

import numpy as np

from mh4.decoders import Derivation
from mh4.graph import dy
from mh4.scoring import TensorScorer
from mh4.systems import System


def wrong_heads(heads: np.ndarray) -> np.ndarray:
    """cost[h, m] = 1 for every arc that is not in the gold tree `heads`: float32 (n+1, n+1)."""
    cost = np.ones((len(heads), len(heads)), dtype=np.float32)
    cost[heads[1:], np.arange(1, len(heads))] = 0.0
    return cost


def structured_hinge(
    system: System,
    scorer: TensorScorer,
    expressions: Mapping[str, "dy.Expression"],
    heads: np.ndarray,
    single_root: bool,
) -> Optional["dy.Expression"]:
    """max over derivations of score + wrong heads, minus the best derivation of the gold tree `heads`.

    The graph must have been run forward. None where gold itself wins: the loss is 0 and so is its gradient.
    """
    values = scorer.values(expressions)
    predicted = system.decode(**values, cost=wrong_heads(heads), single_root=single_root)
    gold = system.decode(**values, heads=heads, single_root=single_root)
    wrong = int((predicted.heads != heads).sum())
    counts = coefficients(values, predicted, gold)
    if not any(array.any() for array in counts.values()):
        return None
    return dy.esum(scorer.picked(expressions, counts)) + float(wrong)


def coefficients(values: Mapping[str, np.ndarray], predicted: Derivation, gold: Derivation) -> Mapping[str, np.ndarray]:
    """How often the prediction uses each score minus how often gold does: a float array for each tensor."""
    counts = {name: np.zeros_like(array) for name, array in values.items()}
    for derivation, sign in ((predicted, 1.0), (gold, -1.0)):
        for name, rows in derivation.parts.items():
            np.add.at(counts[name], tuple(rows.T), sign)
    return counts


def hinge(scores: "dy.Expression", gold: Sequence[int]) -> Optional["dy.Expression"]:
    """Sum over columns of max(0, 1 + best wrong class - gold class); scores (classes, N), run forward; None where 0."""
    values = scores.npvalue().reshape((-1, len(gold)))
    columns = np.arange(len(gold))
    margins = values + 1.0
    margins[gold, columns] -= 1.0
    predicted = margins.argmax(axis=0)
    counts = np.zeros_like(values)
    np.add.at(counts, (predicted, columns), 1.0)
    np.add.at(counts, (gold, columns), -1.0)
    wrong = int((predicted != gold).sum())
    return dy.dot_product(scores, dy.inputTensor(counts)) + float(wrong) if wrong else None
