"""Measures of a tree: crossings, 1-Endpoint-Crossing, blocks and well-nestedness.

All take heads as int32 (n+1,), a valid tree (not checked).
"""

import numpy as np

from libcpp.vector cimport vector


cdef inline bint cross(int a, int b, int c, int d) noexcept nogil:
    """Whether the arcs with ends a, b and c, d cross: one of c and d lies strictly inside a, b, the other strictly outside."""
    cdef int low = a if a < b else b, high = a + b - low
    if c == low or c == high or d == low or d == high:
        return False
    return (low < c < high) != (low < d < high)


def crossings(const int[::1] heads):
    """For every word, the number of arcs that its incoming arc crosses: int32 array (n+1,), 0 at node 0."""
    cdef int n = heads.shape[0] - 1, a, b
    counts = np.zeros(n + 1, dtype=np.int32)
    cdef int[::1] count = counts
    with nogil:
        for a in range(2, n + 1):
            for b in range(1, a):
                if cross(heads[a], a, heads[b], b):
                    count[a] += 1
                    count[b] += 1
    return counts


def one_endpoint_crossing(const int[::1] heads):
    """Whether, for every arc, the arcs that cross it share an endpoint."""
    cdef int n = heads.shape[0] - 1, a, b, first, second
    cdef bint any_yet
    for a in range(1, n + 1):
        any_yet, first, second = False, -1, -1  # the endpoints that all of them share so far
        for b in range(1, n + 1):
            if not cross(heads[a], a, heads[b], b):
                continue
            if not any_yet:
                any_yet, first, second = True, b, heads[b]
                continue
            if first != b and first != heads[b]:
                first = -1
            if second != b and second != heads[b]:
                second = -1
            if first < 0 and second < 0:
                return False
    return True


def blocks(const int[::1] heads):
    """For every node, the number of blocks of its yield, the maximal intervals of nodes in it: int32 array (n+1,).

    The number of blocks is the number of nodes in the yield minus the number of adjacent pairs w-1, w that are both in it;
    they are iff their lowest common ancestor is.
    """
    cdef int n = heads.shape[0] - 1, w, node, mark
    found = np.ones(n + 1, dtype=np.int32)
    cdef int[::1] block = found
    cdef vector[int] seen, remaining, ready
    seen.resize(n + 1, -1)
    remaining.resize(n + 1, 0)
    with nogil:
        for w in range(1, n + 1):
            remaining[heads[w]] += 1
            node = w - 1
            while node >= 0:
                seen[node] = w
                node = heads[node]
            node = w
            while seen[node] != w:
                node = heads[node]
            block[node] -= 1
        for w in range(1, n + 1):  # sum over the yields, from the leaves up
            node = w
            while node > 0 and remaining[node] == 0:
                remaining[node] = -1
                block[heads[node]] += block[node]
                node = heads[node]
                remaining[node] -= 1
    return found


def well_nested(const int[::1] heads):
    """Whether no two disjoint subtrees interleave.

    If two do, so do the subtrees of two siblings that contain them. So we read the nodes from left to right and, for every
    head, check whether the sequence of its dependents whose subtrees they belong to has the form a..b..a..b.
    """
    cdef int n = heads.shape[0] - 1, w, node, head, top
    cdef vector[int] last, open_, below  # the last word of a subtree; a head's open subtrees: the innermost, the next one
    cdef vector[char] opened
    last.resize(n + 1, 0)
    open_.resize(n + 1, 0)
    below.resize(n + 1, 0)
    opened.resize(n + 1, 0)
    for w in range(1, n + 1):
        node = w
        while node > 0:
            last[node] = w
            node = heads[node]
    for w in range(1, n + 1):
        node = w
        while node > 0:
            head = heads[node]
            top = open_[head]
            while top and top != node and last[top] < w:
                top = below[top]
            if top != node:
                if opened[node]:
                    return False
                opened[node] = 1
                below[node] = top
                open_[head] = node
            else:
                open_[head] = top
            node = head
    return True
