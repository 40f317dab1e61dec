"""Marginals of spanning trees; the algorithm is in matrix_tree.hpp."""

cimport cython
import numpy as np

from mh4.decoders.shared.marginals cimport Counts, Scores, Sums, Tensors, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "matrix_tree.hpp" namespace "marginals" nogil:
    cdef cppclass Charts "marginals::Charts<marginals::MST>":
        void find(const Scores& scores, Counts& counts) except +
        size_t bytes_needed()
        void release()
    cdef cppclass DualCharts "marginals::Charts<marginals::MST, marginals::Duals>":
        void find(const Scores& scores, Counts& counts, const Scores& direction) except +
        size_t bytes_needed()
        void release()


def marginals(arcs: np.ndarray, *, single_root: bool = False) -> Marginals:
    """The probabilities of arcs over all trees of n words, each with probability proportional to the exponential of its score.

    The arguments are those of `mst.decode`; float64 scores are not rounded to float32. The part "arcs" is the array of
    probabilities itself.

    Raises ValueError for wrong shapes, NaN and similar, and if there is no tree (scores -inf, or single_root without words);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    return expected_counts(workspaces.take(MSTSums), Tensors(0, None, None, None, arcs, single_root))


@cython.final
cdef class MSTSums(Sums):
    cdef Charts charts
    cdef DualCharts dual_charts

    cdef int find(self, const Scores& scores, Counts& counts) except -1 nogil:
        self.charts.find(scores, counts)

    cdef int differentiate(self, const Scores& scores, Counts& counts, const Scores& direction) except -1 nogil:
        self.dual_charts.find(scores, counts, direction)

    cdef double bytes_needed(self) noexcept nogil:
        return <double> max(self.charts.bytes_needed(), self.dual_charts.bytes_needed())

    cdef void release(self) noexcept nogil:
        self.charts.release()
        self.dual_charts.release()
