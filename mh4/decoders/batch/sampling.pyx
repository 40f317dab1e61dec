"""Random trees of batches: for each decoder, what a thread does with a sentence, the same as its `sample`."""

import numpy as np
from libc.stdint cimport uint64_t

from mh4.decoders.batch.threads cimport DONE, FAILED, Corners, Sentences, Worker
from mh4.decoders.shared.marginals cimport Samples, Scores, Sums

from mh4.decoders.mh3.inside_outside import MH3Sums
from mh4.decoders.mh4.inside_outside import MH4Sums
from mh4.decoders.mst.matrix_tree import MSTSums
from mh4.decoders.shared.memory import room_for


cdef class Sampling(Sentences):
    """Sentences for which trees are to be drawn."""

    cdef readonly object heads
    cdef int[:, :, ::1] to_heads
    cdef const uint64_t[::1] seeds

    def __init__(self, tensors, lengths, longest, single_root, samples, seeds):
        Sentences.__init__(self, tensors, lengths, longest, single_root)
        shape = (self.count, samples, longest + 1)
        room_for(4 * self.count * samples * (longest + 1), "the samples")
        self.to_heads = self.heads = np.full(shape, -1, dtype=np.int32)
        self.seeds = seeds


cdef class SamplingWorker(Worker):
    """Draws for mh3, mh4 or mst, as `drawn` in shared/marginals.pyx does."""

    cdef Sums sums
    cdef Corners[double] scores

    def __init__(self, sums):
        self.sums = sums

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.sums.charts.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.sums.charts.release()
        self.scores.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.draw(<Sampling> sentences, b)

    cdef int draw(self, Sampling of, Py_ssize_t b) except -1 nogil:
        cdef Scores scores
        scores.n, scores.reduces, scores.single_root = of.words[b], of.scores[1].layers, of.single_root
        cdef Samples to = Samples(of.seeds[b], of.to_heads.shape[1], of.to_heads.shape[2], NULL, False)
        if not self.scores.take(of.scores, b, scores.n, scores.tensors):
            return FAILED
        if to.count:
            to.heads = &of.to_heads[b, 0, 0]
        self.sums.charts.draw(scores, to)
        return FAILED if to.none else DONE


WORKERS = {  # what makes one
    "mh3": lambda: SamplingWorker(MH3Sums()),
    "mh4": lambda: SamplingWorker(MH4Sums()),
    "mst": lambda: SamplingWorker(MSTSums()),
}
