"""The searches of MH5: the algorithms are in full_chart.hpp and tree_items.hpp."""

cimport cython

from mh4.decoders.shared.search cimport BestDerivation, Search

cdef extern from "full_chart.hpp" nogil:
    cdef cppclass OwnChart "mh5::FullChart"(BestDerivation):
        pass
cdef extern from "tree_items.hpp":
    pass
cdef extern from "tree_search.hpp" nogil:
    cdef cppclass OwnSearch "one_tree::TreeSearch<one_tree::MH5Items>"(BestDerivation):
        pass


@cython.final
cdef class FullChart(Search):
    cdef OwnChart own

    def __cinit__(self):
        self.search = &self.own


@cython.final
cdef class MH5TreeChart(Search):
    cdef OwnSearch own

    def __cinit__(self):
        self.search = &self.own
