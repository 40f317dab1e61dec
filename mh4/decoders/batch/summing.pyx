"""Marginals of batches: for each decoder, what a thread does with a sentence, the same as its `marginals`."""

from collections.abc import Mapping
from typing import Optional

import numpy as np
from libc.math cimport INFINITY
from libc.string cimport memcpy
from libcpp.vector cimport vector

from mh4.decoders.batch.sentences cimport DONE, FAILED, Corner, Padded, Sentences, Worker, padded
from mh4.decoders.oneec.search cimport Parts, Sums as OneECSearchSums
from mh4.decoders.shared.marginals cimport Counts, Scores, Sums

from mh4.decoders.batch import arguments
from mh4.decoders.batch.results import BatchMarginals
from mh4.decoders.batch.sentences import run
from mh4.decoders.mh3.inside_outside import MH3Sums
from mh4.decoders.mh4.inside_outside import MH4Sums
from mh4.decoders.mst.matrix_tree import MSTSums
from mh4.decoders.oneec.inside_outside import OneECSums
from mh4.decoders.shared.memory import room_for


def marginals(
    name: str, scores: Mapping[str, np.ndarray], lengths: np.ndarray, *, single_root: bool = False, threads: Optional[int] = None,
) -> BatchMarginals:
    """The distributions over the derivations of B sentences, in padded arrays with room for N words.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec"; mh5 has no marginals.
    scores, lengths, single_root, threads: as for `decode`; float64 scores are not rounded to float32.

    Returns BatchMarginals. The GIL is released.
    Raises what the decoder's `marginals` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    alone = arguments.decoder(name).marginals
    if alone is None:
        raise ValueError(f"{name} has no marginals; {', '.join(KINDS)} have")
    tensors, lengths, longest = arguments.checked(name, scores, lengths)
    kind, worker = KINDS[name]
    sentences = kind(tensors, lengths, longest, single_root)
    run(worker, sentences, threads)
    for b in sentences.failed()[:1]:
        arguments.explain(alone, b, arguments.single(name, tensors, b, lengths[b]), single_root)
    return sentences.result()


cdef class Summing(Sentences):
    """Sentences whose derivations are to be summed."""

    cdef object log_partition
    cdef dict parts
    cdef double[::1] to_log_partition

    def __init__(self, tensors, lengths, longest, single_root):
        Sentences.__init__(self, tensors, lengths, longest, single_root)
        numbers = sum([tensor.size for tensor in tensors.values()]) + self.count * (longest + 1) ** 2
        room_for(8 * numbers, "the expected counts")
        self.parts = {part: np.zeros(tensor.shape) for part, tensor in tensors.items()}
        self.to_log_partition = self.log_partition = np.empty(self.count)

    def failed(self):
        """The sentences without a derivation, or with something wrong about them."""
        return np.flatnonzero(np.asarray(self.outcomes) == FAILED)


cdef class TransitionSumming(Summing):
    """Sentences for mh3, mh4 or mst."""

    cdef Padded shift, s0b0, s1s0, arcs
    cdef Padded to_shift, to_s0b0, to_s1s0, to_arcs
    cdef object arc_counts

    def __init__(self, tensors, lengths, longest, single_root):
        Summing.__init__(self, tensors, lengths, longest, single_root)
        self.shift, self.s0b0 = padded(tensors, "shift"), padded(tensors, "reduce_s0b0")
        self.s1s0, self.arcs = padded(tensors, "reduce_s1s0"), padded(tensors, "arcs")
        self.arc_counts = self.parts["arcs"] if "arcs" in tensors else np.zeros((self.count, longest + 1, longest + 1))
        counts = {**self.parts, "arcs": self.arc_counts}
        self.to_shift, self.to_s0b0 = padded(counts, "shift"), padded(counts, "reduce_s0b0")
        self.to_s1s0, self.to_arcs = padded(counts, "reduce_s1s0"), padded(counts, "arcs")

    def result(self):
        return BatchMarginals(self.lengths, self.log_partition, self.arc_counts, self.parts)


cdef class TransitionWorker(Worker):
    """Sums for mh3, mh4 or mst, as expected_counts in shared/marginals.pyx does."""

    cdef Sums sums
    cdef Corner[double] shift, s0b0, s1s0, arcs
    cdef Corner[double] to_shift, to_s0b0, to_s1s0, to_arcs

    def __init__(self, sums):
        self.sums = sums

    cdef double bytes_needed(self) noexcept nogil:
        return self.sums.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.sums.release()
        self.shift.release()
        self.s0b0.release()
        self.s1s0.release()
        self.arcs.release()
        self.to_shift.release()
        self.to_s0b0.release()
        self.to_s1s0.release()
        self.to_arcs.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.sum(<TransitionSumming> sentences, b)

    cdef int sum(self, TransitionSumming of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b]
        cdef Scores scores = Scores(n, of.s0b0.layers, of.single_root, NULL, NULL, NULL, NULL)
        cdef Counts counts = Counts(0, NULL, NULL, NULL, NULL)
        if of.shift.values:
            scores.shift = self.shift.take(of.shift, b, n + 2, n + 2)
            scores.s0b0 = self.s0b0.take(of.s0b0, b, n + 2, n + 2)
            if not scores.shift or not scores.s0b0:
                return FAILED
            counts.shift = place(self.to_shift, of.to_shift, b, n + 2, n + 2)
            counts.s0b0 = place(self.to_s0b0, of.to_s0b0, b, n + 2, n + 2)
        if of.s1s0.values:
            scores.s1s0 = self.s1s0.take(of.s1s0, b, n + 2, n + 2)
            if not scores.s1s0:
                return FAILED
            counts.s1s0 = place(self.to_s1s0, of.to_s1s0, b, n + 2, n + 2)
        if of.arcs.values:
            scores.arcs = self.arcs.take(of.arcs, b, n + 1, n + 1)
            if not scores.arcs:
                return FAILED
        counts.arcs = place(self.to_arcs, of.to_arcs, b, n + 1, n + 1)
        self.sums.find(scores, counts)
        of.to_log_partition[b] = counts.log_partition
        if counts.log_partition == -INFINITY:
            return FAILED
        spread(counts.shift, of.to_shift, b, n + 2, n + 2)
        spread(counts.s0b0, of.to_s0b0, b, n + 2, n + 2)
        spread(counts.s1s0, of.to_s1s0, b, n + 2, n + 2)
        spread(counts.arcs, of.to_arcs, b, n + 1, n + 1)
        return DONE


cdef inline double* corner(const Padded& to, Py_ssize_t b) noexcept nogil:
    """Where the array of a sentence begins."""
    return <double*> to.values + b * to.layers * to.rows * to.columns


cdef double* place(Corner[double]& compact, const Padded& to, Py_ssize_t b, size_t rows, size_t columns) except NULL nogil:
    """Where a sum over a sentence writes its counts, all 0: in the array or, if that has padding, in one without."""
    cdef size_t size = to.layers * rows * columns, x
    if rows == to.rows:
        return corner(to, b)
    cdef double* numbers = compact.room(size)
    for x in range(size):
        numbers[x] = 0
    return numbers


cdef void spread(const double* numbers, const Padded& to, Py_ssize_t b, size_t rows, size_t columns) noexcept nogil:
    """Copy what has been written elsewhere into the array."""
    cdef double* start = corner(to, b)
    cdef size_t layer, x
    if not numbers or numbers == start:
        return
    for layer in range(to.layers):
        for x in range(rows):
            memcpy(start + (layer * to.rows + x) * to.columns, numbers, columns * sizeof(double))
            numbers += columns


class MH3Worker(TransitionWorker):
    def __init__(self):
        super().__init__(MH3Sums())


class MH4Worker(TransitionWorker):
    def __init__(self):
        super().__init__(MH4Sums())


class MSTWorker(TransitionWorker):
    def __init__(self):
        super().__init__(MSTSums())


cdef class OneECSumming(Summing):
    """Sentences for 1ec."""

    cdef Padded[4] scores, to  # arc, crossed_arc, grandparent, sibling

    def __init__(self, tensors, lengths, longest, single_root):
        Summing.__init__(self, tensors, lengths, longest, single_root)
        for x, name in enumerate(("arc", "crossed_arc", "grandparent", "sibling")):
            self.scores[x], self.to[x] = padded(tensors, name), padded(self.parts, name)

    def result(self):
        return BatchMarginals(self.lengths, self.log_partition, self.parts["arc"] + self.parts["crossed_arc"], self.parts)


cdef class OneECWorker(Worker):
    """Sums for 1ec."""

    cdef OneECSearchSums sums
    cdef vector[Corner[double]] scores, to

    def __init__(self):
        self.sums = OneECSums()
        self.scores.resize(4)
        self.to.resize(4)

    cdef double bytes_needed(self) noexcept nogil:
        return self.sums.bytes_needed()

    cdef void release(self) noexcept nogil:
        cdef int x
        self.sums.release()
        for x in range(4):
            self.scores[x].release()
            self.to[x].release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.sum(<OneECSumming> sentences, b)

    cdef int sum(self, OneECSumming of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b], x
        cdef double* scores[4]
        cdef double* counts[4]
        for x in range(4):
            scores[x] = <double*> self.scores[x].take(of.scores[x], b, n + 1 + x // 2, n + 1)
            if not scores[x]:
                return FAILED
            counts[x] = place(self.to[x], of.to[x], b, n + 1 + x // 2, n + 1)
        cdef Parts given = Parts(scores[0], scores[1], scores[2], scores[3])
        cdef Parts found = Parts(counts[0], counts[1], counts[2], counts[3])
        if not self.sums.find(n, &given, of.single_root, &of.to_log_partition[b], &found):
            return FAILED
        for x in range(4):
            spread(counts[x], of.to[x], b, n + 1 + x // 2, n + 1)
        return DONE


KINDS = {
    "mh3": (TransitionSumming, MH3Worker),
    "mh4": (TransitionSumming, MH4Worker),
    "mst": (TransitionSumming, MSTWorker),
    "1ec": (OneECSumming, OneECWorker),
}
