"""The searches of MH4: the algorithms are in full_chart.hpp and tree_items.hpp."""

cimport cython

from mh4.decoders.shared.search cimport BestDerivation, Search

cdef extern from "full_chart.hpp" nogil:
    enum:
        LANES
    cdef cppclass OwnChart "mh4::FullChart"(BestDerivation):
        pass
cdef extern from "tree_items.hpp":
    pass
cdef extern from "tree_search.hpp" nogil:
    cdef cppclass OwnSearch "one_tree::TreeSearch<one_tree::MH4Items>"(BestDerivation):
        pass


VECTOR = LANES  # floats in a vector register of the target processor


@cython.final
cdef class FullChart(Search):
    cdef OwnChart own

    def __cinit__(self):
        self.search = &self.own


@cython.final
cdef class MH4TreeChart(Search):
    cdef OwnSearch own

    def __cinit__(self):
        self.search = &self.own
