"""The transition system of mh3, mh4 and mh5: transitions and their scores, and conversion of a sequence of codes to a Derivation."""

cdef extern from "transition_scores.hpp" namespace "transitions" nogil:
    enum:
        SH, LA, RA, LAp, RAp, LA2, RA2
    int head_of(int code, int s3, int s2, int s1, int s0, int b0)
    int dependent_of(int code, int s2, int s1, int s0)
    cppclass Scores:
        int n, side
        const float* shift
        const float* s0b0
        const float* s1s0
        const float* arcs
        const float* cost
        const float* by_arc
        Scores()
        Scores(int n)
        float of_shift(int s0, int b0)
        float on_s0b0(int code, int s0, int b0)
        float on_s1s0(int code, int s1, int s0)


cdef class Tensors:
    """The validated arguments of a decoder; keeps them alive, as `scores` points into them."""

    cdef Scores scores
    cdef list arrays
    cdef object by_arc  # the sum of arcs and cost, or whichever is given, or None
    cdef int reduces

    cdef const float* keep(self, array) except? NULL
    cdef Tensors zeros(self)


cdef struct Rows:  # index rows, to be written one after the other
    Py_ssize_t* next
    Py_ssize_t sentence  # which begins each row, or -1


cdef inline void write(Rows* rows, int code, int first, int second) noexcept nogil:
    """Write an index row: the sentence and the code, unless they are -1, and two nodes."""
    if rows.sentence >= 0:
        rows.next[0] = rows.sentence
        rows.next += 1
    if code >= 0:
        rows.next[0] = code
        rows.next += 1
    rows.next[0] = first
    rows.next[1] = second
    rows.next += 2


cdef struct Replay:  # what a sequence of transitions comes to
    int* heads                # n + 1
    Py_ssize_t* transitions   # 2n + 1 rows of code, s1, s0, b0
    Rows shift, s0b0, s1s0, arcs


cdef double replay(const int* codes, const Scores* scores, Replay* to) noexcept nogil
cdef object derivation(const int* codes, const Scores* scores)
