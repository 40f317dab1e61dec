"""Sums over the derivations of batches: for each decoder, what a thread does with a sentence, the same as its `marginals`."""

from collections.abc import Mapping
from typing import Optional

import numpy as np
from libc.math cimport INFINITY
from libc.string cimport memcpy
from libcpp.vector cimport vector

from mh4.decoders.batch.threads cimport (
    DONE, FAILED, Corner, Corners, Padded, Sentences, Tensors, Worker, all_padded, as_padded,
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
    kind, worker = KINDS[name]
    cdef Summing sentences = kind(tensors, lengths, longest, single_root, allow_none, trees, counted, direction)
    run(worker, sentences, threads)
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
    cdef double[::1] to_log_partition
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
        self.to_log_partition = self.log_partition = np.empty(self.count)

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


cdef class TransitionSumming(Summing):
    """Sentences for mh3, mh4 or mst."""

    cdef Tensors of_scores, of_direction, to
    cdef object arc_counts

    def __init__(self, tensors, lengths, longest, single_root, allow_none, trees, counted, direction):
        Summing.__init__(self, tensors, lengths, longest, single_root, allow_none, trees, counted, direction)
        self.of_scores, self.of_direction = all_padded(tensors), all_padded(self.direction)
        self.arc_counts = self.parts.get("arcs")
        if counted and self.arc_counts is None:
            self.arc_counts = np.zeros((self.count, longest + 1, longest + 1))
        self.to = all_padded({**self.parts, "arcs": self.arc_counts})

    def result(self):
        return BatchMarginals(self.lengths, self.log_partition, self.arc_counts, self.parts)


cdef class TransitionWorker(Worker):
    """Sums for mh3, mh4 or mst, as expected_counts in shared/marginals.pyx does."""

    cdef Sums sums
    cdef Corners[double] scores, direction
    cdef Corner[double] to_shift, to_s0b0, to_s1s0, to_arcs, with_heads
    cdef vector[int] tree, reached_from

    def __init__(self, sums):
        self.sums = sums

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.sums.charts.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.sums.charts.release()
        self.scores.release()
        self.direction.release()
        self.to_shift.release()
        self.to_s0b0.release()
        self.to_s1s0.release()
        self.to_arcs.release()
        self.with_heads.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.sum(<TransitionSumming> sentences, b)

    cdef int sum(self, TransitionSumming of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b]
        cdef Scores scores = Scores(n, of.of_scores.s0b0.layers, of.single_root, NULL, NULL, NULL, NULL, NULL), direction = scores
        cdef Counts counts = Counts(0, NULL, NULL, NULL, NULL)
        if not self.scores.take(of.of_scores, b, scores) or not self.direction.take(of.of_direction, b, direction):
            return FAILED
        cdef int heads = of.heads(b, self.tree, self.reached_from)
        if heads == WRONG:
            return FAILED
        if heads == NO_TREE:
            return of.none(b)
        if heads == SOME_TREES:
            scores.arcs = with_heads(self.with_heads, scores.arcs, &of.given[b, 0], n)
        elif heads == ONE_TREE:
            scores.heads = &of.given[b, 0]
        if of.to.shift.values:
            counts.shift = place(self.to_shift, of.to.shift, b, n + 2, n + 2)
            counts.s0b0 = place(self.to_s0b0, of.to.s0b0, b, n + 2, n + 2)
        if of.to.s1s0.values:
            counts.s1s0 = place(self.to_s1s0, of.to.s1s0, b, n + 2, n + 2)
        if of.to.arcs.values:
            counts.arcs = place(self.to_arcs, of.to.arcs, b, n + 1, n + 1)
        if of.differentiated:
            self.sums.charts.differentiate(scores, counts, direction)
        else:
            self.sums.charts.find(scores, counts)
        if counts.log_partition == -INFINITY:
            return of.none(b)
        of.to_log_partition[b] = counts.log_partition
        spread(counts.shift, of.to.shift, b, n + 2, n + 2)
        spread(counts.s0b0, of.to.s0b0, b, n + 2, n + 2)
        spread(counts.s1s0, of.to.s1s0, b, n + 2, n + 2)
        spread(counts.arcs, of.to.arcs, b, n + 1, n + 1)
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


cdef class OneECSumming(Summing):
    """Sentences for 1ec."""

    cdef Padded[4] scores, change, to  # arc, crossed_arc, grandparent, sibling

    def __init__(self, tensors, lengths, longest, single_root, allow_none, trees, counted, direction):
        Summing.__init__(self, tensors, lengths, longest, single_root, allow_none, trees, counted, direction)
        for x, part in enumerate(("arc", "crossed_arc", "grandparent", "sibling")):
            self.scores[x], self.to[x] = as_padded(tensors[part]), as_padded(self.parts.get(part))
            self.change[x] = as_padded(self.direction.get(part))

    def result(self):
        return BatchMarginals(self.lengths, self.log_partition, self.parts["arc"] + self.parts["crossed_arc"], self.parts)


cdef class OneECWorker(Worker):
    """Sums for 1ec."""

    cdef OneECSearchSums sums
    cdef vector[Corner[double]] scores, direction, to, with_heads
    cdef vector[int] tree, reached_from

    def __init__(self):
        self.sums = OneECSums()

    cdef double bytes_needed(self) noexcept nogil:
        return self.sums.bytes_needed()

    cdef void release(self) noexcept nogil:
        cdef size_t x
        self.sums.release()
        for x in range(self.scores.size()):
            self.scores[x].release()
            self.direction[x].release()
            self.to[x].release()
            self.with_heads[x].release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.sum(<OneECSumming> sentences, b)

    cdef int sum(self, OneECSumming of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b], x
        cdef double* scores[4]
        cdef double* direction[4]
        cdef double* counts[4]
        self.with_heads.resize(4)
        self.to.resize(4)
        self.direction.resize(4)
        self.scores.resize(4)  # after the others, which then are as many
        for x in range(4):
            scores[x] = <double*> self.scores[x].take(of.scores[x], b, n + 1 + x // 2, n + 1)
            if not scores[x]:
                return FAILED
            if of.differentiated:
                direction[x] = <double*> self.direction[x].take(of.change[x], b, n + 1 + x // 2, n + 1)
        cdef int heads = of.heads(b, self.tree, self.reached_from)
        if heads == WRONG:
            return FAILED
        if heads == NO_TREE:
            return of.none(b)
        for x in range(4):
            counts[x] = place(self.to[x], of.to[x], b, n + 1 + x // 2, n + 1) if of.to[x].values else NULL
        if heads == SOME_TREES:
            for x in range(2):
                scores[x] = <double*> with_heads(self.with_heads[x], scores[x], &of.given[b, 0], n)
        if heads == ONE_TREE and of.differentiated:  # its counts are constant
            of.to_log_partition[b] = 0
            return DONE
        cdef bint found
        cdef double** change = NULL
        if of.differentiated:
            change = direction
        if heads == ONE_TREE:
            found = self.sums.find_of_tree(n, scores, &of.given[b, 0], &of.to_log_partition[b], counts)
        else:
            found = self.sums.find(n, scores, of.single_root, change, &of.to_log_partition[b], counts)
        if not found:
            return of.none(b)
        for x in range(4):
            spread(counts[x], of.to[x], b, n + 1 + x // 2, n + 1)
        return DONE


KINDS = {  # the class of the sentences, and what makes a worker
    "mh3": (TransitionSumming, lambda: TransitionWorker(MH3Sums())),
    "mh4": (TransitionSumming, lambda: TransitionWorker(MH4Sums())),
    "mst": (TransitionSumming, lambda: TransitionWorker(MSTSums())),
    "1ec": (OneECSumming, OneECWorker),
}
