"""The MH5 decoder in O(n^5) time and O(n^4) memory (Figure 2 of the paper, with k = 5).

Read mh4.pyx first. Here items have up to five heads: in [i,j,k,l,r], these are s3, s2, s1, s0 and b0. Items of five
heads are not stored. Their score is the best of

    A  [i,j,k,l] + shift[k,l] + [l,r],    B  [i,j,k] + shift[j,k] + [k,l,r],    C  [i,j] + shift[i,j] + [j,k,l,r].

From each of these, four reduces can remove j, four k, and four l. docs/explanation/mh5.md lists the reduces and tells
which of the nine cases take O(n^5).

The chart is in charts/mh5/chart.hpp.
"""

import numpy as np

from mh4.decoders.sentences cimport Factories, Workspace

from mh4.decoders import mh4
from mh4.decoders.arguments import transition_tensors
from mh4.decoders.derivation import Derivation
from mh4.decoders.sentences import TransitionDecoding
from mh4.errors import warn

cdef extern from "factories.hpp":
    const Factories* const* VARIANTS


cdef class MH5(Workspace):
    def __cinit__(self):
        self.make(VARIANTS)
        self.simpler = mh4.MH4()


MAX_BYTES: int = 2 * 10**9  # for 308 words


def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Derivation:
    """Return the highest-scoring MH5 derivation of a sentence of n words (Figure 2, with k = 5).

    This takes O(n^5) time and O(n^4) memory.

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (12, n+2, n+2), the reduces of MH4, RA3, RA'2, RA'', LA'', LA''2 and LA3, indexed [t, s0, b0].
    reduce_s1s0: float32 (12, n+2, n+2), indexed [t, s1, s0], added to reduce_s0b0; or None.
    arcs, cost, heads, single_root, and ties: as for mh4.decode.
    max_bytes: a sentence that needs more memory (about 0.22 n^4 bytes; by default 2 GB, enough for 308 words) is
        decoded by mh4, with a RuntimeWarning.

    Returns a Derivation with the parts that mh4.decode returns.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if no tree in MH5 has these heads (and a single root, if required);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    tensors = transition_tensors(12, shift, reduce_s0b0, reduce_s1s0, arcs)
    sentence = TransitionDecoding(tensors, heads, single_root, cost, max_words=most_words(max_bytes))
    found = sentence.alone(MH5, k=5)
    if sentence.too_long:
        warn(too_long(len(shift) - 2, max_bytes))
    return found


def bytes_needed(n: float) -> float:
    """Return about how much memory the tables for n words take up, at least with long sentences.

    This is a little more than each variant of the chart takes, so that the same sentences are decoded by MH4 on every
    processor.
    """
    return 0.22 * n**4


def most_words(max_bytes: float = MAX_BYTES) -> float:
    """Return how many words MH5 decodes in this memory, not rounded."""
    return (max(max_bytes, 0) / bytes_needed(1)) ** 0.25


def too_long(n: int, max_bytes: float = MAX_BYTES) -> str:
    """Return the message for a sentence of n words that needs more than `max_bytes`."""
    return (
        f"MH5 takes {bytes_needed(n) / 1e9:.3g} GB for a sentence of {n} words, more than the {float(max_bytes) / 1e9:.3g} GB "
        "allowed (max_bytes); it is decoded by MH4"
    )
