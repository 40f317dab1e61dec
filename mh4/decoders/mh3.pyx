"""Decode projective trees by the arc-hybrid system (MH3): find the best derivation, compute marginals, sample trees.

The recurrence is in charts/mh3/chart.hpp.
"""

import numpy as np

from mh4.decoders.sentences cimport Factories, Workspace

from mh4.decoders.arguments import transition_tensors
from mh4.decoders.derivation import Derivation, Marginals
from mh4.decoders.sentences import Sampling, Summing, TransitionDecoding

cdef extern from "factories.hpp":
    const Factories* const* VARIANTS


cdef class MH3(Workspace):
    def __cinit__(self):
        self.make(VARIANTS)


def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    arcs: np.ndarray | None = None,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Derivation:
    """Return the highest-scoring arc-hybrid derivation of a sentence of n words, in O(n^3) time and O(n^2) memory (Section 3.2).

    shift: float32 (n+2, n+2), indexed [s0, b0]. reduce_s0b0: float32 (2, n+2, n+2), LA and RA, indexed [t, s0, b0].
    arcs, cost, heads, single_root, other types of scores, and ties: as for mh4.decode.

    Returns a Derivation with parts "shift" (n, 2), "reduce_s0b0" (n, 3) and, if given, "arcs" (n, 2).
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if no projective tree has these heads (and a single root, if required);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    tensors = transition_tensors(2, shift, reduce_s0b0, None, arcs)
    return TransitionDecoding(tensors, heads, single_root, cost).alone(MH3, k=3)


def marginals(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    arcs: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Marginals:
    """Return the expected counts of arcs and transitions over the arc-hybrid derivations of a sentence of n words.

    This takes O(n^3) time and O(n^2) memory. The arguments are as for `mh3.decode`; the rest is as for `mh4.marginals`, but
    NotInClass is raised if no projective tree has the `heads`.
    """
    tensors = transition_tensors(2, shift, reduce_s0b0, None, arcs)
    return Summing(tensors, heads, single_root).alone(MH3, k=3)


def sample(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    *,
    samples: int,
    rng: int | np.random.Generator | None = None,
    arcs: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> np.ndarray:
    """Sample arc-hybrid derivations of a sentence of n words independently, and return their trees, as `mh4.sample` does."""
    tensors = transition_tensors(2, shift, reduce_s0b0, None, arcs)
    return Sampling(tensors, heads, single_root, samples, rng).alone(MH3, k=3)
