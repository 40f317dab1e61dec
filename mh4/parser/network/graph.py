"""Set up DyNet once: no banner on the terminal, and no automatic batching.

The graph of a minibatch is batched by hand: each step of all sequences is one product, and so is each layer above. The
gain from any remaining automatic batching would not outweigh the cost of the search for it.

Modules that build a computation graph import ``dy`` from here. No other module of the package imports DyNet, so the
decoders and the commands that need no model start without it.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mh4.errors import NotInstalled
from mh4.util import memory


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Suppress DyNet's messages about its seed and memory, which it writes to file descriptor 2 from C++."""
    if sys.stderr is None:  # it is closed
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


with _quiet_stderr():
    try:
        import dynet_config
    except ModuleNotFoundError:
        raise NotInstalled(
            "this needs DyNet, which pip cannot build by itself: run `mh4 install-dynet`, which compiles it in a few minutes"
        ) from None

    # Memory in MB to begin with: for values, gradients, parameters, and temporary results. DyNet writes zeros to all of it.
    dynet_config.set(autobatch=0, mem="1,1,1,1", random_seed=1)
    import dynet as dy

# Another build of DyNet, or an earlier one of ours, lacks at least one of these.
if not all(hasattr(*feature) for feature in ((dy, "bilstm"), (dy.Expression, "npview"), (dy.ComputationGraph, "memory"))):
    raise NotInstalled("this needs mh4's build of DyNet, and another one is installed: run `mh4 install-dynet`")

__all__ = ["dy", "lock", "forward", "backward", "affine", "product"]

_STEP = 16 << 20  # DyNet's memory grows by multiples of this, as the needs of minibatches differ a little

# DyNet has one graph for the whole process. A thread holds this lock from before it begins a graph until it has all results, and
# while it makes or changes parameters. A process is not forked while another thread holds it, so a forked child finds it free.
lock = threading.RLock()
os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def forward(last: "dy.Expression") -> None:
    """Compute every expression of the graph up to `last`, the newest.

    Raises MemoryError before computing anything if there is too little memory.
    """
    _reserve(gradients=False)
    last.forward()


def backward(loss: "dy.Expression") -> None:
    """Compute the gradients of a scalar, the newest expression. Raises MemoryError as `forward` does."""
    _reserve(gradients=True)
    loss.backward()


def _reserve(gradients: bool) -> None:
    """Have DyNet allocate all missing memory for the values of the graph, or for their gradients, at once.

    If DyNet allocated it bit by bit, a container with limited memory would kill the process before an error could be raised.
    """
    needed, kept = dy.cg().memory(gradients)
    if needed > kept:
        size = -(-needed // _STEP) * _STEP
        memory.require(size - kept, "the network")
        dy.cg().reserve(size, gradients)


def affine(weights: "dy.Expression", vectors: "dy.Expression", bias: "dy.Expression") -> "dy.Expression":
    """Return weights * vectors, (outputs, N), with the bias added to each column, as a single node."""
    (outputs, _), _ = weights.dim()
    (_, *columns), _ = vectors.dim()
    result = dy.affine_transform([bias, weights, vectors])
    return dy.reshape(result, (outputs, 1)) if columns in ([], [1]) else result  # DyNet turns a single column into a vector


def product(left: "dy.Expression", right: "dy.Expression") -> "dy.Expression":
    """Return left * right, (rows, N).

    DyNet's own product adds 0 times the numbers left in memory, which gives NaN where an earlier graph, such as a damaged
    model, left NaN or infinity.
    """
    (rows, _), _ = left.dim()
    return affine(left, right, dy.zeros(rows))
