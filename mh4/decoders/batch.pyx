"""Many sentences at once: padded arrays, on several threads.

A thread processes a sentence as the decoder processes a single one. The functions that users call are at the end, after the arguments
(what each decoder expects), the sentences and the threads that process them, and their decoding, summing and sampling.
"""

import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector
from numpy.typing import ArrayLike

from mh4.decoders.arguments cimport address, not_below_root
from mh4.decoders.search cimport (
    DERIVED, TENSORS, TOO_LARGE, BestDerivation, BestTree, Charts, Counts, PartRows, Replay, Rows, Samples, Scores, TransitionScores, derive,
    replay, write
)

from mh4.decoders import arguments, mh3, mh4, mh5, mst, oneec
from mh4.decoders.derivation import BatchMarginals, Derivations
from mh4.decoders.memory import out_of_memory, room_for, workspaces
from mh4.errors import unknown
from mh4.util import cpu

DecoderName = Literal["mh3", "mh4", "mh5", "mst", "1ec"]


class Shape(NamedTuple):
    """The shape of a score tensor after its leading axis of sentences: its layers, if any, and its rows and columns beyond the words."""

    layers: tuple[int, ...]
    rows: int
    columns: int
    optional: bool = False

    def of(self, words: int) -> tuple[int, ...]:
        """Return the shape for a sentence, or for arrays with room for this many words."""
        return (*self.layers, words + self.rows, words + self.columns)

    def text(self) -> str:
        """Return the shape as text for error messages."""
        return "(B, %s)" % ", ".join([*map(str, self.layers), "N+%d" % self.rows, "N+%d" % self.columns])


class Decoder(NamedTuple):
    """A decoder of single sentences, and its score tensors."""

    decode: Callable[..., Any]
    marginals: Callable[..., Any] | None
    sample: Callable[..., Any] | None
    tensors: dict[str, Shape]
    charts: type


ARCS, OR_END = Shape((), 1, 1), Shape((), 2, 1)  # the first node is a head, or in the latter perhaps the end of the sentence
COST = Shape((), 1, 1, optional=True)


def _transitions(reduces: int, hybrid: bool = True) -> dict[str, Shape]:
    s1s0 = {"reduce_s1s0": Shape((reduces,), 2, 2, optional=True)} if hybrid else {}
    return {"shift": Shape((), 2, 2), "reduce_s0b0": Shape((reduces,), 2, 2), **s1s0, "arcs": ARCS._replace(optional=True)}


DECODERS: dict[DecoderName, Decoder] = {
    "mh3": Decoder(mh3.decode, mh3.marginals, mh3.sample, _transitions(2, hybrid=False), mh3.MH3),
    "mh4": Decoder(mh4.decode, mh4.marginals, mh4.sample, _transitions(6), mh4.MH4),
    "mh5": Decoder(mh5.decode, None, None, _transitions(12), mh5.MH5),
    "mst": Decoder(mst.decode, mst.marginals, mst.sample, {"arcs": ARCS}, mst.MST),
    "1ec": Decoder(
        oneec.decode,
        oneec.marginals,
        None,
        {"arc": ARCS, "crossed_arc": ARCS, "grandparent": OR_END, "sibling": OR_END},
        oneec.OneEC,
    ),
}


def decoder(name: str) -> Decoder:
    """Return the decoder called `name`."""
    if not isinstance(name, str) or name not in DECODERS:
        raise ValueError(unknown("decoder", name, DECODERS))
    return DECODERS[cast(DecoderName, name)]


def checked(
    name: str, scores: Mapping[str, ArrayLike], lengths: ArrayLike, cost: ArrayLike | None = None, argument: str = "scores"
) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
    """Return the tensors (and the cost, if given) as C-contiguous float32 or float64 arrays, the lengths, and the N of the shapes.

    Raises ValueError if a tensor is missing or unknown, or for a wrong type or shape. The numbers themselves are not checked.
    """
    expected = decoder(name).tensors
    if not isinstance(scores, Mapping):
        raise ValueError("%s: expected the tensors by name, %s, got %s" % (argument, ", ".join(expected), type(scores).__name__))
    for known in scores:
        if known not in expected:
            raise ValueError("%s: %s has no tensor %r; it has %s" % (argument, name, known, ", ".join(expected)))
    for needed, shape in expected.items():
        if scores.get(needed) is None and not shape.optional:
            raise ValueError("%s: %s needs the tensor %s %s" % (argument, name, needed, shape.text()))
    words = np.asarray(lengths)
    if words.ndim != 1 or (words.dtype.kind not in "iu" and len(words)):
        raise ValueError("lengths: expected a vector of integers, got dtype %s and shape %s" % (words.dtype, words.shape))
    arrays: dict[str, np.ndarray] = {}
    longest = None
    given = {tensor: (array, expected[tensor]) for tensor, array in scores.items() if array is not None}
    if cost is not None:
        given["cost"] = cost, COST
    for tensor, (values, shape) in given.items():
        array = np.asarray(values)
        if array.dtype.kind != "f":
            raise ValueError("%s: expected floating-point numbers, got dtype %s" % (tensor, array.dtype))
        if longest is None and array.ndim == 3 + len(shape.layers):
            longest = array.shape[array.ndim - 1] - shape.columns
        if longest is None or longest < 0 or array.shape != (len(words), *shape.of(longest)):
            room = "" if longest is None or longest < 0 else ", B = %d and N = %d" % (len(words), longest)
            raise ValueError("%s: expected the shape %s%s, got %s" % (tensor, shape.text(), room, array.shape))
        arrays[tensor] = arguments.converted(tensor, array, np.dtype(np.float32 if array.dtype == np.float32 else np.float64))
    assert longest is not None  # every decoder needs a tensor
    for b in np.flatnonzero((words < 0) | (words > longest))[:1]:
        raise ValueError("lengths: sentence %d has %d words, but the arrays have room for 0 to %d" % (b, words[b], longest))
    return arrays, words.astype(np.intp), longest


def checked_trees(heads: ArrayLike, lengths: np.ndarray, longest: int) -> np.ndarray:
    """Return heads as a C-contiguous int32 array (B, N+1); numbers beyond int32 are clipped to its limits, which are no heads either."""
    array = np.asarray(heads)
    if array.dtype.kind not in "iu" or array.shape != (len(lengths), longest + 1):
        shape = (len(lengths), longest + 1)
        raise ValueError("heads: expected integers of shape %s, got dtype %s and shape %s" % (shape, array.dtype, array.shape))
    room_for(array.size * 4, "a copy of heads")
    narrow = np.iinfo(np.int32)
    return np.ascontiguousarray(np.clip(array, narrow.min, narrow.max), dtype=np.int32)


def single(name: str, arrays: Mapping[str, np.ndarray], b: int, words: int, heads: np.ndarray | None = None) -> dict[str, Any]:
    """Return the decoder's arguments for a single sentence of the batch."""
    expected = {**decoder(name).tensors, "cost": COST}
    found: dict[str, Any] = {}
    for tensor, array in arrays.items():
        corner = expected[tensor].of(words)
        found[tensor] = array[(b, ...) + tuple(slice(side) for side in corner[len(corner) - 2 :])]
    if heads is not None:
        found["heads"] = heads[b, : words + 1]
    return found


cdef extern from "batch/padded.hpp" namespace "batch" nogil:
    cdef struct Padded:
        const void* values
        bint wide
        size_t layers, rows, columns, words
    size_t rows_of(const Padded& of, size_t n)
    size_t columns_of(const Padded& of, size_t n)
    cdef cppclass Corner[To]:
        To* room(size_t size) except +
        const To* with_heads(const To* arcs, const int* heads, size_t n) except +
    cdef cppclass Corners[To]:
        bint take(const Padded* of, size_t sentence, size_t n, const To** to) except +
        bint take(const Padded* of, const Padded& cost_of, size_t sentence, size_t n, const To** to, const To** cost) except +
        const To* sum(const To* arcs, const To* cost, size_t n) except +
        const To* with_heads(const To* arcs, const int* heads, size_t n) except +
        Corner[To]& operator[](int x)
        void release()


cdef enum Outcome:
    DONE, FAILED

cdef enum Heads:  # which heads of a sentence are given
    OPEN, SOME_TREES, ONE_TREE, NO_TREE, WRONG


cdef extern from *:
    """
    static inline Py_ssize_t next_of(Py_ssize_t *taken) { return __atomic_fetch_add(taken, 1, __ATOMIC_RELAXED); }
    """
    Py_ssize_t next_of(Py_ssize_t* taken) nogil


cdef class Worker:
    """The memory of a thread that processes sentences, one at a time; it is reused for the next batch."""

    cdef Charts charts, simpler            # simpler: of mh4, for sentences that mh5 has no room for; None for other decoders
    cdef double most                       # bytes that the charts may take up, or else the simpler ones are used
    cdef Corners[float] rounded            # scores: of transitions, for decoding, ...
    cdef Corners[double] scores            # ... and all others
    cdef Corners[double] with_heads, direction, counts
    cdef vector[int] nodes, reached_from   # for given_heads

    def __init__(self, charts):
        self.charts, self.most = charts(), INFINITY
        if charts is mh5.MH5:
            self.simpler, self.most = mh4.MH4(), mh5.MAX_BYTES

    cdef double bytes_needed(self) noexcept nogil:
        """Return how many bytes the current sentence takes up."""
        cdef double simpler = 0 if self.simpler is None else self.simpler.own.bytes_needed()
        return max(simpler, <double> self.charts.own.bytes_needed())

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""
        self.charts.own.release()
        if self.simpler is not None:
            self.simpler.own.release()
        self.rounded.release()
        self.scores.release()
        self.with_heads.release()
        self.direction.release()
        self.counts.release()


cdef class Sentences:
    """Checked arguments, and the outcome of each sentence.

    tensors: C-contiguous arrays of float32 or float64 by name, (count, ..., rows, columns). heads: those given, or None.
    """

    cdef readonly Py_ssize_t count
    cdef readonly object lengths, heads_given
    cdef readonly dict tensors
    cdef readonly tuple names              # of all tensors that the decoder can have, in the order of those of the charts
    cdef Padded[TENSORS] scores            # of the tensors that are given
    cdef int longest                       # the words that the arrays have room for
    cdef readonly bint single_root
    cdef const Py_ssize_t[::1] words       # of each sentence
    cdef const Py_ssize_t[::1] order       # the sentences, the longest first
    cdef Py_ssize_t taken                  # how many of them have been taken
    cdef bint stopped                      # whether the threads are to stop
    cdef char[::1] outcomes
    cdef const int[:, ::1] given           # the heads, -1 where they are open, or None

    def __init__(self, tensors, lengths, int longest, heads, bint single_root):
        self.tensors = tensors
        self.lengths = lengths
        self.count = len(lengths)
        self.longest = longest
        self.single_root = single_root
        self.words = lengths
        self.given = self.heads_given = None if heads is None else checked_trees(heads, lengths, longest)
        self.order = np.argsort(-lengths, kind="stable")
        self.outcomes = np.zeros(self.count, dtype=np.int8)
        self.names = arguments.names_of(tensors)
        self.all_padded(self.scores, tensors)

    cdef int process(self, Worker by, Py_ssize_t b) except -1 nogil:
        """Process a sentence; returns an Outcome."""

    def failed(self):
        """Return which sentences have failed, bool (count,)."""
        return np.asarray(self.outcomes) == FAILED

    cdef Padded padded(self, array):
        """Return the location of an array, which the caller keeps alive; without values for None."""
        if array is None:
            return Padded(NULL, False, 0, 0, 0, 0)
        layers = array.shape[1] if array.ndim == 4 else 1
        rows, columns = array.shape[array.ndim - 2], array.shape[array.ndim - 1]
        return Padded(address(array), array.dtype == np.float64, layers, rows, columns, self.longest)

    cdef int all_padded(self, Padded* to, tensors) except -1:
        """Write the locations of the arrays among `tensors` to `to`, in the order of all that the decoder can have."""
        for x, name in enumerate(self.names):
            to[x] = self.padded(tensors.get(name))

    cdef int given_heads(self, Worker by, Py_ssize_t b) except -1 nogil:
        """Return which heads of a sentence are given, as one of Heads."""
        cdef int n = self.words[b], word, open_heads = 0, roots = 0
        if self.given is None:
            return OPEN
        cdef const int* heads = &self.given[b, 0]
        by.nodes.clear()
        by.nodes.resize(n + 1, 0)  # with 0 for heads that are open: a cycle remains one
        for word in range(1, n + 1):
            if not -1 <= heads[word] <= n:
                return WRONG
            roots += heads[word] == 0
            open_heads += heads[word] == -1
            by.nodes[word] = max(heads[word], 0)
        if heads[0] != -1:
            return WRONG
        if not_below_root(by.nodes.data(), n, by.reached_from) or (self.single_root and (roots > 1 or roots + open_heads == 0)):
            return NO_TREE
        return ONE_TREE if open_heads == 0 else OPEN if open_heads == n else SOME_TREES

    def work(self, Worker by):
        """Process sentences until none is left."""
        cdef Py_ssize_t place, b = 0
        try:
            with nogil:
                while not self.stopped:
                    place = next_of(&self.taken)
                    if place >= self.count:
                        break
                    b = self.order[place]
                    self.outcomes[b] = self.process(by, b)
                by.release()
        except BaseException as error:
            self.stopped = True
            if isinstance(error, MemoryError):
                raise MemoryError(f"sentence {b}: {out_of_memory(self.words[b], by.bytes_needed())}") from None
            raise


class Teams(dict):
    """Workers that are kept for the next batch, by the class of their charts."""


def run(name, Sentences sentences, threads):
    """Process all sentences: in this thread, which alone can respond to signals, and in others."""
    if threads is not None and not arguments.is_count(threads):
        raise ValueError(f"threads: expected a positive number, got {threads!r}")
    size = max(1, min(threads or cpu.cores(), sentences.count))
    teams = workspaces.take(Teams)
    charts = DECODERS[name].charts
    workers = teams.setdefault(charts, [])
    try:
        workers.extend([Worker(charts) for _ in range(size - len(workers))])
    except MemoryError:
        raise out_of_memory(sentences.longest, 0) from None
    errors = []

    def work(worker):
        try:
            sentences.work(worker)
        except BaseException as error:
            errors.append(error)

    others = [threading.Thread(target=work, args=(worker,), daemon=True) for worker in workers[1:size]]
    try:
        for thread in others:
            thread.start()
        sentences.work(workers[0])
        for thread in others:
            thread.join()
    finally:
        sentences.stopped = True
    if errors:
        raise errors[0]
    workspaces.give_back(teams)


cdef class Decoding(Sentences):
    """Sentences to be decoded, by mst or 1ec."""

    cdef dict parts
    cdef Py_ssize_t* rows[TENSORS]     # of the parts: where those of each tensor begin, or NULL, ...
    cdef int columns[TENSORS]          # ... and how long they are
    cdef Padded cost
    cdef const Py_ssize_t[::1] before  # the words of all sentences before
    cdef object heads, totals
    cdef int[:, ::1] to_heads
    cdef double[::1] to_totals         # the scores, summed in the order of `derivation.total` or `replay`
    cdef readonly double[::1] needed   # the bytes that MH5 would take up for a sentence, if it is decoded by MH4 instead

    def __init__(self, tensors, lengths, longest, heads, single_root):
        Sentences.__init__(self, tensors, lengths, longest, heads, single_root)
        self.cost = self.padded(tensors.get("cost"))
        self.before = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        self.to_heads = self.heads = np.full((self.count, longest + 1), -1, dtype=np.int32)
        self.to_totals = self.totals = np.zeros(self.count)
        self.needed = np.zeros(self.count)
        self.parts = {}
        for x, name in enumerate(self.names):
            if name in tensors:
                self.columns[x] = tensors[name].ndim
                self.parts[name] = np.full((self.before[self.count], self.columns[x]), -1, dtype=np.intp)
                self.rows[x] = <Py_ssize_t*> address(self.parts[name])

    def result(self):
        """Return the Derivations, which are undefined for sentences that have failed."""
        self.parts = {name: rows[rows[:, 0] >= 0] for name, rows in self.parts.items()}  # in 1ec, a word has some parts only
        return Derivations(self.lengths, self.heads, self.totals, self.parts)

    cdef Rows rows_of(self, int x, Py_ssize_t b) noexcept nogil:
        """Return where the parts of a sentence are to be written."""
        cdef Py_ssize_t* first = self.rows[x]
        if first:
            first += self.before[b] * self.columns[x]
        return Rows(first, b)

    cdef int process(self, Worker by, Py_ssize_t b) except -1 nogil:
        cdef int n = self.words[b], given = self.given_heads(by, b), x
        cdef int* heads = &self.to_heads[b, 0]
        cdef BestTree* search = by.charts.own.best_tree.get()
        cdef const double* scores[TENSORS]
        cdef const double* cost
        cdef const double* allowed
        cdef const PartRows* parts
        cdef double total
        cdef Rows to
        cdef size_t k
        if given == WRONG or given == NO_TREE or not by.scores.take(self.scores, self.cost, b, n, scores, &cost):
            return FAILED
        allowed = by.scores.with_heads(cost, &self.given[b, 0], n) if given == SOME_TREES else cost
        if given == ONE_TREE:
            for x in range(1, n + 1):
                heads[x] = self.given[b, x]
        elif search.find(n, scores, allowed, self.single_root, heads) == -INFINITY:
            return FAILED
        parts = search.parts(heads, n)
        if not parts:
            return FAILED
        for x in range(TENSORS):
            to, total = self.rows_of(x, b), 0
            for k in range(parts[x].size()):
                write(&to, -1, parts[x][k].first, parts[x][k].second)
                total += scores[x][<size_t> parts[x][k].first * (n + 1) + parts[x][k].second]
            self.to_totals[b] += total
        total = 0
        for x in range(1, n + 1 if cost else 0):
            total += cost[<size_t> heads[x] * (n + 1) + x]
        self.to_totals[b] += total
        return DONE


cdef class TransitionDecoding(Decoding):
    """Sentences to be decoded by mh3, mh4 or mh5."""

    cdef object transitions
    cdef Py_ssize_t[:, ::1] to_transitions

    def __init__(self, tensors, lengths, longest, heads, single_root):
        Decoding.__init__(self, tensors, lengths, longest, heads, single_root)
        self.to_transitions = self.transitions = np.empty((2 * self.before[self.count] + self.count, 4), dtype=np.intp)

    def result(self):
        sentences = np.repeat(np.arange(self.count), 2 * self.lengths + 1)
        transitions = np.concatenate([sentences[:, None], self.transitions], axis=1)
        return Derivations(self.lengths, self.heads, self.totals, self.parts, transitions)

    cdef int process(self, Worker by, Py_ssize_t b) except -1 nogil:
        cdef int n = self.words[b], given = self.given_heads(by, b), outcome
        cdef BestDerivation* search = by.charts.own.search.get()
        cdef const float* tensors[TENSORS]
        cdef TransitionScores scores = TransitionScores(n)
        cdef Replay to
        if given == WRONG or given == NO_TREE or not by.rounded.take(self.scores, self.cost, b, n, tensors, &scores.cost):
            return FAILED
        scores.shift, scores.s0b0, scores.s1s0, scores.arcs = tensors[0], tensors[1], tensors[2], tensors[3]
        scores.by_arc = by.rounded.sum(scores.arcs, scores.cost, n)
        if given != OPEN:
            scores.by_arc = by.rounded.with_heads(scores.by_arc, &self.given[b, 0], n)
        outcome = derive(search, scores, self.single_root, by.most)
        if outcome == TOO_LARGE:
            self.needed[b] = search.bytes_needed()
            search.release()
            search = by.simpler.own.search.get()
            outcome = derive(search, scores, self.single_root, INFINITY)
        if outcome != DERIVED:
            return FAILED
        to.heads = &self.to_heads[b, 0]
        to.transitions = &self.to_transitions[2 * self.before[b] + b, 0]
        to.shift, to.s0b0, to.s1s0, to.arcs = self.rows_of(0, b), self.rows_of(1, b), self.rows_of(2, b), self.rows_of(3, b)
        self.to_totals[b] = replay(search.codes.data(), &scores, &to)
        return DONE


cdef class Sums(Sentences):
    """Sentences whose derivations are to be summed."""

    cdef bint[TENSORS] score_arcs       # whether each tensor does

    def __init__(self, tensors, lengths, longest, heads, single_root):
        Sentences.__init__(self, tensors, lengths, longest, heads, single_root)
        self.score_arcs = [name in arguments.score_arcs(tensors) for name in self.names]

    cdef int take(self, Worker by, Py_ssize_t b, Scores* to) except -1 nogil:
        """Point to the scores of a sentence, with -inf for arcs that contradict its heads; return which heads are given, or WRONG."""
        cdef int n = self.words[b], given = self.given_heads(by, b), x
        to.n, to.reduces, to.single_root = n, self.scores[1].layers, self.single_root
        if given == WRONG or not by.scores.take(self.scores, b, n, to.tensors):
            return WRONG
        for x in range(TENSORS):
            if given != OPEN and self.score_arcs[x]:
                to.tensors[x] = by.with_heads[x].with_heads(to.tensors[x], &self.given[b, 0], n)
        if given == ONE_TREE:
            to.heads = &self.given[b, 0]
        return given


cdef class Summing(Sums):
    """Sentences for which to compute the expected counts or, unless `counted`, only the log-partition function.

    With a direction of the scores, the derivatives of the counts are computed instead.
    """

    cdef bint allow_none, differentiated
    cdef readonly object log_partition
    cdef dict parts, direction
    cdef object arc_counts              # of the arcs that any transition makes; None for 1ec
    cdef double[::1] to_log_partition
    cdef Padded[TENSORS] change, counts

    def __init__(self, tensors, lengths, longest, heads, single_root, allow_none, counted, direction=None):
        Sums.__init__(self, tensors, lengths, longest, heads, single_root)
        self.allow_none = allow_none
        self.differentiated, self.direction = direction is not None, direction or {}
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

    cdef int process(self, Worker by, Py_ssize_t b) except -1 nogil:
        cdef Scores scores, direction
        cdef Counts counts
        cdef int n = self.words[b], given = self.take(by, b, &scores), x
        if given == WRONG or not by.direction.take(self.change, b, n, direction.tensors):
            return FAILED
        if given == NO_TREE:
            return self.none(b)
        for x in range(TENSORS):
            if self.counts[x].values:
                counts.tensors[x] = place(by.counts[x], self.counts[x], b, n)
        if self.differentiated:
            direction.n, direction.reduces, direction.single_root = n, scores.reduces, self.single_root
            by.charts.own.sums.differentiate(scores, counts, direction)
        else:
            by.charts.own.sums.find(scores, counts)
        if counts.log_partition == -INFINITY:
            return self.none(b)
        self.to_log_partition[b] = counts.log_partition
        for x in range(TENSORS):
            spread(counts.tensors[x], self.counts[x], b, n)
        return DONE

    cdef int none(self, Py_ssize_t b) noexcept nogil:
        """Record that a sentence has no derivation, and return its Outcome."""
        self.to_log_partition[b] = -INFINITY
        return DONE if self.allow_none else FAILED


cdef inline double* corner(const Padded& to, Py_ssize_t b) noexcept nogil:
    """Return where the array of a sentence begins."""
    return <double*> to.values + b * to.layers * to.rows * to.columns


cdef double* place(Corner[double]& compact, const Padded& to, Py_ssize_t b, size_t n) except NULL nogil:
    """Return where to write the counts of a sentence, all 0: in the array or, if the sentence has padding there, in one without."""
    cdef size_t size = to.layers * rows_of(to, n) * columns_of(to, n), x
    if n == to.words:
        return corner(to, b)
    cdef double* numbers = compact.room(size)
    for x in range(size):
        numbers[x] = 0
    return numbers


cdef void spread(const double* numbers, const Padded& to, Py_ssize_t b, size_t n) noexcept nogil:
    """Copy counts that have been written elsewhere into the array."""
    cdef double* start = corner(to, b)
    cdef size_t rows = rows_of(to, n), columns = columns_of(to, n), layer, x
    if not numbers or numbers == start:
        return
    for layer in range(to.layers):
        for x in range(rows):
            memcpy(start + (layer * to.rows + x) * to.columns, numbers, columns * sizeof(double))
            numbers += columns


cdef class Sampling(Sums):
    """Sentences for which trees are to be drawn."""

    cdef readonly object heads
    cdef int[:, :, ::1] to_heads
    cdef const uint64_t[::1] seeds

    def __init__(self, tensors, lengths, longest, heads, single_root, samples, seeds):
        Sums.__init__(self, tensors, lengths, longest, heads, single_root)
        room_for(4 * self.count * samples * (longest + 1), "the samples")
        self.to_heads = self.heads = np.full((self.count, samples, longest + 1), -1, dtype=np.int32)
        self.seeds = seeds

    cdef int process(self, Worker by, Py_ssize_t b) except -1 nogil:
        cdef Scores scores
        cdef Samples to = Samples(self.seeds[b], self.to_heads.shape[1], self.to_heads.shape[2], NULL, False)
        cdef int given = self.take(by, b, &scores)
        if given == WRONG or given == NO_TREE:
            return FAILED
        if to.count:
            to.heads = &self.to_heads[b, 0, 0]
        by.charts.own.sums.draw(scores, to)
        return FAILED if to.none else DONE


def decode(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> Derivations:
    """Return the highest-scoring derivation of each of B sentences, in padded arrays with room for N words.

    name: of the decoder, "mh3", "mh4", "mh5", "mst" or "1ec".
    scores: for each of the decoder's score tensors, an array with a leading dimension B, and N in place of n; for
        example {"shift": (B, N+2, N+2), "reduce_s0b0": (B, 6, N+2, N+2)} for mh4. A sentence of n words has its scores, as for
        the decoder by itself, in the leading corner: its end is node n+1. Whatever is in the padding is not read.
        They may be of any floating-point type, as for the decoder.
    lengths: n of each sentence, integers (B,).
    cost: (B, N+1, N+1), or None. heads: integers (B, N+1), or None; if given, only derivations of trees with these heads are considered,
        -1 leaving the head of a word open.
    single_root: exactly one dependent of node 0.
    threads: how many; by default as many as there are cores that this process may use. The results are those of the decoder for each
        sentence by itself, to the bit, with any number of threads.

    Sentences that mh5 has no room for (see mh5.decode) are decoded by mh4, with a RuntimeWarning.

    Returns Derivations. The GIL is released.
    Raises what the decoder raises, with the number of the sentence, and ValueError for an unknown decoder or tensor, wrong
    dimensions or types, lengths beyond the padding, and numbers of threads below 1.
    """
    tensors, lengths, longest = checked(name, scores, lengths, cost)
    kind = TransitionDecoding if "shift" in tensors else Decoding
    sentences = kind(tensors, lengths, longest, heads, single_root)
    run(name, sentences, threads)
    result = sentences.result()
    explain(name, "decode", sentences, sentences.failed() | (result.scores == -np.inf))
    for b in np.flatnonzero(sentences.needed):
        warnings.warn(f"sentence {b}: {mh5.too_large(lengths[b], sentences.needed[b])}", RuntimeWarning)
    return result


def marginals(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> BatchMarginals:
    """Return the distributions over the derivations of B sentences, in padded arrays with room for N words.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec"; mh5 has no marginals.
    scores, lengths, single_root, threads: as for `decode`; float64 scores are not rounded to float32.
    heads: integers (B, N+1), or None; if given, only derivations of trees with these heads count. The head of a word is open if it
        is -1.
    allow_none: whether a sentence may have no derivation: then its log_partition is -inf and all else is 0; otherwise this is an error.

    Returns BatchMarginals. The GIL is released.
    Raises what the decoder's `marginals` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    _require_sums(name, "marginals")
    return _summed(name, threads, *checked(name, scores, lengths), heads, single_root, allow_none, True).result()


def log_partition(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> np.ndarray:
    """Return the logarithm of the sum of exp(score) over the derivations of each of B sentences, float64 (B,), as `marginals` does.

    This is the inside pass without the outside pass, or the determinant without its derivatives. The arguments and the exceptions
    are those of `marginals`.
    """
    _require_sums(name, "marginals")
    return _summed(name, threads, *checked(name, scores, lengths), heads, single_root, allow_none, False).log_partition


def hessian_product(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    direction: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> dict[str, np.ndarray]:
    """Return the exact derivative of the expected counts in a direction of the scores, for each of B sentences.

    This is the product of the Hessian matrix of log_partition and the direction: the covariance of how often a derivation uses each
    score and the score of the derivation under the direction.

    name: of the decoder: "mh3", "mh4", "mst" or "1ec". scores, lengths, heads, single_root, threads: as for `marginals`.
    direction: arrays like the scores, for each of their tensors and with the same B and N; it may have "arcs", for those that any
        transition makes, and "reduce_s1s0" when the scores do not.

    Returns, for each tensor of the direction, a float64 array of its shape: 0 beyond the sentence and for sentences without
    derivations, NaN for those with a direction that is not finite. The GIL is released.
    Raises what `marginals` raises.
    """
    _require_sums(name, "marginals that can be differentiated")
    scores, lengths, longest = checked(name, scores, lengths)
    direction, _, own_longest = checked(name, direction, lengths, argument="direction")
    if own_longest != longest:
        raise ValueError(f"direction: has room for {own_longest} words, but the scores for {longest}")
    tensors = {part: scores[part] if part in scores else np.zeros(array.shape) for part, array in direction.items()}
    for part in scores:
        if part not in direction:
            raise ValueError(f"direction: has no tensor {part!r}, but the scores have")
    unit = {part: np.zeros(array.shape) for part, array in direction.items()}
    sizes = np.zeros(len(lengths))
    for b, n in enumerate(lengths):
        of, to = single(name, direction, b, n), single(name, unit, b, n)
        sizes[b] = np.max([np.abs(array).max(initial=0) for array in of.values()])
        if 0 < sizes[b] < np.inf:
            for part, array in of.items():
                np.divide(array, sizes[b], out=to[part])
    result = _summed(name, threads, tensors, lengths, longest, heads, single_root, True, True, unit).result().parts
    for b, n in enumerate(lengths):
        for array in single(name, result, b, n).values():
            array *= sizes[b] if sizes[b] < np.inf else np.nan
    return result


def _require_sums(name: str, what: str) -> None:
    if decoder(name).marginals is None:
        raise ValueError(f"{name} has no {what}; {_having('marginals')} have")


def _having(what: str) -> str:
    """Return the names of the decoders that have this function."""
    return ", ".join([name for name, decoder in DECODERS.items() if getattr(decoder, what)])


def _summed(name: str, threads: int | None, *arguments_of_summing: Any) -> Any:
    """Sum over the derivations of sentences, and return these."""
    sentences = Summing(*arguments_of_summing)
    run(name, sentences, threads)
    explain(name, "marginals", sentences, sentences.failed())
    return sentences


def sample(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    samples: int,
    *,
    rng: int | np.random.Generator | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> np.ndarray:
    """Sample derivations of each of B sentences, in padded arrays with room for N words, and return their trees.

    name: of the decoder: "mh3", "mh4" or "mst". Derivations are drawn independently, each with its probability; the probability of a tree
        is the sum over its derivations.
    scores, lengths, heads, single_root, threads: as for `marginals`.
    samples: the number for each sentence. rng: a seed or a numpy.random.Generator; by default, an unpredictable one. The results are those
        of the decoder's `sample` for one sentence after the other with the same generator, with any number of threads.

    Returns their heads, int32 (B, samples, N+1), -1 at 0 and beyond the sentence. The GIL is released.
    Raises what the decoder's `sample` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    if decoder(name).sample is None:
        raise ValueError(f"{name} has no sampling; {_having('sample')} have")
    tensors, lengths, longest = checked(name, scores, lengths)
    seeds = arguments.seeds(rng, len(lengths))
    sentences = Sampling(tensors, lengths, longest, heads, single_root, arguments.sample_size(samples), seeds)
    run(name, sentences, threads)
    explain(name, "sample", sentences, sentences.failed(), samples=0)
    return sentences.heads


def explain(name: str, what: str, sentences: Any, failed: np.ndarray, **further: Any) -> None:
    """Raise the error that this function of the decoder raises for the first sentence that failed, if any, with its number."""
    for b in np.flatnonzero(failed)[:1]:
        alone = single(name, sentences.tensors, b, sentences.lengths[b], sentences.heads_given)
        try:
            getattr(decoder(name), what)(**alone, single_root=sentences.single_root, **further)
        except ValueError as error:
            raise type(error)("sentence %d: %s" % (b, error)) from None
        raise AssertionError("sentence %d failed in the batch but not by itself: this is a bug, please report it" % b)
