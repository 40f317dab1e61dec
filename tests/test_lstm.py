"""The packed bi-LSTM equals the plain one, word by word."""

import numpy as np
import pytest

from mh4.network import lstm
from mh4.network.graph import dy
from mh4.network.lstm import BiLSTM, Packing


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def plain_lstm(lstm, vectors, state_mask=1.0, cell_mask=1.0):
    """The coupled-gate LSTM with peepholes on one sequence (inputs, n), step by step in numpy."""
    W, U, b = (p.as_array() for p in (lstm.from_input, lstm.from_state, lstm.bias))
    to_input_gate, to_output_gate = lstm.cell_to_input_gate.as_array(), lstm.cell_to_output_gate.as_array()
    h = c = np.zeros(U.shape[1])
    outputs = []
    for x in vectors.T:
        i, o, g = np.split(W @ x + U @ (h * state_mask) + b, 3)
        i = sigmoid(i + to_input_gate @ (c * cell_mask))
        c = (1 - i) * c + i * np.tanh(g)
        h = sigmoid(o + to_output_gate @ (c * cell_mask)) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs).T


def plain_bilstm(bilstm, vectors):
    for layer in bilstm.layers:
        forward, backward = layer.directions
        vectors = np.concatenate([plain_lstm(forward, vectors), plain_lstm(backward, vectors[:, ::-1])[:, ::-1]])
    return vectors


@pytest.mark.parametrize("lengths", [[4], [1], [3, 3], [2, 5, 1, 5, 3], [1, 1, 1]])
def test_packed_equals_plain(lengths):
    dy.renew_cg()
    dy.reset_random_seed(7)
    parameters = dy.ParameterCollection()  # DyNet frees the weights with it
    bilstm = BiLSTM(2, 3, 8, parameters)
    vectors = np.random.default_rng(1).normal(size=(3, sum(lengths)))
    packing = Packing(lengths)
    packed = bilstm(dy.inputTensor(vectors), packing)[-1].npvalue().reshape(8, -1)[:, packing.natural]
    plain = [plain_bilstm(bilstm, part) for part in np.split(vectors, np.cumsum(lengths)[:-1], axis=1)]
    np.testing.assert_allclose(packed, np.concatenate(plain, axis=1), rtol=1e-4, atol=1e-5)


def test_packing_is_its_own_inverse():
    packing = Packing([2, 5, 1, 5, 3])
    everything = np.arange(16)
    assert (packing.packed[packing.natural] == everything).all()
    assert (packing.reversed[packing.reversed] == everything).all()
    assert packing.sizes == [5, 4, 3, 2, 2]


def test_dropout_keeps_one_mask_for_each_sequence(monkeypatch):
    """The plain LSTM with its inputs and states masked by hand, the same at every step of a sequence."""
    dy.renew_cg()
    parameters, lengths = dy.ParameterCollection(), [3, 4]
    layer = BiLSTM(1, 5, 8, parameters).layers[0]
    rng = np.random.default_rng(3)
    masks = []

    def mask(rows, columns, dropout, batch=1):
        shape = (rows, columns, batch) if batch > 1 else (rows, columns)
        masks.append((rng.random(shape) >= dropout) / (1 - dropout))
        return dy.inputTensor(masks[-1], batched=batch > 1)

    monkeypatch.setattr(lstm, "_mask", mask)
    vectors, packing = rng.normal(size=(5, 7)), Packing(lengths)
    out = layer(dy.inputTensor(vectors[:, packing.packed]), packing, 0.5).npvalue()[:, packing.natural]
    *inputs, state, cell = masks
    for rank, start, stop in ((1, 0, 3), (0, 3, 7)):  # the longer sequence comes first
        for direction, (weights, step) in enumerate(zip(layer.directions, (1, -1))):
            masked = vectors[:, start:stop][:, ::step] * inputs[direction][:, [rank]]
            by_hand = plain_lstm(weights, masked, state[:, rank, direction], cell[:, rank, direction])
            found = out[4 * direction : 4 * direction + 4, start:stop][:, ::step]
            np.testing.assert_allclose(found, by_hand, rtol=1e-4, atol=1e-5)


def test_masks_drop_at_the_rate_and_keep_the_mean():
    dy.renew_cg()
    dy.reset_random_seed(7)
    mask = lstm._mask(100, 100, 0.3).npvalue()
    assert set(np.unique(mask).round(4)) == {0.0, round(1 / 0.7, 4)}
    assert abs((mask == 0).mean() - 0.3) < 0.03
