"""Random trees of batches: for each decoder, what a thread does with a sentence, the same as its `sample`."""

from collections.abc import Mapping
from typing import Optional, Union

import numpy as np
from libc.stdint cimport uint64_t

from mh4.decoders.batch.threads cimport DONE, FAILED, TENSORS, Corners, Sentences, Worker
from mh4.decoders.shared.marginals cimport Samples, Scores, Sums

from mh4.decoders.batch import arguments
from mh4.decoders.batch.threads import run
from mh4.decoders.mh3.inside_outside import MH3Sums
from mh4.decoders.mh4.inside_outside import MH4Sums
from mh4.decoders.mst.matrix_tree import MSTSums
from mh4.decoders.shared.arguments import sample_size, seeds
from mh4.decoders.shared.memory import room_for


def sample(
    name: str, scores: Mapping[str, np.ndarray], lengths: np.ndarray, samples: int, *,
    rng: Union[None, int, np.random.Generator] = None, single_root: bool = False, threads: Optional[int] = None,
) -> np.ndarray:
    """Trees of random derivations of each of B sentences, in padded arrays with room for N words.

    name: of the decoder: "mh3", "mh4" or "mst". Derivations are drawn with their probability, independently; a tree that has several
        is as probable as these together.
    scores, lengths, single_root, threads: as for `marginals`.
    samples: how many for each sentence. rng: a seed or a numpy.random.Generator; by default, an unpredictable one. The results are those
        of the decoder's `sample` for one sentence after the other with the same generator, with any number of threads.

    Returns their heads, int32 (B, samples, N+1), -1 at 0 and beyond the sentence. The GIL is released.
    Raises what the decoder's `sample` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    if arguments.decoder(name).sample is None:
        raise ValueError(f"{name} has no sampling; {', '.join(WORKERS)} have")
    tensors, lengths, longest = arguments.checked(name, scores, lengths)
    cdef Sampling sentences = Sampling(tensors, lengths, longest, single_root, sample_size(samples), seeds(rng, len(lengths)))
    run(WORKERS[name], sentences, threads)
    for b in np.flatnonzero(np.asarray(sentences.outcomes) == FAILED)[:1]:
        alone = {**arguments.single(name, tensors, b, lengths[b]), "samples": 0}
        arguments.explain(arguments.decoder(name).sample, b, alone, single_root)
    return sentences.heads


cdef class Sampling(Sentences):
    """Sentences for which trees are to be drawn."""

    cdef object heads
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
        cdef int n = of.words[b]
        cdef const double* scores[TENSORS]
        cdef Samples to = Samples(of.seeds[b], of.to_heads.shape[1], of.to_heads.shape[2], NULL, False)
        if not self.scores.take(of.scores, b, n, scores):
            return FAILED
        if to.count:
            to.heads = &of.to_heads[b, 0, 0]
        self.sums.charts.draw(
            Scores(n, of.scores[1].layers, of.single_root, scores[0], scores[1], scores[2], scores[3], NULL), to)
        return FAILED if to.none else DONE


WORKERS = {  # what makes one
    "mh3": lambda: SamplingWorker(MH3Sums()),
    "mh4": lambda: SamplingWorker(MH4Sums()),
    "mst": lambda: SamplingWorker(MSTSums()),
}
