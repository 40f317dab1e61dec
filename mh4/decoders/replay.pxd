# cython: language_level=3
"""The transition system as the decoders need it: from a sequence of codes to configurations and heads."""

cdef enum:
    SH, LA, RA, LAp, RAp, LA2, RA2  # LAp is LA', RAp is RA'


cdef inline void replay(const int* codes, int n, Py_ssize_t* rows, int* heads, int* stack) noexcept nogil:
    """Execute the 2n+1 transitions; rows gets (code, s1, s0, b0) before each, heads the head of every word.

    stack is room for n+3 nodes: two empty positions (-1) lie below the bottom.
    """
    cdef int step, code, s0, s1, s2, b0 = 0, top = 1  # stack[top] is s0
    stack[0] = stack[1] = -1
    heads[0] = -1
    for step in range(2 * n + 1):
        code = codes[step]
        s0 = stack[top]
        s1 = stack[top - 1]
        s2 = stack[top - 2] if top > 1 else -1
        rows[4 * step] = code
        rows[4 * step + 1] = s1
        rows[4 * step + 2] = s0
        rows[4 * step + 3] = b0
        if code == SH:
            top += 1
            stack[top] = b0
            b0 += 1
            continue
        if code == LA:
            heads[s0] = b0
        elif code == RA:
            heads[s0] = s1
        elif code == RA2:
            heads[s0] = s2
        elif code == LAp:
            heads[s1] = s0
        elif code == RAp:
            heads[s1] = s2
        else:
            heads[s1] = b0
        top -= 1
        if code == LAp or code == RAp or code == LA2:  # s1 was removed
            stack[top] = s0
