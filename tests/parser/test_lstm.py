"""The bi-LSTM node of DyNet, over many sequences, has the states and derivatives of a plain LSTM in numpy."""

import numpy as np
import pytest

from mh4.parser.network import lstm
from mh4.parser.network.graph import dy
from mh4.parser.network.lstm import BiLSTM, Layer

LENGTHS = [[4], [1], [3, 3], [2, 5, 1, 5, 3], [1, 1, 1], [9, 1, 1, 12, 30] + [2] * 20]


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def plain_lstm(weights, vectors, state_mask=1.0, cell_mask=1.0):
    """Run the coupled-gate LSTM with peepholes on one sequence (inputs, n); weights: half of Layer.weights."""
    W, U, to_input_gate, to_output_gate, b = weights
    h = c = np.zeros(U.shape[1])
    outputs = []
    for x in vectors.T:
        i, o, g = np.split(W @ x + U @ (h * state_mask) + b, 3)
        i = sigmoid(i + to_input_gate @ (c * cell_mask))
        c = (1 - i) * c + i * np.tanh(g)
        h = sigmoid(o + to_output_gate @ (c * cell_mask)) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs).T


def plain_layer(directions, vectors, lengths, masks=None):
    """Run a layer on consecutive sequences (inputs, N); directions: both weights; masks: as for `Layer.masked`."""
    ranks = np.argsort(np.argsort(-np.array(lengths), kind="stable"))
    inputs, units = len(vectors), len(directions[0][2])
    outputs = []
    for sequence, rank in zip(np.split(vectors, np.cumsum(lengths)[:-1], axis=1), ranks):
        both = []
        for direction, (weights, step) in enumerate(zip(directions, (1, -1))):
            mask = np.ones(inputs + 2 * units) if masks is None else masks[:, rank, direction]
            masked = sequence[:, ::step] * mask[:inputs, None]
            both.append(plain_lstm(weights, masked, mask[inputs : inputs + units], mask[inputs + units :])[:, ::step])
        outputs.append(np.concatenate(both))
    return np.concatenate(outputs, axis=1)


def halves(weights):
    return weights[:5], weights[5:]


def values(layer):
    return halves([weights.as_array() for weights in layer.weights])


def random_masks(rng, layer, lengths, dropout=0.4):
    kept = rng.random((layer.rows, len(lengths), 2)) >= dropout
    return (kept / (1 - dropout)).astype(np.float32)


def random_layer(rng, inputs, units):
    """Return a layer with random biases, and the parameters, which must outlive it."""
    parameters = dy.ParameterCollection()
    layer = Layer(inputs, units, parameters)
    for *_, bias in halves(layer.weights):
        bias.set_value(rng.normal(size=3 * units))
    return layer, parameters


@pytest.mark.parametrize("lengths", LENGTHS)
def test_equals_plain(lengths):
    dy.renew_cg()
    dy.reset_random_seed(7)
    parameters = dy.ParameterCollection()
    bilstm = BiLSTM(2, 3, 8, parameters)
    vectors = np.random.default_rng(1).normal(size=(3, sum(lengths)))
    layers = bilstm(dy.inputTensor(vectors), lengths)
    plain = vectors
    for layer, found in zip(bilstm.layers, layers):
        plain = plain_layer(values(layer), plain, lengths)
        assert found.dim() == ((8, sum(lengths)), 1)
        np.testing.assert_allclose(found.npvalue(), plain, rtol=1e-4, atol=1e-5)


def test_dropout_draws_masks_for_inputs_states_and_cells(monkeypatch):
    dy.renew_cg()
    rng = np.random.default_rng(3)
    layer, parameters = random_layer(rng, 5, 4)
    drawn = []

    def masks(*arguments):
        drawn.append(lstm_masks(*arguments))
        return drawn[-1]

    lstm_masks = lstm._masks
    monkeypatch.setattr(lstm, "_masks", masks)
    vectors = rng.normal(size=(5, 7))
    found = layer(dy.inputTensor(vectors), [3, 4], 0.5).npvalue()
    assert drawn[0].dim() == ((13, 2), 2)
    np.testing.assert_allclose(found, plain_layer(values(layer), vectors, [3, 4], drawn[0].npvalue()), rtol=1e-4, atol=1e-5)
    layer(dy.inputTensor(vectors), [3, 4], 0.0)
    assert len(drawn) == 1


def test_masks_drop_at_the_rate_and_keep_the_mean():
    dy.renew_cg()
    dy.reset_random_seed(7)
    mask = lstm._masks(100, 100, 0.3).npvalue()
    assert set(np.unique(mask).round(4)) == {0.0, round(1 / 0.7, 4)}
    assert abs((mask == 0).mean() - 0.3) < 0.02 and abs((mask == 0).mean(axis=(0, 1)) - 0.3).max() < 0.02
    assert (mask[..., 0] != mask[..., 1]).any() and (mask != lstm._masks(100, 100, 0.3).npvalue()).any()
    dy.reset_random_seed(7)
    assert (mask == lstm._masks(100, 100, 0.3).npvalue()).all()


def gradients(layer, vectors, lengths, masks, outer):
    """Return the states and the derivatives of sum(outer * states) with respect to the input and all weights."""
    dy.renew_cg()
    x = dy.parameter(layer.vectors)
    layer.vectors.set_value(vectors)
    states = layer.masked(x, lengths, None if masks is None else dy.inputTensor(masks, batched=True))
    weights = [layer.vectors, *layer.weights]
    for each in weights:
        each.scale_gradient(0)
    dy.dot_product(dy.reshape(states, (outer.size,)), dy.inputTensor(outer.ravel(order="F"))).backward()
    return states.npvalue().reshape(outer.shape), [each.grad_as_array().copy() for each in weights]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("inputs, units", [(3, 1), (6, 17), (16, 16), (40, 48), (193, 67)])
def test_the_node_and_its_derivatives(inputs, units, lengths, masked):
    """States are those of the plain LSTM, and derivatives agree with its finite differences in double precision."""
    rng = np.random.default_rng([inputs, len(lengths)])
    layer, parameters = random_layer(rng, inputs, units)
    layer.vectors = parameters.add_parameters((inputs, sum(lengths)))
    vectors, outer = rng.normal(size=(inputs, sum(lengths))), rng.normal(size=(2 * units, sum(lengths)))
    masks = random_masks(rng, layer, lengths) if masked else None
    states, found = gradients(layer, vectors, lengths, masks, outer)
    np.testing.assert_allclose(states, plain_layer(values(layer), vectors, lengths, masks), rtol=1e-4, atol=1e-5)
    start = [weights.as_array() for weights in (layer.vectors, *layer.weights)]

    def value(step, moved, direction):
        x, *weights = (each + step * direction if k == moved else each for k, each in enumerate(start))
        return (outer * plain_layer(halves(weights), x, lengths, masks)).sum()

    for k, gradient in enumerate(found):
        for _ in range(3):
            direction = gradient + rng.normal(size=gradient.shape) * (np.sqrt((gradient**2).mean()) + 0.01)
            difference = (value(1e-5, k, direction) - value(-1e-5, k, direction)) / 2e-5
            scale = np.sqrt((gradient**2).sum() * (direction**2).sum())
            assert abs((gradient * direction).sum() - difference) < 1e-5 * max(scale, 1), (k, difference)


def test_the_node_depends_on_nothing_that_was_in_memory():
    """Results do not depend on memory that earlier graphs wrote, nor on earlier backward passes of the same graph."""
    rng, lengths = np.random.default_rng(1), [2, 5, 1, 5, 3]
    layer, parameters = random_layer(rng, 7, 19)
    layer.vectors = parameters.add_parameters((7, 16))
    vectors, outer, masks = rng.normal(size=(7, 16)), rng.normal(size=(38, 16)), random_masks(rng, layer, lengths)
    results = []
    for left in (0.0, np.nan, np.inf, 1e30):
        dy.renew_cg()
        fill = dy.inputTensor(np.full((1000, 1000), left))
        p = dy.parameter(parameters.add_parameters((1000, 1000)))
        loss = dy.sum_elems(dy.cmult(p, fill))
        loss.value()
        loss.backward()
        states, found = gradients(layer, vectors, lengths, masks, outer)
        results.append([states, *found])
        assert all(np.isfinite(each).all() for each in results[-1])
        assert all((one == other).all() for one, other in zip(results[-1], results[0]))

    dy.renew_cg()
    states = layer.masked(dy.parameter(layer.vectors), lengths, dy.inputTensor(masks, batched=True))
    two = [dy.dot_product(dy.reshape(states, (outer.size,)), dy.inputTensor(k * outer.ravel(order="F"))) for k in (1.0, 2.0)]
    for loss in (two[0], two[1], two[0]):
        layer.vectors.scale_gradient(0)
        loss.value()
        loss.backward()
        scale = 2 if loss is two[1] else 1
        np.testing.assert_allclose(layer.vectors.grad_as_array(), scale * results[0][1], rtol=1e-5, atol=1e-6)


def test_the_node_refuses_what_does_not_fit():
    dy.renew_cg()
    layer, parameters = random_layer(np.random.default_rng(1), 5, 4)
    x, masks = dy.inputTensor(np.ones((5, 7))), dy.inputTensor(np.ones((13, 2, 2)), batched=True)
    assert layer.masked(x, [3, 4], masks).npvalue().shape == (8, 7)
    for vectors, lengths, factors in (
        (x, [3, 3], None),
        (x, [], None),
        (dy.inputTensor(np.ones((4, 7))), [3, 4], None),
        (x, [3, 2, 2], masks),
        (x, [3, 4], dy.inputTensor(np.ones((12, 2, 2)), batched=True)),
        (x, [3, 4], dy.inputTensor(np.ones((13, 2)))),
    ):
        with pytest.raises(ValueError, match="BiLSTM"):
            layer.masked(vectors, lengths, factors)
