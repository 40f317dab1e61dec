"""The search for the best 1-Endpoint-Crossing tree; the chart is in C++ (see decoder.py)."""

cimport cython

from mh4.decoders.shared.best_tree cimport BestTree, TreeSearch

cdef extern from "trace.hpp" nogil:
    cdef cppclass OwnSearch "oneec::Chart"(BestTree):
        pass


@cython.final
cdef class Chart(TreeSearch):
    cdef OwnSearch own

    def __cinit__(self):
        self.search = &self.own
