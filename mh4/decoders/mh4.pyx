"""The MH4 decoder in O(n^4) time and O(n^3) memory (Figure 1 of the paper, with k = 4).

An item [h1,...,hm] is a computation that starts with h1 as the first buffer element and ends with h1|...|h(m-1) on
top of the stack and hm as the first buffer element; with four heads they are s2, s1, s0, b0. With the shift of a node
scored where the item that ends in it is combined with the item that starts with it,

    [i,j,l]   = best of  Combine  [i,j] + shift[i,j] + [j,l]
                         Link     [i,j,k,l] without k: RA2 (i->k), RA (j->k), LA (l->k)
                                  [i,k,j,l] without k: RA' (i->k), LA' (j->k), LA2 (l->k)
    [i,l]     = best of  Link     [i,j,l] without j: RA (i->j), LA (l->j);   [i,i+1] = 0
    [i,j,k,l] = best of  Combine  [i,j,k] + shift[j,k] + [k,l],   [i,j] + shift[i,j] + [j,k,l].

Only [i,l] and [i,j,l] are stored. A reduce is scored on s1, s0 and b0, which are i, j, l in [i,j,l] and j, k, l in
[i,j,k,l].
"""

import threading
from typing import Optional

cimport cython
import numpy as np
from libc.math cimport INFINITY
from libc.stdlib cimport free
from libcpp.vector cimport vector

from mh4.decoders.replay cimport (
    LA, LA2, LAp, RA, RA2, RAp, SH, Scores, arc_score, dependent_of, derivation, head_of, on_s0b0, on_s1s0, shift_score,
)

from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void** memory, size_t alignment, size_t size)

cdef extern from *:
    ctypedef float* Row "float *__restrict"  # a row that overlaps no other argument, so that loops vectorise

cdef extern from "lanes.h" nogil:
    enum:
        LANES
    float larger(float a, float b)
    float link2(const float* column, const float* la_from, const float* la_to, const float* ra_from, const float* ra_to,
                int count)
    void link3 "link3<false>"(
        float** tj, float* tk, const float* t2k, const float* tjk, const float* links_k, const float* links_j,
        const float* left, const float* right, const float* ra2, const float* rap, const float* row_ra2,
        const float* row_rap, int first, int k, int begin, int count)
    void link3_by_head "link3<true>"(
        float** tj, float* tk, const float* t2k, const float* tjk, const float* links_k, const float* links_j,
        const float* left, const float* right, const float* ra2, const float* rap, const float* row_ra2,
        const float* row_rap, int first, int k, int begin, int count)


VECTOR = LANES  # floats in a vector of the processor that this is compiled for


def decode(
    shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: Optional[np.ndarray] = None, *,
    arcs: Optional[np.ndarray] = None, cost: Optional[np.ndarray] = None, heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Derivation:
    """The highest-scoring MH4 derivation of a sentence of n words.

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (6, n+2, n+2), LA, RA, LA', RA', LA2 and RA2, indexed [t, s0, b0].
    reduce_s1s0: the same indexed [t, s1, s0], added to it (MH4-hybrid), or None (MH4-two).
    arcs: float32 (n+1, n+1) or None, arcs[h, m] is added for every arc h->m.
    cost: the same, but without a part in the Derivation. -inf forbids a transition or arc.
    heads: int array (n+1,); if given, the best derivation of that very tree (it may have several).
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the derivation is the shift of the root.
    Returns a Derivation with parts "shift" (n, 2), "reduce_s0b0" (n, 3) and, if given,
    "reduce_s1s0" (n, 3) and "arcs" (n, 2).
    Raises ValueError for wrong shapes, NaN and the like, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if the tree ``heads`` is not in MH4, or has not the single root required.
    """
    cdef int n = arguments.words("shift", shift, 2)
    cdef const float[:, ::1] shift_scores = arguments.float32_scores("shift", shift, (n + 2, n + 2))
    cdef const float[:, :, ::1] s0b0 = arguments.float32_scores("reduce_s0b0", reduce_s0b0, (6, n + 2, n + 2)), s1s0
    cdef const float[:, ::1] arc_scores, costs, sums
    cdef Chart chart
    if heads is None:
        chart = workspace(FullChart)
    else:
        heads = arguments.tree(heads, n)
        arguments.roots(heads, single_root)
        chart = workspace(TreeChart)
    chart.scores = Scores(n, n + 2, &shift_scores[0, 0], &s0b0[0, 0, 0], NULL, NULL, NULL, NULL)
    if reduce_s1s0 is not None:
        s1s0 = arguments.float32_scores("reduce_s1s0", reduce_s1s0, (6, n + 2, n + 2))
        chart.scores.s1s0 = &s1s0[0, 0, 0]
    if arcs is not None:
        arc_scores = arcs = arguments.float32_scores("arcs", arcs, (n + 1, n + 1))
        chart.scores.arcs = chart.scores.by_arc = &arc_scores[0, 0]
    if cost is not None:
        costs = cost = arguments.float32_scores("cost", cost, (n + 1, n + 1))
        chart.scores.cost = chart.scores.by_arc = &costs[0, 0]
    if arcs is not None and cost is not None:
        sums = arguments.float32_sum(arcs, cost)
        chart.scores.by_arc = &sums[0, 0]
    chart.prepare(heads, single_root)
    cdef bint derived
    with nogil:
        derived = chart.fill()
        if derived:
            chart.trace()
    chart.release()
    if not derived:
        raise arguments.no_derivation(heads, 4)
    return derivation(chart.codes.data(), &chart.scores)


_workspace = threading.local()  # charts of each thread, so that their memory is reused and threads decode side by side


cdef Chart workspace(kind):
    try:
        return getattr(_workspace, kind.__name__)
    except AttributeError:
        setattr(_workspace, kind.__name__, kind())
        return getattr(_workspace, kind.__name__)


cdef float reduce_score(const Scores* scores, int code, int s2, int s1, int s0, int b0) noexcept nogil:
    cdef int head, dependent
    if b0 > scores.n and (code == LA or code == LA2):  # the end of the sentence is no head
        return -INFINITY
    head = head_of(code, s2, s1, s0, b0)
    dependent = dependent_of(code, s1, s0)
    return on_s0b0(scores, code, s0, b0) + on_s1s0(scores, code, s1, s0) + arc_score(scores, head, dependent)


cdef struct Step:  # how the best computation of an item ends
    int code      # of the reduce that made it by Link, or SH if it is a Combine
    int gone      # the node removed by Link
    bint longer   # what Link took, [i,j,k,l], is [i,j,k] + [k,l], not [i,j] + [j,k,l]
    float score


cdef class Chart:
    """The items of a sentence. Node 0 is in no item but as its start.

    The last transition of every derivation is RA, from 0, and no other transition leads to [0,n+1]. So a derivation
    with a single root is one that has no arc from 0 until then.
    """

    cdef Scores scores
    cdef bint single
    cdef vector[int] codes
    cdef vector[Todo] agenda

    cdef prepare(self, heads, bint single):
        """Get ready for scores and options; heads: int32 array, a tree, or None."""
        self.single = single

    cdef release(self):
        """Give back what is too large to be kept."""

    cdef bint fill(self) noexcept nogil:
        """Find the best score of every item; True if the goal [0,n+1] was derived."""

    cdef Step step2(self, int i, int l) noexcept nogil:
        """The best way to [i,l], l > i+1."""

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        """The best way to [i,j,l]."""

    cdef void trace(self) noexcept nogil:
        """Unfold the goal into the codes of its transitions: Combine is concatenation, Link appends its reduce."""
        cdef Todo todo
        cdef Step step
        cdef int j, k
        self.codes.clear()
        self.agenda.push_back(item(0, 0, self.scores.n + 1))
        while self.agenda.size():
            todo = self.agenda.back()
            self.agenda.pop_back()
            if todo.code != SH:
                self.codes.push_back(todo.code)
            elif todo.j == 0 and todo.l == todo.i + 1:
                self.codes.push_back(SH)  # [i,i+1]
            elif todo.j == 0:
                step = self.step2(todo.i, todo.l)
                self.agenda.push_back(reduce(step.code))
                self.agenda.push_back(item(todo.i, step.gone, todo.l))
            else:
                step = self.step3(todo.i, todo.j, todo.l)
                if step.code == SH:
                    self.agenda.push_back(item(todo.j, 0, todo.l))
                    self.agenda.push_back(item(todo.i, 0, todo.j))
                    continue
                self.agenda.push_back(reduce(step.code))
                j = min(todo.j, step.gone)
                k = max(todo.j, step.gone)
                if step.longer:
                    self.agenda.push_back(item(k, 0, todo.l))
                    self.agenda.push_back(item(todo.i, j, k))
                else:
                    self.agenda.push_back(item(j, k, todo.l))
                    self.agenda.push_back(item(todo.i, 0, j))


cdef struct Todo:  # the item [i,j,l], or [i,l] if j is 0, still to be unfolded; or, if code is not SH, a reduce
    int code, i, j, l


cdef inline Todo item(int i, int j, int l) noexcept nogil:
    return Todo(SH, i, j, l)


cdef inline Todo reduce(int code) noexcept nogil:
    return Todo(code, 0, 0, 0)


cdef enum:
    KEEP = 1 << 26  # floats that a thread keeps between calls


@cython.final
cdef class FullChart(Chart):
    """All items.

    Rows run over l, the last node of an item: from the multiple of LANES at or below the first l there is, with -inf
    before that l and beyond the sentence. What is scored alike whatever i is, the best Link of [i,j,k,l] by an arc from
    j, k or l to k and to j, is tabulated first (the arcs from i too, if their scores do not depend on i). That leaves a few
    additions and maxima for every i, j, k and l.
    """

    cdef float* memory
    cdef size_t capacity, taken
    cdef int n, stride
    cdef bint by_head          # arcs from i are not in the tables
    cdef vector[size_t] place  # of l = 0 in the row of [0,k,l] in the tables by three nodes
    cdef vector[float*] rows   # [i,j,l] for the i at hand, by j
    # tables by three nodes
    cdef float* t3             # [i,k,l] at k, i, l
    cdef float* links_k        # [i,j,k,l] without k, but for arcs from i, at k, j, l
    cdef float* links_j        # the same without j
    # by two nodes: rows of `stride`
    cdef float* t2             # [i,l] at i, l
    cdef float* s0b0           # six rows at s0, by b0
    cdef float* la_to          # LA of j by l in [i,j,l] at l, j: what depends on j and l
    cdef float* ra_to          # RA of j by i in [i,j,l]: the same
    cdef float* shifts         # shift[j,k] at k, j
    cdef float* ra2_to         # RA2 of k in [i,j,k,l] at k, j: what depends on j and k
    cdef float* rap_to         # RA' of j in [i,j,k,l]: the same
    cdef float* arcs_to        # the score of an arc at dependent, head
    # by one, for the i, or i and k, at hand
    cdef float* la_from        # LA of j by l in [i,j,l] at j: what depends on i and j
    cdef float* ra_from        # RA of j by i in [i,j,l]: the same
    cdef float* arcs_from      # the score of i->j at j
    cdef float* column         # [i,j,k] at j
    cdef float* left           # [i,j,k] + shift[j,k] at j
    cdef float* right          # [i,j] + shift[i,j] at j
    cdef float* ra2            # RA2 of k in [i,j,k,l] at j: what depends on i, j and k
    cdef float* rap            # RA' of j in [i,j,k,l]: the same

    def __dealloc__(self):
        free(self.memory)

    cdef prepare(self, heads, bint single):
        Chart.prepare(self, heads, single)
        cdef int n = self.scores.n, k
        cdef size_t stride = (n + 1 + LANES) // LANES * LANES, square = (n + 2) * stride, volume = 0
        self.n = n
        self.stride = stride
        self.by_head = single or self.scores.by_arc
        self.place.resize(n + 1)
        self.rows.resize(n + 1)
        for k in range(n + 1):
            self.place[k] = volume - begin(k)
            volume += k * (stride - begin(k))
        cdef size_t needed = 3 * volume + 13 * square + 8 * stride
        if needed > self.capacity:
            free(self.memory)
            self.memory = NULL
            self.capacity = 0
            if posix_memalign(<void**> &self.memory, 64, needed * sizeof(float)):
                self.memory = NULL
                raise MemoryError(f"a sentence of {n} words needs {needed * sizeof(float) >> 20} MB")
            self.capacity = needed
        self.taken = 0
        self.t3 = self.take(volume)
        self.links_k = self.take(volume)
        self.links_j = self.take(volume)
        self.t2 = self.take(square)
        self.s0b0 = self.take(6 * square)
        self.la_to = self.take(square)
        self.ra_to = self.take(square)
        self.shifts = self.take(square)
        self.ra2_to = self.take(square)
        self.rap_to = self.take(square)
        self.arcs_to = self.take(square)
        self.la_from = self.take(stride)
        self.ra_from = self.take(stride)
        self.arcs_from = self.take(stride)
        self.column = self.take(stride)
        self.left = self.take(stride)
        self.right = self.take(stride)
        self.ra2 = self.take(stride)
        self.rap = self.take(stride)

    cdef float* take(self, size_t size):
        self.taken += size
        return self.memory + self.taken - size

    cdef release(self):
        if self.capacity > KEEP:
            free(self.memory)
            self.memory = NULL
            self.capacity = 0

    cdef size_t at(self, int j, int k) noexcept nogil:
        """Where l = 0 is in the row of [j,k,l] in the tables by three nodes."""
        return self.place[k] + <size_t> j * (self.stride - begin(k))

    cdef float* row(self, float* table, int x) noexcept nogil:
        """In a table by two nodes."""
        return table + <size_t> x * self.stride

    cdef float* row_s0b0(self, int code, int s0) noexcept nogil:
        return self.row(self.s0b0, 6 * s0 + code - LA)

    cdef bint fill(self) noexcept nogil:
        cdef int i
        self.tabulate()
        for i in range(self.n, -1, -1):
            self.fill_plane(i)
        return self.t2[self.n + 1] > -INFINITY and not (self.single and self.n == 0)

    cdef void tabulate(self) noexcept nogil:
        """Lay the scores out as the loops read them; the score of an arc goes where its head and dependent are known."""
        cdef const Scores* scores = &self.scores
        cdef int n = self.n, first, code, h, m, j, k, l
        cdef float reduces[6]
        cdef float* row
        for m in range(1, n + 1):
            row = self.row(self.arcs_to, m)
            for h in range(self.stride):
                row[h] = arc_score(scores, h, m) if h <= n else 0
        for k in range(1, n + 1):
            first = begin(k)
            for code in range(LA, RA2 + 1):
                row = self.row_s0b0(code, k)
                for l in range(first, n + 2):
                    row[l] = on_s0b0(scores, code, k, l)
                for l in range(n + 2, self.stride):
                    row[l] = 0
            row = self.row_s0b0(LA, k)
            for l in range(first, n + 1):
                row[l] += self.row(self.arcs_to, k)[l]
            row[n + 1] = self.row_s0b0(LA2, k)[n + 1] = -INFINITY  # the end of the sentence is no head
            for l in range(k + 1, n + 2):
                self.row(self.la_to, l)[k] = row[l]
                self.row(self.ra_to, l)[k] = self.row_s0b0(RA, k)[l]
            self.row(self.shifts, k)[0] = shift_score(scores, 0, k)
            for j in range(1, k):
                for code in range(LA, RA2 + 1):
                    reduces[code - LA] = on_s1s0(scores, code, j, k)
                reduces[RA - LA] += self.row(self.arcs_to, k)[j]
                reduces[LAp - LA] += self.row(self.arcs_to, j)[k]
                self.row(self.shifts, k)[j] = shift_score(scores, j, k)
                self.row(self.ra2_to, k)[j] = reduces[RA2 - LA]
                self.row(self.rap_to, k)[j] = reduces[RAp - LA]
                links(self.links_k + self.at(j, k) + first, self.links_j + self.at(j, k) + first,
                      self.row_s0b0(LA, k) + first, self.row(self.arcs_to, j) + first, reduces, self.by_head,
                      self.stride, self.stride - first)

    cdef void fill_plane(self, int i) noexcept nogil:
        """All items starting with i, in the order of the last node of what they are made of."""
        cdef int n = self.n, j, k, l
        cdef float* t2 = self.row(self.t2, i)
        cdef bint forbidden = self.single and i == 0  # arcs from i
        for l in range(begin(i), self.stride):
            t2[l] = -INFINITY
        t2[i + 1] = 0
        for j in range(i + 1, n + 1):
            self.rows[j] = self.t3 + self.at(i, j)
            self.arcs_from[j] = -INFINITY if forbidden else self.row(self.arcs_to, j)[i]
            self.la_from[j] = on_s1s0(&self.scores, LA, i, j)
            self.ra_from[j] = on_s1s0(&self.scores, RA, i, j) + self.arcs_from[j]
        for k in range(i + 1, n + 2):
            # every [i,j,k] is complete: Link them to [i,k]
            for j in range(i + 1, k):
                self.column[j] = self.rows[j][k]
            if forbidden and k > n:
                for j in range(1, k):
                    self.ra_from[j] = on_s1s0(&self.scores, RA, 0, j) + self.row(self.arcs_to, j)[0]
            if k > i + 1:
                t2[k] = link2(self.column + i + 1, self.la_from + i + 1, self.row(self.la_to, k) + i + 1,
                              self.ra_from + i + 1, self.row(self.ra_to, k) + i + 1, k - i - 1)
            if k > n:
                return
            self.right[k] = t2[k] + self.row(self.shifts, k)[i]
            self.link(i, k)

    cdef void link(self, int i, int k) noexcept nogil:
        cdef int first = begin(k), count = self.stride - first
        cdef size_t at = self.at(i + 1, k) + first
        # Combine [i,k] + [k,l] = [i,k,l]
        add(self.rows[k] + first, self.row(self.t2, k) + first, self.right[k], count)
        # Combine to [i,j,k,l], and Link these to [i,j,l] and [i,k,l]
        add2(self.left + i + 1, self.column + i + 1, self.row(self.shifts, k) + i + 1, k - i - 1)
        if self.by_head:
            add(self.ra2 + i + 1, self.row(self.ra2_to, k) + i + 1, self.arcs_from[k], k - i - 1)
            add2(self.rap + i + 1, self.row(self.rap_to, k) + i + 1, self.arcs_from + i + 1, k - i - 1)
            link3_by_head(self.rows.data(), self.rows[k] + first, self.row(self.t2, k) + first, self.t3 + at,
                          self.links_k + at, self.links_j + at, self.left, self.right, self.ra2, self.rap,
                          self.row_s0b0(RA2, k) + first, self.row_s0b0(RAp, k) + first, i + 1, k, first, count)
        else:
            link3(self.rows.data(), self.rows[k] + first, self.row(self.t2, k) + first, self.t3 + at,
                  self.links_k + at, self.links_j + at, self.left, self.right, NULL, NULL,
                  NULL, NULL, i + 1, k, first, count)

    cdef float score4(self, int i, int j, int k, int l, bint* longer) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.t3[self.at(i, j) + k] + shift_score(&self.scores, j, k) + self.row(self.t2, k)[l]
        cdef float right = self.row(self.t2, i)[j] + shift_score(&self.scores, i, j) + self.t3[self.at(j, k) + l]
        longer[0] = left > right
        return larger(left, right)

    cdef Step step2(self, int i, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, False, -INFINITY)
        cdef bint from_i = i > 0 or l > self.scores.n or not self.single
        cdef int j
        cdef float score
        for j in range(i + 1, l):
            score = self.t3[self.at(i, j) + l]
            better(&best, score + reduce_score(&self.scores, LA, -1, i, j, l), LA, j, False)
            if from_i:
                better(&best, score + reduce_score(&self.scores, RA, -1, i, j, l), RA, j, False)
        return best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, False, -INFINITY)
        cdef bint from_i = i > 0 or not self.single, longer
        cdef int k
        cdef float score
        better(&best, self.row(self.t2, i)[j] + shift_score(&self.scores, i, j) + self.row(self.t2, j)[l], SH, 0, False)
        for k in range(j + 1, l):
            score = self.score4(i, j, k, l, &longer)
            better(&best, score + reduce_score(&self.scores, RA, i, j, k, l), RA, k, longer)
            better(&best, score + reduce_score(&self.scores, LA, i, j, k, l), LA, k, longer)
            if from_i:
                better(&best, score + reduce_score(&self.scores, RA2, i, j, k, l), RA2, k, longer)
        for k in range(i + 1, j):
            score = self.score4(i, k, j, l, &longer)
            better(&best, score + reduce_score(&self.scores, LAp, i, k, j, l), LAp, k, longer)
            better(&best, score + reduce_score(&self.scores, LA2, i, k, j, l), LA2, k, longer)
            if from_i:
                better(&best, score + reduce_score(&self.scores, RAp, i, k, j, l), RAp, k, longer)
        return best


cdef inline int begin(int k) noexcept nogil:
    """Where rows over l > k begin."""
    return (k + 1) // LANES * LANES


cdef inline void better(Step* best, float score, int code, int gone, bint longer) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, gone, longer, score)


cdef void links(Row links_k, Row links_j, const float* s0b0, const float* arcs_to_j, const float* s1s0, bint by_head,
                int stride, int count) noexcept nogil:
    """Of j and k over l, from the six rows of k and the scores on j and k."""
    cdef float la = s1s0[0], ra = s1s0[RA - LA], lap = s1s0[LAp - LA]
    cdef float rap = s1s0[RAp - LA], la2 = s1s0[LA2 - LA], ra2 = s1s0[RA2 - LA]
    cdef const float* row_la = s0b0
    cdef const float* row_ra = s0b0 + stride
    cdef const float* row_lap = s0b0 + 2 * stride
    cdef const float* row_rap = s0b0 + 3 * stride
    cdef const float* row_la2 = s0b0 + 4 * stride
    cdef const float* row_ra2 = s0b0 + 5 * stride
    cdef int l
    for l in range(count):
        links_k[l] = larger(ra + row_ra[l], la + row_la[l])
        links_j[l] = larger(lap + row_lap[l], la2 + row_la2[l] + arcs_to_j[l])
    if not by_head:
        for l in range(count):
            links_k[l] = larger(links_k[l], ra2 + row_ra2[l])
            links_j[l] = larger(links_j[l], rap + row_rap[l])


cdef void add(Row total, const float* row, float value, int count) noexcept nogil:
    cdef int x
    for x in range(count):
        total[x] = row[x] + value


cdef void add2(Row total, const float* a, const float* b, int count) noexcept nogil:
    cdef int x
    for x in range(count):
        total[x] = a[x] + b[x]


cdef struct Item:  # [i,j,l], in the list of its span i..l
    int j
    Step best


cdef class TreeChart(Chart):
    """Only the items in derivations of one tree: every Link makes an arc of the tree.

    These are few. In an item [i,j,l] every other word between i and l has its head, so no more than one word between
    i and l has a head outside the span, and if one has, it is j; if none has, the head of j is i or l.
    """

    cdef const int* heads
    cdef vector[int] dependents, first  # of h: dependents[first[h]] to dependents[first[h + 1] - 1]
    cdef vector[Step] t2                # at i, l
    cdef vector[int] begin, end         # at i, l: the items [i,j,l] are t3[begin] to t3[end - 1]
    cdef vector[Item] t3

    cdef prepare(self, heads, bint single):
        Chart.prepare(self, heads, single)
        cdef const int[::1] tree = heads
        self.heads = &tree[0]

    cdef bint fill(self) noexcept nogil:
        cdef Step underived = Step(SH, 0, False, -INFINITY)
        cdef int n = self.scores.n, side = self.scores.side, i, j, l, x, span, outside, which, code
        self.list_dependents()
        self.t3.clear()
        self.t2.assign(side * side, underived)
        self.begin.assign(side * side, 0)
        self.end.assign(side * side, 0)
        for i in range(n, -1, -1):
            self.t2[i * side + i + 1].score = 0
            outside = which = 0  # words between i and l with a head outside i..l: how many, and the sum of them
            for l in range(i + 2, side):
                span = i * side + l
                if self.heads[l - 1] < i or self.heads[l - 1] > l:
                    outside += 1
                    which += l - 1
                for x in range(self.first[l], self.first[l + 1]):
                    j = self.dependents[x]
                    if i < j < l - 1:
                        outside -= 1
                        which -= j
                self.begin[span] = self.end[span] = self.t3.size()
                if outside == 1:
                    self.add(i, which, l)
                elif outside == 0:
                    for x in range(self.first[i], self.first[i + 1]):
                        self.add(i, self.dependents[x], l)
                    for x in range(self.first[l], self.first[l + 1]):
                        self.add(i, self.dependents[x], l)
                    for x in range(self.begin[span], self.end[span]):
                        j = self.t3[x].j
                        code = RA if self.heads[j] == i else LA
                        better(&self.t2[span], self.t3[x].best.score + reduce_score(&self.scores, code, -1, i, j, l),
                               code, j, False)
        return self.t2[n + 1].score > -INFINITY

    cdef void list_dependents(self) noexcept nogil:
        cdef int n = self.scores.n, h, m
        self.first.assign(n + 3, 0)
        self.dependents.resize(n)
        for m in range(1, n + 1):
            self.first[self.heads[m] + 1] += 1
        for h in range(n + 2):
            self.first[h + 1] += self.first[h]
        for m in range(n, 0, -1):  # from the end of each list; first[h + 1] becomes its start ...
            self.first[self.heads[m] + 1] -= 1
            self.dependents[self.first[self.heads[m] + 1]] = m
        for h in range(n + 2):     # ... so move the starts to first[h]
            self.first[h] = self.first[h + 1]
        self.first[n + 2] = n

    cdef void add(self, int i, int j, int l) noexcept nogil:
        """Put [i,j,l] in the list of i..l if j lies between and it is derived."""
        cdef Item new
        if not i < j < l:
            return
        new.j = j
        new.best = Step(SH, 0, False, self.t2[i * self.scores.side + j].score + self.t2[j * self.scores.side + l].score
                        + shift_score(&self.scores, i, j))
        self.link_dependents(&new.best, i, i, j, l)
        self.link_dependents(&new.best, j, i, j, l)
        self.link_dependents(&new.best, l, i, j, l)
        if new.best.score > -INFINITY:
            self.t3.push_back(new)
            self.end[i * self.scores.side + l] += 1

    cdef void link_dependents(self, Step* best, int head, int i, int j, int l) noexcept nogil:
        """Link the dependents of one of i, j, l to get [i,j,l]."""
        cdef int x, k, code
        cdef bint longer
        cdef float score
        for x in range(self.first[head], self.first[head + 1]):
            k = self.dependents[x]
            if j < k < l:
                code = RA2 if head == i else RA if head == j else LA
                score = self.score4(i, j, k, l, &longer) + reduce_score(&self.scores, code, i, j, k, l)
            elif i < k < j:
                code = RAp if head == i else LAp if head == j else LA2
                score = self.score4(i, k, j, l, &longer) + reduce_score(&self.scores, code, i, k, j, l)
            else:
                continue
            better(best, score, code, k, longer)

    cdef float score4(self, int i, int j, int k, int l, bint* longer) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.step3(i, j, k).score + shift_score(&self.scores, j, k) + self.t2[k * self.scores.side + l].score
        cdef float right = self.t2[i * self.scores.side + j].score + shift_score(&self.scores, i, j) + self.step3(j, k, l).score
        longer[0] = left > right
        return larger(left, right)

    cdef Step step2(self, int i, int l) noexcept nogil:
        return self.t2[i * self.scores.side + l]

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef int x, span = i * self.scores.side + l
        for x in range(self.begin[span], self.end[span]):
            if self.t3[x].j == j:
                return self.t3[x].best
        return Step(SH, 0, False, -INFINITY)
