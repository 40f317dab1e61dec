"""Marginals of MH4, and random trees; the algorithms are in inside_outside.hpp, tree_items.hpp and sampling.hpp."""

cimport cython

from mh4.decoders.shared.marginals cimport AnyCharts, Sums

cdef extern from "sampling.hpp":
    pass
cdef extern from "all_charts.hpp" nogil:
    cdef cppclass AllCharts "marginals::AllCharts<marginals::MH4, marginals::SampledMH4, marginals::MH4Tree>"(AnyCharts):
        pass


@cython.final
cdef class MH4Sums(Sums):
    cdef AllCharts own

    def __cinit__(self):
        self.charts = &self.own
