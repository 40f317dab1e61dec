"""Marginals of MH3; the algorithm is in inside_outside.hpp."""

from typing import Optional

cimport cython
import numpy as np

from mh4.decoders.shared.marginals cimport Counts, Scores, Sums, Tensors, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "inside_outside.hpp" namespace "marginals" nogil:
    cdef cppclass Charts "marginals::Charts<marginals::MH3>":
        void find(const Scores& scores, Counts& counts) except +
        size_t bytes_needed()
        void release()
    cdef cppclass DualCharts "marginals::Charts<marginals::MH3, marginals::Duals>":
        void find(const Scores& scores, Counts& counts, const Scores& direction) except +
        size_t bytes_needed()
        void release()


def marginals(
    shift: np.ndarray, reduce_s0b0: np.ndarray, *, arcs: Optional[np.ndarray] = None, single_root: bool = False,
) -> Marginals:
    """Expected counts of arcs and transitions over the arc-hybrid derivations of a sentence of n words.

    The probability of a derivation is proportional to the exponential of its score. The arguments are those of `mh3.decode`;
    float64 scores are not rounded to float32.

    Without words (n = 0) the only derivation is the shift of the root.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, or single_root without
    words); MemoryError if the sentence is too long for the memory of the machine.
    """
    return expected_counts(workspaces.take(MH3Sums), Tensors(2, shift, reduce_s0b0, None, arcs, single_root))


@cython.final
cdef class MH3Sums(Sums):
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
