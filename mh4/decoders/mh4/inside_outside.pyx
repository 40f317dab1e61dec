"""Marginals of MH4, and random trees; the algorithms are in inside_outside.hpp, tree_items.hpp and sampling.hpp."""

from typing import Optional, Union

cimport cython
import numpy as np

from mh4.decoders.shared.marginals cimport AnyCharts, Sums, Tensors, drawn, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "sampling.hpp":
    pass
cdef extern from "all_charts.hpp" nogil:
    cdef cppclass AllCharts "marginals::AllCharts<marginals::MH4, marginals::SampledMH4, marginals::MH4Tree>"(AnyCharts):
        pass


def marginals(
    shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: Optional[np.ndarray] = None, *,
    arcs: Optional[np.ndarray] = None, heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Marginals:
    """Expected counts of arcs and transitions over the MH4 derivations of a sentence of n words.

    The probability of a derivation, that is, of a transition sequence that the chart of decoder.pyx derives, is proportional to the
    exponential of its score. They take O(n^4) time and O(n^3) memory. The arguments are those of `mh4.decode`; float64 scores are not
    rounded to float32.

    heads: integers (n+1,), -1 at 0; if given, only derivations of trees with these heads count, -1 leaving the head of a word open.
        For a whole tree, whose derivations are few, this takes a fraction of the time.

    Without words (n = 0) the only derivation is the shift of the root.
    Returns Marginals, whose arrays are float64; `parts` has the shapes of the scores.
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
    cdef AllCharts own

    def __cinit__(self):
        self.charts = &self.own
