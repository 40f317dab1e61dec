"""Common parts of the MH4 charts."""

from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.replay cimport LA, LA2, Scores, arc_score, dependent_of, head_of, on_s0b0, on_s1s0


cdef struct Step:  # how the best computation of an item ends
    int code      # of the reduce that made it by Link, or SH if it is a Combine
    int gone      # the node removed by Link
    bint longer   # the item that Link took, [i,j,k,l], is [i,j,k] + [k,l], not [i,j] + [j,k,l]
    float score


cdef struct Todo:  # the item [i,j,l], or [i,l] if j is 0, still to be unfolded; or, if code is not SH, a reduce
    int code, i, j, l


cdef class Chart:
    cdef Scores scores
    cdef bint single
    cdef vector[int] codes
    cdef vector[Todo] agenda

    cdef prepare(self, heads, bint single)
    cdef release(self)
    cdef bint fill(self) noexcept nogil
    cdef Step step2(self, int i, int l) noexcept nogil
    cdef Step step3(self, int i, int j, int l) noexcept nogil
    cdef void trace(self) noexcept nogil


cdef inline void better(Step* best, float score, int code, int gone, bint longer) noexcept nogil:
    if score > best.score:
        best[0] = Step(code, gone, longer, score)


cdef inline float reduce_score(const Scores* scores, int code, int s2, int s1, int s0, int b0) noexcept nogil:
    cdef int head, dependent
    if b0 > scores.n and (code == LA or code == LA2):  # the end of the sentence cannot be a head
        return -INFINITY
    head = head_of(code, -1, s2, s1, s0, b0)
    dependent = dependent_of(code, -1, s1, s0)
    return on_s0b0(scores, code, s0, b0) + on_s1s0(scores, code, s1, s0) + arc_score(scores, head, dependent)
