"""Marginals of spanning trees, and random trees; the algorithms are in matrix_tree.hpp and sampling.hpp."""

cimport cython

from mh4.decoders.shared.marginals cimport AnyCharts, Sums

cdef extern from "sampling.hpp":
    pass
cdef extern from "all_charts.hpp" nogil:
    cdef cppclass AllCharts "marginals::AllCharts<marginals::MST, marginals::SampledMST, marginals::MSTTree>"(AnyCharts):
        pass


@cython.final
cdef class MSTSums(Sums):
    cdef AllCharts own

    def __cinit__(self):
        self.charts = &self.own
