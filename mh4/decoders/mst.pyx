"""Find maximum spanning trees, compute the marginals of spanning trees, and sample spanning trees.

The search is in charts/mst/contraction.hpp, the sum over all trees in charts/mst/matrix_tree.hpp.
"""

import numpy as np

from mh4.decoders.sentences cimport Factories, Workspace

from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation, Marginals
from mh4.decoders.sentences import Decoding, Sampling, Summing

cdef extern from "factories.hpp":
    const Factories* const* VARIANTS


cdef class MST(Workspace):
    def __cinit__(self):
        self.make(VARIANTS)


def decode(
    arcs: np.ndarray, *, cost: np.ndarray | None = None, heads: np.ndarray | None = None, single_root: bool = False
) -> Derivation:
    """Return the highest-scoring tree over n words, in O(n^2) time and memory (Chu & Liu 1965, Edmonds 1967, Tarjan 1977).

    arcs: float32 or float64 (n+1, n+1), the score of head h and dependent m at [h, m].
    cost: like arcs, added for every arc. A score or cost of -1e30 or less, such as -inf, forbids an arc.
    heads: int array (n+1,); if given, only trees with these heads are considered. -1 allows any head, -2 any head
        except the root.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the tree is just the root.
    Returns a Derivation with part "arcs" (n, 2), rows (head, dependent); it has no transitions.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if no tree with these heads has the required single root; MemoryError if the sentence is
    too long for the memory of the machine.
    """
    return Decoding(_tensors(arcs), heads, single_root, cost).alone(MST)


def marginals(arcs: np.ndarray, *, heads: np.ndarray | None = None, single_root: bool = False) -> Marginals:
    """Return the probabilities of arcs over all trees of n words.

    The probability of a tree is proportional to the exponential of its score. The arguments are as for `mst.decode`;
    float64 scores are not rounded to float32. The part "arcs" is the array of probabilities itself.

    heads: integers (n+1,), -1 at 0; if given, only trees with these heads count, as for `decode`.

    Raises ValueError for wrong shapes, NaN and similar, and if there is no tree (scores -inf, heads with a cycle, or
    single_root without words); NotInClass if no tree with these `heads` has the required single root; MemoryError if
    the sentence is too long for the memory of the machine.
    """
    return Summing(_tensors(arcs), heads, single_root).alone(MST)


def sample(
    arcs: np.ndarray,
    *,
    samples: int,
    rng: int | np.random.Generator | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> np.ndarray:
    """Sample trees of n words independently, each with probability proportional to the exponential of its score.

    Sampling is exact. It takes O(n^3) time for the sum over all trees, and then about O(n^2), at most O(n^3), for each
    sample.

    samples: the number of samples.
    rng: a seed, or a numpy.random.Generator, from which one number is drawn; by default, an unpredictable seed.
    The other arguments are as for `marginals`.

    Returns the heads of the trees, int32 (samples, n+1), -1 at 0. Raises what `marginals` raises, and ValueError for a
    wrong number of samples.
    """
    return Sampling(_tensors(arcs), heads, single_root, samples, rng).alone(MST)


def _tensors(arcs: np.ndarray) -> dict[str, np.ndarray]:
    n = arguments.words("arcs", arcs, 1)
    return {"arcs": arguments.tensor("arcs", arcs, (n + 1, n + 1))}
