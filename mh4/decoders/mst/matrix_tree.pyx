"""Marginals of spanning trees, and random trees; the algorithms are in matrix_tree.hpp and sampling.hpp."""

from typing import Optional, Union

cimport cython
import numpy as np
from libc.math cimport INFINITY

from mh4.decoders.shared.marginals cimport Counts, Samples, Scores, Sums, Tensors, drawn, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "sampling.hpp" namespace "marginals" nogil:
    cdef cppclass Charts "marginals::Charts<marginals::SampledMST>":
        void find(const Scores& scores, Counts& counts) except +
        void draw "find"(const Scores& scores, Samples& to) except +
        size_t bytes_needed()
        void release()
    cdef cppclass DualCharts "marginals::Charts<marginals::MST, marginals::Duals>":
        void find(const Scores& scores, Counts& counts, const Scores& direction) except +
        size_t bytes_needed()
        void release()


def marginals(arcs: np.ndarray, *, heads: Optional[np.ndarray] = None, single_root: bool = False) -> Marginals:
    """The probabilities of arcs over all trees of n words, each with probability proportional to the exponential of its score.

    The arguments are those of `mst.decode`; float64 scores are not rounded to float32. The part "arcs" is the array of
    probabilities itself.

    heads: integers (n+1,), -1 at 0; if given, only trees with these heads count, -1 leaving the head of a word open.

    Raises ValueError for wrong shapes, NaN and similar, and if there is no tree (scores -inf, heads with a cycle, or single_root without
    words); NotInClass if `heads` lacks the single root required; MemoryError if the sentence is too long for the memory of the machine.
    """
    return expected_counts(workspaces.take(MSTSums), Tensors(0, None, None, None, arcs, single_root, heads))


def sample(
    arcs: np.ndarray, *, samples: int, rng: Union[None, int, np.random.Generator] = None, single_root: bool = False,
) -> np.ndarray:
    """Random trees of n words, drawn independently, each with probability proportional to the exponential of its score.

    This is exact. It takes a sum over all trees, in O(n^3) time, and for each sample about O(n^2), at most O(n^3).

    samples: how many. rng: a seed or a numpy.random.Generator, of which one number is used; by default, an unpredictable one.
    The other arguments are those of `marginals`.

    Returns their heads, int32 (samples, n+1), -1 at 0. Raises what `marginals` raises, and ValueError for a wrong number of samples.
    """
    return drawn(workspaces.take(MSTSums), Tensors(0, None, None, None, arcs, single_root), samples, rng)


@cython.final
cdef class MSTSums(Sums):
    cdef Charts charts
    cdef DualCharts dual_charts

    cdef int find(self, const Scores& scores, Counts& counts) except -1 nogil:
        cdef int m
        if not scores.heads:
            self.charts.find(scores, counts)
            return 0
        counts.log_partition = of_tree(scores)
        if counts.log_partition > -INFINITY:
            for m in range(1, scores.n + 1):
                counts.arcs[<size_t> scores.heads[m] * (scores.n + 1) + m] = 1

    cdef int differentiate(self, const Scores& scores, Counts& counts, const Scores& direction) except -1 nogil:
        if scores.heads:
            counts.log_partition = of_tree(scores)  # and the counts are constant
        else:
            self.dual_charts.find(scores, counts, direction)

    cdef int draw(self, const Scores& scores, Samples& to) except -1 nogil:
        self.charts.draw(scores, to)

    cdef double bytes_needed(self) noexcept nogil:
        return <double> max(self.charts.bytes_needed(), self.dual_charts.bytes_needed())

    cdef void release(self) noexcept nogil:
        self.charts.release()
        self.dual_charts.release()


cdef double of_tree(const Scores& scores) noexcept nogil:
    """The score of the only tree that counts."""
    cdef double total = 0
    cdef int m
    for m in range(1, scores.n + 1):
        total += scores.arcs[<size_t> scores.heads[m] * (scores.n + 1) + m]
    return total
