"""Which scores a tree uses (arcs, crossed arcs, grandparents and siblings), and whether it is 1-Endpoint-Crossing."""

import numpy as np
from libcpp.vector cimport vector

from mh4.decoders.shared.replay cimport Rows, rows, write
from mh4.decoders.shared.signals cimport Watch

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory

NAMES = ("arc", "crossed_arc", "grandparent", "sibling")


def tensors_of(arc, crossed_arc, grandparent, sibling):
    """The scores as C-contiguous float64 arrays, by name. Raises ValueError if they are none."""
    n = arguments.words("arc", arc, 1)
    shapes = [(n + 1, n + 1)] * 2 + [(n + 2, n + 1)] * 2
    given = zip(NAMES, (arc, crossed_arc, grandparent, sibling), shapes)
    return {name: arguments.float64_scores(name, tensor, shape) for name, tensor, shape in given}


cpdef parts_of(const int[::1] heads):
    """The parts of a tree, as in Derivation, or None if it is not 1-Endpoint-Crossing; heads: a tree."""
    cdef int n = heads.shape[0] - 1, x
    cdef Rows to[PARTS]
    cdef Py_ssize_t* first[PARTS]
    cdef vector[int] crossed
    cdef bint in_class
    parts = [np.empty((n, 2), dtype=np.intp) for _ in range(PARTS)]
    for x in range(PARTS):
        to[x] = rows(parts[x])
        first[x] = to[x].next
    try:
        with nogil:
            in_class = write_parts(&heads[0], n, crossed, to)
    except MemoryError:
        raise out_of_memory(n, 9.0 * n * sizeof(int)) from None
    if not in_class:
        return None
    return {NAMES[x]: parts[x][:(to[x].next - first[x]) // 2] for x in range(PARTS)}


cdef bint write_parts(const int* heads, int n, vector[int]& crossed, Rows* to) except -1 nogil:
    """Write the parts of a tree, each kind to its place in `to`; False if the tree is not 1-Endpoint-Crossing."""
    cdef int m, k, h, g, s, low, high, end, other, x
    cdef bint visible, hides
    cdef Watch watch
    crossed.clear()
    crossed.resize(n + 1, 0)
    for m in range(1, n + 1):
        watch.after(10 * n)
        h = heads[m]
        low, high = min(h, m), max(h, m)
        end = other = -1  # the nodes shared by all arcs crossing this one
        for k in range(1, n + 1):
            if (low < k < high) != (low < heads[k] < high) and k != low and k != high \
                    and heads[k] != low and heads[k] != high:
                if not crossed[m]:
                    crossed[m], end, other = True, k, heads[k]
                else:
                    if end != k and end != heads[k]:
                        end = -1
                    if other != k and other != heads[k]:
                        other = -1
                    if end == -1 and other == -1:
                        return False
    for m in range(1, n + 1):
        watch.after(10 * n)
        h = heads[m]
        g = heads[h] if h else n + 1
        if crossed[m]:
            write(&to[CROSSED_ARC], -1, h, m)
            continue
        write(&to[ARC], -1, h, m)
        s = n + 1
        for x in range(min(h, m) + 1, max(h, m)):
            if heads[x] == h and (s > n or h < s < x or x < s < h):
                s = x
        if s > n or not crossed[s]:
            write(&to[SIBLING], -1, s, m)
        # Does a crossed h->k hide g? It cannot be that h < g < m or h > g > m: since g is above h and m, an arc on the path from
        # the root to g would cross h->m.
        visible = h == 0 or not crossed[h]
        for k in range(1, n + 1):
            if heads[k] == h and crossed[k]:
                if h < m < g <= n or h > m > g:  # g is on the side of m: k is between them
                    hides = m < k < g or m > k > g
                elif h == 0:  # g = n+1, none: k is beyond m
                    hides = m < k
                else:  # g is on the other side: k is beyond m or beyond g
                    hides = h < m < k or h > m > k or h < g < k or h > g > k
                if hides:
                    visible = False
        if visible:
            write(&to[GRANDPARENT], -1, g, m)
    return True
