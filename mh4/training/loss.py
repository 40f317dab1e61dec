"""Large-margin losses in the graph (Section 4.3): hinge for trees, structured or along the oracle, and for tags and labels.

Each loss is a violation (see objectives.py). Once the prediction is known, it is a linear function of the scores that
only the prediction or only the target uses; only these scores get a gradient. The alternative for trees is their
negative log-likelihood.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np

from mh4.data.sentence import Sentence
from mh4.errors import working_on
from mh4.parser import kept_heads
from mh4.parser.config import Training
from mh4.parser.model import Model
from mh4.parser.network.graph import dy, forward
from mh4.parser.network.scorer import TensorScores, hinge
from mh4.parser.systems import System

Targets = Mapping[int, np.ndarray]  # the trees to learn, heads by the number of their sentence in the minibatch


def minibatch_loss(
    model: Model,
    settings: Training,
    sentences: Sequence[Sentence],
    trees: Sequence[np.ndarray | None],
    rng: "np.random.Generator | None" = None,
) -> "dy.Expression | None":
    """Return the loss of trees, tags and labels of a minibatch, divided by `settings.loss_scale`; None if its gradient is 0.

    settings: the weights of the terms and the scale. trees: heads of the trees to learn (System.training_tree); None to
    learn no tree. Labels are learned on gold trees. With `rng`, dropout is applied.
    """
    scores = model.build(sentences, rng)
    labels = scores.labels([np.maximum(s.heads, 0) for s in sentences])
    labelled = np.concatenate([kept_heads.annotated_labels(s) for s in sentences])
    forward(labels)  # the newest node, so the whole graph is evaluated: the decoders need the scores as arrays

    names = [sentence.name for sentence in sentences]
    loss_of_trees = negative_log_likelihood if settings.loss == "likelihood" else partial(tree_loss, names)
    targets = {k: heads for k, heads in enumerate(trees) if heads is not None}
    losses = [(loss_of_trees(model.system, scores.trees, targets, model.config.scorer.single_root), 1.0)]
    for column, tag_scores in scores.tags.items():
        tags = chain.from_iterable(getattr(sentence, column) for sentence in sentences)
        losses.append((hinge(tag_scores, getattr(model.vocabulary, column).numbers(tags)), getattr(settings, column + "_weight")))
    gold = model.vocabulary.labels.numbers(chain.from_iterable(sentence.deprels for sentence in sentences))
    if not labelled.all():
        labels, gold = dy.select_cols(labels, np.flatnonzero(labelled).tolist()), gold[labelled]
    losses.append((hinge(labels, gold) if len(gold) else None, settings.label_weight))
    terms = [loss * weight for loss, weight in losses if loss is not None]
    return dy.esum(terms) * (1.0 / settings.loss_scale) if terms else None


def tree_loss(
    names: Sequence[str], system: System, scores: TensorScores, targets: Targets, single_root: bool
) -> "dy.Expression | None":
    """Return the sum of the system's margin violations over the target trees, which the system must be able to produce.

    names: the names of the sentences, for warnings. The graph must have been evaluated. Returns None if the gradient is
    0: every prediction is the target, or uses the same scores.
    """
    arrays, violations = scores.arrays(), {}
    for k, heads in targets.items():
        with working_on(names[k]):
            violations[k] = system.violation(arrays[k], heads, single_root)
    return scores.loss(violations)


def negative_log_likelihood(system: System, scores: TensorScores, targets: Targets, single_root: bool) -> "dy.Expression | None":
    """Return the sum over sentences of -log of the probability of the target, which the system can produce; None without targets.

    The graph must have been evaluated. The returned expression is linear in the scores, with the right value and
    gradient.
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
