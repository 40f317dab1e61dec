# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
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

import numpy as np
from libc.math cimport INFINITY
from libc.stdlib cimport free
from libcpp.vector cimport vector

from mh4.decoders.replay cimport (
    LA, LA2, LAp, RA, RA2, RAp, SH, Scores, arc_cost, derivation, on_s0b0, on_s1s0, shift_score,
)

from mh4.decoders import arguments

cdef extern from "<stdlib.h>" nogil:
    int posix_memalign(void** memory, size_t alignment, size_t size)

cdef extern from *:
    ctypedef float* Row "float *__restrict"  # a row that overlaps no other argument, so that loops vectorise


def decode(shift, reduce_s0b0, reduce_s1s0=None, *, cost=None, heads=None, single_root=False):
    """The highest-scoring MH4 derivation of a sentence of n words.

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (6, n+2, n+2), LA, RA, LA', RA', LA2 and RA2, indexed [t, s0, b0].
    reduce_s1s0: the same indexed [t, s1, s0], added to it (MH4-hybrid), or None (MH4-two).
    cost: float32 (n+1, n+1), cost[h, m] is added for every arc h->m. -inf forbids a transition or arc.
    heads: int array (n+1,); if given, the best derivation of that very tree (it may have several).
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the derivation is the shift of the root.
    Returns a Derivation with parts "shift" (n, 2), "reduce_s0b0" (n, 3) and, if given,
    "reduce_s1s0" (n, 3).
    Raises ValueError for wrong shapes, NaN and the like, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if the tree ``heads`` is not in MH4, or has not the single root required.
    """
    cdef int n = arguments.words("shift", shift, 2)
    cdef const float[:, ::1] shift_scores = arguments.float32_scores("shift", shift, (n + 2, n + 2))
    cdef const float[:, :, ::1] s0b0 = arguments.float32_scores("reduce_s0b0", reduce_s0b0, (6, n + 2, n + 2)), s1s0
    cdef const float[:, ::1] costs
    cdef Chart chart
    if heads is None:
        chart = workspace(FullChart)
    else:
        heads = arguments.tree(heads, n)
        arguments.roots(heads, single_root)
        chart = workspace(TreeChart)
    chart.scores = Scores(n, n + 2, &shift_scores[0, 0], &s0b0[0, 0, 0], NULL, NULL)
    if reduce_s1s0 is not None:
        s1s0 = arguments.float32_scores("reduce_s1s0", reduce_s1s0, (6, n + 2, n + 2))
        chart.scores.s1s0 = &s1s0[0, 0, 0]
    if cost is not None:
        costs = arguments.float32_scores("cost", cost, (n + 1, n + 1))
        chart.scores.cost = &costs[0, 0]
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
    dependent = s0 if code == LA or code == RA or code == RA2 else s1
    head = b0 if code == LA or code == LA2 else s1 if code == RA else s0 if code == LAp else s2
    return on_s0b0(scores, code, s0, b0) + on_s1s0(scores, code, s1, s0) + arc_cost(scores, head, dependent)


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
    LANES = 16           # rows begin and end at multiples of this, for vector instructions
    KEEP = 1 << 26       # floats that a thread keeps between calls
    RECORD = 4           # floats in a record of (s1, s0): the scores of the shift, of RA' and RA2
    SHIFT = 0
    RAP = 1
    R2 = 2


cdef class FullChart(Chart):
    """All items.

    Rows run over l, the last node of an item: from the multiple of LANES at or below the first l there is, with -inf
    before that l and beyond the sentence. What is scored alike whatever i is, the best Link of [i,j,k,l] by an arc from
    j, k or l to k and to j, is tabulated first (the arcs from i too, if no cost depends on i). That leaves a few
    additions and maxima for every i, j, k and l.
    """

    cdef float* memory
    cdef size_t capacity
    cdef int stride
    cdef bint by_head          # arcs from i are not in the tables
    cdef vector[size_t] place  # of row l = 0 of [0,k,l] in the tables by three nodes
    cdef float* t2             # [i,l] at i, l
    cdef float* t3             # [i,k,l] at k, i, l
    cdef float* links_k        # [i,j,k,l] without k, but for arcs from i, at k, j, l
    cdef float* links_j        # the same without j
    cdef float* s0b0           # six rows at s0, by b0
    cdef float* la_to          # LA of j by l in [i,j,l] at l, j: what depends on j and l
    cdef float* ra_to          # RA of j by i in [i,j,l]: the same
    cdef float* records        # RECORD scores at s0, s1
    cdef float* cost_to        # at dependent, head
    # rows of the i at hand
    cdef float* la_from        # LA of j by l in [i,j,l] at j: what depends on i and j
    cdef float* ra_from        # RA of j by i in [i,j,l]: the same
    cdef float* opening        # [i,j] + shift[i,j] at j
    cdef float* column         # [i,j,l] at j for the l at hand
    cdef float* linked

    def __dealloc__(self):
        free(self.memory)

    cdef prepare(self, heads, bint single):
        Chart.prepare(self, heads, single)
        cdef size_t side = self.scores.side, stride = (side + LANES - 1) // LANES * LANES, volume = 0, k
        self.by_head = single or self.scores.cost
        self.stride = stride
        self.place.resize(side - 1)
        for k in range(side - 1):
            self.place[k] = volume - begin(k)
            volume += k * (stride - begin(k))
        cdef size_t square = side * stride, needed = 3 * volume + 10 * square + side * side * RECORD + 5 * stride
        if needed > self.capacity:
            free(self.memory)
            self.memory = NULL
            self.capacity = 0
            if posix_memalign(<void**> &self.memory, 64, needed * sizeof(float)):
                self.memory = NULL
                raise MemoryError(f"a sentence of {self.scores.n} words needs {needed * sizeof(float) >> 20} MB")
            self.capacity = needed
        self.t2 = self.memory
        self.t3 = self.t2 + square
        self.links_k = self.t3 + volume
        self.links_j = self.links_k + volume
        self.s0b0 = self.links_j + volume
        self.la_to = self.s0b0 + 6 * square
        self.ra_to = self.la_to + square
        self.cost_to = self.ra_to + square
        self.la_from = self.cost_to + square
        self.ra_from = self.la_from + stride
        self.opening = self.ra_from + stride
        self.column = self.opening + stride
        self.linked = self.column + stride
        self.records = self.linked + stride

    cdef release(self):
        if self.capacity > KEEP:
            free(self.memory)
            self.memory = NULL
            self.capacity = 0

    cdef float* row2(self, int i) noexcept nogil:
        return self.t2 + <size_t> i * self.stride

    cdef size_t at(self, int j, int k) noexcept nogil:
        """Where the row of [j,k,l] is in t3, links_k and links_j."""
        return self.place[k] + <size_t> j * (self.stride - begin(k))

    cdef float* row_s0b0(self, int code, int s0) noexcept nogil:
        return self.s0b0 + (<size_t> s0 * 6 + code - LA) * self.stride

    cdef float* record(self, int s1, int s0) noexcept nogil:
        return self.records + (<size_t> s0 * self.scores.side + s1) * RECORD

    cdef float* row(self, float* square, int x) noexcept nogil:
        return square + <size_t> x * self.stride

    cdef bint fill(self) noexcept nogil:
        cdef int i
        self.tabulate()
        for i in range(self.scores.n, -1, -1):
            self.fill_plane(i)
        return self.row2(0)[self.scores.n + 1] > -INFINITY

    cdef void tabulate(self) noexcept nogil:
        """Lay the scores out as the loops read them; the cost of an arc goes where its head and dependent are known."""
        cdef const Scores* scores = &self.scores
        cdef int n = scores.n, first, code, h, m, j, k, l
        cdef float reduces[6]
        cdef float* row
        for m in range(1, n + 1):
            row = self.row(self.cost_to, m)
            for h in range(self.stride):
                row[h] = arc_cost(scores, h, m) if h <= n else 0
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
                row[l] += self.row(self.cost_to, k)[l]
            row[n + 1] = self.row_s0b0(LA2, k)[n + 1] = -INFINITY  # the end of the sentence is no head
            for l in range(k + 1, n + 2):
                self.row(self.la_to, l)[k] = row[l]
                self.row(self.ra_to, l)[k] = self.row_s0b0(RA, k)[l]
            self.record(0, k)[SHIFT] = shift_score(scores, 0, k)
            for j in range(1, k):
                for code in range(LA, RA2 + 1):
                    reduces[code - LA] = on_s1s0(scores, code, j, k)
                reduces[RA - LA] += self.row(self.cost_to, k)[j]
                reduces[LAp - LA] += self.row(self.cost_to, j)[k]
                row = self.record(j, k)
                row[SHIFT] = shift_score(scores, j, k)
                row[RAP] = reduces[RAp - LA]
                row[R2] = reduces[RA2 - LA]
                links(self.links_k + self.at(j, k) + first, self.links_j + self.at(j, k) + first,
                      self.row_s0b0(LA, k) + first, self.row(self.cost_to, j) + first, reduces, self.by_head,
                      self.stride, self.stride - first)

    cdef void fill_plane(self, int i) noexcept nogil:
        """All items starting with i, in the order of the last node of what they are made of."""
        cdef int n = self.scores.n, j, k, l
        cdef float* row = self.row2(i)
        cdef float* record
        cdef size_t at
        for l in range(begin(i), self.stride):
            row[l] = -INFINITY
        row[i + 1] = 0
        for j in range(i + 1, n + 1):
            self.la_from[j] = on_s1s0(&self.scores, LA, i, j)
            self.ra_from[j] = -INFINITY if self.single and i == 0 else \
                on_s1s0(&self.scores, RA, i, j) + self.row(self.cost_to, j)[i]
        for k in range(i + 1, n + 2):
            # every [i,j,k] is complete: Link them to [i,k]
            for j in range(i + 1, k):
                self.column[j] = self.t3[self.at(i, j) + k]
            if k == n + 1 and self.single and i == 0:
                for j in range(1, k):
                    self.ra_from[j] = on_s1s0(&self.scores, RA, 0, j) + self.row(self.cost_to, j)[0]
            if k > i + 1:
                row[k] = link2(self.linked + i + 1, self.column + i + 1, self.la_from + i + 1, self.ra_from + i + 1,
                               self.row(self.la_to, k) + i + 1, self.row(self.ra_to, k) + i + 1, k - i - 1)
            if k > n:
                return
            # Combine [i,k] + [k,l] = [i,k,l]
            self.opening[k] = row[k] + self.record(i, k)[SHIFT]
            l = begin(k)
            combine(self.t3 + self.at(i, k) + l, self.row2(k) + l, self.opening[k], self.stride - l)
            # Combine to [i,j,k,l], and Link these to [i,j,l] and [i,k,l]
            for j in range(i + 1, k):
                record = self.record(j, k)
                at = self.at(j, k) + l
                if self.by_head:
                    link3_by_head(self.t3 + self.at(i, j) + l, self.t3 + self.at(i, k) + l, self.row2(k) + l, self.t3 + at,
                                  self.links_k + at, self.links_j + at, self.row_s0b0(RA2, k) + l,
                                  self.row_s0b0(RAp, k) + l, self.column[j] + record[SHIFT], self.opening[j],
                                  record[R2] + self.cost_from(i, k), record[RAP] + self.cost_from(i, j), self.stride - l)
                else:
                    link3(self.t3 + self.at(i, j) + l, self.t3 + self.at(i, k) + l, self.row2(k) + l, self.t3 + at,
                          self.links_k + at, self.links_j + at, self.column[j] + record[SHIFT], self.opening[j],
                          self.stride - l)

    cdef float cost_from(self, int i, int dependent) noexcept nogil:
        """Of an arc from i by RA' or RA2."""
        return -INFINITY if self.single and i == 0 else self.row(self.cost_to, dependent)[i]

    cdef float score4(self, int i, int j, int k, int l, bint* longer) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.t3[self.at(i, j) + k] + shift_score(&self.scores, j, k) + self.row2(k)[l]
        cdef float right = self.row2(i)[j] + shift_score(&self.scores, i, j) + self.t3[self.at(j, k) + l]
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
        better(&best, self.row2(i)[j] + shift_score(&self.scores, i, j) + self.row2(j)[l], SH, 0, False)
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


cdef inline float larger(float a, float b) noexcept nogil:
    return a if a > b else b


cdef inline void better(Step* best, float score, int code, int gone, bint longer) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, gone, longer, score)


cdef void links(Row links_k, Row links_j, const float* s0b0, const float* cost_to_j, const float* s1s0, bint by_head,
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
        links_j[l] = larger(lap + row_lap[l], la2 + row_la2[l] + cost_to_j[l])
    if not by_head:
        for l in range(count):
            links_k[l] = larger(links_k[l], ra2 + row_ra2[l])
            links_j[l] = larger(links_j[l], rap + row_rap[l])


cdef float link2(Row linked, const float* column, const float* la_from, const float* ra_from, const float* la_to,
                 const float* ra_to, int count) noexcept nogil:
    """[i,l] from [i,j,l] for all j."""
    cdef int j
    cdef float best = -INFINITY
    for j in range(count):
        linked[j] = column[j] + larger(la_from[j] + la_to[j], ra_from[j] + ra_to[j])
    for j in range(count):
        best = larger(best, linked[j])
    return best


cdef void combine(Row tk, const float* t2k, float before, int count) noexcept nogil:
    cdef int l
    for l in range(count):
        tk[l] = before + t2k[l]


cdef void link3(Row tj, Row tk, const float* t2k, const float* tjk, const float* links_k, const float* links_j,
                float left, float right, int count) noexcept nogil:
    """tj: [i,j,l], tk: [i,k,l], t2k: [k,l], tjk: [j,k,l] over l; left and right: what [k,l] and [j,k,l] complete to
    [i,j,k,l]."""
    cdef float t4
    cdef int l
    for l in range(count):
        t4 = larger(left + t2k[l], right + tjk[l])
        tj[l] = larger(tj[l], t4 + links_k[l])
        tk[l] = larger(tk[l], t4 + links_j[l])


cdef void link3_by_head(Row tj, Row tk, const float* t2k, const float* tjk, const float* links_k, const float* links_j,
                        const float* row_ra2, const float* row_rap, float left, float right, float ra2, float rap,
                        int count) noexcept nogil:
    """The same with arcs from i to k, by RA2, and to j, by RA'."""
    cdef float t4
    cdef int l
    for l in range(count):
        t4 = larger(left + t2k[l], right + tjk[l])
        tj[l] = larger(tj[l], t4 + larger(links_k[l], ra2 + row_ra2[l]))
        tk[l] = larger(tk[l], t4 + larger(links_j[l], rap + row_rap[l]))


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
        cdef int n = self.scores.n, side = self.scores.side, i, j, l, x, span, outside, which, code
        self.list_dependents()
        self.t3.clear()
        self.t2.assign(side * side, Step(SH, 0, False, -INFINITY))
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
