"""The losses: their values, and their gradients against finite differences."""

from types import SimpleNamespace

import brute
import numpy as np
import pytest
import toy

from mh4 import trees
from mh4.decoders import beam
from mh4.errors import InputError, collected_warnings, warn
from mh4.parser import config, oracle
from mh4.parser.network.graph import dy
from mh4.parser.objectives import coefficients, hamming_cost
from mh4.parser.systems import SYSTEMS, GlobalSystem, GreedySystem, with_marginals
from mh4.training.loss import hinge, minibatch_loss, negative_log_likelihood, tree_loss
from mh4.training.trainer import Trainer
from mh4.transitions import EMPTY, Configuration


def test_hinge_is_the_margin_summed_over_columns():
    dy.renew_cg()
    scores = np.array([[2.0, 0.0, 1.0], [0.5, 0.3, 3.0], [0.0, 0.1, 1.0]])
    # column 0: gold wins by the margin; column 1: 1 + 0.3 - 0; column 2: 1 + 3 - 1
    expression = dy.inputTensor(scores)
    assert hinge(expression, np.array([0, 0, 2])).value() == pytest.approx(1.3 + 3.0, abs=1e-6)
    assert hinge(dy.inputTensor(scores[:, :1]), np.array([0])) is None


@pytest.fixture(scope="module")
def sample(sentences):
    """Two projective sentences, one in MH4 but not 1EC, and one in 1EC but not MH4."""

    def first(condition):
        return next(s for s in sentences if len(s) <= 12 and condition(s.heads))

    return sentences[:2] + [
        first(lambda h: trees.in_class(h, "mh4") and not trees.in_class(h, "1ec")),
        first(lambda h: trees.in_class(h, "1ec") and not trees.in_class(h, "mh4")),
    ]


def trainer(system, sentences, folder, *settings, seed=1):
    return Trainer(system, toy.small(*settings), sentences, sentences, str(folder), seed)


def parameters(model):
    """Yield (values, function to set them, function that returns their gradient) of every parameter."""
    for p in model.parameters.parameters_list():
        yield p.as_array(), p.set_value, p.grad_as_array
    for p in model.parameters.lookup_parameters_list():
        yield p.as_array(), p.init_from_array, p.grad_as_array


LOSSES = [(name, loss) for name, system in SYSTEMS.items() for loss in (config.LOSSES if system.marginals else ["hinge"])]


@pytest.mark.slow
@pytest.mark.parametrize("system, loss", LOSSES)
def test_gradient_equals_finite_differences(system, loss, sample, tmp_path):
    """The slope along directions of the whole parameter space agrees with finite differences.

    The directions are the gradient plus noise. Where the loss has a kink, a finite difference lies between the slopes
    on both sides, by the gradients at the two ends. Without a kink these are equal.
    """
    learner = trainer(system, sample, tmp_path, "training.loss_scale=1", "training.loss=" + loss)
    everything = list(parameters(learner.model))
    start = [values for values, _, _ in everything]
    rng, step = np.random.default_rng(5), 2e-4

    def at(direction, length):
        """Return the loss at this point, its slope along the direction by backpropagation, and its gradients."""
        for (_, assign, _), values, d in zip(everything, start, direction):
            assign(values + length * d)
        before = [gradient().copy() for _, _, gradient in everything]  # DyNet adds up gradients
        loss = minibatch_loss(learner.model, learner.settings, learner.train, learner.trees)
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


GLOBAL = [name for name, system in SYSTEMS.items() if isinstance(system, GlobalSystem)]
GREEDY = [name for name, system in SYSTEMS.items() if isinstance(system, GreedySystem)]


def tree_losses(system, sample, folder, *settings):
    """Return the loss of the sample without tags and labels, the system, and each sentence's scores and tree."""
    weights = ["training.label_weight=1e-30", *("training.%s_weight=0" % name for name in ("upos", "xpos", "feats"))]
    learner = trainer(system, sample, folder, "training.loss_scale=1", *weights, *settings)
    total = minibatch_loss(learner.model, learner.settings, learner.train, learner.trees).value()
    scores = learner.model.build(learner.train)
    scores.last.forward()
    return total, learner.model.system, list(zip(scores.trees.arrays(), learner.trees))


def test_warnings_of_decoders_name_the_sentence():
    """A warning, such as that a sentence is too long for MH5, names the sentence."""
    system = SimpleNamespace(violation=lambda tensors, heads, single_root: warn("too long"))
    scores = SimpleNamespace(arrays=lambda: [{}, {}, {}], loss=lambda violations: None)
    trees = {0: np.array([-1, 0]), 2: np.array([-1, 0])}
    with collected_warnings() as said:
        assert tree_loss(["a.conllu, line 1", "a.conllu, line 4", "a.conllu, line 8"], system, scores, trees, True) is None
    assert said == ["a.conllu, line 1: too long", "a.conllu, line 8: too long"]


@pytest.mark.parametrize("system", GLOBAL)
def test_structured_loss_is_cost_plus_score_difference(system, sample, tmp_path):
    """The loss is the best score with cost minus the gold score, by the exact decoder."""
    total, system, sentences = tree_losses(system, sample, tmp_path)
    expected = 0.0
    for values, heads in sentences:
        best = system.decoders["exact"](**values, cost=hamming_cost(heads), single_root=True)
        gold = system.decoders["exact"](**values, heads=heads, single_root=True)
        assert best.score >= gold.score
        expected += best.score - gold.score
    assert total == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("system", with_marginals())
@pytest.mark.parametrize("single_root", [False, True])
def test_likelihood_of_small_trees(system, single_root):
    """The likelihoods of all trees of up to four words add up to 1; derivatives are differences between likelihoods."""
    system, rng = SYSTEMS[system], np.random.default_rng(3)
    name = {"any": "all"}.get(system.tree_class, system.tree_class)
    for n in (1, 2, 3, 4):
        values = {name: tensor.astype(float) for name, tensor in toy.scores(system, n, rng).items()}
        heads = [np.array(t, np.int32) for t in brute.class_trees(n, name) if not single_root or t.count(0) == 1]
        found = [system.likelihood(values, tree, single_root) for tree in heads]
        assert sum(np.exp(-each.value) for each in found) == pytest.approx(1, abs=1e-6)
        direction = {name: rng.normal(size=tensor.shape) for name, tensor in values.items()}
        above, below = (
            system.likelihood({name: values[name] + step * direction[name] for name in values}, heads[-1], single_root).value
            for step in (1e-4, -1e-4)
        )
        slope = sum((found[-1].derivatives[name] * direction[name]).sum() for name in values)
        assert (above - below) / 2e-4 == pytest.approx(slope, abs=1e-4)


def test_likelihood_without_a_tree_to_learn(sample, tmp_path):
    """Sentences without a tree, which may be too long, are not computed and do not change the loss."""
    learner, asked = trainer("mst", sample, tmp_path, "training.loss=likelihood"), []

    def likelihood(tensors, heads, single_root):
        asked.append(heads)
        return learner.model.system.likelihood(tensors, heads, single_root)

    def loss(sentences, targets):
        scores = learner.model.build(sentences)
        scores.last.forward()
        return negative_log_likelihood(SimpleNamespace(likelihood=likelihood), scores.trees, targets, True)

    second = learner.trees[1]
    alone = loss(sample[1:2], {0: second}).value()
    assert loss(sample[:3], {1: second}).value() == pytest.approx(alone, rel=1e-5) and alone > 0
    assert loss(sample[:2], {}) is None
    assert [heads is second for heads in asked] == [True, True]


@pytest.mark.parametrize("system", ["mh5-hybrid", "greedy-mh3"])
def test_likelihood_needs_marginals(system, sample, tmp_path):
    with pytest.raises(InputError, match="%s cannot be trained with training.loss = likelihood" % system):
        trainer(system, sample, tmp_path, "training.loss=likelihood")


def hinges_along_the_oracle(system, values, heads, single_root):
    """Return the loss of a greedy parser by definition, one configuration at a time."""
    n = len(heads) - 1
    configuration, loss = Configuration(n), 0.0
    for code in oracle.canonical(heads, system.transitions)[:, 0].tolist():
        s2, s1, s0, b0 = (
            n + 1 if p == EMPTY else p for p in (configuration.s2, configuration.s1, configuration.s0, configuration.b0)
        )
        positions = {"s0b0": (s0, b0), "s1s0": (s1, s0), "s2s1": (s2, s1)}
        if b0 > 0:  # the shift of the root is not learned
            scores = {
                t: sum(float(tensor[(int(t), *positions[name])]) for name, tensor in values.items()) for t in system.transitions
            }
            legal = [t for t in system.transitions if configuration.legal(t)]
            if single_root and b0 <= n:
                legal = [t for t in legal if t == 0 or configuration.arc(t)[0] != 0]
            if single_root and b0 == n + 1 and len(configuration.stack) > 2:
                legal = [t for t in legal if configuration.arc(t)[0] != 0]
            assert code in legal
            loss += max(scores[t] + (t != code) for t in legal) - scores[code]
        configuration.apply(code)
    assert configuration.is_final() and (configuration.heads == heads).all()
    return loss


@pytest.mark.parametrize("system", GREEDY)
@pytest.mark.parametrize("single_root", [False, True])
def test_the_violation_of_random_scores(system, single_root):
    """The violation's coefficients and cost give the loss by definition, also if transitions share scores."""
    system, rng = SYSTEMS[system], np.random.default_rng(7)
    for n in (1, 2, 5, 12):
        values = toy.scores(system, n, rng)
        for _ in range(20):
            heads = beam.decode_local(**{k: rng.normal(size=v.shape) for k, v in values.items()}, single_root=single_root).heads
            violation = system.violation(values, heads, single_root)
            total = violation.cost
            for name in values:
                rows, weights = coefficients(violation.predicted[name], violation.target[name])
                assert len(np.unique(rows, axis=0)) == len(rows) and (weights != 0).all()
                total += float(values[name][tuple(rows.T)] @ weights)
            assert total == pytest.approx(hinges_along_the_oracle(system, values, heads, single_root), abs=1e-4)
    n = 3  # if gold wins by more than 1 everywhere, the violation is empty
    heads = np.array([-1, 2, 0, 2], dtype=np.int32)
    values = {t.name: np.zeros((t.matrices, n + 2, n + 2), np.float32) for t in system.tensors}
    for code, _, _, s0, b0 in oracle.canonical(heads, system.transitions)[1:]:
        values["s0b0"][code, s0, b0] = 2
    violation = system.violation(values, heads, single_root)
    assert violation.cost == 0 and not any(len(rows) for rows in violation.predicted.values())
