"""A straightforward implementation of MH4: Figure 2 of the paper with k = 4, item by item. Read this before decoder.py.

An item [h1,...,hm] is a computation that starts with h1 as the first buffer element and ends with h1|...|h(m-1) on top of the stack
and hm as the first buffer element: in [i,j,k,l], s2, s1, s0 and b0 are i, j, k and l; in [i,j,l], s1, s0 and b0 are i, j and l. As the
shift of a node cannot be scored where it happens (Section 4.2), it is scored where the item that ends in the node is combined with the
one that starts with it:

    [i,j,l]   = best of  Combine  [i,j] + shift[i,j] + [j,l]
                         Link     [i,j,k,l] without k: RA2 (i->k), RA (j->k), LA (l->k)
                                  [i,k,j,l] without k: RA' (i->k), LA' (j->k), LA2 (l->k)
    [i,l]     = best of  Link     [i,j,l] without j: RA (i->j), LA (l->j);   [i,i+1] = 0
    [i,j,k,l] = best of  Combine  [i,j,k] + shift[j,k] + [k,l],   [i,j] + shift[i,j] + [j,k,l].

The goal is [0,n+1]. A reduce is scored on s1, s0 and b0 of the item that it takes. LA and LA2 have the head l, which cannot be the end of
the sentence, n+1.

Every item, including those of four heads, has its score and backpointer in a table: O(n^4) time and memory. It is a reference for
mh4 in the tests, and the baseline for mh4 in the benchmarks.
"""

import numpy as np
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport require
from mh4.decoders.shared.replay cimport LA, LA2, LAp, RA, RA2, RAp, head_of
from mh4.decoders.shared.signals cimport Watch

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory


def decode(
    const float[:, ::1] shift, const float[:, :, ::1] s0b0, const float[:, :, ::1] s1s0, const float[:, ::1] cost
) -> tuple[float, np.ndarray]:
    """The score of the best MH4-hybrid derivation, including cost, and its heads.

    shift and cost, which is required, are those of mh4.decode, s0b0 and s1s0 its reduce_s0b0 and reduce_s1s0, with the reduces in
    the order of their codes (mh4/transitions.py), at code - LA. All are float32. Raises the errors of mh4.decode.
    """
    cdef int n = arguments.words("shift", shift, 2), side = n + 2, span, i, j, k, l, back, code, removed
    cdef float left, right, value, best
    cdef Watch watch
    shift = arguments.float32_scores("shift", shift, (side, side))
    s0b0 = arguments.float32_scores("s0b0", s0b0, (6, side, side))
    s1s0 = arguments.float32_scores("s1s0", s1s0, (6, side, side))
    cost = arguments.float32_scores("cost", cost, (n + 1, n + 1))
    cdef double needed = 5.0 * side ** 4
    try:
        require(<size_t> needed)
    except MemoryError:
        raise out_of_memory(n, needed) from None
    cdef float[:, ::1] t2 = np.empty((side, side), dtype=np.float32)
    cdef float[:, :, ::1] t3 = np.empty((side, side, side), dtype=np.float32)
    cdef float[:, :, :, ::1] t4 = np.empty((side, side, side, side), dtype=np.float32)
    cdef short[:, ::1] back2 = np.empty((side, side), dtype=np.int16)  # for Link: 8 * node + code
    cdef short[:, :, ::1] back3 = np.empty((side, side, side), dtype=np.int16)  # the same, or -1 for Combine
    cdef char[:, :, :, ::1] back4 = np.empty((side, side, side, side), dtype=np.int8)  # whether [i,j,k] + [k,l]
    heads = np.full(n + 1, -1, dtype=np.int32)

    for i in range(n + 1):
        t2[i, i + 1] = 0
    for span in range(2, n + 2):
        for i in range(n + 2 - span):
            l = i + span
            for j in range(i + 1, l):
                watch.after(1000)
                for k in range(j + 1, l):
                    left = t3[i, j, k] + shift[j, k] + t2[k, l]
                    right = t2[i, j] + shift[i, j] + t3[j, k, l]
                    back4[i, j, k, l] = left > right
                    t4[i, j, k, l] = left if left > right else right
            for j in range(i + 1, l):
                watch.after(1000)
                best = t2[i, j] + shift[i, j] + t2[j, l]
                back = -1
                for k in range(j + 1, l):
                    value = t4[i, j, k, l] + s0b0[RA2 - LA, k, l] + s1s0[RA2 - LA, j, k] + cost[i, k]  # RA2
                    if value > best:
                        best, back = value, 8 * k + RA2
                    value = t4[i, j, k, l] + s0b0[RA - LA, k, l] + s1s0[RA - LA, j, k] + cost[j, k]  # RA
                    if value > best:
                        best, back = value, 8 * k + RA
                    if l <= n:
                        value = t4[i, j, k, l] + s0b0[LA - LA, k, l] + s1s0[LA - LA, j, k] + cost[l, k]  # LA
                        if value > best:
                            best, back = value, 8 * k + LA
                for k in range(i + 1, j):
                    value = t4[i, k, j, l] + s0b0[RAp - LA, j, l] + s1s0[RAp - LA, k, j] + cost[i, k]  # RA'
                    if value > best:
                        best, back = value, 8 * k + RAp
                    value = t4[i, k, j, l] + s0b0[LAp - LA, j, l] + s1s0[LAp - LA, k, j] + cost[j, k]  # LA'
                    if value > best:
                        best, back = value, 8 * k + LAp
                    if l <= n:
                        value = t4[i, k, j, l] + s0b0[LA2 - LA, j, l] + s1s0[LA2 - LA, k, j] + cost[l, k]  # LA2
                        if value > best:
                            best, back = value, 8 * k + LA2
                t3[i, j, l] = best
                back3[i, j, l] = back
            best = -INFINITY
            back = 0
            for j in range(i + 1, l):
                value = t3[i, j, l] + s0b0[RA - LA, j, l] + s1s0[RA - LA, i, j] + cost[i, j]  # RA
                if value > best:
                    best, back = value, 8 * j + RA
                if l <= n:
                    value = t3[i, j, l] + s0b0[LA - LA, j, l] + s1s0[LA - LA, i, j] + cost[l, j]  # LA
                    if value > best:
                        best, back = value, 8 * j + LA
            t2[i, l] = best
            back2[i, l] = back

    if t2[0, n + 1] == -INFINITY:
        raise arguments.no_derivation()
    cdef int[::1] found = heads
    cdef vector[int] agenda  # i, j, l of [i,j,l], or of [i,l] with j = 0
    agenda.resize(3, 0)
    agenda[2] = n + 1
    while agenda.size():
        l, j, i = agenda[agenda.size() - 1], agenda[agenda.size() - 2], agenda[agenda.size() - 3]
        agenda.resize(agenda.size() - 3)
        if j == 0 and l == i + 1:
            continue
        back = back2[i, l] if j == 0 else back3[i, j, l]
        if back < 0:
            push(agenda, i, 0, j)
            push(agenda, j, 0, l)
            continue
        k, code = back // 8, back % 8  # node k is removed by this transition
        if j == 0:  # [i,k,l]
            found[k] = head_of(code, -1, -1, i, k, l)
            push(agenda, i, k, l)
            continue
        removed = k
        if k < j:
            j, k = k, j
        found[removed] = head_of(code, -1, i, j, k, l)  # [i,j,k,l]
        if back4[i, j, k, l]:
            push(agenda, i, j, k)
            push(agenda, k, 0, l)
        else:
            push(agenda, i, 0, j)
            push(agenda, j, k, l)
    return t2[0, n + 1], heads


cdef inline int push(vector[int]& agenda, int i, int j, int l) except -1:
    agenda.push_back(i)
    agenda.push_back(j)
    agenda.push_back(l)
