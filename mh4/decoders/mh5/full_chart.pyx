"""All items of the MH5 decoder, in O(n^5) time and O(n^4) memory.

They are found in C++: items.hpp is their layout, search.hpp the order, and what is added up is in transitions.hpp
and arcs.hpp. Here are the ways to an item, which the trace tries again to find the best.
"""

cimport cython
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.replay cimport LA, LA2, LA3, LAp, LApp, LApp2, RA, RA2, RA3, RAp, RAp2, RApp, SH, Scores
from mh4.decoders.shared.search cimport Search, TreeChart, TreeSearch

cdef extern from "trace.h" nogil:
    void lost() except +

cdef extern from "tree_items.hpp":
    pass
cdef extern from "tree_search.hpp" nogil:
    cdef cppclass OwnSearch "one_tree::TreeSearchOf<one_tree::MH5Items>"(TreeSearch):
        pass

cdef extern from "transitions.hpp" namespace "mh5" nogil:
    cppclass Items:
        size_t set(const Scores& scores, bint single) except +
        void allocate() except +
        void release(size_t kept)
        bint fill() except +
        float item2(int i, int l)
        float item3(int i, int j, int l)
        float item4(int i, int j, int k, int l)
    cppclass Transitions(Items):
        pass

cdef extern from "arcs.hpp" namespace "mh5" nogil:
    cppclass Arcs(Items):
        pass


cdef struct Step:  # how the best computation of an item ends
    int code     # of the reduce that made it by Link, or SH if it is a Combine
    int removed  # the node removed by Link
    int left     # the number of heads in the left part of the Combine that made the item, or the five heads that Link took
    float score


cdef struct Todo:  # still to be unfolded: [i,j,k,l], [i,j,l] if k is 0, [i,l] if j is too; or, if code is not SH, a reduce
    int code, i, j, k, l


@cython.final
cdef class FullChart(Search):
    """All items. Node 0 can only be the start of one.

    As in MH4, a derivation with a single root has no arc from 0 before its last transition, RA from [0,j,n+1].
    """

    cdef Transitions transitions
    cdef Arcs arcs
    cdef Items* items  # one of them
    cdef size_t needed
    cdef vector[Todo] agenda

    cdef int prepare(self) except -1 nogil:
        self.items = <Items*> &self.arcs if self.scores.by_arc else <Items*> &self.transitions
        self.needed = 0
        self.needed = self.items.set(self.scores, self.single)

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.needed

    cdef int allocate(self) except -1 nogil:
        self.items.allocate()

    cdef void release(self) noexcept nogil:
        self.transitions.release(KEEP)
        self.arcs.release(KEEP)

    cdef bint fill(self) except -1 nogil:
        return self.items.fill()

    cdef float score5(self, int i, int j, int k, int l, int r, int* left) noexcept nogil:
        """[i,j,k,l,r], and the number of heads in its left part."""
        cdef float of_four = self.items.item4(i, j, k, l) + self.scores.of_shift(k, l) + self.items.item2(l, r)
        cdef float of_three = self.items.item3(i, j, k) + self.scores.of_shift(j, k) + self.items.item3(k, l, r)
        cdef float of_two = self.items.item2(i, j) + self.scores.of_shift(i, j) + self.items.item4(j, k, l, r)
        if of_four >= of_three and of_four >= of_two:
            left[0] = 4
            return of_four
        left[0] = 3 if of_three >= of_two else 2
        return of_three if of_three >= of_two else of_two

    cdef Step step2(self, int i, int l) noexcept nogil:
        """The best way to [i,l], l > i+1."""
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef bint from_i = i > 0 or l > self.scores.n or not self.single
        cdef int j
        cdef float score
        for j in range(i + 1, l):
            score = self.items.item3(i, j, l)
            better(&best, score + self.scores.of_reduce(LA, -1, -1, i, j, l), LA, j, 0)
            if from_i:
                better(&best, score + self.scores.of_reduce(RA, -1, -1, i, j, l), RA, j, 0)
        return best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        """The best way to [i,j,l]."""
        cdef Step best = Step(SH, 0, 2, -INFINITY)
        cdef bint from_i = i > 0 or not self.single
        cdef int k
        cdef float score
        better(&best, self.items.item2(i, j) + self.scores.of_shift(i, j) + self.items.item2(j, l), SH, 0, 2)
        for k in range(j + 1, l):
            score = self.items.item4(i, j, k, l)
            better(&best, score + self.scores.of_reduce(RA, -1, i, j, k, l), RA, k, 0)
            better(&best, score + self.scores.of_reduce(LA, -1, i, j, k, l), LA, k, 0)
            if from_i:
                better(&best, score + self.scores.of_reduce(RA2, -1, i, j, k, l), RA2, k, 0)
        for k in range(i + 1, j):
            score = self.items.item4(i, k, j, l)
            better(&best, score + self.scores.of_reduce(LAp, -1, i, k, j, l), LAp, k, 0)
            better(&best, score + self.scores.of_reduce(LA2, -1, i, k, j, l), LA2, k, 0)
            if from_i:
                better(&best, score + self.scores.of_reduce(RAp, -1, i, k, j, l), RAp, k, 0)
        return best

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        """The best way to [i,j,k,l]."""
        cdef Step best = Step(SH, 0, 3, -INFINITY)
        cdef int x
        better(&best, self.items.item3(i, j, k) + self.scores.of_shift(j, k) + self.items.item2(k, l), SH, 0, 3)
        better(&best, self.items.item2(i, j) + self.scores.of_shift(i, j) + self.items.item3(j, k, l), SH, 0, 2)
        for x in range(i + 1, j):
            self.link5(&best, x, i, x, j, k, l, RApp, LApp, LApp2, LA3)
        for x in range(j + 1, k):
            self.link5(&best, x, i, j, x, k, l, RAp2, LAp, RAp, LA2)
        for x in range(k + 1, l):
            self.link5(&best, x, i, j, k, x, l, RA3, LA, RA, RA2)
        return best

    cdef void link5(
        self, Step* best, int removed, int i, int j, int k, int l, int r, int from_i, int a, int b, int c
    ) noexcept nogil:
        """Link of [i,j,k,l,r] without `removed` by four reduces, the first of which makes an arc from i."""
        cdef int left = 0
        cdef float score = self.score5(i, j, k, l, r, &left)
        if i > 0 or not self.single:
            better(best, score + self.scores.of_reduce(from_i, i, j, k, l, r), from_i, removed, left)
        better(best, score + self.scores.of_reduce(a, i, j, k, l, r), a, removed, left)
        better(best, score + self.scores.of_reduce(b, i, j, k, l, r), b, removed, left)
        better(best, score + self.scores.of_reduce(c, i, j, k, l, r), c, removed, left)

    cdef int trace(self) except -1 nogil:
        """Unfold the goal into the codes of its transitions: Combine is concatenation, Link appends its reduce."""
        cdef Todo todo
        cdef Step step
        self.codes.clear()
        self.agenda.clear()
        self.agenda.push_back(item(0, 0, 0, self.scores.n + 1))
        while self.agenda.size():
            todo = self.agenda.back()
            self.agenda.pop_back()
            self.watch.after(500 * (todo.l - todo.i))
            if todo.code != SH:
                self.codes.push_back(todo.code)
            elif todo.k > 0:
                self.unfold4(todo.i, todo.j, todo.k, todo.l)
            elif todo.j > 0:
                step = self.step3(todo.i, todo.j, todo.l)
                if not step.score > -INFINITY:
                    lost()
                if step.code == SH:
                    self.agenda.push_back(item(todo.j, 0, 0, todo.l))
                    self.agenda.push_back(item(todo.i, 0, 0, todo.j))
                else:
                    self.agenda.push_back(reduce(step.code))
                    self.agenda.push_back(item(todo.i, min(todo.j, step.removed), max(todo.j, step.removed), todo.l))
            elif todo.l == todo.i + 1:
                self.codes.push_back(SH)
            else:
                step = self.step2(todo.i, todo.l)
                if not step.score > -INFINITY:
                    lost()
                self.agenda.push_back(reduce(step.code))
                self.agenda.push_back(item(todo.i, step.removed, 0, todo.l))

    cdef int unfold4(self, int i, int j, int k, int l) except -1 nogil:
        cdef Step step = self.step4(i, j, k, l)
        if not step.score > -INFINITY:
            lost()
        if step.code == SH:
            if step.left == 3:
                self.agenda.push_back(item(k, 0, 0, l))
                self.agenda.push_back(item(i, j, 0, k))
            else:
                self.agenda.push_back(item(j, k, 0, l))
                self.agenda.push_back(item(i, 0, 0, j))
            return 0
        self.agenda.push_back(reduce(step.code))
        if step.removed < j:
            self.unfold5(i, step.removed, j, k, l, step.left)
        elif step.removed < k:
            self.unfold5(i, j, step.removed, k, l, step.left)
        else:
            self.unfold5(i, j, k, step.removed, l, step.left)

    cdef int unfold5(self, int i, int j, int k, int l, int r, int left) except -1 nogil:
        if left == 4:
            self.agenda.push_back(item(l, 0, 0, r))
            self.agenda.push_back(item(i, j, k, l))
        elif left == 3:
            self.agenda.push_back(item(k, l, 0, r))
            self.agenda.push_back(item(i, j, 0, k))
        else:
            self.agenda.push_back(item(j, k, l, r))
            self.agenda.push_back(item(i, 0, 0, j))


cdef inline void better(Step* best, float score, int code, int removed, int left) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, removed, left, score)


cdef inline Todo item(int i, int j, int k, int l) noexcept nogil:
    return Todo(SH, i, j, k, l)


cdef inline Todo reduce(int code) noexcept nogil:
    return Todo(code, 0, 0, 0, 0)


@cython.final
cdef class MH5TreeChart(TreeChart):
    cdef OwnSearch own

    def __cinit__(self):
        self.tree = &self.own
