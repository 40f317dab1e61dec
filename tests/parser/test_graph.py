"""Additions of our build of DyNet: memory for a graph is allocated before it is computed; values are copied once."""

import numpy as np
import pytest

from mh4.parser.network import graph
from mh4.parser.network.graph import dy
from mh4.util import memory

MB = 2**20


@pytest.fixture(autouse=True)
def locked():
    with graph.lock:
        yield


def product(n):
    """Return an expression of (n, n) numbers, 1 to n in each column."""
    dy.renew_cg()
    column = np.arange(1.0, n + 1)
    return graph.product(dy.inputTensor(column.reshape(n, 1)), dy.inputTensor(np.ones((1, n))))


def test_values_are_copied_once_or_not_at_all():
    for n in (1, 2, 7, 300):
        expression = product(n)
        graph.forward(expression)
        expected = np.outer(np.arange(1, n + 1), np.ones(n))
        value, view = expression.npvalue(), expression.npview()
        assert value.dtype == np.float64 and view.dtype == np.float32
        assert (value.reshape(n, n) == expected).all() and (view.reshape(n, n) == expected).all()
        assert not np.shares_memory(view, value) and np.shares_memory(view, expression.npview())
        assert view.flags.f_contiguous
        value[:] = 0
        assert (view.reshape(n, n) == expected).all()
    stale = expression
    dy.renew_cg()
    with pytest.raises(RuntimeError, match="Stale"):
        stale.npview()


def test_parameters_come_back_as_they_were_set():
    parameters = dy.ParameterCollection()
    rng = np.random.default_rng(1)
    for shape in ((3,), (1, 1), (4, 1), (1, 4), (5, 3)):
        parameter, values = parameters.add_parameters(shape), rng.normal(size=shape)
        parameter.set_value(values)
        assert parameter.as_array().shape == shape and (parameter.as_array() == values.astype(np.float32)).all()
        parameter.set_value(values.T.copy().T)  # in Fortran's order
        assert (parameter.as_array() == values.astype(np.float32)).all()
    for shape in ((1, 1), (1, 5), (6, 1), (6, 5)):
        table, values = parameters.add_lookup_parameters(shape), rng.normal(size=shape)
        table.init_from_array(values)
        assert table.as_array().shape == shape and (table.as_array() == values.astype(np.float32)).all()
        dy.renew_cg()
        assert (dy.lookup(table, shape[0] - 1).npvalue() == table.as_array()[-1]).all()


def test_the_memory_of_a_graph_is_known_beforehand_and_allocated_at_once():
    small = product(10)
    needed, kept = dy.cg().memory()
    assert 400 < needed < 4000 and dy.cg().memory(True)[0] < 4000
    n = int((kept / 4) ** 0.5) + 1000
    large = product(n)
    needed, before = dy.cg().memory()
    assert before == kept < 4 * n * n < needed < 4 * n * n + MB
    graph.forward(large)
    needed_after, kept = dy.cg().memory()
    assert needed_after == needed <= kept < needed + 64 * MB
    assert large.npview()[n - 1, n - 1] == n
    graph.forward(product(n + 1))
    assert dy.cg().memory()[1] == kept  # the new graph is hardly larger
    del small


def test_gradients_too():
    parameters = dy.ParameterCollection()  # must outlive its parameters
    parameter = parameters.add_parameters((2000, 3000), init=1)
    dy.renew_cg()
    loss = dy.sum_elems(dy.square(parameter))
    graph.forward(loss)
    graph.backward(loss)
    needed, kept = dy.cg().memory(True)
    assert 4 * 2000 * 3000 < needed <= kept
    assert loss.value() == 6e6 and (parameter.grad_as_array() == 2).all()


def test_too_little_memory_is_noticed_before_anything_is_computed(monkeypatch):
    kept = product(10) and dy.cg().memory()[1]
    n = int((kept / 4) ** 0.5) + 2000
    monkeypatch.setattr(memory, "available", lambda: 40 * MB)
    large = product(n)
    with pytest.raises(MemoryError, match=r"^the network needs another \d+ MB, and there are 8$"):
        graph.forward(large)
    assert dy.cg().memory()[1] == kept
    monkeypatch.setattr(memory, "available", lambda: 0)
    graph.forward(product(10))  # takes no more than there already is
    for unknown in (None, 1 << 50):
        monkeypatch.setattr(memory, "available", lambda unknown=unknown: unknown)
        graph.forward(product(10))


def test_after_running_out_dynet_can_be_used():
    """A failed request for memory, which frees all memory of DyNet, is followed by graphs that work."""
    for gradients in (False, True):
        product(10)
        with pytest.raises(MemoryError, match=r"^the network needs another \d+ MB$"):
            dy.cg().reserve(1 << 50, gradients)
        loss = dy.sum_elems(product(300))
        graph.forward(loss)
        graph.backward(loss)
        assert loss.value() == pytest.approx(300 * 301 * 150)


def test_more_numbers_than_dynet_can_hold():
    """A matrix of more numbers than 32 bits can count is an error, not a write beyond a smaller matrix."""
    dy.renew_cg()
    huge = dy.zeros((50_000, 50_000))
    with pytest.raises(MemoryError, match="needs a matrix of 2500000000 numbers, more than DyNet can hold"):
        graph.forward(huge)
    dy.renew_cg()
    assert graph.product(dy.inputTensor(np.ones((2, 1))), dy.inputTensor(np.ones((1, 2)))).npvalue().sum() == 4
