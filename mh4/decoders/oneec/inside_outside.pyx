"""Marginals of 1-Endpoint-Crossing trees; the algorithm is in inside_outside.hpp."""

cimport cython

from mh4.decoders.shared.best_tree cimport BestTree, TreeSearch
from mh4.decoders.shared.marginals cimport AnyCharts, Sums

from mh4.decoders.oneec.chart import Chart
from mh4.decoders.shared.best_tree import parts_of
from mh4.decoders.shared.derivation import NotInClass

cdef extern from "inside_outside.hpp" nogil:
    cdef cppclass AllCharts "oneec::sums::AllCharts"(AnyCharts):
        BestTree* search


@cython.final
cdef class OneECSums(Sums):
    cdef AllCharts own
    cdef TreeSearch tree

    def __cinit__(self):
        self.tree = Chart()
        self.own.search = self.tree.search
        self.charts = &self.own

    def not_in_class(self, heads):
        if parts_of(Chart, (), heads) is None:
            return NotInClass("heads: the tree is not 1-Endpoint-Crossing")
