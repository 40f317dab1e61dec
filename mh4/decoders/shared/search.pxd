"""What the charts of mh3, mh4 and mh5 have in common."""

from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport Memory
from mh4.decoders.shared.replay cimport SH, Scores
from mh4.decoders.shared.signals cimport Watch


cdef extern from "tree_search.hpp" namespace "one_tree" nogil:
    cdef cppclass TreeSearch:
        bint find(const Scores& scores, const int* heads, bint single_root, vector[int]& codes) except +
        size_t bytes_needed()
        void release()


cdef struct Item:  # [h1,...,hm]
    int size
    int[5] heads


cdef struct Step:  # how the best computation of an item ends
    int code     # of the reduce that made it by Link, or SH if it is a Combine
    int removed  # the node removed by Link
    int left     # the number of heads in the left part of the Combine
    float score


cdef inline void by_link(Step* best, float score, int code, int removed) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, removed, 0, score)


cdef inline void by_combine(Step* best, float score, int left) noexcept nogil:
    if score > best.score:
        best[0] = Step(SH, 0, left, score)


cdef class Search:
    cdef Scores scores      # set these three, then prepare and decode
    cdef bint single        # whether node 0 is to have one dependent
    cdef const int* heads   # of the only tree to derive, or NULL
    cdef vector[int] codes  # of the transitions found, in order of execution
    cdef Memory[char] memory
    cdef Watch watch
    cdef vector[Item] agenda  # of the trace

    cdef int prepare(self) except -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef int allocate(self) except -1 nogil
    cdef void arrange(self) noexcept nogil
    cdef float* floats(self, size_t count) noexcept nogil
    cdef bint fill(self) except -1 nogil
    cdef float item2(self, int i, int l) noexcept nogil
    cdef float item3(self, int i, int j, int l) noexcept nogil
    cdef float item4(self, int i, int j, int k, int l) noexcept nogil
    cdef Step step2(self, int i, int l) noexcept nogil
    cdef Step step3(self, int i, int j, int l) noexcept nogil
    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil
    cdef Step step5(self, int i, int j, int k, int l, int r) noexcept nogil
    cdef int trace(self) except -1 nogil
    cdef void release(self) noexcept nogil
    cdef bint decode(self) except -1 nogil


cdef class TreeChart(Search):
    """The items in derivations of one tree, used in training to find gold's best derivation; its subclass has the search."""

    cdef TreeSearch* tree
