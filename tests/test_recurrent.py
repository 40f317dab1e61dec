"""The packed bi-LSTM equals the plain one, word by word."""

import numpy as np
import pytest

from mh4.graph import dy
from mh4.recurrent import BiLSTM, Packing


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def plain_lstm(lstm, vectors):
    """The coupled-gate LSTM of one sequence (inputs, n), step by step in numpy."""
    W, U, b = (p.as_array() for p in (lstm.from_input, lstm.from_state, lstm.bias))
    h = c = np.zeros(lstm.units)
    outputs = []
    for x in vectors.T:
        i, o, g = np.split(W @ x + U @ h + b, 3)
        c = (1 - sigmoid(i)) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.array(outputs).T


def plain_bilstm(bilstm, vectors):
    for forward, backward in bilstm.layers:
        vectors = np.concatenate([plain_lstm(forward, vectors), plain_lstm(backward, vectors[:, ::-1])[:, ::-1]])
    return vectors


@pytest.mark.parametrize("lengths", [[4], [1], [3, 3], [2, 5, 1, 5, 3], [1, 1, 1]])
def test_packed_equals_plain(lengths):
    dy.renew_cg()
    dy.reset_random_seed(7)
    bilstm = BiLSTM(2, 3, 8, dy.ParameterCollection())
    vectors = np.random.default_rng(1).normal(size=(3, sum(lengths)))
    packed = bilstm(dy.inputTensor(vectors), lengths, 0.3, None).npvalue()
    plain = [plain_bilstm(bilstm, part) for part in np.split(vectors, np.cumsum(lengths)[:-1], axis=1)]
    np.testing.assert_allclose(packed.reshape(8, -1), np.concatenate(plain, axis=1), rtol=1e-4, atol=1e-5)


def test_packing_is_its_own_inverse():
    packing = Packing([2, 5, 1, 5, 3])
    everything = np.arange(16)
    assert (packing.packed[packing.natural] == everything).all()
    assert (packing.reversed[packing.reversed] == everything).all()
    assert packing.sizes == [5, 4, 3, 2, 2]


def test_dropout_keeps_one_mask_for_each_sequence():
    """With inputs of ones and identity weights the first gates show the mask: alike over steps, unlike over sequences."""
    dy.renew_cg()
    bilstm = BiLSTM(1, 50, 4, dy.ParameterCollection())
    (forward, _), packing = bilstm.layers[0], Packing([3, 3])
    forward.from_state.set_value(np.zeros((6, 2)))
    noise = np.random.default_rng(3)
    out = forward(dy.inputTensor(np.ones((50, 6))), packing, 0.5, noise).npvalue()
    W = forward.from_input.as_array()
    mask = (np.random.default_rng(3).random((50, 2)) >= 0.5) / 0.5
    i, o, g = np.split(W @ mask, 3)
    cell = sigmoid(i) * np.tanh(g)
    np.testing.assert_allclose(out[:, :2], sigmoid(o) * np.tanh(cell), rtol=1e-4, atol=1e-5)
    cell = (1 - sigmoid(i)) * cell + sigmoid(i) * np.tanh(g)  # the same mask at the second step
    np.testing.assert_allclose(out[:, 2:4], sigmoid(o) * np.tanh(cell), rtol=1e-4, atol=1e-5)
