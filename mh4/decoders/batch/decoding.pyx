"""Decoding batches: for each decoder, what a thread does with a sentence, the same as its `decode`; the threads are in threads.pyx."""

import numpy as np
from libc.math cimport INFINITY

from mh4.decoders.batch.threads cimport (
    DONE, FAILED, NO_TREE, ONE_TREE, SOME_TREES, WRONG, Corners, Padded, Sentences, Worker
)
from mh4.decoders.shared.arguments cimport address
from mh4.decoders.shared.best_tree cimport TENSORS, PartRows, TreeSearch
from mh4.decoders.shared.replay cimport Replay, Rows, Scores, replay, write
from mh4.decoders.shared.search cimport BestDerivation, Search

from mh4.decoders.batch.results import Derivations
from mh4.decoders.mh3.chart import Chart as MH3Chart, MH3TreeChart
from mh4.decoders.mh4.full_chart import FullChart as MH4Chart, MH4TreeChart
from mh4.decoders.mh5.decoder import MAX_BYTES
from mh4.decoders.mh5.full_chart import FullChart as MH5Chart
from mh4.decoders.mst.contraction import Contraction
from mh4.decoders.oneec.chart import Chart as OneECChart
from mh4.decoders.shared.arguments import LARGEST


cdef class Decoding(Sentences):
    """Sentences to be decoded."""

    cdef dict parts
    cdef Py_ssize_t* rows[TENSORS]     # of the parts: where those of each tensor begin, or NULL, ...
    cdef int columns[TENSORS]          # ... and how long they are
    cdef Padded cost
    cdef const Py_ssize_t[::1] before  # the words of all sentences before
    cdef object heads
    cdef int[:, ::1] to_heads
    cdef readonly double[::1] needed   # the bytes that MH5 would take up for a sentence, if it is decoded by MH4 instead

    def __init__(self, tensors, lengths, longest, single_root, trees):
        Sentences.__init__(self, tensors, lengths, longest, single_root, trees)
        self.cost = self.padded(tensors.get("cost"))
        self.before = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        self.to_heads = self.heads = np.full((self.count, longest + 1), -1, dtype=np.int32)
        self.needed = np.zeros(self.count)
        self.parts = {}
        for x, name in enumerate(self.names):
            if name in tensors:
                self.columns[x] = tensors[name].ndim
                self.parts[name] = np.full((self.before[self.count], self.columns[x]), -1, dtype=np.intp)
                self.rows[x] = <Py_ssize_t*> address(self.parts[name])

    def result(self):
        """The Derivations; of sentences that have failed, they say nothing."""
        self.parts = {name: rows[rows[:, 0] >= 0] for name, rows in self.parts.items()}  # in 1ec, a word has some parts only
        return Derivations(self.lengths, self.heads, self.totals(), self.parts)

    def totals(self):
        """The score of each sentence, from the parts; the sums have the order of those in `derivation.total`."""
        tensors, parts = dict(self.tensors), dict(self.parts)
        scores = np.zeros(self.count)
        if "cost" in tensors:
            words = np.concatenate([np.arange(1, n + 1) for n in self.lengths]) if self.count else np.empty(0, dtype=np.intp)
            of = np.repeat(np.arange(self.count), self.lengths)
            parts["cost"] = np.stack([of, self.heads[of, words], words], axis=1)
        for name, rows in parts.items():
            values = tensors[name][tuple(rows.T)].astype(np.float64)
            scores += np.bincount(rows[:, 0], weights=np.where(values > -LARGEST, values, -np.inf), minlength=self.count)
        return scores

    cdef Rows rows_of(self, int x, Py_ssize_t b) noexcept nogil:
        """Where the parts of a sentence are to be written."""
        cdef Py_ssize_t* first = self.rows[x]
        if first:
            first += self.before[b] * self.columns[x]
        return Rows(first, b)


cdef class TransitionDecoding(Decoding):
    """Sentences for mh3, mh4 or mh5."""

    cdef object transitions, totals_found
    cdef Py_ssize_t[:, ::1] to_transitions
    cdef double[::1] to_totals

    def __init__(self, tensors, lengths, longest, single_root, trees):
        Decoding.__init__(self, tensors, lengths, longest, single_root, trees)
        self.to_transitions = self.transitions = np.empty((2 * self.before[self.count] + self.count, 4), dtype=np.intp)
        self.to_totals = self.totals_found = np.empty(self.count)

    def result(self):
        sentences = np.repeat(np.arange(self.count), 2 * self.lengths + 1)
        transitions = np.concatenate([sentences[:, None], self.transitions], axis=1)
        return Derivations(self.lengths, self.heads, self.totals_found, self.parts, transitions)


cdef class TransitionWorker(Worker):
    """Decodes for mh3, mh4 or mh5, as best_derivation in shared/search.pyx does."""

    cdef Search full, tree  # of all derivations, and of those of one tree, or None if `full` finds these, too
    cdef TransitionWorker simpler
    cdef Corners[float] scores
    cdef double most        # bytes that the chart `full` may take up; if it takes more, `simpler` is used

    def __init__(self, full, tree=None, simpler=None, most=INFINITY):
        self.full, self.tree, self.simpler, self.most = full, tree, simpler, most

    cdef double bytes_needed(self) noexcept nogil:
        cdef size_t needed = self.full.search.bytes_needed()
        return <double> (needed if self.tree is None else max(needed, self.tree.search.bytes_needed()))

    cdef void release(self) noexcept nogil:
        self.full.search.release()
        if self.tree is not None:
            self.tree.search.release()
        if self.simpler is not None:
            self.simpler.release()
        self.scores.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.decode_with(<TransitionDecoding> sentences, b)

    cdef int decode_with(self, TransitionDecoding of, Py_ssize_t b) except -1 nogil:
        cdef int heads = of.given_heads(b, self.nodes, self.reached_from)
        if heads == WRONG or heads == NO_TREE:
            return FAILED
        cdef const int* given = &of.given[b, 0] if heads == ONE_TREE or heads == SOME_TREES else NULL
        if heads == ONE_TREE and self.tree is not None:
            return self.search(self.tree.search, of, b, given, NULL)
        cdef int found = self.search(self.full.search, of, b, NULL, given)
        return found if of.needed[b] == 0 or self.simpler is None else self.simpler.decode_with(of, b)

    cdef int search(
        self, BestDerivation* search, TransitionDecoding of, Py_ssize_t b, const int* tree, const int* heads
    ) except -1 nogil:
        """Search for the best derivation of a sentence, and write it, unless it takes up too much memory.

        tree: the heads of the tree to whose items the search is restricted, or NULL. heads: those given to any other search, or NULL.
        """
        cdef int n = of.words[b]
        cdef const float* tensors[TENSORS]
        cdef Scores scores = Scores(n)
        cdef Replay to
        if not self.scores.take(of.scores, of.cost, b, n, tensors, &scores.cost):
            return FAILED
        scores.shift, scores.s0b0, scores.s1s0, scores.arcs = tensors[0], tensors[1], tensors[2], tensors[3]
        scores.by_arc = self.scores.with_heads(self.scores.sum(scores.arcs, scores.cost, n), heads, n)
        search.scores = scores
        search.single = of.single_root
        search.heads = tree
        search.prepare()
        if search == self.full.search and search.bytes_needed() > self.most:
            of.needed[b] = search.bytes_needed()
            return FAILED
        if not search.find():
            return FAILED
        to.heads = &of.to_heads[b, 0]
        to.transitions = &of.to_transitions[2 * of.before[b] + b, 0]
        to.shift, to.s0b0, to.s1s0, to.arcs = of.rows_of(0, b), of.rows_of(1, b), of.rows_of(2, b), of.rows_of(3, b)
        of.to_totals[b] = replay(search.codes.data(), &scores, &to)
        return DONE


cdef class TreeWorker(Worker):
    """Decodes for mst or 1ec."""

    cdef TreeSearch tree
    cdef Corners[double] scores

    def __init__(self, tree):
        self.tree = tree

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.tree.search.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.tree.search.release()
        self.scores.release()

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil:
        return self.decode_with(<Decoding> sentences, b)

    cdef int decode_with(self, Decoding of, Py_ssize_t b) except -1 nogil:
        cdef int n = of.words[b], x
        cdef int* heads = &of.to_heads[b, 0]
        cdef const double* scores[TENSORS]
        cdef const double* cost
        cdef const PartRows* parts
        cdef Rows to
        cdef size_t k
        if not self.scores.take(of.scores, of.cost, b, n, scores, &cost):
            return FAILED
        cdef int given = of.given_heads(b, self.nodes, self.reached_from)
        if given == WRONG or given == NO_TREE:
            return FAILED
        if given == SOME_TREES:
            cost = self.scores.with_heads(cost, &of.given[b, 0], n)
        if given == ONE_TREE:
            for x in range(1, n + 1):
                heads[x] = of.given[b, x]
        elif self.tree.search.find(n, scores, cost, of.single_root, heads) == -INFINITY:
            return FAILED
        parts = self.tree.search.parts(heads, n)
        if not parts:
            return FAILED
        for x in range(TENSORS):
            to = of.rows_of(x, b)
            for k in range(parts[x].size()):
                write(&to, -1, parts[x][k].first, parts[x][k].second)
        return DONE


KINDS = {  # the class of the sentences, and what makes a worker
    "mh3": (TransitionDecoding, lambda: TransitionWorker(MH3Chart(), MH3TreeChart())),
    "mh4": (TransitionDecoding, lambda: TransitionWorker(MH4Chart(), MH4TreeChart())),
    "mh5": (TransitionDecoding, lambda: TransitionWorker(MH5Chart(), None, TransitionWorker(MH4Chart(), MH4TreeChart()), MAX_BYTES)),
    "mst": (Decoding, lambda: TreeWorker(Contraction())),
    "1ec": (Decoding, lambda: TreeWorker(OneECChart())),
}
