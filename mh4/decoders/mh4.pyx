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

from mh4.decoders.replay cimport LA, LA2, LAp, RA, RA2, RAp, SH, replay

from mh4.decoders import arguments
from mh4.decoders.derivation import from_transitions

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
    tensors = {"shift": arguments.scores("shift", shift, (n + 2, n + 2)),
               "reduce_s0b0": arguments.scores("reduce_s0b0", reduce_s0b0, (6, n + 2, n + 2))}
    if reduce_s1s0 is not None:
        tensors["reduce_s1s0"] = arguments.scores("reduce_s1s0", reduce_s1s0, (6, n + 2, n + 2))
    if cost is not None:
        cost = arguments.scores("cost", cost, (n + 1, n + 1))

    cdef Chart chart
    if heads is None:
        if not hasattr(_workspace, "chart"):
            _workspace.chart = FullChart()
        chart = _workspace.chart
    else:
        heads = arguments.tree(heads, n)
        arguments.roots(heads, single_root)
        chart = TreeChart(heads)

    transitions = np.empty((2 * n + 1, 4), dtype=np.intp)
    found = np.empty(n + 1, dtype=np.int32)
    cdef Py_ssize_t[:, ::1] rows = transitions
    cdef int[::1] arcs_found = found
    cdef bint derived, single = single_root and heads is None
    chart.prepare(Scores(n, None if cost is None else arguments.float32(cost),
                         *map(arguments.float32, tensors.values())), single)
    with nogil:
        derived = chart.fill()
        if derived:
            chart.trace(rows, arcs_found)
    chart.release()
    if not derived:
        raise arguments.no_derivation(heads, 4)
    return from_transitions(transitions, found, tensors, cost)


_workspace = threading.local()  # a chart per thread, so that its memory is reused and threads decode side by side


cdef class Scores:
    """The arguments of a call; `reduce` adds up the score of a reduce transition."""

    cdef int n
    cdef bint hybrid, costs
    cdef const float[:, ::1] shift, arc
    cdef const float[:, :, ::1] s0b0, s1s0

    def __init__(self, n, cost, shift, s0b0, s1s0=None):
        self.n = n
        self.shift = shift
        self.s0b0 = s0b0
        self.hybrid = s1s0 is not None
        self.s1s0 = s1s0
        self.costs = cost is not None
        self.arc = cost

    cdef float reduce(self, int code, int s2, int s1, int s0, int b0) noexcept nogil:
        cdef float score
        cdef int head, dependent
        if b0 > self.n and (code == LA or code == LA2):  # the end of the sentence is no head
            return -INFINITY
        score = self.s0b0[code - LA, s0, b0]
        if self.hybrid:
            score += self.s1s0[code - LA, s1, s0]
        if self.costs:
            dependent = s0 if code == LA or code == RA or code == RA2 else s1
            head = b0 if code == LA or code == LA2 else s1 if code == RA else s0 if code == LAp else s2
            score += self.arc[head, dependent]
        return score


cdef struct Step:  # how the best computation of an item ends
    int code      # of the reduce that made it by Link, or SH if it is a Combine
    int gone      # the node removed by Link
    bint longer   # what Link took, [i,j,k,l], is [i,j,k] + [k,l], not [i,j] + [j,k,l]
    int plane     # where that starts
    float score


cdef class Chart:
    """The items of a sentence, by plane: plane i has those that start with i.

    Node 0 is in no item but as its start. For a single root, plane 0 has the items without an arc from the root and
    plane n+1 (where no item starts) those with just one.
    """

    cdef int n, side
    cdef bint single
    cdef Scores scores

    cdef prepare(self, Scores scores, bint single):
        self.n = scores.n
        self.side = scores.n + 2
        self.scores = scores
        self.single = single

    cdef release(self):
        self.scores = None

    cdef int goal(self) noexcept nogil:
        return self.n + 1 if self.single else 0

    cdef int start(self, int plane) noexcept nogil:
        return 0 if plane > self.n else plane

    cdef int below(self, int plane) noexcept nogil:
        """The plane from which an arc headed by the first node leads to this plane; -1 if there is none."""
        if not self.single:
            return plane
        return -1 if plane == 0 else self.start(plane)

    cdef bint fill(self) noexcept nogil:
        """Find the best score of every item; True if the goal [0,n+1] was derived."""

    cdef Step step2(self, int p, int l) noexcept nogil:
        """The best way to [i,l], i the start of plane p, l > i+1."""

    cdef Step step3(self, int p, int j, int l) noexcept nogil:
        """The best way to [i,j,l]."""

    cdef void trace(self, Py_ssize_t[:, ::1] rows, int[::1] heads) noexcept nogil:
        """Unfold the goal into its transitions: Combine is concatenation, Link appends its reduce."""
        cdef vector[Todo] agenda
        cdef vector[int] codes, stack
        cdef Todo todo
        cdef Step step
        cdef int j, k
        agenda.push_back(item(self.goal(), 0, self.n + 1))
        while agenda.size():
            todo = agenda.back()
            agenda.pop_back()
            if todo.code != SH:
                codes.push_back(todo.code)
            elif todo.j == 0 and todo.l == self.start(todo.plane) + 1:
                codes.push_back(SH)  # [i,i+1]
            elif todo.j == 0:
                step = self.step2(todo.plane, todo.l)
                agenda.push_back(reduce(step.code))
                agenda.push_back(item(step.plane, step.gone, todo.l))
            else:
                step = self.step3(todo.plane, todo.j, todo.l)
                if step.code == SH:
                    agenda.push_back(item(todo.j, 0, todo.l))
                    agenda.push_back(item(todo.plane, 0, todo.j))
                    continue
                agenda.push_back(reduce(step.code))
                j = min(todo.j, step.gone)
                k = max(todo.j, step.gone)
                if step.longer:
                    agenda.push_back(item(k, 0, todo.l))
                    agenda.push_back(item(step.plane, j, k))
                else:
                    agenda.push_back(item(j, k, todo.l))
                    agenda.push_back(item(step.plane, 0, j))
        stack.resize(self.n + 3)
        replay(codes.data(), self.n, &rows[0, 0], &heads[0], stack.data())


cdef struct Todo:  # the item [i,j,l], or [i,l] if j is 0, still to be unfolded; or, if code is not SH, a reduce
    int code, plane, j, l


cdef inline Todo item(int plane, int j, int l) noexcept nogil:
    return Todo(SH, plane, j, l)


cdef inline Todo reduce(int code) noexcept nogil:
    return Todo(code, 0, 0, 0)


cdef enum:
    LANES = 16           # rows are padded to a multiple of this, for vector instructions
    KEEP = 1 << 26       # floats that a thread keeps between calls
    RECORD = 8           # scores of (s1, s0): the six reduces by code - LA, then the shift
    SHIFT = 6


cdef class FullChart(Chart):
    """All items. Cells that are no item (l <= j, or l beyond the sentence) hold -inf or are never read."""

    cdef float* memory
    cdef size_t capacity
    cdef int stride
    cdef float* t2        # [i,l] at plane, l
    cdef float* t3        # [i,j,l] at plane, j, l
    cdef float* on_s1s0   # RECORD scores at s0, s1: scores that depend on s1 and s0 only
    cdef float* on_s0b0   # six rows at s0, by b0: scores that depend on s0 and b0 only
    cdef float* cost_to   # at dependent, head

    def __dealloc__(self):
        free(self.memory)

    cdef prepare(self, Scores scores, bint single):
        Chart.prepare(self, scores, single)
        cdef size_t side = self.side, stride = (side + LANES - 1) // LANES * LANES
        cdef size_t needed = side * (side * stride + 8 * stride + side * RECORD)
        self.stride = stride
        if needed > self.capacity:
            free(self.memory)
            self.memory = NULL
            self.capacity = 0
            if posix_memalign(<void**> &self.memory, 64, needed * sizeof(float)):
                self.memory = NULL
                raise MemoryError(f"a sentence of {self.n} words needs {needed * sizeof(float) >> 20} MB")
            self.capacity = needed
        self.t2 = self.memory
        self.cost_to = self.t2 + side * stride
        self.on_s0b0 = self.cost_to + side * stride
        self.t3 = self.on_s0b0 + 6 * side * stride
        self.on_s1s0 = self.t3 + side * side * stride
        self.tabulate(scores)

    cdef release(self):
        Chart.release(self)
        if self.capacity > KEEP:
            free(self.memory)
            self.memory = NULL
            self.capacity = 0

    cdef float* row2(self, int p) noexcept nogil:
        return self.t2 + <size_t> p * self.stride

    cdef float* row3(self, int p, int j) noexcept nogil:
        return self.t3 + (<size_t> p * self.side + j) * self.stride

    cdef float* row_s0b0(self, int code, int s0) noexcept nogil:
        return self.on_s0b0 + (<size_t> s0 * 6 + code - LA) * self.stride

    cdef float* record(self, int s1, int s0) noexcept nogil:
        return self.on_s1s0 + (<size_t> s0 * self.side + s1) * RECORD

    cdef void tabulate(self, Scores scores) noexcept nogil:
        """Lay the scores out as the loops read them; the cost of an arc goes where its head and dependent are known."""
        cdef int n = self.n, t, h, m, s1, s0, b0
        cdef float* row
        for m in range(n + 1):
            row = self.cost_to + m * self.stride
            for h in range(self.stride):
                row[h] = scores.arc[h, m] if scores.costs and h <= n else 0
        for s0 in range(n + 1):
            for t in range(6):
                row = self.row_s0b0(t + LA, s0)
                for b0 in range(self.stride):
                    row[b0] = scores.s0b0[t, s0, b0] if b0 <= n + 1 else 0
            row = self.row_s0b0(LA, s0)
            for b0 in range(n + 1):
                row[b0] += self.cost_to[s0 * self.stride + b0]
            row[n + 1] = self.row_s0b0(LA2, s0)[n + 1] = -INFINITY  # the end of the sentence is no head
            for s1 in range(s0):
                row = self.record(s1, s0)
                for t in range(6):
                    row[t] = scores.s1s0[t, s1, s0] if scores.hybrid else 0
                row[RA - LA] += self.cost_to[s0 * self.stride + s1]
                row[LAp - LA] += self.cost_to[s1 * self.stride + s0]
                row[SHIFT] = scores.shift[s1, s0]

    cdef bint fill(self) noexcept nogil:
        cdef int p
        cdef size_t cell
        for cell in range(<size_t> self.side * self.stride):
            self.t2[cell] = -INFINITY
        for p in range(self.n, -1, -1):
            self.row2(p)[p + 1] = 0
            self.fill_plane(p)
        if self.single:
            self.fill_plane(self.n + 1)
        return self.row2(self.goal())[self.n + 1] > -INFINITY

    cdef void fill_plane(self, int p) noexcept nogil:
        """All items starting with i, in the order of the last head of what they are made of."""
        cdef int i = self.start(p), below = self.below(p), j, k, l
        cdef float value, best, before
        cdef float* record
        for k in range(i + 1, self.n + 2):
            # every [i,j,k] is complete: Link them to [i,k]
            best = -INFINITY
            for j in range(i + 1, k):
                record = self.record(i, j)
                best = larger(best, self.row3(p, j)[k] + (record[0] + self.row_s0b0(LA, j)[k]))
                if below >= 0:
                    value = self.row3(below, j)[k] + (record[RA - LA] + self.row_s0b0(RA, j)[k])
                    best = larger(best, value)
            if k > i + 1:
                self.row2(p)[k] = best
            if k > self.n:
                return
            # Combine [i,k] + [k,l] = [i,k,l]
            before = self.row2(p)[k] + self.record(i, k)[SHIFT]
            combine(self.row3(p, k), self.row2(k), before, k, self.stride)
            # Combine to [i,j,k,l], and Link these to [i,j,l] and [i,k,l]
            for j in range(i + 1, k):
                self.link(p, p, i, j, k, below == p, True)
                if below >= 0 and below != p:
                    self.link(p, below, i, j, k, True, False)

    cdef void link(self, int p, int q, int i, int j, int k, bint from_i, bint from_others) noexcept nogil:
        """Derive [i,j,l] and [i,k,l] of plane p from [i,j,k,l] of plane q, for all l, by arcs from i and others."""
        cdef float* record = self.record(j, k)
        cdef float scores[6]
        cdef int t
        for t in range(6):
            scores[t] = record[t] if from_others else -INFINITY
        scores[RAp - LA] = record[RAp - LA] + self.cost_to[j * self.stride + i] if from_i else -INFINITY
        scores[RA2 - LA] = record[RA2 - LA] + self.cost_to[k * self.stride + i] if from_i else -INFINITY
        link_row(self.row3(p, j), self.row3(p, k), self.row2(k), self.row3(j, k), self.row_s0b0(LA, k),
                 self.cost_to + j * self.stride, self.row3(q, j)[k] + record[SHIFT],
                 self.row2(q)[j] + self.record(i, j)[SHIFT], scores, k, self.stride)

    cdef float score4(self, int p, int j, int k, int l, bint* longer) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.row3(p, j)[k] + self.record(j, k)[SHIFT] + self.row2(k)[l]
        cdef float right = self.row2(p)[j] + self.record(self.start(p), j)[SHIFT] + self.row3(j, k)[l]
        longer[0] = left > right
        return larger(left, right)

    cdef Step step2(self, int p, int l) noexcept nogil:
        cdef Step best
        cdef int i = self.start(p), j, below = self.below(p)
        best.score = -INFINITY
        for j in range(i + 1, l):
            better(&best, self.row3(p, j)[l] + self.scores.reduce(LA, -1, i, j, l), LA, j, False, p)
            if below >= 0:
                better(&best, self.row3(below, j)[l] + self.scores.reduce(RA, -1, i, j, l), RA, j, False, below)
        return best

    cdef Step step3(self, int p, int j, int l) noexcept nogil:
        cdef Step best
        cdef int i = self.start(p), k, below = self.below(p)
        cdef float score
        cdef bint longer
        best.score = -INFINITY
        better(&best, self.row2(p)[j] + self.record(i, j)[SHIFT] + self.row2(j)[l], SH, 0, False, p)
        for k in range(j + 1, l):
            score = self.score4(p, j, k, l, &longer)
            better(&best, score + self.scores.reduce(RA, i, j, k, l), RA, k, longer, p)
            better(&best, score + self.scores.reduce(LA, i, j, k, l), LA, k, longer, p)
            if below >= 0:
                score = self.score4(below, j, k, l, &longer)
                better(&best, score + self.scores.reduce(RA2, i, j, k, l), RA2, k, longer, below)
        for k in range(i + 1, j):
            score = self.score4(p, k, j, l, &longer)
            better(&best, score + self.scores.reduce(LAp, i, k, j, l), LAp, k, longer, p)
            better(&best, score + self.scores.reduce(LA2, i, k, j, l), LA2, k, longer, p)
            if below >= 0:
                score = self.score4(below, k, j, l, &longer)
                better(&best, score + self.scores.reduce(RAp, i, k, j, l), RAp, k, longer, below)
        return best


cdef inline float larger(float a, float b) noexcept nogil:
    return a if a > b else b


cdef inline void better(Step* best, float score, int code, int gone, bint longer, int plane) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, gone, longer, plane, score)


cdef void combine(Row tk, const float* t2k, float before, int k, int stride) noexcept nogil:
    cdef int l
    for l in range((k + 1) // LANES * LANES, stride):
        tk[l] = before + t2k[l]


cdef void link_row(Row tj, Row tk, const float* t2k, const float* tjk, const float* on_s0b0, const float* cost_to_j,
                   float left, float right, const float* on_s1s0, int k, int stride) noexcept nogil:
    """tj: [i,j,l], tk: [i,k,l], t2k: [k,l], tjk: [j,k,l] at l; left and right: what [k,l] and [j,k,l] complete to
    [i,j,k,l]. The loop starts at the vector with l = k+1; below that l it adds -inf, the value of [k,l] and [j,k,l]."""
    cdef float la = on_s1s0[0], ra = on_s1s0[RA - LA], lap = on_s1s0[LAp - LA]
    cdef float rap = on_s1s0[RAp - LA], la2 = on_s1s0[LA2 - LA], ra2 = on_s1s0[RA2 - LA]
    cdef const float* row_la = on_s0b0
    cdef const float* row_ra = on_s0b0 + stride
    cdef const float* row_lap = on_s0b0 + 2 * stride
    cdef const float* row_rap = on_s0b0 + 3 * stride
    cdef const float* row_la2 = on_s0b0 + 4 * stride
    cdef const float* row_ra2 = on_s0b0 + 5 * stride
    cdef float t4, without_k, without_j
    cdef int l
    for l in range((k + 1) // LANES * LANES, stride):
        t4 = larger(left + t2k[l], right + tjk[l])
        without_k = larger(ra2 + row_ra2[l], larger(ra + row_ra[l], la + row_la[l]))
        without_j = larger(rap + row_rap[l], larger(lap + row_lap[l], la2 + row_la2[l] + cost_to_j[l]))
        tj[l] = larger(tj[l], t4 + without_k)
        tk[l] = larger(tk[l], t4 + without_j)


cdef struct Item:  # [i,j,l], in the list of its span i..l
    int j
    Step best


cdef class TreeChart(Chart):
    """Only the items in derivations of one tree: every Link makes an arc of the tree.

    These are few. In an item [i,j,l] every other word between i and l has its head, so no more than one word between
    i and l has a head outside the span, and if one has, it is j; if none has, the head of j is i or l.
    """

    cdef const int[::1] heads
    cdef vector[int] dependents, first  # of h: dependents[first[h]] to dependents[first[h + 1] - 1]
    cdef vector[Step] t2                # at i, l
    cdef vector[int] begin, end         # at i, l: the items [i,j,l] are t3[begin] to t3[end - 1]
    cdef vector[Item] t3

    def __init__(self, heads):
        self.heads = heads

    cdef bint fill(self) noexcept nogil:
        cdef int n = self.n, side = self.side, i, j, l, x, span, outside, which, code
        self.list_dependents()
        self.t2.assign(side * side, Step(SH, 0, False, 0, -INFINITY))
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
                        better(&self.t2[span], self.t3[x].best.score + self.scores.reduce(code, -1, i, j, l),
                               code, j, False, i)
        return self.t2[n + 1].score > -INFINITY

    cdef void list_dependents(self) noexcept nogil:
        cdef int n = self.n, h, m
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
        new.best = Step(SH, 0, False, i, self.t2[i * self.side + j].score + self.t2[j * self.side + l].score
                        + self.scores.shift[i, j])
        self.link_dependents(&new.best, i, i, j, l)
        self.link_dependents(&new.best, j, i, j, l)
        self.link_dependents(&new.best, l, i, j, l)
        if new.best.score > -INFINITY:
            self.t3.push_back(new)
            self.end[i * self.side + l] += 1

    cdef void link_dependents(self, Step* best, int head, int i, int j, int l) noexcept nogil:
        """Link the dependents of one of i, j, l to get [i,j,l]."""
        cdef int x, k, code
        cdef bint longer
        cdef float score
        for x in range(self.first[head], self.first[head + 1]):
            k = self.dependents[x]
            if j < k < l:
                code = RA2 if head == i else RA if head == j else LA
                score = self.score4(i, j, k, l, &longer) + self.scores.reduce(code, i, j, k, l)
            elif i < k < j:
                code = RAp if head == i else LAp if head == j else LA2
                score = self.score4(i, k, j, l, &longer) + self.scores.reduce(code, i, k, j, l)
            else:
                continue
            better(best, score, code, k, longer, i)

    cdef float score4(self, int i, int j, int k, int l, bint* longer) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.step3(i, j, k).score + self.scores.shift[j, k] + self.t2[k * self.side + l].score
        cdef float right = self.t2[i * self.side + j].score + self.scores.shift[i, j] + self.step3(j, k, l).score
        longer[0] = left > right
        return larger(left, right)

    cdef Step step2(self, int i, int l) noexcept nogil:
        return self.t2[i * self.side + l]

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef int x, span = i * self.side + l
        for x in range(self.begin[span], self.end[span]):
            if self.t3[x].j == j:
                return self.t3[x].best
        return Step(SH, 0, False, i, -INFINITY)
