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
from libc.math cimport INFINITY

from mh4.decoders.shared.replay cimport LA, LA2, LAp, RA, RA2, RAp, SH
from mh4.decoders.shared.search cimport Search, Step, by_combine, by_link

from mh4.decoders.shared import arguments
from mh4.decoders.shared.replay import Tensors
from mh4.decoders.shared.search import best_derivation


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


@cython.final  # so that its methods are compiled into their callers
cdef class Chart(Search):

    cdef float* t2  # [i,l] at i, l
    cdef float* t3  # [i,j,l] at i, j, l

    cdef void arrange(self) noexcept nogil:
        cdef size_t side = self.scores.side
        self.t2 = self.floats(side * side)
        self.t3 = self.floats(side * side * side)

    cdef float* at2(self, int i, int l) noexcept nogil:
        return self.t2 + <size_t> i * self.scores.side + l

    cdef float* at3(self, int i, int j, int l) noexcept nogil:
        return self.t3 + (<size_t> i * self.scores.side + j) * self.scores.side + l

    cdef bint fill(self) except -1 nogil:
        cdef int n = self.scores.n, i, j, l, span
        for i in range(n + 1):
            self.at2(i, i + 1)[0] = 0
        for span in range(2, n + 2):
            for i in range(n + 2 - span):
                l = i + span
                for j in range(i + 1, l):
                    self.at3(i, j, l)[0] = self.step3(i, j, l).score
                    self.watch.after(32 * span)
                self.at2(i, l)[0] = self.step2(i, l).score
        return self.at2(0, n + 1)[0] > -INFINITY and not (self.single and n == 0)

    cdef float arc(self, int h, int m, int l, bint last) noexcept nogil:
        """The score of an arc in a Link of an item that ends in l; with a single root, only the `last` Link makes one from node 0."""
        if h > self.scores.n or h == 0 and self.single and not (last and l == self.scores.n + 1):
            return -INFINITY
        return self.scores.of_arc(h, m)

    cdef Step step2(self, int i, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef int j
        for j in range(i + 1, l):
            by_link(&best, self.at3(i, j, l)[0] + self.arc(i, j, l, True), RA, j)
            by_link(&best, self.at3(i, j, l)[0] + self.arc(l, j, l, True), LA, j)
        return best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef int k
        cdef float score
        for k in range(i + 1, j):
            score = self.step4(i, k, j, l).score
            by_link(&best, score + self.arc(i, k, l, False), RAp, k)
            by_link(&best, score + self.arc(j, k, l, False), LAp, k)
            by_link(&best, score + self.arc(l, k, l, False), LA2, k)
        by_combine(&best, self.at2(i, j)[0] + self.at2(j, l)[0], 2)
        for k in range(j + 1, l):
            score = self.step4(i, j, k, l).score
            by_link(&best, score + self.arc(i, k, l, False), RA2, k)
            by_link(&best, score + self.arc(j, k, l, False), RA, k)
            by_link(&best, score + self.arc(l, k, l, False), LA, k)
        return best

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        by_combine(&best, self.at3(i, j, k)[0] + self.at2(k, l)[0], 3)
        by_combine(&best, self.at2(i, j)[0] + self.at3(j, k, l)[0], 2)
        return best
