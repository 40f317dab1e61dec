"""Common parts of the MH4 charts."""

from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.replay cimport LA, LA2, Scores, arc_score, dependent_of, head_of, on_s0b0, on_s1s0
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


cdef inline float reduce_score(const Scores* scores, int code, int s2, int s1, int s0, int b0) noexcept nogil:
    cdef int head, dependent
    if b0 > scores.n and (code == LA or code == LA2):  # the end of the sentence cannot be a head
        return -INFINITY
    head = head_of(code, -1, s2, s1, s0, b0)
    dependent = dependent_of(code, -1, s1, s0)
    return on_s0b0(scores, code, s0, b0) + on_s1s0(scores, code, s1, s0) + arc_score(scores, head, dependent)
