"""Marginals of MH4, and random trees; the algorithms are in inside_outside.hpp, tree_sums.hpp and sampling.hpp."""

from typing import Optional, Union

cimport cython
import numpy as np

from mh4.decoders.shared.marginals cimport Counts, Samples, Scores, Sums, Tensors, drawn, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "sampling.hpp" namespace "marginals" nogil:
    cdef cppclass Charts "marginals::Charts<marginals::SampledMH4>":
        void find(const Scores& scores, Counts& counts) except +
        void draw "find"(const Scores& scores, Samples& to) except +
        size_t bytes_needed()
        void release()
    cdef cppclass DualCharts "marginals::Charts<marginals::MH4, marginals::Duals>":
        void find(const Scores& scores, Counts& counts, const Scores& direction) except +
        size_t bytes_needed()
        void release()

cdef extern from "tree_sums.hpp" namespace "marginals" nogil:
    cdef cppclass Tree "marginals::Charts<marginals::MH4Tree>":
        void find(const Scores& scores, Counts& counts) except +
        size_t bytes_needed()
        void release()
    cdef cppclass DualTree "marginals::Charts<marginals::MH4Tree, marginals::Duals>":
        void find(const Scores& scores, Counts& counts, const Scores& direction) except +
        size_t bytes_needed()
        void release()


def marginals(
    shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: Optional[np.ndarray] = None, *,
    arcs: Optional[np.ndarray] = None, heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Marginals:
    """Expected counts of arcs and transitions over the MH4 derivations of a sentence of n words.

    The probability of a derivation, that is, of a transition sequence that the chart of decoder.pyx derives, is proportional to the
    exponential of its score. The arguments are those of `mh4.decode`; float64 scores are not rounded to float32.

    heads: integers (n+1,), -1 at 0; if given, only derivations of trees with these heads count, -1 leaving the head of a word open.
        For a whole tree, whose derivations are few, this takes a fraction of the time.

    Without words (n = 0) the only derivation is the shift of the root.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, heads with a cycle, or single_root
    without words); NotInClass if `heads` is a tree that is not in MH4, or lacks the single root required; MemoryError if the
    sentence is too long for the memory of the machine.
    """
    return expected_counts(workspaces.take(MH4Sums), Tensors(6, shift, reduce_s0b0, reduce_s1s0, arcs, single_root, heads))


def sample(
    shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: Optional[np.ndarray] = None, *, samples: int,
    rng: Union[None, int, np.random.Generator] = None, arcs: Optional[np.ndarray] = None, single_root: bool = False,
) -> np.ndarray:
    """The trees of random MH4 derivations of a sentence of n words, drawn independently.

    A derivation is drawn with its probability, which is proportional to the exponential of its score, and what is returned is the
    tree that it makes: a tree that has several is as probable as these together. This is exact. It takes the sums over all
    derivations, as for `marginals`, once, and for each sample O(n^2) time at most.

    samples: how many. rng: a seed or a numpy.random.Generator, of which one number is used; by default, an unpredictable one.
    The other arguments are those of `marginals`.

    Returns their heads, int32 (samples, n+1), -1 at 0. Raises what `marginals` raises, and ValueError for a wrong number of samples.
    """
    return drawn(workspaces.take(MH4Sums), Tensors(6, shift, reduce_s0b0, reduce_s1s0, arcs, single_root), samples, rng)


@cython.final
cdef class MH4Sums(Sums):
    cdef Charts charts
    cdef DualCharts dual_charts
    cdef Tree tree
    cdef DualTree dual_tree

    cdef int find(self, const Scores& scores, Counts& counts) except -1 nogil:
        if scores.heads:
            self.tree.find(scores, counts)
        else:
            self.charts.find(scores, counts)

    cdef int differentiate(self, const Scores& scores, Counts& counts, const Scores& direction) except -1 nogil:
        if scores.heads:
            self.dual_tree.find(scores, counts, direction)
        else:
            self.dual_charts.find(scores, counts, direction)

    cdef int draw(self, const Scores& scores, Samples& to) except -1 nogil:
        self.charts.draw(scores, to)

    cdef double bytes_needed(self) noexcept nogil:
        cdef size_t of_all = max(self.charts.bytes_needed(), self.dual_charts.bytes_needed())
        return <double> max(of_all, max(self.tree.bytes_needed(), self.dual_tree.bytes_needed()))

    cdef void release(self) noexcept nogil:
        self.charts.release()
        self.dual_charts.release()
        self.tree.release()
        self.dual_tree.release()
