"""Common parts of all marginals: from tensors to the numbers that their charts read, and back.

In both functions, kind is the class of the Sums, and tensors are the scores by name, checked C-contiguous arrays of float64.
"""

import numpy as np

from mh4.decoders.shared.arguments cimport address, names_of, score_arcs

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import out_of_memory, room_for, workspaces


cdef class Sums:

    def not_in_class(self, heads):
        """The error for a tree that the algorithm does not derive with any scores; None if there is none, or this is not known."""


cdef Scores scores_of(dict tensors, bint single_root):
    """The scores of a sentence."""
    cdef Scores scores
    for x, name in enumerate(names_of(tensors)):
        scores.tensors[x] = <const double*> address(tensors.get(name))
    if "shift" in tensors:
        scores.reduces = len(tensors["reduce_s0b0"])
    scores.n = words_of(tensors)
    scores.single_root = single_root
    return scores


cdef int words_of(dict tensors) except -1:
    return len(tensors["shift"]) - 2 if "shift" in tensors else len(next(iter(tensors.values()))) - 1


def expected_counts(kind, dict tensors, bint single_root, heads):
    """The Marginals of a sentence; heads: those given, or None. Raises ValueError for invalid heads, and if there is no derivation."""
    cdef int n = words_of(tensors)
    cdef bint whole = False
    arcs, used = score_arcs(tensors), tensors
    if heads is not None:
        heads, whole = arguments.given_heads(heads, n, single_root)
        if not whole and (heads[1:] < 0).all():
            heads = None
        elif not whole:
            used = {**tensors, **{name: arguments.with_heads(tensors.get(name), heads) for name in arcs}}
    cdef Scores scores = scores_of(used, single_root)
    if whole:
        scores.heads = <const int*> address(heads)
    cdef Sums sums = workspaces.take(kind)
    room_for(sum([tensor.nbytes for tensor in tensors.values()]) + 8 * (n + 1) ** 2, "the expected counts")
    # All are written now, and not when they are used: the chart is weighed against what is left.
    parts = {name: np.full(tensor.shape, 0.0) for name, tensor in tensors.items()}
    counted = parts if arcs[0] in parts else {"arcs": np.full((n + 1, n + 1), 0.0), **parts}
    cdef Counts counts
    for x, name in enumerate(names_of(tensors)):
        counts.tensors[x] = <double*> address(counted.get(name))
    try:
        with nogil:
            sums.charts.find(scores, counts)
    except MemoryError:
        raise out_of_memory(n, sums.charts.bytes_needed()) from None
    sums.charts.release()
    workspaces.give_back(sums)
    if counts.log_partition == -np.inf:
        k = {2: 3, 6: 4}.get(scores.reduces)  # MH3 has two reduces, MH4 has six
        error = sums.not_in_class(heads) if whole else None
        raise error or arguments.no_sum(heads, k)
    return Marginals(counts.log_partition, counted["arcs"] if "arcs" in counted else parts["arc"] + parts["crossed_arc"], parts)


def drawn(kind, dict tensors, bint single_root, samples, rng):
    """The heads of random trees of a sentence, int32 (samples, n+1)."""
    cdef Scores scores = scores_of(tensors, single_root)
    cdef int n = scores.n
    samples = arguments.sample_size(samples)
    room_for(4 * samples * (n + 1), "the samples")
    heads = np.full((samples, n + 1), -1, dtype=np.int32)
    cdef Samples to = Samples(arguments.seeds(rng, 1)[0], samples, n + 1, <int*> address(heads), False)
    cdef Sums sums = workspaces.take(kind)
    try:
        with nogil:
            sums.charts.draw(scores, to)
    except MemoryError:
        raise out_of_memory(n, sums.charts.bytes_needed()) from None
    sums.charts.release()
    workspaces.give_back(sums)
    if to.none:
        raise arguments.no_derivation()
    return heads
