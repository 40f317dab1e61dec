"""Marginals of spanning trees, and random trees; the algorithms are in matrix_tree.hpp and sampling.hpp."""

from typing import Optional, Union

cimport cython
import numpy as np

from mh4.decoders.shared.marginals cimport AnyCharts, Sums, Tensors, drawn, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "sampling.hpp":
    pass
cdef extern from "tree_sums.hpp":
    pass
cdef extern from "all_charts.hpp" nogil:
    cdef cppclass AllCharts "marginals::AllCharts<marginals::MST, marginals::SampledMST, marginals::MSTTree>"(AnyCharts):
        pass


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
    cdef AllCharts own

    def __cinit__(self):
        self.charts = &self.own
