"""Common parts of the MH4 charts."""

from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.search cimport Search


cdef struct Step:  # how the best computation of an item ends
    int code          # of the reduce that made it by Link, or SH if it is a Combine
    int removed       # the node removed by Link
    bint splits_at_k  # the item that Link took, [i,j,k,l], is [i,j,k] + [k,l], not [i,j] + [j,k,l]
    float score


cdef struct Todo:  # a reduce, or an item to be unfolded: [i,j,l], or [i,l] if j is 0, as node 0 is never in the middle
    bint is_reduce
    int code, i, j, l


cdef class Chart(Search):
    cdef vector[Todo] agenda

    cdef Step step2(self, int i, int l) noexcept nogil
    cdef Step step3(self, int i, int j, int l) noexcept nogil


cdef inline void better(Step* best, float score, int code, int removed, bint splits_at_k) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, removed, splits_at_k, score)
