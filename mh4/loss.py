"""Large-margin losses (Section 4.3): structured hinge for trees, multiclass hinge for tags and labels.

Both are the score of what the model prefers, cost included, minus the score of gold. Once the preferred structure is known
the loss is linear in the scores, with coefficients +1 where a score is used by the prediction and -1 where by gold: one
sparse constant per tensor.
"""

from typing import Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

from mh4.decoders import Derivation
from mh4.graph import dy
from mh4.scoring import Span, TensorScorer, TensorScores
from mh4.systems import System


def wrong_heads(heads: np.ndarray) -> np.ndarray:
    """cost[h, m] = 1 for every arc that is not in the gold tree `heads`: float32 (n+1, n+1)."""
    cost = np.ones((len(heads), len(heads)), dtype=np.float32)
    cost[heads[1:], np.arange(1, len(heads))] = 0.0
    return cost


def structured_hinge(
    system: System,
    scorer: TensorScorer,
    scores: TensorScores,
    spans: Sequence[Span],
    gold: Sequence[np.ndarray],
    single_root: bool,
) -> Optional["dy.Expression"]:
    """Sum over sentences: max over derivations of score + wrong heads, minus the best derivation of the gold tree.

    spans: the nodes of each sentence; gold: their trees. The graph must have been run forward. None where gold itself wins
    everywhere: the loss is 0 and so is its gradient.
    """
    used, wrong = [], 0
    for expressions, heads in zip(scores.tensors, gold):
        values = scorer.values(expressions)
        predicted = system.decode(**values, cost=wrong_heads(heads), single_root=single_root)
        used.append(coefficients(predicted, system.decode(**values, heads=heads, single_root=single_root)))
        wrong += int((predicted.heads != heads).sum())
    terms = scorer.picked(scores, spans, used)
    return dy.esum(terms) + float(wrong) if terms else None


def coefficients(predicted: Derivation, gold: Derivation) -> Dict[str, Tuple[np.ndarray, np.ndarray]]:
    """How often the prediction uses each score minus how often gold does.

    By tensor: distinct index rows, and the float coefficients of those that do not cancel out.
    """
    counts = {}
    for name in predicted.parts:
        rows = np.concatenate([predicted.parts[name], gold.parts[name]])
        signs = np.repeat([1.0, -1.0], [len(predicted.parts[name]), len(gold.parts[name])])
        # Each row as one number, which sorts much faster.
        shape = rows.max(axis=0, initial=0) + 1
        numbers, positions = np.unique(np.ravel_multi_index(rows.T, shape), return_inverse=True)
        weights = np.bincount(positions, weights=signs, minlength=len(numbers))
        used = weights != 0
        counts[name] = np.stack(np.unravel_index(numbers[used], shape), axis=1), weights[used]
    return counts


def hinge(scores: "dy.Expression", gold: Sequence[int]) -> Optional["dy.Expression"]:
    """Sum over columns of max(0, 1 + best wrong class - gold class); scores (classes, N), run forward; None where 0."""
    gold = np.asarray(gold)
    values = scores.npvalue().reshape((-1, len(gold)), order="F")
    columns = np.arange(len(gold))
    margins = values + 1.0
    margins[gold, columns] -= 1.0
    predicted = margins.argmax(axis=0)
    wrong = np.flatnonzero(predicted != gold)
    if not len(wrong):
        return None
    rows = np.concatenate([predicted[wrong], gold[wrong]])
    signs = np.repeat([1.0, -1.0], len(wrong))
    chosen = dy.sparse_inputTensor((rows, np.concatenate([wrong, wrong])), signs, values.shape)
    return dy.dot_product(dy.reshape(scores, values.shape), chosen) + float(len(wrong))
