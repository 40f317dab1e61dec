"""The arc-factored decoder of MH_k for any k >= 3, in O(n^k) time and O(n^(k-1)) memory (Figure 2 of the paper).

    [h1,...,hm] = best of  Combine  [h1,...,hs] + [hs,...,hm],  1 < s < m
                           Link     [h1,...,x,...,hm] + arc h->x,  h one of h1,...,hm;      [i,i+1] = 0

Items of k heads are only used by Link and are not stored. The chart is in charts/mhk/chart.hpp.
"""

from collections.abc import Sequence

import numpy as np

from mh4.decoders.arguments cimport checked_tree
from mh4.decoders.sentences cimport Factories, Workspace

from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation
from mh4.decoders.memory import out_of_memory
from mh4.decoders.sentences import Decoding

cdef extern from "factories.hpp":
    const Factories* const* VARIANTS

cdef extern from "mhk/smallest_k.hpp":
    int find_smallest_k "smallest_k"(const int* heads, int n) except + nogil


cdef class MHK(Workspace):
    def __cinit__(self):
        self.make(VARIANTS)


def decode(
    arcs: np.ndarray, k: int, *, cost: np.ndarray | None = None, heads: np.ndarray | None = None, single_root: bool = False
) -> Derivation:
    """Return the highest-scoring tree over n words that MH_k derives.

    These are the projective trees for k = 3, the trees of mh4 for k = 4, and all trees for k = n+2. This takes O(n^k)
    time and O(n^(k-1)) memory (Figure 2).

    arcs: float32 or float64 (n+1, n+1), the score of head h and dependent m at [h, m].
    k: int, at least 3.
    cost: like arcs, added for every arc. A score or cost of -1e30 or less, such as -inf, forbids an arc.
    heads: int array (n+1,); if given, only trees with these heads are considered. -1 allows any head, -2 any head
        except the root.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the tree is just the root.
    Returns a Derivation with part "arcs" (n, 2), rows (head, dependent); it has no transitions.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if no tree in MH_k has these heads (and a single root, if required); MemoryError if the
    sentence is too long for the memory of the machine.
    """
    if not arguments.is_count(k, 3):
        raise ValueError(f"k: expected an integer of at least 3, got {k!r}")
    n = arguments.words("arcs", arcs, 1)
    tensors = {"arcs": arguments.tensor("arcs", arcs, (n + 1, n + 1))}
    return Decoding(tensors, heads, single_root, cost).alone(MHK, k=min(k, 2**31 - 1))


def smallest_k(heads: np.ndarray | Sequence[int]) -> int:
    """Return the smallest k >= 3 such that MH_k derives the tree; heads: int array (n+1,), a tree. This takes O(n^3) time."""
    cdef const int[::1] given = checked_tree(heads)
    cdef int n = <int> given.shape[0] - 1, found
    try:
        with nogil:
            found = find_smallest_k(&given[0], n)
    except MemoryError:
        raise out_of_memory(n, 2.0 * (n + 2) ** 2 * sizeof(int)) from None
    return found
