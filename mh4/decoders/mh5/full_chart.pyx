"""All items of the MH5 decoder, in O(n^5) time and O(n^4) memory.

They are found in C++: items.hpp is their layout, search.hpp the order, and what is added up is in transitions.hpp
and arcs.hpp. Here are the ways to items of four and five heads, which the trace tries again to find the best.
"""

cimport cython
from libc.math cimport INFINITY

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.replay cimport LA, LA2, LA3, LAp, LApp, LApp2, RA, RA2, RA3, RAp, RAp2, RApp, SH, Scores
from mh4.decoders.shared.search cimport Search, Step, TreeChart, TreeSearch, by_combine, by_link

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


@cython.final
cdef class FullChart(Search):
    """All items. Node 0 can only be the start of one.

    As in MH4, a derivation with a single root has no arc from 0 before its last transition, RA from [0,j,n+1].
    """

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

    cdef float item2(self, int i, int l) noexcept nogil:
        return self.items.item2(i, l)

    cdef float item3(self, int i, int j, int l) noexcept nogil:
        return self.items.item3(i, j, l)

    cdef float item4(self, int i, int j, int k, int l) noexcept nogil:
        return self.items.item4(i, j, k, l)

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef int x
        by_combine(&best, self.item3(i, j, k) + self.scores.of_shift(j, k) + self.item2(k, l), 3)
        by_combine(&best, self.item2(i, j) + self.scores.of_shift(i, j) + self.item3(j, k, l), 2)
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
        cdef float score = self.step5(i, j, k, l, r).score
        if i > 0 or not self.single:
            by_link(best, score + self.scores.of_reduce(from_i, i, j, k, l, r), from_i, removed)
        by_link(best, score + self.scores.of_reduce(a, i, j, k, l, r), a, removed)
        by_link(best, score + self.scores.of_reduce(b, i, j, k, l, r), b, removed)
        by_link(best, score + self.scores.of_reduce(c, i, j, k, l, r), c, removed)

    cdef Step step5(self, int i, int j, int k, int l, int r) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        by_combine(&best, self.item4(i, j, k, l) + self.scores.of_shift(k, l) + self.item2(l, r), 4)
        by_combine(&best, self.item3(i, j, k) + self.scores.of_shift(j, k) + self.item3(k, l, r), 3)
        by_combine(&best, self.item2(i, j) + self.scores.of_shift(i, j) + self.item4(j, k, l, r), 2)
        return best


@cython.final
cdef class MH5TreeChart(TreeChart):
    cdef OwnSearch own

    def __cinit__(self):
        self.tree = &self.own
