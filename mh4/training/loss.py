"""Large-margin losses in the graph (Section 4.3): hinge for trees, structured or along the oracle, and for tags and labels.

Each is the score plus cost of the prediction, for which this sum is highest, minus the score of the target (see violation.py): once
the prediction is known, a linear function of the scores that only one of the two uses. Only these get a gradient. The alternative
for trees is their negative log-likelihood, whose derivatives are how often scores are used: in expectation, minus by the target.
"""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from mh4.config import Training
from mh4.conllu import Sentence
from mh4.model import Model
from mh4.network.graph import dy, forward
from mh4.network.scorer import TensorScores
from mh4.systems import System
from mh4.training.violation import predicted_classes
from mh4.vocabulary import TAGS, Table


def minibatch_loss(
    model: Model,
    settings: Training,
    sentences: Sequence[Sentence],
    targets: Sequence[np.ndarray],
    rng: Optional["np.random.Generator"] = None,
) -> Optional["dy.Expression"]:
    """The loss of trees, tags and labels of a minibatch, divided by `settings.loss_scale`; None if its gradient is 0.

    settings: the weights of the terms and the scale. targets: the trees to learn, one heads array per sentence, gold or the
    nearest that the system can produce; labels are learned on the gold trees. With `rng`, dropout is applied.
    """
    scores = model.build(sentences, rng)
    labels = scores.labels([s.heads for s in sentences])
    forward(labels)  # the newest node, so the whole graph is evaluated: the decoders need the scores as arrays

    loss_of_trees = negative_log_likelihood if settings.loss == "likelihood" else tree_loss
    terms = [loss_of_trees(model.system, scores.trees, targets, model.config.scorer.single_root)]
    for column in TAGS:
        table, names = getattr(model.vocabulary, column), [name for s in sentences for name in getattr(s, column)]
        terms.append(_weighted(getattr(settings, column + "_weight"), scores.tags[column], table, names))
    names = [deprel for s in sentences for deprel in s.deprels]
    terms.append(_weighted(settings.label_weight, labels, model.vocabulary.labels, names))
    terms = [term for term in terms if term is not None]
    return dy.esum(terms) * (1.0 / settings.loss_scale) if terms else None


def tree_loss(
    system: System, scores: TensorScores, targets: Sequence[np.ndarray], single_root: bool
) -> Optional["dy.Expression"]:
    """Sum over sentences of the system's violations of the margins of the targets, trees that it can produce.

    The graph must have been evaluated. None if the gradient is 0: every prediction is the target, or uses the same scores.
    """
    violations = [system.violation(tensors, heads, single_root) for tensors, heads in zip(scores.arrays(), targets)]
    differences = scores.differences(violations)
    return dy.esum(differences) + sum(violation.cost for violation in violations) if differences else None


def negative_log_likelihood(
    system: System, scores: TensorScores, targets: Sequence[np.ndarray], single_root: bool
) -> "dy.Expression":
    """Sum over sentences of -log of the probability of the target, a tree that the system can produce.

    The graph must have been evaluated. In the graph, the loss is linear in the scores: only its value and gradient are right.
    """
    arrays = scores.arrays()
    found = [system.likelihood(tensors, heads, single_root) for tensors, heads in zip(arrays, targets)]
    linear = sum(
        float((each.derivatives[name] * tensor)[each.derivatives[name] != 0].sum())
        for each, tensors in zip(found, arrays)
        for name, tensor in tensors.items()
    )
    return scores.weighted([each.derivatives for each in found]) + (sum(each.value for each in found) - linear)


def hinge(scores: "dy.Expression", gold: Sequence[int]) -> Optional["dy.Expression"]:
    """Sum over columns of max(0, 1 + best wrong class - gold class); scores (classes, N), evaluated; None where 0."""
    values = scores.npvalue().reshape((-1, len(gold)), order="F")
    predicted = predicted_classes(values, np.asarray(gold))
    wrong = int((predicted != gold).sum())
    if not wrong:
        return None
    columns = dy.reshape(scores, (len(values),), batch_size=len(gold))
    return dy.sum_batches(dy.pick_batch(columns, predicted) - dy.pick_batch(columns, gold)) + float(wrong)


def _weighted(weight: float, scores: "dy.Expression", table: Table, names: Sequence[str]) -> Optional["dy.Expression"]:
    """The weighted hinge loss of classes given by name; None where it is 0."""
    loss = hinge(scores, [table[name] for name in names])
    return None if loss is None else loss * weight
