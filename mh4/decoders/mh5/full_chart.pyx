"""The search of MH5: the algorithm is in full_chart.hpp."""

cimport cython

from mh4.decoders.shared.search cimport BestDerivation, Search

cdef extern from "full_chart.hpp" nogil:
    cdef cppclass OwnChart "mh5::FullChart"(BestDerivation):
        pass


@cython.final
cdef class FullChart(Search):
    cdef OwnChart own

    def __cinit__(self):
        self.search = &self.own
