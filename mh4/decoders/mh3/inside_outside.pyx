"""Marginals of MH3, and random trees; the algorithms are in inside_outside.hpp, tree_items.hpp and sampling.hpp."""

cimport cython

from mh4.decoders.shared.marginals cimport AnyCharts, Sums

cdef extern from "sampling.hpp":
    pass
cdef extern from "all_charts.hpp" nogil:
    cdef cppclass AllCharts "marginals::AllCharts<marginals::MH3, marginals::SampledMH3, marginals::MH3Tree>"(AnyCharts):
        pass


@cython.final
cdef class MH3Sums(Sums):
    cdef AllCharts own

    def __cinit__(self):
        self.charts = &self.own
