"""The sentences of a batch, and the threads that take one after the other, the longest first."""

import threading

import numpy as np
from libcpp.vector cimport vector

from mh4.decoders.shared.arguments cimport address, not_below_root

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces
from mh4.util import cpu

cdef extern from *:
    """
    static inline Py_ssize_t next_of(Py_ssize_t *taken) { return __atomic_fetch_add(taken, 1, __ATOMIC_RELAXED); }
    """
    Py_ssize_t next_of(Py_ssize_t* taken) nogil


cdef class Sentences:
    """Checked arguments, and the outcome of each sentence.

    tensors: C-contiguous arrays of float32 or float64 by name, (count, ..., rows, columns). trees: as checked_trees returns them, or None.
    """

    def __init__(self, tensors, lengths, int longest, bint single_root, trees=None):
        self.tensors = tensors
        self.lengths = lengths
        self.count = len(lengths)
        self.longest = longest
        self.single_root = single_root
        self.words = lengths
        self.given = trees
        self.order = np.argsort(-lengths, kind="stable")
        self.outcomes = np.zeros(self.count, dtype=np.int8)
        self.names = arguments.names_of(tensors)
        self.all_padded(self.scores, tensors)

    def failed(self):
        """Which sentences have failed, bool (count,)."""
        return np.asarray(self.outcomes) == FAILED

    cdef Padded padded(self, array):
        """Where an array is, which has to be kept; without values if it is None."""
        if array is None:
            return Padded(NULL, False, 0, 0, 0, 0)
        layers = array.shape[1] if array.ndim == 4 else 1
        rows, columns = array.shape[array.ndim - 2], array.shape[array.ndim - 1]
        return Padded(address(array), array.dtype == np.float64, layers, rows, columns, self.longest)

    cdef int all_padded(self, Padded* to, tensors) except -1:
        """The arrays among `tensors` that the decoder can have, in order."""
        for x, name in enumerate(self.names):
            to[x] = self.padded(tensors.get(name))

    cdef int given_heads(self, Py_ssize_t b, vector[int]& tree, vector[int]& reached_from) except -1 nogil:
        """What is given of the heads of a sentence, by Heads; the vectors are for its own use."""
        cdef int n = self.words[b], word, open_heads = 0, roots = 0
        if self.given is None:
            return OPEN
        cdef const int* heads = &self.given[b, 0]
        tree.clear()
        tree.resize(n + 1, 0)  # with 0 for heads that are open: a cycle remains one
        for word in range(1, n + 1):
            if not -1 <= heads[word] <= n:
                return WRONG
            roots += heads[word] == 0
            open_heads += heads[word] == -1
            tree[word] = max(heads[word], 0)
        if heads[0] != -1:
            return WRONG
        if not_below_root(tree.data(), n, reached_from) or (self.single_root and (roots > 1 or roots + open_heads == 0)):
            return NO_TREE
        return ONE_TREE if open_heads == 0 else OPEN if open_heads == n else SOME_TREES


cdef class Worker:
    """What a thread needs to process sentences, one at a time; its memory is reused for the next batch."""

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        """Process a sentence; returns an Outcome."""

    cdef double bytes_needed(self) noexcept nogil:
        """The memory that a sentence takes."""

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""

    def work(self, Sentences sentences):
        """Take sentences until none is left."""
        cdef Py_ssize_t place, b = 0
        try:
            with nogil:
                while not sentences.stopped:
                    place = next_of(&sentences.taken)
                    if place >= sentences.count:
                        break
                    b = sentences.order[place]
                    sentences.outcomes[b] = self.decode(sentences, b)
                self.release()
        except BaseException as error:
            sentences.stopped = True
            if isinstance(error, MemoryError):
                raise MemoryError(f"sentence {b}: {out_of_memory(sentences.words[b], self.bytes_needed())}") from None
            raise


class Teams(dict):
    """Workers that are kept for the next batch, by what makes them."""


def run(make, Sentences sentences, threads):
    """Process all sentences with workers made by `make`: one in this thread, which alone can respond to signals, others in their own."""
    if threads is not None and not (isinstance(threads, (int, np.integer)) and threads >= 1):
        raise ValueError(f"threads: expected a positive number, got {threads!r}")
    size = max(1, min(threads or cpu.cores(), sentences.count))
    teams = workspaces.take(Teams)
    workers = teams.setdefault(make, [])
    workers.extend([make() for _ in range(size - len(workers))])
    errors = []

    def work(worker):
        try:
            worker.work(sentences)
        except BaseException as error:
            errors.append(error)

    others = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers[1:size]]
    try:
        for thread in others:
            thread.start()
        workers[0].work(sentences)
        for thread in others:
            thread.join()
    finally:
        sentences.stopped = True
    if errors:
        raise errors[0]
    workspaces.give_back(teams)
