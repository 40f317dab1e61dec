"""Large-margin losses in the graph (Section 4.3): hinge for trees, structured or along the oracle, and for tags and labels.

Each is a violation (see objectives.py): once the prediction is known, a linear function of the scores that only one of prediction and
target uses. Only these get a gradient. The alternative for trees is their negative log-likelihood.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mh4.data.conllu import Sentence
from mh4.errors import working_on
from mh4.parser.config import Training
from mh4.parser.model import Model
from mh4.parser.network.graph import dy, forward
from mh4.parser.network.scorer import JointScores, TensorScores
from mh4.parser.objectives import predicted_classes
from mh4.parser.systems import GreedySystem, System
from mh4.parser.vocabulary import learned

Targets = Mapping[int, np.ndarray]  # the trees to learn, heads by the number of their sentence in the minibatch


def minibatch_loss(
    model: Model,
    settings: Training,
    sentences: Sequence[Sentence],
    trees: Sequence[np.ndarray | None],
    rng: "np.random.Generator | None" = None,
) -> "dy.Expression | None":
    """The loss of trees, tags and labels of a minibatch, divided by `settings.loss_scale`; None if its gradient is 0.

    settings: the weights of the terms and the scale. trees: heads of the gold trees, or of the nearest that the system can produce; None to
    learn no tree. Labels are learned on the gold trees. With `rng`, dropout is applied.
    """
    scores = model.build(sentences, rng)
    labels = scores.labels([s.heads for s in sentences])
    forward(labels)  # the newest node, so the whole graph is evaluated: the decoders need the scores as arrays

    names_of_sentences = [sentence.name for sentence in sentences]
    loss_of_trees: Any = partial(tree_loss, names_of_sentences) if isinstance(scores.trees, TensorScores) else stepwise_loss
    if settings.loss == "likelihood":
        loss_of_trees = negative_log_likelihood
    targets = {k: heads for k, heads in enumerate(trees) if heads is not None}
    terms = [loss_of_trees(model.system, scores.trees, targets, model.config.scorer.single_root)]
    vocabulary = model.vocabulary
    for column, of_column, weight, table in (
        *((c, scores.tags[c], getattr(settings, c + "_weight"), getattr(vocabulary, c)) for c in scores.tags),
        ("deprels", labels, settings.label_weight, vocabulary.labels),
    ):
        names = [name for sentence in sentences for name in learned(sentence, column, model.config.scorer)]
        loss = hinge(of_column, table.numbers(names))
        terms.append(None if loss is None else loss * weight)
    terms = [term for term in terms if term is not None]
    return dy.esum(terms) * (1.0 / settings.loss_scale) if terms else None


def tree_loss(
    names: Sequence[str], system: System, scores: TensorScores, targets: Targets, single_root: bool
) -> "dy.Expression | None":
    """Sum over sentences of the system's violations of the margins of the targets, trees that it can produce.

    names: those of the sentences, for warnings. The graph must have been evaluated. None if the gradient is 0: every prediction is
    the target, or uses the same scores.
    """
    arrays, violations = scores.arrays(), {}
    for k, heads in targets.items():
        with working_on(names[k]):
            violations[k] = system.violation(arrays[k], heads, single_root)
    differences = scores.differences(violations)
    return dy.esum(differences) + sum(violation.cost for violation in violations.values()) if differences else None


def stepwise_loss(system: GreedySystem, scores: JointScores, targets: Targets, single_root: bool) -> "dy.Expression | None":
    """The same for greedy parsers whose scores are not sums over pairs of positions: a hinge in each configuration."""
    if not targets:
        return None
    sequences, rivals = zip(*(system.steps(heads, single_root) for heads in targets.values()), strict=True)
    configurations = scores.of_configurations(dict(zip(targets, sequences, strict=True)))
    forward(configurations)
    right = np.concatenate([rows[1:, 0] for rows in sequences])
    return hinge(configurations, right, np.concatenate(rivals, axis=1))


def negative_log_likelihood(system: System, scores: TensorScores, targets: Targets, single_root: bool) -> "dy.Expression | None":
    """Sum over sentences of -log of the probability of the target, a tree that the system can produce; None if there are no targets.

    The graph must have been evaluated. In the graph, the loss is linear in the scores: only its value and gradient are right.
    """
    if not targets:
        return None
    arrays = scores.arrays()
    found = {k: system.likelihood(arrays[k], heads, single_root) for k, heads in targets.items()}
    linear = sum(
        float((by * arrays[k][name])[by != 0].sum()) for k, each in found.items() for name, by in each.derivatives.items()
    )
    value = sum(each.value for each in found.values())
    return scores.weighted({k: each.derivatives for k, each in found.items()}) + (value - linear)


def hinge(scores: "dy.Expression", gold: np.ndarray, rivals: np.ndarray | None = None) -> "dy.Expression | None":
    """Sum over columns of max(0, 1 + best wrong class - gold class); scores (classes, N), evaluated; None if it is 0.

    rivals: which classes compete with the gold one, bool (classes, N); by default all.
    """
    values = scores.npvalue().reshape((-1, len(gold)), order="F")
    predicted = predicted_classes(values, gold, rivals)
    (wrong,) = np.nonzero(predicted != gold)
    if not len(wrong):
        return None
    columns = dy.reshape(dy.select_cols(scores, wrong.tolist()), (len(values),), batch_size=len(wrong))
    margins = dy.pick_batch(columns, predicted[wrong].tolist()) - dy.pick_batch(columns, gold[wrong].tolist())
    return dy.sum_batches(margins) + float(len(wrong))
