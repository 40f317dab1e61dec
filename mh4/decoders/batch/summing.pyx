"""Sums over the derivations of batches, and random trees: what a thread does with a sentence, the same as `marginals` and `sample`."""

import numpy as np
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from mh4.decoders.batch.threads cimport (
    DONE, FAILED, NO_TREE, ONE_TREE, OPEN, SOME_TREES, WRONG, Corner, Corners, Padded, Sentences, Worker, columns_of, rows_of
)
from mh4.decoders.shared.best_tree cimport ARCS, TENSORS
from mh4.decoders.shared.marginals cimport Counts, Samples, Scores, Sums

from mh4.decoders.batch.results import BatchMarginals
from mh4.decoders.mh3.inside_outside import MH3Sums
from mh4.decoders.mh4.inside_outside import MH4Sums
from mh4.decoders.mst.matrix_tree import MSTSums
from mh4.decoders.oneec.inside_outside import OneECSums
from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import room_for


cdef class Summing(Sentences):
    """Sentences whose derivations are to be summed; unless counted, their log-partition function is all that is wanted.

    With a direction of the scores, the sums are to be differentiated.
    """

    cdef bint allow_none, differentiated
    cdef readonly object log_partition
    cdef dict parts, direction
    cdef object arc_counts              # of the arcs that any transition makes; None for 1ec
    cdef double[::1] to_log_partition
    cdef Padded[TENSORS] change, counts
    cdef bint[TENSORS] score_arcs       # which tensors do

    def __init__(self, tensors, lengths, longest, trees, single_root, allow_none, counted, direction=None):
        Sentences.__init__(self, tensors, lengths, longest, single_root, trees)
        self.allow_none = allow_none
        self.differentiated, self.direction = direction is not None, direction or {}
        self.score_arcs = [name in arguments.score_arcs(tensors) for name in self.names]
        self.parts = {}
        if counted:
            numbers = sum([tensor.size for tensor in tensors.values()]) + self.count * (longest + 1) ** 2
            room_for(8 * numbers, "the expected counts")
            self.parts = {part: np.zeros(tensor.shape) for part, tensor in tensors.items()}
        self.arc_counts = self.parts.get("arcs")
        if counted and self.arc_counts is None and "arcs" in self.names:
            self.arc_counts = np.zeros((self.count, longest + 1, longest + 1))
        self.all_padded(self.change, self.direction)
        self.all_padded(self.counts, {**self.parts, "arcs": self.arc_counts})
        self.to_log_partition = self.log_partition = np.empty(self.count)

    def result(self):
        arcs = self.parts["arc"] + self.parts["crossed_arc"] if self.arc_counts is None else self.arc_counts
        return BatchMarginals(self.lengths, self.log_partition, arcs, self.parts)

    cdef int none(self, Py_ssize_t b) noexcept nogil:
        """The outcome of a sentence without derivations."""
        self.to_log_partition[b] = -INFINITY
        return DONE if self.allow_none else FAILED


cdef inline double* corner(const Padded& to, Py_ssize_t b) noexcept nogil:
    """Where the array of a sentence begins."""
    return <double*> to.values + b * to.layers * to.rows * to.columns


cdef double* place(Corner[double]& compact, const Padded& to, Py_ssize_t b, size_t n) except NULL nogil:
    """Where a sum over a sentence writes its counts, all 0: in the array or, if that has padding, in one without."""
    cdef size_t size = to.layers * rows_of(to, n) * columns_of(to, n), x
    if n == to.words:
        return corner(to, b)
    cdef double* numbers = compact.room(size)
    for x in range(size):
        numbers[x] = 0
    return numbers


cdef void spread(const double* numbers, const Padded& to, Py_ssize_t b, size_t n) noexcept nogil:
    """Copy what has been written elsewhere into the array."""
    cdef double* start = corner(to, b)
    cdef size_t rows = rows_of(to, n), columns = columns_of(to, n), layer, x
    if not numbers or numbers == start:
        return
    for layer in range(to.layers):
        for x in range(rows):
            memcpy(start + (layer * to.rows + x) * to.columns, numbers, columns * sizeof(double))
            numbers += columns


cdef class Sampling(Sentences):
    """Sentences for which trees are to be drawn."""

    cdef readonly object heads
    cdef int[:, :, ::1] to_heads
    cdef const uint64_t[::1] seeds

    def __init__(self, tensors, lengths, longest, single_root, trees, samples, seeds):
        Sentences.__init__(self, tensors, lengths, longest, single_root, trees)
        shape = (self.count, samples, longest + 1)
        room_for(4 * self.count * samples * (longest + 1), "the samples")
        self.to_heads = self.heads = np.full(shape, -1, dtype=np.int32)
        self.seeds = seeds


cdef class SumsWorker(Worker):
    cdef Sums sums
    cdef Corners[double] scores

    def __init__(self, sums):
        self.sums = sums

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.sums.charts.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.sums.charts.release()
        self.scores.release()


cdef class SamplingWorker(SumsWorker):
    """Draws for mh3, mh4 or mst, as `drawn` in shared/marginals.pyx does."""

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.draw(<Sampling> sentences, b)

    cdef int draw(self, Sampling of, Py_ssize_t b) except -1 nogil:
        cdef Scores scores
        scores.n, scores.reduces, scores.single_root = of.words[b], of.scores[1].layers, of.single_root
        cdef Samples to = Samples(of.seeds[b], of.to_heads.shape[1], of.to_heads.shape[2], NULL, False)
        if not self.scores.take(of.scores, b, scores.n, scores.tensors):
            return FAILED
        cdef int heads = of.given_heads(b, self.nodes, self.reached_from)
        if heads == WRONG or heads == NO_TREE:
            return FAILED
        if heads != OPEN:
            scores.tensors[ARCS] = self.scores.with_heads(scores.tensors[ARCS], &of.given[b, 0], scores.n)
        if to.count:
            to.heads = &of.to_heads[b, 0, 0]
        self.sums.charts.draw(scores, to)
        return FAILED if to.none else DONE


cdef class SummingWorker(SumsWorker):
    """Sums over derivations, as expected_counts in shared/marginals.pyx does."""

    cdef Corners[double] direction, counts, with_heads

    cdef void release(self) noexcept nogil:
        SumsWorker.release(self)
        self.direction.release()
        self.counts.release()
        self.with_heads.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.sum_with(<Summing> sentences, b)

    cdef int sum_with(self, Summing of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b], x
        cdef Scores scores, direction
        cdef Counts counts
        scores.n = direction.n = n
        scores.reduces = direction.reduces = of.scores[1].layers
        scores.single_root = direction.single_root = of.single_root
        if not self.scores.take(of.scores, b, n, scores.tensors) or not self.direction.take(of.change, b, n, direction.tensors):
            return FAILED
        cdef int heads = of.given_heads(b, self.nodes, self.reached_from)
        if heads == WRONG:
            return FAILED
        if heads == NO_TREE:
            return of.none(b)
        if heads == ONE_TREE:
            scores.heads = &of.given[b, 0]
        for x in range(TENSORS):
            if heads == SOME_TREES and of.score_arcs[x]:
                scores.tensors[x] = self.with_heads[x].with_heads(scores.tensors[x], &of.given[b, 0], n)
            if of.counts[x].values:
                counts.tensors[x] = place(self.counts[x], of.counts[x], b, n)
        if of.differentiated:
            self.sums.charts.differentiate(scores, counts, direction)
        else:
            self.sums.charts.find(scores, counts)
        if counts.log_partition == -INFINITY:
            return of.none(b)
        of.to_log_partition[b] = counts.log_partition
        for x in range(TENSORS):
            spread(counts.tensors[x], of.counts[x], b, n)
        return DONE


SUMMING = {  # what makes a worker
    "mh3": lambda: SummingWorker(MH3Sums()),
    "mh4": lambda: SummingWorker(MH4Sums()),
    "mst": lambda: SummingWorker(MSTSums()),
    "1ec": lambda: SummingWorker(OneECSums()),
}
SAMPLING = {
    "mh3": lambda: SamplingWorker(MH3Sums()),
    "mh4": lambda: SamplingWorker(MH4Sums()),
    "mst": lambda: SamplingWorker(MSTSums()),
}
