"""The losses: their values, their gradient against finite differences, and that they vanish where gold wins."""

import numpy as np
import pytest

import toy
from mh4 import config, trees
from mh4.decoders import Derivation
from mh4.graph import dy
from mh4.loss import coefficients, hinge, wrong_heads
from mh4.systems import SYSTEMS
from mh4.training import Trainer


def test_cost_counts_wrong_heads():
    heads = np.array([-1, 2, 0, 2], dtype=np.int32)
    other = np.array([-1, 2, 3, 0], dtype=np.int32)
    words = np.arange(1, 4)
    assert wrong_heads(heads)[heads[1:], words].sum() == 0
    assert wrong_heads(heads)[other[1:], words].sum() == 2


def test_coefficients_cancel_what_both_use():
    one = Derivation(0.0, None, {"arcs": np.array([[0, 1], [1, 2], [1, 2]])})
    two = Derivation(0.0, None, {"arcs": np.array([[0, 1], [0, 2]])})
    rows, weights = coefficients(one, two)["arcs"]
    assert dict(zip(map(tuple, rows.tolist()), weights)) == {(1, 2): 2.0, (0, 2): -1.0}


def test_hinge_is_the_margin_summed_over_columns():
    dy.renew_cg()
    scores = np.array([[2.0, 0.0, 1.0], [0.5, 0.3, 3.0], [0.0, 0.1, 1.0]])
    # gold 0: margin kept; gold 0: best wrong is 1, 1 + 0.3 - 0; gold 2: best wrong is 1, 1 + 3 - 1
    expression = dy.inputTensor(scores)
    assert hinge(expression, [0, 0, 2]).value() == pytest.approx(1.3 + 3.0, abs=1e-6)
    assert hinge(dy.inputTensor(scores[:, :1]), [0]) is None


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Two projective sentences, one MH4-only, one 1EC-only."""
    everything = toy.sentences(tmp_path_factory.mktemp("toy"))

    def first(condition):
        return next(s for s in everything if len(s) <= 12 and condition(s.heads))

    return everything[:2] + [
        first(lambda h: trees.in_class(h, "mh4") and not trees.in_class(h, "1ec")),
        first(lambda h: trees.in_class(h, "1ec") and not trees.in_class(h, "mh4")),
    ]


def trainer(system, sentences, folder, *settings, seed=1):
    return Trainer(system, config.with_settings(toy.SMALL, settings), sentences, sentences, str(folder), seed)


def parameters(model):
    """(get, set, gradient) of every parameter."""
    for p in model.parameters.parameters_list():
        yield p.as_array(), p.set_value, p.grad_as_array
    for p in model.parameters.lookup_parameters_list():
        yield p.as_array(), p.init_from_array, p.grad_as_array


@pytest.mark.parametrize("system", SYSTEMS)
def test_gradient_equals_finite_differences(system, sample, tmp_path):
    """Along directions of the whole parameter space, each the gradient mixed with noise.

    The loss has kinks. Across one, a finite difference lies between the slopes on its two sides, which the gradients at
    the two ends say: so it must lie between these, and where there is no kink they are equal.
    """
    learner = trainer(system, sample, tmp_path, "training.loss_scale=1")
    everything = list(parameters(learner.model))
    start = [values for values, _, _ in everything]
    rng, step = np.random.default_rng(5), 2e-4

    def at(direction, length):
        """The loss there, and its slope along the direction by back-propagation."""
        for (_, assign, _), values, d in zip(everything, start, direction):
            assign(values + length * d)
        before = [gradient().copy() for _, _, gradient in everything]  # DyNet adds up gradients
        loss = learner.loss(learner.train, learner.trees)
        value = loss.value()
        loss.backward()
        gradients = [gradient() - b for (_, _, gradient), b in zip(everything, before)]
        return value, sum(float((g * d).sum()) for g, d in zip(gradients, direction)), gradients

    _, _, gradients = at([np.zeros_like(values) for values in start], 0.0)
    for _ in range(3):
        direction = [g + rng.normal(size=g.shape) * (np.abs(g).mean() + 1e-6) for g in gradients]
        norm = np.sqrt(sum((d**2).sum() for d in direction))
        direction = [d / norm for d in direction]
        (above, slope_above, _), (below, slope_below, _) = at(direction, step), at(direction, -step)
        difference, slopes = (above - below) / (2 * step), sorted([slope_below, slope_above])
        assert slopes[0] > 1.0
        assert slopes[0] * 0.99 <= difference <= slopes[1] * 1.01


@pytest.mark.parametrize("system", SYSTEMS)
def test_structured_loss_is_cost_plus_score_difference(system, sample, tmp_path):
    """Recomputed from the arrays the decoder sees: tags and labels off, no minibatch effects."""
    weights = ["training.%s_weight=0" % name for name in ("upos", "xpos", "feats", "label")]
    learner = trainer(system, sample, tmp_path, "training.loss_scale=1", *weights)
    total = learner.loss(learner.train, learner.trees).value()
    model, expected = learner.model, 0.0
    scores = model.score(learner.train)
    scores.tags["feats"].forward()
    for tensors, heads in zip(scores.trees.tensors, learner.trees):
        values = model.scorer.values(tensors)
        best = model.system.decode(**values, cost=wrong_heads(heads), single_root=True)
        gold = model.system.decode(**values, heads=heads, single_root=True)
        assert best.score >= gold.score
        expected += best.score - gold.score
    assert total == pytest.approx(expected, rel=1e-4)
