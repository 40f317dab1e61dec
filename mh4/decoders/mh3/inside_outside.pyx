"""Marginals of MH3, and random trees; the algorithms are in inside_outside.hpp, tree_items.hpp and sampling.hpp."""

from typing import Optional, Union

cimport cython
import numpy as np

from mh4.decoders.shared.marginals cimport AnyCharts, Sums, Tensors, drawn, expected_counts

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import workspaces

cdef extern from "sampling.hpp":
    pass
cdef extern from "all_charts.hpp" nogil:
    cdef cppclass AllCharts "marginals::AllCharts<marginals::MH3, marginals::SampledMH3, marginals::MH3Tree>"(AnyCharts):
        pass


def marginals(
    shift: np.ndarray, reduce_s0b0: np.ndarray, *, arcs: Optional[np.ndarray] = None, heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Marginals:
    """Expected counts of arcs and transitions over the arc-hybrid derivations of a sentence of n words.

    They take O(n^3) time and O(n^2) memory. The arguments are those of `mh3.decode`; the rest is as for `mh4.marginals`, but
    NotInClass is raised if `heads` is a tree that is not projective.
    """
    return expected_counts(workspaces.take(MH3Sums), Tensors(2, shift, reduce_s0b0, None, arcs, single_root, heads))


def sample(
    shift: np.ndarray, reduce_s0b0: np.ndarray, *, samples: int,
    rng: Union[None, int, np.random.Generator] = None, arcs: Optional[np.ndarray] = None, single_root: bool = False,
) -> np.ndarray:
    """The trees of random arc-hybrid derivations of a sentence of n words, drawn independently, as by `mh4.sample`."""
    return drawn(workspaces.take(MH3Sums), Tensors(2, shift, reduce_s0b0, None, arcs, single_root), samples, rng)


@cython.final
cdef class MH3Sums(Sums):
    cdef AllCharts own

    def __cinit__(self):
        self.charts = &self.own
