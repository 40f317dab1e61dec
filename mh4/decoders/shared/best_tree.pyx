"""The search for the best tree of a sentence where trees are scored, not transitions."""

import numpy as np
from libc.math cimport INFINITY

from mh4.decoders.shared.arguments cimport address, names_of

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces


cdef class TreeSearch:
    pass


def best_tree(kind, dict tensors, cost, bint single_root, heads=None):
    """The heads of the highest-scoring tree, and its score in the search; kind: the class of the TreeSearch.

    tensors, cost: checked, C-contiguous arrays of float64; cost may be None. heads: as `given_heads` returns them.
    """
    def possible():
        zeros = {name: np.zeros_like(tensor) for name, tensor in tensors.items()}
        return searched(kind, zeros, arguments.with_heads(None, heads), single_root)[1] > -INFINITY

    found, best = searched(kind, tensors, cost if heads is None else arguments.with_heads(cost, heads), single_root)
    if best == -INFINITY:
        raise arguments.no_derivation(heads, possible=possible)
    return found, best


cdef tuple searched(kind, dict tensors, cost, bint single_root):
    """The same, but -inf if there is no tree."""
    cdef int n = len(next(iter(tensors.values()))) - 1
    cdef const double* scores[TENSORS]
    for x, name in enumerate(names_of(tensors)):
        scores[x] = <const double*> address(tensors.get(name))
    cdef const double* of_arcs = <const double*> address(cost)
    found = np.full(n + 1, -1, dtype=np.int32)
    cdef int* heads = <int*> address(found)
    cdef TreeSearch tree = workspaces.take(kind)
    cdef double best
    try:
        with nogil:
            best = tree.search.find(n, scores, of_arcs, single_root, heads)
    except MemoryError:
        raise out_of_memory(n, tree.search.bytes_needed()) from None
    tree.search.release()
    workspaces.give_back(tree)
    return found, best


def parts_of(kind, names, const int[::1] heads):
    """What a tree uses of the tensors of these names, as in Derivation, or None if it is not in the class; kind: as for `best_tree`."""
    cdef int n = heads.shape[0] - 1
    cdef TreeSearch tree = workspaces.take(kind)
    cdef const PartRows* found
    try:
        with nogil:
            found = tree.search.parts(&heads[0], n)
    except MemoryError:
        raise out_of_memory(n, 9.0 * n * sizeof(int)) from None
    parts = {name: array_of(found[x]) for x, name in enumerate(names)} if found else None
    workspaces.give_back(tree)
    return parts


cdef array_of(const PartRows& rows):
    """Index rows as an intp array (rows, 2)."""
    found = np.empty((rows.size(), 2), dtype=np.intp)
    cdef Py_ssize_t[:, ::1] to = found
    cdef size_t x
    for x in range(rows.size()):
        to[x, 0], to[x, 1] = rows[x].first, rows[x].second
    return found
