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
    """Along random directions of the whole parameter space, at a point without a kink of the loss nearby."""
    learner = trainer(system, sample, tmp_path, "training.loss_scale=1", seed=2)
    everything = list(parameters(learner.model))

    def loss():
        expression = learner.loss(learner.train, learner.trees)
        return expression, expression.value()

    expression, value = loss()
    assert value > len(sample)
    expression.backward()
    gradients = [gradient().copy() for _, _, gradient in everything]
    rng = np.random.default_rng(5)
    step = 2e-4
    for _ in range(3):
        # The gradient itself mixed with noise: a random direction alone is nearly orthogonal to it.
        direction = []
        for (values, _, _), gradient in zip(everything, gradients):
            scale = np.abs(gradient).mean() + 1e-6
            direction.append(gradient + rng.normal(size=values.shape) * scale)
        norm = np.sqrt(sum((d**2).sum() for d in direction))
        direction = [d / norm for d in direction]
        around = []
        for sign in (1, -1):
            for (values, assign, _), d in zip(everything, direction):
                assign(values + sign * step * d)
            around.append(loss()[1])
        for values, assign, _ in everything:
            assign(values)
        expected = sum((g * d).sum() for g, d in zip(gradients, direction))
        assert (around[0] - around[1]) / (2 * step) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("system", SYSTEMS)
def test_structured_loss_is_cost_plus_score_difference(system, sample, tmp_path):
    """Recomputed from the arrays the decoder sees: tags and labels off, no minibatch effects."""
    weights = ["training.%s_weight=0" % name for name in ("upos", "xpos", "label")]
    learner = trainer(system, sample, tmp_path, "training.loss_scale=1", *weights)
    total = learner.loss(learner.train, learner.trees).value()
    model, expected = learner.model, 0.0
    scores = model.score(learner.train)
    scores.xpos.forward()
    for tensors, heads in zip(scores.trees, learner.trees):
        values = model.scorer.values(tensors)
        best = model.system.decode(**values, cost=wrong_heads(heads), single_root=True)
        gold = model.system.decode(**values, heads=heads, single_root=True)
        assert best.score >= gold.score
        expected += best.score - gold.score
    assert total == pytest.approx(expected, rel=1e-4)
