"""Marginals of MH4; the algorithm is in inside_outside.hpp."""

from typing import Optional

cimport cython
import numpy as np

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.marginals cimport Counts, Doubles, Extendeds, Scores, Transitions

from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import out_of_memory, workspaces

cdef extern from "inside_outside.hpp" namespace "marginals" nogil:
    cdef cppclass MH4[N]:
        bint find(const Scores& scores, Counts& counts) except +
        size_t bytes_needed()
        void release(size_t kept)


def marginals(
    shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: Optional[np.ndarray] = None, *,
    arcs: Optional[np.ndarray] = None, single_root: bool = False,
) -> Marginals:
    """Expected counts of arcs and transitions over the MH4 derivations of a sentence of n words.

    The probability of a derivation, that is, of a transition sequence that the chart of decoder.pyx derives, is proportional to the
    exponential of its score. The arguments are those of `mh4.decode`; float64 scores are not rounded to float32.

    Without words (n = 0) the only derivation is the shift of the root.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, or single_root without
    words); MemoryError if the sentence is too long for the memory of the machine.
    """
    cdef Transitions transitions = Transitions(6, shift, reduce_s0b0, reduce_s1s0, arcs, single_root)
    cdef Charts charts = workspaces.take(Charts)
    try:
        with nogil:
            if not charts.fast.find(transitions.scores, transitions.counts):
                charts.fast.release(KEEP)
                charts.exact.find(transitions.scores, transitions.counts)
    except MemoryError:
        raise out_of_memory(transitions.scores.n, max(charts.fast.bytes_needed(), charts.exact.bytes_needed())) from None
    charts.fast.release(KEEP)
    charts.exact.release(KEEP)
    workspaces.give_back(charts)
    return transitions.result()


@cython.final
cdef class Charts:
    cdef MH4[Doubles] fast
    cdef MH4[Extendeds] exact  # for scores that float64 is not enough for
