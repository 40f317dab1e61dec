"""The transition system for mh3 and mh4: scores of transitions, and conversion of a sequence of codes to a Derivation."""

cdef enum:
    SH, LA, RA, LAp, RAp, LA2, RA2  # LAp is LA', RAp is RA'


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

    cdef kept(self, name, array, shape)


cdef inline float shift_score(const Scores* scores, int s0, int b0) noexcept nogil:
    return scores.shift[<size_t> s0 * scores.side + b0]


cdef inline float on_s0b0(const Scores* scores, int code, int s0, int b0) noexcept nogil:
    return scores.s0b0[(<size_t> (code - LA) * scores.side + s0) * scores.side + b0]


cdef inline float on_s1s0(const Scores* scores, int code, int s1, int s0) noexcept nogil:
    return scores.s1s0[(<size_t> (code - LA) * scores.side + s1) * scores.side + s0] if scores.s1s0 else 0


cdef inline float arc_score(const Scores* scores, int head, int dependent) noexcept nogil:
    """The score of an arc, whichever transition makes it."""
    return scores.by_arc[<size_t> head * (scores.n + 1) + dependent] if scores.by_arc else 0


cdef inline int head_of(int code, int s2, int s1, int s0, int b0) noexcept nogil:
    """The head of the arc that a reduce makes."""
    return b0 if code == LA or code == LA2 else s1 if code == RA else s0 if code == LAp else s2


cdef inline int dependent_of(int code, int s1, int s0) noexcept nogil:
    """The dependent of the arc that a reduce makes: the node that it removes."""
    return s0 if code == LA or code == RA or code == RA2 else s1


cdef object derivation(const int* codes, const Scores* scores)
