"""Sums over the derivations of batches: for each decoder, what a thread does with a sentence, the same as its `marginals`."""

from collections.abc import Mapping
from typing import Optional

import numpy as np
from libc.math cimport INFINITY
from libc.string cimport memcpy
from libcpp.vector cimport vector

from mh4.decoders.batch.threads cimport (
    DONE, FAILED, TENSORS, Corner, Corners, Padded, Sentences, Worker, columns_of, rows_of,
)
from mh4.decoders.oneec.interfaces cimport Sums as OneECSearchSums
from mh4.decoders.shared.arguments cimport not_below_root
from mh4.decoders.shared.marginals cimport Counts, Scores, Sums

from mh4.decoders.batch import arguments
from mh4.decoders.batch.results import BatchMarginals
from mh4.decoders.batch.threads import run
from mh4.decoders.mh3.inside_outside import MH3Sums
from mh4.decoders.mh4.inside_outside import MH4Sums
from mh4.decoders.mst.matrix_tree import MSTSums
from mh4.decoders.oneec.inside_outside import OneECSums
from mh4.decoders.shared.memory import room_for


def marginals(
    name: str, scores: Mapping[str, np.ndarray], lengths: np.ndarray, *, heads: Optional[np.ndarray] = None,
    single_root: bool = False, allow_none: bool = False, threads: Optional[int] = None,
) -> BatchMarginals:
    """The distributions over the derivations of B sentences, in padded arrays with room for N words.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec"; mh5 has no marginals.
    scores, lengths, single_root, threads: as for `decode`; float64 scores are not rounded to float32.
    heads: integers (B, N+1), or None; if given, only derivations of trees with these heads count. The head of a word is open if it
        is -1. For a whole tree, whose derivations are few, this takes a fraction of the time.
    allow_none: of a sentence without derivations, log_partition is -inf and all else is 0; otherwise this is an error.

    Returns BatchMarginals. The GIL is released.
    Raises what the decoder's `marginals` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    return over_derivations(name, scores, lengths, heads, single_root, allow_none, threads, True).result()


def log_partition(
    name: str, scores: Mapping[str, np.ndarray], lengths: np.ndarray, *, heads: Optional[np.ndarray] = None,
    single_root: bool = False, allow_none: bool = False, threads: Optional[int] = None,
) -> np.ndarray:
    """The logarithm of the sum of exp(score) over the derivations of each of B sentences, float64 (B,): that of `marginals`, alone.

    This is the inside pass without the outside pass, or the determinant without its derivatives. The arguments, and what is raised,
    are those of `marginals`.
    """
    return over_derivations(name, scores, lengths, heads, single_root, allow_none, threads, False).log_partition


def hessian_product(
    name: str, scores: Mapping[str, np.ndarray], direction: Mapping[str, np.ndarray], lengths: np.ndarray, *,
    heads: Optional[np.ndarray] = None, single_root: bool = False, threads: Optional[int] = None,
) -> dict[str, np.ndarray]:
    """The derivative of the expected counts in a direction of the scores, for each of B sentences; without any approximation.

    This is the product of the Hessian matrix of log_partition and the direction, or the covariance of how often derivations use a
    score and what they score in the direction.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec". scores, lengths, heads, single_root, threads: as for `marginals`.
    direction: arrays like the scores, for each of their tensors and with the same B and N; it may have "arcs", of those that any
        transition makes, and "reduce_s1s0" when the scores do not.

    Returns, for each tensor of the direction, a float64 array of its shape: 0 beyond the sentence and for sentences without
    derivations, NaN for those with a direction that is not finite. The GIL is released.
    Raises what `marginals` raises.
    """
    if arguments.decoder(name).marginals is None:
        raise ValueError(f"{name} has no marginals that can be differentiated; {', '.join(KINDS)} have")
    scores, lengths, longest = arguments.checked(name, scores, lengths)
    direction, _, own_longest = arguments.checked(name, direction, lengths, argument="direction")
    if own_longest != longest:
        raise ValueError(f"direction: has room for {own_longest} words, but the scores for {longest}")
    tensors = {part: scores[part] if part in scores else np.zeros(array.shape) for part, array in direction.items()}
    for part in scores:
        if part not in direction:
            raise ValueError(f"direction: has no tensor {part!r}, but the scores have")
    unit = {part: np.zeros(array.shape) for part, array in direction.items()}
    sizes = np.zeros(len(lengths))
    for b, n in enumerate(lengths):
        of, to = arguments.single(name, direction, b, n), arguments.single(name, unit, b, n)
        sizes[b] = np.max([np.abs(array).max(initial=0) for array in of.values()])
        if 0 < sizes[b] < np.inf:
            for part, array in of.items():
                np.divide(array, sizes[b], out=to[part])
    result = summed(name, tensors, lengths, longest, heads, single_root, True, threads, True, unit).result().parts
    for b, n in enumerate(lengths):
        for array in arguments.single(name, result, b, n).values():
            array *= sizes[b] if sizes[b] < np.inf else np.nan
    return result


cdef Summing over_derivations(name, scores, lengths, heads, single_root, allow_none, threads, counted):
    """Sentences whose derivations have been summed; counted: the use of each score too."""
    if arguments.decoder(name).marginals is None:
        raise ValueError(f"{name} has no marginals; {', '.join(KINDS)} have")
    tensors, lengths, longest = arguments.checked(name, scores, lengths)
    return summed(name, tensors, lengths, longest, heads, single_root, allow_none, threads, counted)


cdef Summing summed(name, tensors, lengths, longest, heads, single_root, allow_none, threads, counted, direction=None):
    """The same, of arguments that have been checked, except heads; with a direction, the counts are differentiated."""
    trees = None if heads is None else arguments.checked_trees(heads, lengths, longest)
    cdef Summing sentences = Summing(tensors, lengths, longest, single_root, allow_none, trees, counted, direction)
    run(KINDS[name], sentences, threads)
    for b in np.flatnonzero(np.asarray(sentences.outcomes) == FAILED)[:1]:
        alone = arguments.single(name, tensors, b, lengths[b], trees)
        arguments.explain(arguments.decoder(name).marginals, b, alone, single_root)
    return sentences


cdef enum Heads:  # what is given of those of a sentence
    OPEN, SOME_TREES, ONE_TREE, NO_TREE, WRONG


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
    cdef const int[:, ::1] given        # the heads, or None

    def __init__(self, tensors, lengths, longest, single_root, allow_none, trees, counted, direction):
        Sentences.__init__(self, tensors, lengths, longest, single_root)
        self.allow_none = allow_none
        self.differentiated, self.direction = direction is not None, direction or {}
        self.given = trees
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

    cdef int heads(self, Py_ssize_t b, vector[int]& tree, vector[int]& reached_from) except -1 nogil:
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


cdef const double* with_heads(Corner[double]& to, const double* arcs, const int* heads, int n) except NULL nogil:
    """Scores of arcs, or 0, of which those are forbidden that contradict heads."""
    cdef size_t side = n + 1, h, m
    cdef double* scores = to.room(side * side)
    for h in range(side):
        for m in range(side):
            if heads[m] != -1 and <size_t> heads[m] != h:
                scores[h * side + m] = -INFINITY
            else:
                scores[h * side + m] = arcs[h * side + m] if arcs else 0
    return scores


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


cdef class SummingWorker(Worker):
    """Sums over derivations; a subclass has the charts."""

    cdef int first_arcs, last_arcs  # the tensors that score arcs
    cdef Corners[double] scores, direction, counts, with_heads
    cdef vector[int] tree, reached_from

    cdef bint sum(
        self, Summing of, int n, const double** scores, const double** direction, const int* heads, double* log_partition,
        double** counts
    ) except -1 nogil:
        """Sum over the derivations or, if heads are given, over those of one tree; False if there are none."""

    cdef void release(self) noexcept nogil:
        self.scores.release()
        self.direction.release()
        self.counts.release()
        self.with_heads.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.sum_with(<Summing> sentences, b)

    cdef int sum_with(self, Summing of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b], x
        cdef const double* scores[TENSORS]
        cdef const double* direction[TENSORS]
        cdef double* counts[TENSORS]
        if not self.scores.take(of.scores, b, n, scores) or not self.direction.take(of.change, b, n, direction):
            return FAILED
        cdef int heads = of.heads(b, self.tree, self.reached_from)
        if heads == WRONG:
            return FAILED
        if heads == NO_TREE:
            return of.none(b)
        if heads == SOME_TREES:
            for x in range(self.first_arcs, self.last_arcs + 1):
                scores[x] = with_heads(self.with_heads[x], scores[x], &of.given[b, 0], n)
        for x in range(TENSORS):
            counts[x] = place(self.counts[x], of.counts[x], b, n) if of.counts[x].values else NULL
        cdef const int* tree = &of.given[b, 0] if heads == ONE_TREE else NULL
        if not self.sum(of, n, scores, direction, tree, &of.to_log_partition[b], counts):
            return of.none(b)
        for x in range(TENSORS):
            spread(counts[x], of.counts[x], b, n)
        return DONE


cdef class TransitionWorker(SummingWorker):
    """Sums for mh3, mh4 or mst, as expected_counts in shared/marginals.pyx does."""

    cdef Sums sums

    def __init__(self, sums):
        self.sums = sums
        self.first_arcs = self.last_arcs = 3

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.sums.charts.bytes_needed()

    cdef void release(self) noexcept nogil:
        SummingWorker.release(self)
        self.sums.charts.release()

    cdef bint sum(
        self, Summing of, int n, const double** scores, const double** direction, const int* heads, double* log_partition,
        double** counts
    ) except -1 nogil:
        cdef int reduces = of.scores[1].layers
        cdef Scores given = Scores(n, reduces, of.single_root, scores[0], scores[1], scores[2], scores[3], heads)
        cdef Counts to = Counts(0, counts[0], counts[1], counts[2], counts[3])
        if of.differentiated:
            self.sums.charts.differentiate(
                given, to, Scores(n, reduces, of.single_root, direction[0], direction[1], direction[2], direction[3], NULL))
        else:
            self.sums.charts.find(given, to)
        log_partition[0] = to.log_partition
        return to.log_partition > -INFINITY


cdef class OneECWorker(SummingWorker):
    """Sums for 1ec."""

    cdef OneECSearchSums sums

    def __init__(self):
        self.sums = OneECSums()
        self.last_arcs = 1

    cdef double bytes_needed(self) noexcept nogil:
        return self.sums.bytes_needed()

    cdef void release(self) noexcept nogil:
        SummingWorker.release(self)
        self.sums.release()

    cdef bint sum(
        self, Summing of, int n, const double** scores, const double** direction, const int* heads, double* log_partition,
        double** counts
    ) except -1 nogil:
        if heads and of.differentiated:  # its counts are constant
            log_partition[0] = 0
            return True
        if heads:
            return self.sums.find_of_tree(n, scores, heads, log_partition, counts)
        return self.sums.find(
            n, scores, of.single_root, direction if of.differentiated else NULL, log_partition, counts)


KINDS = {  # what makes a worker
    "mh3": lambda: TransitionWorker(MH3Sums()),
    "mh4": lambda: TransitionWorker(MH4Sums()),
    "mst": lambda: TransitionWorker(MSTSums()),
    "1ec": OneECWorker,
}
