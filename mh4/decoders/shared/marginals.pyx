"""Common parts of the marginals of mh3, mh4 and mst: from tensors to the numbers that their charts read, and back."""

import numpy as np

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import out_of_memory, room_for, workspaces


cdef class Tensors:

    def __init__(self, int count, shift, reduce_s0b0, reduce_s1s0, arcs, bint single_root):
        """count: the number of reduce transitions; 0 if there are only arcs. Raises ValueError for invalid tensors."""
        cdef int n = arguments.words("shift", shift, 2) if count else arguments.words("arcs", arcs, 1)
        reduces = (count, n + 2, n + 2)
        self.tensors = {}
        if count:
            self.tensors["shift"] = arguments.float64_scores("shift", shift, (n + 2, n + 2))
            self.tensors["reduce_s0b0"] = arguments.float64_scores("reduce_s0b0", reduce_s0b0, reduces)
        if reduce_s1s0 is not None:
            self.tensors["reduce_s1s0"] = arguments.float64_scores("reduce_s1s0", reduce_s1s0, reduces)
        if arcs is not None:
            self.tensors["arcs"] = arguments.float64_scores("arcs", arcs, (n + 1, n + 1))
        room_for(sum([tensor.nbytes for tensor in self.tensors.values()]) + 8 * (n + 1) ** 2, "the expected counts")
        # All are written now, and not when they are used: the chart is weighed against what is left.
        self.parts = {name: np.full(tensor.shape, 0.0) for name, tensor in self.tensors.items()}
        self.arcs = self.parts["arcs"] if arcs is not None else np.full((n + 1, n + 1), 0.0)
        self.scores = Scores(n, count, single_root, address(self.tensors.get("shift")), address(self.tensors.get("reduce_s0b0")),
                             address(self.tensors.get("reduce_s1s0")), address(self.tensors.get("arcs")))
        self.counts = Counts(0, address(self.parts.get("shift")), address(self.parts.get("reduce_s0b0")),
                             address(self.parts.get("reduce_s1s0")), address(self.arcs))

    cdef result(self):
        if self.counts.log_partition == -np.inf:
            raise arguments.no_derivation()
        return Marginals(self.counts.log_partition, self.arcs, self.parts)


cdef class Sums:

    cdef int find(self, const Scores& scores, Counts& counts) except -1 nogil:
        """Sum over all derivations."""

    cdef int differentiate(self, const Scores& scores, Counts& counts, const Scores& direction) except -1 nogil:
        """The derivatives of the counts in a direction of the scores, of numbers from -1 to 1. If it has arcs, so have the scores."""

    cdef double bytes_needed(self) noexcept nogil:
        """The memory that this takes."""

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""


cdef object expected_counts(Sums sums, Tensors of):
    """The Marginals of a sentence; sums: taken from the workspaces."""
    try:
        with nogil:
            sums.find(of.scores, of.counts)
    except MemoryError:
        raise out_of_memory(of.scores.n, sums.bytes_needed()) from None
    sums.release()
    workspaces.give_back(sums)
    return of.result()


cdef double* address(array):
    """Of the first number of a C-contiguous float64 array, or NULL for None."""
    cdef const double[::1] numbers
    if array is None:
        return NULL
    numbers = array.reshape(-1)
    return <double*> &numbers[0]
