"""Large-margin losses in the graph (Section 4.3): hinge for trees, structured or along the oracle, and for tags and labels.

All are the score of what the model prefers, cost included, minus the score of gold. Once the preferred structure is known
the loss is linear in the scores, with coefficients +1 where a score is used by the prediction and -1 where by gold.
"""

from typing import Optional, Sequence

import numpy as np

from mh4.graph import dy
from mh4.scoring import Span, TensorScorer, TensorScores
from mh4.systems import System


def tree_loss(
    system: System,
    scorer: TensorScorer,
    scores: TensorScores,
    spans: Sequence[Span],
    gold: Sequence[np.ndarray],
    single_root: bool,
) -> Optional["dy.Expression"]:
    """Sum over sentences of the system's margins for the gold trees, which it can produce.

    spans: the nodes of each sentence; gold: their trees. The graph must have been run forward. None where gold itself wins
    everywhere, or all that wins over it has the same scores: the gradient is 0.
    """
    margins = [
        system.margin(scorer.values(expressions), heads, single_root) for expressions, heads in zip(scores.tensors, gold)
    ]
    terms = scorer.difference(scores, spans, margins)
    return dy.esum(terms) + sum(margin.constant for margin in margins) if terms else None


def hinge(scores: "dy.Expression", gold: Sequence[int]) -> Optional["dy.Expression"]:
    """Sum over columns of max(0, 1 + best wrong class - gold class); scores (classes, N), run forward; None where 0."""
    gold = np.asarray(gold)
    values = scores.npvalue().reshape((-1, len(gold)), order="F")
    margins = values + 1.0
    margins[gold, np.arange(len(gold))] -= 1.0
    preferred = margins.argmax(axis=0)
    wrong = int((preferred != gold).sum())
    if not wrong:
        return None
    columns = dy.reshape(scores, (len(values),), batch_size=len(gold))
    return dy.sum_batches(dy.pick_batch(columns, preferred) - dy.pick_batch(columns, gold)) + float(wrong)
