"""The search for the maximum spanning arborescence; the algorithm is in contraction.hpp."""

cimport cython

from mh4.decoders.shared.best_tree cimport BestTree, TreeSearch

cdef extern from "contraction.hpp" nogil:
    cdef cppclass OwnSearch "mst::Contraction"(BestTree):
        pass


@cython.final
cdef class Contraction(TreeSearch):
    cdef OwnSearch own

    def __cinit__(self):
        self.search = &self.own
