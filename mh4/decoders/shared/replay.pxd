"""The transition system of mh3, mh4 and mh5: scores of transitions, and conversion of a sequence of codes to a Derivation."""

cdef enum:
    SH, LA, RA, LAp, RAp, LA2, RA2, RA3, RAp2, RApp, LApp, LApp2, LA3  # LAp is LA', RApp is RA'', and so on


cdef struct Scores:
    int n, side          # side is n + 2
    const float* shift   # (side, side)
    const float* s0b0    # (reduces, side, side), by code - LA
    const float* s1s0    # the same, or NULL
    const float* arcs    # (n + 1, n + 1), or NULL
    const float* cost    # the same
    const float* by_arc  # the same, for the charts: the sum of arcs and cost, or whichever is given


cdef class Tensors:
    """The validated arguments of a decoder; keeps them alive, as `scores` points into them."""

    cdef Scores scores
    cdef list arrays

    cdef const float* keep(self, array) except NULL


cdef inline float shift_score(const Scores* scores, int s0, int b0) noexcept nogil:
    return scores.shift[<size_t> s0 * scores.side + b0]


cdef inline float on_s0b0(const Scores* scores, int code, int s0, int b0) noexcept nogil:
    return scores.s0b0[(<size_t> (code - LA) * scores.side + s0) * scores.side + b0]


cdef inline float on_s1s0(const Scores* scores, int code, int s1, int s0) noexcept nogil:
    return scores.s1s0[(<size_t> (code - LA) * scores.side + s1) * scores.side + s0] if scores.s1s0 else 0


cdef inline float arc_score(const Scores* scores, int head, int dependent) noexcept nogil:
    """The score of an arc, whichever transition makes it."""
    return scores.by_arc[<size_t> head * (scores.n + 1) + dependent] if scores.by_arc else 0


# As ARC in mh4/transitions.py, which the tests compare with them.

cdef inline int head_of(int code, int s3, int s2, int s1, int s0, int b0) noexcept nogil:
    """The head of the arc that a reduce makes."""
    if code == LA or code == LA2 or code == LA3:
        return b0
    if code == LAp or code == LApp2:
        return s0
    if code == RA or code == LApp:
        return s1
    return s2 if code == RA2 or code == RAp else s3


cdef inline int dependent_of(int code, int s2, int s1, int s0) noexcept nogil:
    """The dependent of the arc that a reduce makes: the node that it removes."""
    if code == LA or code == RA or code == RA2 or code == RA3:
        return s0
    return s1 if code == LAp or code == RAp or code == LA2 or code == RAp2 else s2


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
cdef Rows rows(array)
