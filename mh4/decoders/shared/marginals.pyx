"""Common parts of all marginals: from tensors to the numbers that their charts read, and back.

In all functions, kind is the class of the Sums, and tensors are the scores by name, checked C-contiguous arrays of float64.
"""

import numpy as np

from mh4.decoders.shared.arguments cimport address, names_of, score_arcs

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals, NotInClass
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
    heads, whole = arguments.given_heads(heads, words_of(tensors), single_root)
    return summed(kind, tensors, single_root, heads, whole)


cdef summed(kind, dict tensors, bint single_root, heads, bint whole):
    """The same, of heads as `given_heads` returns them."""
    cdef int n = words_of(tensors)
    arcs = score_arcs(tensors)
    used = tensors if heads is None or whole else arguments.all_with_heads(tensors, heads)
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
        error = sums.not_in_class(heads) if whole else None
        raise error or none_of(kind, tensors, single_root, heads)
    return Marginals(counts.log_partition, counted["arcs"] if "arcs" in counted else parts["arc"] + parts["crossed_arc"], parts)


cdef none_of(kind, dict tensors, bint single_root, heads):
    """The error for a sum over nothing; heads: as `given_heads` returns them."""
    def possible():
        if not any([tensor.any() for tensor in tensors.values()]):
            return False
        try:
            summed(kind, {name: np.zeros_like(tensor) for name, tensor in tensors.items()}, single_root, heads, False)
        except NotInClass:
            return False
        return True

    reduces = len(tensors["reduce_s0b0"]) if "shift" in tensors else 0
    return arguments.no_derivation(heads, {2: 3, 6: 4}.get(reduces), possible)  # MH3 has two reduces, MH4 has six


def drawn(kind, dict tensors, bint single_root, samples, rng, heads):
    """The heads of random trees of a sentence, int32 (samples, n+1); heads: as for `expected_counts`."""
    heads, _ = arguments.given_heads(heads, words_of(tensors), single_root)
    used = tensors if heads is None else arguments.all_with_heads(tensors, heads)
    cdef Scores scores = scores_of(used, single_root)
    cdef int n = scores.n
    samples = arguments.sample_size(samples)
    room_for(4 * samples * (n + 1), "the samples")
    found = np.full((samples, n + 1), -1, dtype=np.int32)
    cdef Samples to = Samples(arguments.seeds(rng, 1)[0], samples, n + 1, <int*> address(found), False)
    cdef Sums sums = workspaces.take(kind)
    try:
        with nogil:
            sums.charts.draw(scores, to)
    except MemoryError:
        raise out_of_memory(n, sums.charts.bytes_needed()) from None
    sums.charts.release()
    workspaces.give_back(sums)
    if to.none:
        raise none_of(kind, tensors, single_root, heads)
    return found
