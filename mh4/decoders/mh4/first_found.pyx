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

import numpy as np
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport require
from mh4.decoders.shared.replay cimport LA, LA2, LAp, RA, RA2, RAp, SH, head_of
from mh4.decoders.shared.signals cimport Watch

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory


def decode(arcs: np.ndarray, single_root: bool = False) -> "tuple[np.ndarray, np.ndarray]":
    """The first of the best derivations: its heads, int32 (n+1,), and the codes of its transitions, intp (2n+1,).

    arcs: float32 (n+1, n+1), the score of head h and dependent m at [h, m], -inf to forbid an arc.
    O(n^4) time and O(n^3) memory. Raises ValueError for invalid scores or if they forbid every derivation, MemoryError if the sentence
    is too long.
    """
    cdef int n = arguments.words("arcs", arcs, 1)
    cdef Chart chart
    try:
        chart = Chart(n, arguments.float32_scores("arcs", arcs, (n + 1, n + 1)), single_root)
    except MemoryError:
        raise out_of_memory(n, 4.0 * (n + 2) ** 3) from None
    with nogil:
        chart.fill()
    if n == 0 and single_root or chart.t2[0, n + 1] == -INFINITY:
        raise arguments.no_derivation()
    heads = np.full(n + 1, -1, dtype=np.int32)
    codes = np.empty(2 * n + 1, dtype=np.intp)
    chart.trace(heads, codes)
    return heads, codes


cdef struct Step:  # the node that Link removes, and its transition; for Combine, code is SH
    float score
    short node
    char code


cdef inline void better(Step* best, float score, int node, int code) noexcept nogil:
    if score > best.score:
        best.score, best.node, best.code = score, node, code


cdef class Chart:

    cdef int n
    cdef bint single
    cdef float[:, ::1] arcs
    cdef float[:, ::1] t2
    cdef float[:, :, ::1] t3

    def __init__(self, int n, scores, bint single):
        require(<size_t> 4 * (n + 2) ** 3)
        self.n, self.single = n, single
        # The end of the sentence is never a head.
        arcs = np.full((n + 2, n + 2), -np.inf, dtype=np.float32)
        arcs[:-1, :-1] = scores
        self.arcs = arcs
        self.t2 = np.full((n + 2, n + 2), -np.inf, dtype=np.float32)
        self.t3 = np.full((n + 2, n + 2, n + 2), -np.inf, dtype=np.float32)

    cdef int fill(self) except -1 nogil:
        cdef int i, j, l, span
        cdef Watch watch
        for i in range(self.n + 1):
            self.t2[i, i + 1] = 0
        for span in range(2, self.n + 2):
            for i in range(self.n + 2 - span):
                l = i + span
                for j in range(i + 1, l):
                    self.t3[i, j, l] = self.step3(i, j, l).score
                    watch.after(32 * span)
                self.t2[i, l] = self.step2(i, l).score
        return 0

    cdef float arc(self, int h, int m, int i, int l, int last) noexcept nogil:
        """The score of an arc in a Link of an item [i,..,l]; with a single root, only the `last` Link makes one from node 0."""
        if h == 0 and self.single and not (last and l == self.n + 1):
            return -INFINITY
        return self.arcs[h, m]

    cdef Step step2(self, int i, int l) noexcept nogil:
        cdef Step best = Step(-INFINITY, 0, SH)
        cdef int j
        for j in range(i + 1, l):
            better(&best, self.t3[i, j, l] + self.arc(i, j, i, l, True), j, RA)
            better(&best, self.t3[i, j, l] + self.arc(l, j, i, l, True), j, LA)
        return best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef Step best = Step(-INFINITY, 0, SH)
        cdef int k
        cdef float score
        for k in range(i + 1, j):
            score = max(self.left(i, k, j, l), self.right(i, k, j, l))
            better(&best, score + self.arc(i, k, i, l, False), k, RAp)
            better(&best, score + self.arc(j, k, i, l, False), k, LAp)
            better(&best, score + self.arc(l, k, i, l, False), k, LA2)
        better(&best, self.t2[i, j] + self.t2[j, l], 0, SH)
        for k in range(j + 1, l):
            score = max(self.left(i, j, k, l), self.right(i, j, k, l))
            better(&best, score + self.arc(i, k, i, l, False), k, RA2)
            better(&best, score + self.arc(j, k, i, l, False), k, RA)
            better(&best, score + self.arc(l, k, i, l, False), k, LA)
        return best

    cdef float left(self, int i, int j, int k, int l) noexcept nogil:
        """[i,j,k,l] from [i,j,k] + [k,l]"""
        return self.t3[i, j, k] + self.t2[k, l]

    cdef float right(self, int i, int j, int k, int l) noexcept nogil:
        """[i,j,k,l] from [i,j] + [j,k,l]"""
        return self.t2[i, j] + self.t3[j, k, l]

    cdef void trace(self, int[::1] heads, Py_ssize_t[::1] codes):
        """The derivation of [0,n+1], from its last transition to its first; an item stands for the transitions that derive it."""
        cdef vector[int] agenda  # i, j, l of [i,j,l], or of [i,l] with j = 0
        cdef int i, j, k, l, removed, at = 2 * self.n
        cdef Step step
        push(agenda, 0, 0, self.n + 1)
        while agenda.size():
            l, j, i = agenda[agenda.size() - 1], agenda[agenda.size() - 2], agenda[agenda.size() - 3]
            agenda.resize(agenda.size() - 3)
            if j == 0 and l == i + 1:
                codes[at] = SH
                at -= 1
                continue
            step = self.step2(i, l) if j == 0 else self.step3(i, j, l)
            if step.code == SH:
                push(agenda, i, 0, j)
                push(agenda, j, 0, l)
                continue
            codes[at] = step.code
            at -= 1
            k = step.node
            if j == 0:
                heads[k] = head_of(step.code, -1, -1, i, k, l)
                push(agenda, i, k, l)
                continue
            removed = k
            if k < j:
                j, k = k, j
            heads[removed] = head_of(step.code, -1, i, j, k, l)
            if self.right(i, j, k, l) > self.left(i, j, k, l):
                push(agenda, i, 0, j)
                push(agenda, j, k, l)
            else:
                push(agenda, i, j, k)
                push(agenda, k, 0, l)


cdef inline int push(vector[int]& agenda, int i, int j, int l) except -1:
    agenda.push_back(i)
    agenda.push_back(j)
    agenda.push_back(l)
