"""Common parts of the marginals of mh3, mh4 and mst: from tensors to the numbers that their charts read, and back."""

import numpy as np

from mh4.decoders.shared.arguments cimport address

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import out_of_memory, room_for, workspaces


cdef class Tensors:

    def __init__(self, int count, shift, reduce_s0b0, reduce_s1s0, arcs, bint single_root, heads=None):
        """count: the number of reduce transitions; 0 if there are only arcs. Raises ValueError for invalid tensors and heads."""
        cdef int n = arguments.words("shift", shift, 2) if count else arguments.words("arcs", arcs, 1)
        cdef const int[::1] tree
        reduces = (count, n + 2, n + 2)
        self.tensors = {}
        if count:
            self.tensors["shift"] = arguments.float64_scores("shift", shift, (n + 2, n + 2))
            self.tensors["reduce_s0b0"] = arguments.float64_scores("reduce_s0b0", reduce_s0b0, reduces)
        if reduce_s1s0 is not None:
            self.tensors["reduce_s1s0"] = arguments.float64_scores("reduce_s1s0", reduce_s1s0, reduces)
        if arcs is not None:
            self.tensors["arcs"] = arguments.float64_scores("arcs", arcs, (n + 1, n + 1))
        self.scores = Scores(n, count, single_root, address(self.tensors.get("shift")), address(self.tensors.get("reduce_s0b0")),
                             address(self.tensors.get("reduce_s1s0")), address(self.tensors.get("arcs")), NULL)
        if heads is None:
            return
        self.heads, whole = arguments.given_heads(heads, n, single_root)
        if whole:
            tree = self.heads
            self.scores.heads = &tree[0]
        elif (self.heads[1:] < 0).all():
            self.heads = None
        else:
            self.possible_arcs = arguments.with_heads(self.tensors.get("arcs"), self.heads)
            self.scores.arcs = address(self.possible_arcs)


cdef class Sums:
    pass


def expected_counts(kind, Tensors of):
    """The Marginals of a sentence; kind: the class of the Sums."""
    cdef int n = of.scores.n
    cdef Sums sums = workspaces.take(kind)
    room_for(sum([tensor.nbytes for tensor in of.tensors.values()]) + 8 * (n + 1) ** 2, "the expected counts")
    # All are written now, and not when they are used: the chart is weighed against what is left.
    parts = {name: np.full(tensor.shape, 0.0) for name, tensor in of.tensors.items()}
    arcs = parts["arcs"] if "arcs" in parts else np.full((n + 1, n + 1), 0.0)
    cdef Counts counts = Counts(
        0, address(parts.get("shift")), address(parts.get("reduce_s0b0")), address(parts.get("reduce_s1s0")), address(arcs)
    )
    try:
        with nogil:
            sums.charts.find(of.scores, counts)
    except MemoryError:
        raise out_of_memory(n, sums.charts.bytes_needed()) from None
    sums.charts.release()
    workspaces.give_back(sums)
    if counts.log_partition == -np.inf:
        raise arguments.no_sum(of.heads, {2: 3, 6: 4}.get(of.scores.reduces))  # MH3 has two reduces, MH4 has six
    return Marginals(counts.log_partition, arcs, parts)


def drawn(kind, Tensors of, samples, rng):
    """The heads of random trees of a sentence, int32 (samples, n+1); kind: the class of the Sums."""
    cdef int n = of.scores.n
    cdef Sums sums = workspaces.take(kind)
    samples = arguments.sample_size(samples)
    room_for(4 * samples * (n + 1), "the samples")
    heads = np.full((samples, n + 1), -1, dtype=np.int32)
    cdef int[:, ::1] rows = heads
    cdef Samples to = Samples(arguments.seeds(rng, 1)[0], samples, n + 1, NULL, False)
    if to.count:
        to.heads = &rows[0, 0]
    try:
        with nogil:
            sums.charts.draw(of.scores, to)
    except MemoryError:
        raise out_of_memory(n, sums.charts.bytes_needed()) from None
    sums.charts.release()
    workspaces.give_back(sums)
    if to.none:
        raise arguments.no_derivation()
    return heads
