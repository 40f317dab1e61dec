# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The arc-hybrid decoder: MH3, all projective trees, in O(n^3) time and O(n^2) memory.

Items are [i,j]: a computation that puts i on top of the stack and ends with j as the first buffer element
(Kuhlmann, Gomez-Rodriguez & Satta, ACL 2011; section 3 of the MH4 paper). With the shift scored where two items
combine and the reduce that always follows,

    [i,l] = max over i<j<l of  [i,j] + shift[i,j] + [j,l] + max(LA[j,l] + arc l->j, RA[j,l] + arc i->j).
"""

import numpy as np
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.replay cimport LA, RA, SH, replay

from mh4.decoders import arguments
from mh4.decoders.derivation import from_transitions


def decode(shift, reduce_s0b0, *, cost=None, heads=None, single_root=False):
    """The highest-scoring arc-hybrid derivation of a sentence of n words.

    shift: float32 (n+2, n+2), indexed [s0, b0]. reduce_s0b0: float32 (2, n+2, n+2), LA and RA, indexed [t, s0, b0].
    cost: float32 (n+1, n+1), cost[h, m] is added for every arc h->m. -inf forbids a transition or arc.
    heads: int array (n+1,); if given, the best derivation of that very tree.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the derivation is the shift of the root.
    Returns a Derivation with parts "shift" (n, 2) and "reduce_s0b0" (n, 3).
    Raises ValueError for wrong shapes, NaN and the like, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if the tree ``heads`` is not projective, or has not the single root required.
    """
    cdef int n = arguments.words("shift", shift, 2)
    shift = arguments.scores("shift", shift, (n + 2, n + 2))
    reduce_s0b0 = arguments.scores("reduce_s0b0", reduce_s0b0, (2, n + 2, n + 2))
    if cost is not None:
        cost = arguments.scores("cost", cost, (n + 1, n + 1))
    allowed = arguments.float32(np.zeros((n + 1, n + 1)) if cost is None else cost)
    if heads is not None:
        heads = arguments.tree(heads, n)
        arguments.roots(heads, single_root)
        gold = heads[1:], np.arange(1, n + 1)
        restricted = np.full((n + 1, n + 1), -np.inf, dtype=np.float32)
        restricted[gold] = allowed[gold]
        allowed = restricted

    cdef const float[:, ::1] sh = arguments.float32(shift)
    cdef const float[:, :, ::1] reduces = arguments.float32(reduce_s0b0)
    cdef const float[:, ::1] arc = allowed
    transitions = np.empty((2 * n + 1, 4), dtype=np.intp)
    found = np.empty(n + 1, dtype=np.int32)
    cdef Py_ssize_t[:, ::1] rows = transitions
    cdef int[::1] arcs_found = found
    cdef bint single = single_root, derived
    cdef Chart chart = Chart()
    with nogil:
        chart.fill(sh, reduces, arc, n, single)
        derived = chart.derived()
        if derived:
            chart.trace(rows, arcs_found)
    if not derived:
        raise arguments.no_derivation(heads, 3)
    return from_transitions(transitions, found, {"shift": shift, "reduce_s0b0": reduce_s0b0}, cost)


cdef class Chart:
    """The items [i,l] in rows i.

    For single_root, row 0 has no arc from the root and row n+1 (where no item starts) stands for [0,l] with that arc.
    """

    cdef int n, side
    cdef bint single
    cdef vector[float] t2      # [i,l] at i * side + l
    cdef vector[float] shifts  # shift[i,j]
    cdef vector[float] left    # [j,l] + LA[j,l] + arc l->j: what follows the shift of j if l becomes its head
    cdef vector[float] right   # [j,l] + RA[j,l], still without the arc i->j
    cdef vector[float] from_i  # arc i->j at i * side + j

    cdef void fill(self, const float[:, ::1] sh, const float[:, :, ::1] reduces, const float[:, ::1] arc, int n,
                   bint single) noexcept nogil:
        cdef int side = n + 2, i, j, l
        self.n = n
        self.side = side
        self.single = single
        self.t2.assign(side * side, -INFINITY)
        self.left.assign(side * side, -INFINITY)
        self.right.assign(side * side, -INFINITY)
        self.shifts.assign(&sh[0, 0], &sh[0, 0] + side * side)
        self.from_i.assign(side * side, -INFINITY)
        for i in range(n + 1):
            for j in range(1, n + 1):
                self.from_i[i * side + j] = arc[i, j]
        if single:  # the arc from the root leads from row 0 to row n+1
            for j in range(1, n + 1):
                self.from_i[j] = -INFINITY
                self.from_i[(n + 1) * side + j] = arc[0, j]

        for i in range(n, -1, -1):
            self.t2[i * side + i + 1] = 0
            self.fill_row(i, i, i)
            for l in range(i + 1, n + 2):
                self.right[i * side + l] = self.t2[i * side + l] + reduces[1, i, l]
                if l <= n:  # the end of the sentence is no head
                    self.left[i * side + l] = self.t2[i * side + l] + reduces[0, i, l] + arc[l, i]
        if single:
            self.fill_row(n + 1, 0, 0)

    cdef void fill_row(self, int row, int below, int i) noexcept nogil:
        """All items [i,l] of a row; the arc from i is added to an item of the row `below`."""
        cdef int side = self.side, j, l
        cdef float* items = &self.t2[row * side]
        cdef float before, before_arc, value
        cdef const float* left
        cdef const float* right
        for j in range(i + 1, self.n + 1):
            before = items[j] + self.shifts[i * side + j]
            before_arc = self.t2[below * side + j] + self.shifts[i * side + j] + self.from_i[row * side + j]
            left = &self.left[j * side]
            right = &self.right[j * side]
            for l in range(j + 1, side):
                value = larger(before + left[l], before_arc + right[l])
                items[l] = larger(items[l], value)

    cdef bint derived(self) noexcept nogil:
        return self.t2[(self.n + 1 if self.single else 0) * self.side + self.n + 1] > -INFINITY

    cdef void trace(self, Py_ssize_t[:, ::1] rows, int[::1] heads) noexcept nogil:
        """Read the best derivation off the chart, taking every maximum again."""
        cdef int n = self.n, side = self.side, row, below, i, j, l, best_j, best_below, best_code
        cdef float value, best
        cdef vector[int] codes, stack, agenda  # agenda: items (row, l) still to be unfolded, or (-1, code)
        agenda.push_back(n + 1 if self.single else 0)
        agenda.push_back(n + 1)
        while agenda.size():
            l = agenda.back()
            agenda.pop_back()
            row = agenda.back()
            agenda.pop_back()
            if row < 0:
                codes.push_back(l)
                continue
            i = 0 if row > n else row
            if l == i + 1:
                codes.push_back(SH)
                continue
            best = -INFINITY
            best_j = best_below = best_code = -1
            below = 0 if row > n else row
            for j in range(i + 1, l):
                value = self.t2[row * side + j] + self.shifts[i * side + j] + self.left[j * side + l]
                if value > best:
                    best, best_j, best_below, best_code = value, j, row, LA
                value = (self.t2[below * side + j] + self.shifts[i * side + j] + self.from_i[row * side + j]
                         + self.right[j * side + l])
                if value > best:
                    best, best_j, best_below, best_code = value, j, below, RA
            # last in, first out: [i,j], then [j,l], then the reduce
            agenda.push_back(-1)
            agenda.push_back(best_code)
            agenda.push_back(best_j)
            agenda.push_back(l)
            agenda.push_back(best_below)
            agenda.push_back(best_j)
        stack.resize(n + 3)
        replay(codes.data(), n, &rows[0, 0], &heads[0], stack.data())


cdef inline float larger(float a, float b) noexcept nogil:
    return a if a > b else b
