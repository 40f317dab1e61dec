"""The search for the best 1-Endpoint-Crossing tree; the chart is in C++ (see decoder.py)."""

cimport cython
import numpy as np
from libc.math cimport INFINITY

from mh4.decoders.oneec.interfaces cimport Search
from mh4.decoders.oneec.parts cimport PARTS
from mh4.decoders.shared.arguments cimport address
from mh4.decoders.shared.chart_memory cimport KEEP

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces


def best_tree(tensors, cost, bint single_root):
    """Heads of the highest-scoring tree, and its score in the chart. The arguments are checked, those of float64."""
    cdef int n = len(tensors["arc"]) - 1, x
    cdef const double* scores[PARTS]
    for x, tensor in enumerate(tensors.values()):
        scores[x] = address(tensor)
    cdef const double* of_arcs = address(cost)
    found = np.full(n + 1, -1, dtype=np.int32)
    cdef int[::1] heads = found
    cdef Workspace workspace = workspaces.take(Workspace)
    cdef float best
    try:
        with nogil:
            best = workspace.decode(n, scores, of_arcs, single_root, &heads[0])
    except MemoryError:
        raise out_of_memory(n, workspace.bytes_needed()) from None
    workspace.release()
    workspaces.give_back(workspace)
    if best == -INFINITY:
        raise arguments.no_derivation()
    return found, best


cdef extern from "trace.hpp" namespace "oneec" nogil:
    cdef cppclass Chart:
        void prepare(int words, const double** scores, const double* cost, bint single_root) except +
        void fill() except +
        float best_score()
        size_t bytes_needed()
        void release(size_t kept)
        void trace(int* heads) except +


@cython.final
@cython.auto_pickle(False)
cdef class Workspace(Search):
    cdef Chart chart

    cdef float decode(self, int n, const double** scores, const double* cost, bint single_root, int* heads) except? -1 nogil:
        if n == 0:
            return -INFINITY if single_root else 0
        self.chart.prepare(n, scores, cost, single_root)
        self.chart.fill()
        cdef float best = self.chart.best_score()
        if best > -INFINITY:
            self.chart.trace(heads)
        return best

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.chart.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.chart.release(KEEP)
