"""Compare our patched DyNet with numpy: products, selections, gradients of parameters, Adam and masks."""

import numpy as np
import pytest

from mh4.parser.network.graph import affine, dy, product

SIZES = [1, 2, 7, 15, 16, 17, 48, 50, 97]


def close(one, other, scale=1.0):
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * scale)


def parameter(collection, value):
    made = collection.add_parameters(value.shape)
    made.set_value(value)
    return made


def backward(expression, outer):
    """Compute the gradients of sum(outer * expression)."""
    loss = dy.dot_product(dy.reshape(expression, (outer.size,)), dy.inputTensor(outer.ravel(order="F")))
    loss.value()
    loss.backward()


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 8, 9, 16, 20, 113])
@pytest.mark.parametrize("seed", range(4))
def test_products_and_their_gradients(columns, seed):
    """Products are right for whole and partial vectors, tiles and strips, of all heights and depths."""
    rng = np.random.default_rng([columns, seed])
    rows, depth = rng.choice(SIZES, 2)
    depth += 256 * (seed % 2)  # more than a block
    W, x, b = rng.normal(size=(rows, depth)), rng.normal(size=(depth, columns)), rng.normal(size=rows)
    outer = rng.normal(size=(rows, columns))
    for with_bias in (True, False):
        dy.renew_cg()
        collection = dy.ParameterCollection()
        made = [parameter(collection, value) for value in (W, x, b)]
        result = affine(made[0], made[1], made[2]) if with_bias else product(made[0], made[1])
        expected = W @ x + (b[:, None] if with_bias else 0)
        close(result.npvalue().reshape(rows, columns), expected, np.sqrt(depth))
        backward(result, outer)
        close(made[0].grad_as_array(), outer @ x.T, columns)
        close(made[1].grad_as_array(), W.T @ outer, rows)
        close(made[2].grad_as_array(), outer.sum(axis=1) if with_bias else 0, columns)


@pytest.mark.parametrize("left, right", [(3, 3), (1, 3), (3, 1)])
def test_products_of_batches(left, right):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(20, 9, left)), rng.normal(size=(9, 5, right))
    dy.renew_cg()
    collection = dy.ParameterCollection()
    ones = [parameter(collection, np.ones(each.shape[:2])) for each in (a, b)]
    inputs = [dy.inputTensor(each, batched=True) if each.shape[2] > 1 else dy.inputTensor(each[..., 0]) for each in (a, b)]
    result = dy.cmult(ones[0], inputs[0]) * dy.cmult(ones[1], inputs[1])
    a, b = (np.broadcast_to(each, (*each.shape[:2], 3)) for each in (a, b))
    close(result.npvalue(), np.einsum("ijk,jlk->ilk", a, b))
    outer = rng.normal(size=(20, 5, 3))
    loss = dy.sum_batches(dy.sum_elems(dy.cmult(result, dy.inputTensor(outer, batched=True))))
    loss.value()
    loss.backward()
    close(ones[0].grad_as_array(), (a * np.einsum("ilk,jlk->ijk", outer, b)).sum(axis=2), 30)
    close(ones[1].grad_as_array(), (b * np.einsum("ijk,ilk->jlk", a, outer)).sum(axis=2), 30)


@pytest.mark.parametrize("dimension", [0, 1])
def test_ranges_and_columns_of_batches(dimension):
    rng = np.random.default_rng(2)
    x, factor = rng.normal(size=(6, 7, 3)), rng.normal(size=(6, 7))
    dy.renew_cg()
    collection = dy.ParameterCollection()  # DyNet frees the weights with it
    weights = parameter(collection, factor)
    taken = dy.cmult(weights, dy.inputTensor(x, batched=True))
    expected = factor[..., None] * x
    ranges = dy.pick_range(taken, 2, 5, dimension)
    columns = dy.select_cols(taken, [3, 0, 3, 6])
    close(ranges.npvalue(), expected.take(range(2, 5), axis=dimension))
    close(columns.npvalue(), expected[:, [3, 0, 3, 6]])
    loss = dy.sum_batches(dy.sum_elems(ranges) + dy.sum_elems(columns) * 2)
    loss.value()
    loss.backward()
    gradient = np.zeros_like(x)
    gradient[(slice(None),) * dimension + (slice(2, 5),)] = 1
    np.add.at(gradient, (slice(None), [3, 0, 3, 6]), 2)
    close(weights.grad_as_array(), (gradient * x).sum(axis=2))
    with pytest.raises(ValueError):
        dy.select_cols(taken, [7]).npvalue()


def test_gradients_of_parameters_add_up_over_uses_and_graphs():
    collection = dy.ParameterCollection()
    p, unused = parameter(collection, np.array([1.0, 2.0])), parameter(collection, np.array([3.0]))
    for graph in range(1, 3):
        dy.renew_cg()
        constant = dy.inputTensor(np.array([5.0, 7.0]))
        again = dy.parameter(p)
        loss = dy.dot_product(p, constant) + dy.dot_product(again, again) + dy.dot_product(constant, constant)
        loss.value()
        loss.backward()
        close(p.grad_as_array(), graph * (np.array([5, 7]) + 2 * np.array([1, 2])))
        close(unused.grad_as_array(), 0)
        assert (np.array(constant.gradient()) == 0).all()  # no gradient is computed for a constant
    loss.backward(full=True)
    close(constant.gradient(), np.array([1, 2]) + 2 * np.array([5, 7]))
    p.set_value([10.0, 20.0])
    dy.renew_cg()
    close(dy.parameter(p).npvalue(), [10, 20])


def test_adam():
    """Adam is that of Kingma & Ba (2015), with clipped gradients, on more numbers than fit into a block."""
    rng, collection = np.random.default_rng(3), dy.ParameterCollection()
    start = rng.normal(size=2500)
    p = parameter(collection, start)
    trainer = dy.AdamTrainer(collection, 0.01)
    trainer.set_clip_threshold(5)
    expected, m, v = start.copy(), np.zeros(2500), np.zeros(2500)
    for t in range(1, 4):
        direction = rng.normal(size=2500)
        dy.renew_cg()
        backward(p, direction)
        trainer.update()
        g = direction * 5 / np.sqrt((direction**2).sum())
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        expected -= 0.01 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(v) + 1e-8)
        close(p.as_array(), expected)
        assert (p.grad_as_array() == 0).all()


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 1.0])
def test_masks(kept):
    """Bits are independent within a mask, between masks and between seeds."""
    masks = []
    for seed in (1, 2):
        dy.renew_cg()
        dy.reset_random_seed(seed)
        masks += [dy.random_bernoulli((1000, 100), kept, 2.0).npvalue() for _ in range(2)]
    dy.reset_random_seed(1)
    assert (dy.random_bernoulli((1000, 100), kept, 2.0).npvalue() == masks[0]).all()
    deviation = np.sqrt(kept * (1 - kept))
    for mask in masks:
        assert set(np.unique(mask)) <= {0.0, 2.0}
        bits = mask / 2
        assert abs(bits.mean() - kept) <= 5 * deviation / np.sqrt(bits.size)
        assert np.abs(bits.mean(axis=0) - kept).max() <= 5 * deviation / np.sqrt(1000)
        assert np.abs(bits.mean(axis=1) - kept).max() <= 5 * deviation / np.sqrt(100)
    flat = [mask.ravel(order="F") / 2 - kept for mask in masks]
    pairs = [(a, b) for i, a in enumerate(flat) for b in flat[:i]]
    pairs += [(flat[0][step:], flat[0][:-step]) for step in (1, 2, 16, 64, 1000, 1024)]
    for a, b in pairs:
        assert abs((a * b).mean()) <= 5 * deviation**2 / np.sqrt(len(a))
