"""All items of the MH5 decoder, in O(n^5) time and O(n^4) memory.

They are found in C++: items.hpp is their layout, search.hpp the order, and what is added up is in transitions.hpp
and arcs.hpp. Here are the ways to an item, which the trace tries again to find the best.
"""

cimport cython
from libc.math cimport INFINITY

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.mh5.chart cimport Chart, Step, better
from mh4.decoders.shared.replay cimport LA, LA2, LA3, LAp, LApp, LApp2, RA, RA2, RA3, RAp, RAp2, RApp, SH, Scores

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


@cython.final
cdef class FullChart(Chart):
    """All items."""

    cdef Transitions transitions
    cdef Arcs arcs
    cdef Items* items  # one of them
    cdef size_t needed

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
