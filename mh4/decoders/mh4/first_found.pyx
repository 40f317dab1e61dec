"""MH4 scored on arcs alone, where ties matter: of equally good derivations, the one that is found first in a stated order.

The authors' training trees and sequences are what their chart finds under scores full of ties (0 and 1), and so depend on its order.
An item's candidates come in this order, and a later one replaces an earlier one only if it is better:

    [i,l]      Link [i,j,l] without j, j ascending: RA (i->j), LA (l->j);   [i,i+1] = 0
    [i,j,l]    Link [i,q,j,l] without q, q ascending: RA' (i->q), LA' (j->q), LA2 (l->q)
               Combine [i,j] + [j,l]
               Link [i,j,k,l] without k, k ascending: RA2 (i->k), RA (j->k), LA (l->k)
    [i,j,k,l]  Combine [i,j,k] + [k,l], Combine [i,j] + [j,k,l]

The charts of mh4 are much faster, but which of equally good derivations they find is not specified.
"""

cimport cython
import numpy as np

from mh4.decoders.shared.search cimport BestDerivation, Search

from mh4.decoders.shared import arguments
from mh4.decoders.shared.replay import Tensors
from mh4.decoders.shared.search import best_derivation

cdef extern from "first_found.hpp" nogil:
    cdef cppclass OwnChart "mh4::FirstFound"(BestDerivation):
        pass


def decode(arcs: np.ndarray, single_root: bool = False) -> "tuple[np.ndarray, np.ndarray]":
    """The first of the best derivations: its heads, int32 (n+1,), and the codes of its transitions, intp (2n+1,).

    arcs: float32 (n+1, n+1), the score of head h and dependent m at [h, m], -inf to forbid an arc.
    O(n^4) time and O(n^3) memory. Raises ValueError for invalid scores or if they forbid every derivation, MemoryError if the sentence
    is too long.
    """
    side = arguments.words("arcs", arcs, 1) + 2
    zeros = np.zeros((6, side, side), dtype=np.float32)
    found = best_derivation(Chart, None, Tensors(6, zeros[0], zeros, None, arcs, None), None, single_root, 4)
    return found.heads, np.ascontiguousarray(found.transitions[:, 0])


@cython.final
cdef class Chart(Search):
    cdef OwnChart own

    def __cinit__(self):
        self.search = &self.own
