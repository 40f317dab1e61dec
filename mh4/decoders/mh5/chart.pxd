"""Common parts of the MH5 charts."""

from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.search cimport Search


cdef struct Step:  # how the best computation of an item ends
    int code     # of the reduce that made it by Link, or SH if it is a Combine
    int removed  # the node removed by Link
    int left     # the number of heads in the left part of the Combine that made the item, or the five heads that Link took
    float score


cdef struct Todo:  # still to be unfolded: [i,j,k,l], [i,j,l] if k is 0, [i,l] if j is too; or, if code is not SH, a reduce
    int code, i, j, k, l


cdef class Chart(Search):
    cdef vector[Todo] agenda

    cdef Step step2(self, int i, int l) noexcept nogil
    cdef Step step3(self, int i, int j, int l) noexcept nogil
    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil
    cdef int unfold4(self, int i, int j, int k, int l) except -1 nogil
    cdef int unfold5(self, int i, int j, int k, int l, int r, int left) except -1 nogil


cdef inline void better(Step* best, float score, int code, int removed, int left) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, removed, left, score)
