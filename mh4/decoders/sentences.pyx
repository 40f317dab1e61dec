"""Connect the functions that users call to the charts: decode, sum over and sample sentences, alone or in a batch.

A module like mh4.pyx makes an object from scores, such as TransitionDecoding, and returns the result of its method
`alone`. batch.py makes such an object for many sentences, and threads call its method `work`. Both methods call
`process`, which runs the chart for one sentence.

The charts are compiled for several kinds of processors, from the same sources. This module chooses the variant at
import: the fastest that this processor can run, or the one named by the environment variable MH4_SIMD. The results are
the same to the bit.
"""

import os

import numpy as np
from cpython.buffer cimport PyBUF_ND, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from mh4.decoders.arguments cimport address, not_below_root

from mh4.decoders import arguments
from mh4.decoders.derivation import BatchMarginals, Derivation, Derivations, Marginals, NotInClass
from mh4.decoders.memory import out_of_memory, room_for, workspaces
from mh4.errors import InputError

cdef extern from *:
    """
    // How many of the variants this processor and its operating system can run.
    static int usable() {
    #if defined(__x86_64__)
        #define HAS(feature) __builtin_cpu_supports(feature)
        if (!(HAS("sse4.2") && HAS("popcnt")))
            return 0;
        if (!(HAS("avx2") && HAS("bmi") && HAS("bmi2") && HAS("fma")))
            return 1;
        return HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl") ? 3 : 2;
    #else
        return 1;
    #endif
    }
    """
    int usable()

VARIANTS: tuple[str, ...] = ("baseline", "avx2", "avx512")[:usable()]
if not VARIANTS:
    raise InputError("this processor lacks SSE4.2, which the decoders need")
VARIANT: str = os.environ.get("MH4_SIMD", VARIANTS[len(VARIANTS) - 1])
if VARIANT not in VARIANTS:
    raise InputError("MH4_SIMD=%s: this processor can run: %s" % (VARIANT, " ".join(VARIANTS)))
cdef int chosen = VARIANTS.index(VARIANT)


cdef extern from *:
    """
    static inline Py_ssize_t next_of(Py_ssize_t *taken) { return __atomic_fetch_add(taken, 1, __ATOMIC_RELAXED); }
    """
    Py_ssize_t next_of(Py_ssize_t* taken) nogil


cdef class Workspace:

    cdef int make(self, const Factories* const* variants) except -1:
        """Make the charts of the chosen variant."""
        self.charts.make(variants[chosen][0], variants[0][0])

    cdef double bytes_needed(self) noexcept nogil:
        """Return how many bytes the current sentence takes up."""
        cdef double simpler = 0 if self.simpler is None else self.simpler.bytes_needed()
        return max(simpler, <double> self.charts.bytes_needed())

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""
        self.charts.release()
        if self.simpler is not None:
            self.simpler.release()
        self.rounded.release()
        self.scores.release()
        self.allowed.release()
        self.direction.release()
        self.counts.release()


cdef enum TreesAllowed:  # by the given heads of a sentence; INVALID: these are not heads
    ALL_TREES, SOME_TREES, ONE_TREE, NO_TREE, INVALID


cdef class Sentences:

    def __init__(self, tensors, heads, single_root, lengths=None, max_words=INFINITY):
        self.tensors, self.lengths, self.too_long = tensors, lengths, []
        self.single_root, self.max_words = arguments.flag(single_root), max_words
        self.is_1ec = "arc" in tensors
        self.names = ("shift", "reduce_s0b0", "reduce_s1s0", "arcs")
        if self.is_1ec:
            self.names = ("arc", "crossed_arc", "grandparent", "sibling")
        some = tensors["shift" if "shift" in tensors else "arc" if self.is_1ec else "arcs"]
        self.longest = some.shape[some.ndim - 1] - (2 if "shift" in tensors else 1)
        self.single, self.count = lengths is None, 1
        self.one_offset = [0, self.longest]
        self.offsets = self.one_offset
        if not self.single:
            self.count = len(lengths)
            self.batch_offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
            self.offsets = <const Py_ssize_t*> address(self.batch_offsets)
            self.order = np.argsort(-lengths, kind="stable")
            self.found = bytearray(self.count)
        if heads is not None:
            self.heads = arguments.nodes(heads, self.longest) if self.single else heads
            self.given_heads = <const int*> address(self.heads)
        self.all_padded(self.scores, tensors)

    cdef int length(self, Py_ssize_t b) noexcept nogil:
        """Return how many words a sentence has."""
        return self.offsets[b + 1] - self.offsets[b]

    cdef shape(self, int columns):
        """Return the shape of an array with this many columns for each sentence."""
        if self.single:
            return (columns,)
        return self.count, columns

    cdef Padded padded(self, array) except *:
        """Return the location of an array, or NULL values for None. The caller must keep the array alive."""
        cdef Py_buffer at
        cdef Padded found = Padded(NULL, False, 0, 0, 0, 0)
        if array is not None:
            PyObject_GetBuffer(array, &at, PyBUF_ND)
            layers = at.shape[at.ndim - 3] if at.ndim == 4 - self.single else 1
            found = Padded(at.buf, at.itemsize == sizeof(double), layers, at.shape[at.ndim - 2], at.shape[at.ndim - 1], self.longest)
            PyBuffer_Release(&at)
        return found

    cdef int all_padded(self, Padded* to, tensors) except -1:
        """Write the locations of `tensors` to `to`, in the order of `names`; without values for missing tensors."""
        for x, name in enumerate(self.names):
            to[x] = self.padded(tensors.get(name))

    cdef int trees_allowed(self, Workspace workspace, Py_ssize_t b, const int** heads) except -1 nogil:
        """Point to the heads given for a sentence. Return which trees they allow, as one of TreesAllowed."""
        cdef int n = self.length(b), word, open_heads = 0, fixed = 0, roots = 0
        if self.given_heads is NULL:
            return ALL_TREES
        cdef const int* given = self.given_heads + b * (self.longest + 1)
        heads[0] = given
        workspace.nodes.clear()
        workspace.nodes.resize(n + 1, 0)  # open heads become 0, which neither makes nor breaks a cycle
        for word in range(1, n + 1):
            if not -2 <= given[word] <= n:
                return INVALID
            roots += given[word] == 0
            open_heads += given[word] == -1
            fixed += given[word] >= 0
            workspace.nodes[word] = max(given[word], 0)
        if given[0] != -1:
            return INVALID
        if not_below_root(workspace.nodes.data(), n, workspace.reached_from):
            return NO_TREE
        if self.single_root and (roots > 1 or roots + open_heads == 0):
            return NO_TREE
        return ONE_TREE if fixed == n else ALL_TREES if open_heads == n else SOME_TREES

    cdef bint process(self, Workspace workspace, Py_ssize_t b) except -1 nogil:
        """Process a sentence. Return whether it has a result."""

    def work(self, Workspace workspace):
        """Process sentences until none is left."""
        cdef Py_ssize_t place, b = 0
        try:
            with nogil:
                while not self.stopped:
                    place = next_of(&self.taken)
                    if place >= self.count:
                        break
                    b = self.order[place]
                    self.found[b] = self.process(workspace, b)
                workspace.release()
        except BaseException as error:
            self.stopped = True
            if isinstance(error, MemoryError):
                raise MemoryError(f"sentence {b}: {out_of_memory(self.length(b), workspace.bytes_needed())}") from None
            raise

    def failed(self):
        """Return the sentences without a result."""
        return [b for b in range(self.count) if not self.found[b]]

    cdef bint try_alone(self, kind, int k) except -1:
        """Process the only sentence with this thread's charts. Return whether it has a result."""
        cdef Workspace workspace = None
        cdef bint found
        try:
            workspace = workspaces.take(kind)
            if workspace.charts.best_tree:
                workspace.charts.best_tree.get().k = k
            with nogil:
                found = self.process(workspace, 0)
        except MemoryError:
            raise out_of_memory(self.longest, 0 if workspace is None else workspace.bytes_needed()) from None
        workspace.release()
        workspaces.give_back(workspace)
        return found

    def alone(self, kind, k=0):
        """Process the only sentence, and return its result. Raises what decoders raise.

        kind: the class of the workspace. k: of MH_k, or 0 for other classes.
        """
        if not self.try_alone(kind, k):
            raise self.error(kind, k)
        return self.result()

    cdef error(self, kind, int k):
        """Return the error for a sentence without a result. Raises ValueError for invalid scores or heads."""
        for name, tensor in {**self.tensors, "cost": self.cost}.items():
            if tensor is not None:
                arguments.check_numbers(name, tensor)
        heads = arguments.given_heads(self.heads, self.longest, self.single_root)

        def possible():
            zeros = {name: np.zeros_like(tensor) for name, tensor in self.tensors.items()}
            like = TransitionDecoding if "shift" in zeros else Decoding
            return (<Sentences> like(zeros, heads, self.single_root, max_words=self.max_words)).try_alone(kind, k)

        return arguments.no_derivation(heads, 4 if self.too_long else k, possible)


cdef class Decoding(Sentences):

    def __init__(self, tensors, heads, single_root, cost=None, lengths=None, max_words=INFINITY):
        Sentences.__init__(self, tensors, heads, single_root, lengths, max_words)
        if cost is not None:
            self.cost = arguments.tensor("cost", cost, (*self.shape(self.longest + 1), self.longest + 1))
            self.padded_cost = self.padded(self.cost)
        self.best_heads = np.empty(self.shape(self.longest + 1), np.int32)
        self.to_heads = <int*> address(self.best_heads)
        self.to_totals = &self.total
        if not self.single:
            self.totals = np.empty(self.count)
            self.to_totals = <double*> address(self.totals)
        self.parts = {}
        for x, name in enumerate(self.names):
            if name in tensors:
                self.columns[x] = tensors[name].ndim
                self.parts[name] = np.empty((self.offsets[self.count], self.columns[x]), np.intp)
                self.rows[x] = <Py_ssize_t*> address(self.parts[name])

    def result(self):
        """Return the Derivation or, for a batch, the Derivations. They are undefined for sentences that have failed."""
        parts = {name: rows[rows[:, 1] >= 0] for name, rows in self.parts.items()}  # missing parts of 1ec are -1
        if self.single:
            return Derivation(self.total, self.best_heads, parts)
        return Derivations(self.lengths, self.best_heads, self.totals, parts)

    cdef int* cleared_heads(self, Py_ssize_t b) noexcept nogil:
        """Set the heads of a sentence to -1, and return where they are."""
        cdef int* heads = self.to_heads + b * (self.longest + 1)
        cdef int word
        for word in range(self.longest + 1):
            heads[word] = -1
        return heads

    cdef Rows rows_of(self, int x, Py_ssize_t b) noexcept nogil:
        """Return where the parts of a sentence are to be written."""
        cdef Py_ssize_t* first = self.rows[x]
        if first:
            first += self.offsets[b] * self.columns[x]
        return Rows(first, -1 if self.single else b)

    cdef bint process(self, Workspace workspace, Py_ssize_t b) except -1 nogil:
        cdef const int* given_heads = NULL
        cdef int n = self.length(b), trees = self.trees_allowed(workspace, b, &given_heads), x
        cdef int* heads = self.cleared_heads(b)
        cdef BestTree* search = workspace.charts.best_tree.get()
        cdef const double* scores[TENSORS]
        cdef const double* cost
        cdef const double* allowed
        cdef const PartRows* parts
        self.to_totals[b] = 0
        if trees == INVALID or trees == NO_TREE:
            return False
        if not workspace.scores.take(self.scores, self.padded_cost, b, n, scores, &cost):
            return False
        allowed = workspace.scores.with_heads(cost, given_heads, n) if trees == SOME_TREES else cost
        if trees == ONE_TREE:
            memcpy(heads, given_heads, (n + 1) * sizeof(int))
        else:
            self.chart_score = search.find(n, scores, allowed, self.single_root, heads)
            if self.chart_score == -INFINITY:
                return False
        parts = search.parts(heads, n)
        if not parts:
            return False
        for x in range(TENSORS):
            self.to_totals[b] += self.write_parts(parts[x], scores[x], x, b)
        if cost:
            self.to_totals[b] += cost_of(heads, cost, n)
        return self.to_totals[b] > -INFINITY

    cdef double write_parts(self, const PartRows& parts, const double* scores, int x, Py_ssize_t b) noexcept nogil:
        """Write the parts that a tree uses of tensor x, and return the sum of their scores."""
        cdef Rows to = self.rows_of(x, b)
        cdef size_t n = self.length(b), k
        cdef double total = 0
        for k in range(parts.size()):
            write_row(&to, -1, parts[k].first, parts[k].second)
            total += scores[parts[k].first * (n + 1) + parts[k].second]
        for k in range(parts.size(), n if to.next else 0):
            write_row(&to, -1, -1, -1)
        return total


cdef double cost_of(const int* heads, const double* cost, int n) noexcept nogil:
    """Return the sum of the costs of a tree's arcs."""
    cdef double total = 0
    cdef int word
    for word in range(1, n + 1):
        total += cost[<size_t> heads[word] * (n + 1) + word]
    return total


cdef inline void write_row(Rows* rows, int code, int first, int second) noexcept nogil:
    """Write an index row: the sentence and the code, unless they are -1, and two nodes."""
    if rows.sentence >= 0:
        rows.next[0] = rows.sentence
        rows.next += 1
    if code >= 0:
        rows.next[0] = code
        rows.next += 1
    rows.next[0] = first
    rows.next[1] = second
    rows.next += 2


cdef class TransitionDecoding(Decoding):

    def __init__(self, tensors, heads, single_root, cost=None, lengths=None, max_words=INFINITY):
        Decoding.__init__(self, tensors, heads, single_root, cost, lengths, max_words)
        self.transitions = np.empty((2 * self.offsets[self.count] + self.count, 4), np.intp)
        self.to_transitions = <Py_ssize_t*> address(self.transitions)

    def result(self):
        if self.single:
            return Derivation(self.total, self.best_heads, self.parts, self.transitions)
        sentences = np.repeat(np.arange(self.count), 2 * self.lengths + 1)
        transitions = np.concatenate([sentences[:, None], self.transitions], axis=1)
        return Derivations(self.lengths, self.best_heads, self.totals, self.parts, transitions)

    cdef bint take(self, Workspace workspace, Py_ssize_t b, TransitionScores* to) except -1 nogil:
        """Point to the scores of a sentence. Return whether they are valid and some tree has the given heads."""
        cdef const float* tensors[TENSORS]
        cdef const int* heads = NULL
        cdef int n = self.length(b), trees = self.trees_allowed(workspace, b, &heads)
        to[0] = TransitionScores(n, self.single_root)
        if trees == INVALID or trees == NO_TREE:
            return False
        if not workspace.rounded.take(self.scores, self.padded_cost, b, n, tensors, &to.cost):
            return False
        to.shift, to.s0b0, to.s1s0, to.arcs = tensors[SHIFT], tensors[S0B0], tensors[S1S0], tensors[ARCS]
        to.arcs_and_cost = workspace.rounded.sum(to.arcs, to.cost, n)
        if trees != ALL_TREES:
            to.arcs_and_cost = workspace.rounded.with_heads(to.arcs_and_cost, heads, n)
        return True

    cdef bint process(self, Workspace workspace, Py_ssize_t b) except -1 nogil:
        cdef BestDerivation* search = workspace.charts.search.get()
        if not self.take(workspace, b, &search.scores):
            return False
        if search.scores.n > self.max_words:
            with gil:
                self.too_long.append(b)
            workspace.simpler.charts.search.get().scores = search.scores
            search.release()
            search = workspace.simpler.charts.search.get()
        search.prepare()
        search.allocate()
        if not search.fill() or (self.single_root and search.scores.n == 0):
            return False
        search.trace()
        self.write(search.codes.data(), search.scores, b)
        return True

    cdef void write(self, const int* codes, const TransitionScores& scores, Py_ssize_t b) noexcept nogil:
        """Execute the 2n+1 transitions, and write and add up the scores that they use.

        The first transition, the shift of the root, is not scored.
        """
        cdef int n = scores.n, step, code, s0 = -1, s1, s2, s3, head, dependent, b0 = 0
        cdef size_t arc
        cdef double total = 0
        cdef int* below = self.cleared_heads(b)  # for a node on the stack, the node below it; once it is removed, its head
        cdef Py_ssize_t* row = self.to_transitions + 4 * (2 * self.offsets[b] + b)
        cdef Rows shift = self.rows_of(SHIFT, b), s0b0 = self.rows_of(S0B0, b)
        cdef Rows s1s0 = self.rows_of(S1S0, b), arcs = self.rows_of(ARCS, b)
        for step in range(2 * n + 1):
            code = codes[step]
            s1 = below[s0] if s0 >= 0 else -1
            s2 = below[s1] if s1 >= 0 else -1
            s3 = below[s2] if s2 >= 0 else -1
            row[0], row[1], row[2], row[3] = code, s1, s0, b0
            row += 4
            if code == SH:
                if b0 > 0:
                    write_row(&shift, -1, s0, b0)
                    total += scores.shift_score(s0, b0)
                below[b0] = s0
                s0 = b0
                b0 += 1
                continue
            write_row(&s0b0, code - LA, s0, b0)
            total += scores.on_s0b0(code, s0, b0)
            if scores.s1s0:
                write_row(&s1s0, code - LA, s1, s0)
                total += scores.on_s1s0(code, s1, s0)
            head = head_of(code, s3, s2, s1, s0, b0)
            dependent = dependent_of(code, s2, s1, s0)
            arc = <size_t> head * (n + 1) + dependent
            if scores.arcs:
                write_row(&arcs, -1, head, dependent)
                total += scores.arcs[arc]
            if scores.cost:
                total += scores.cost[arc]
            if dependent == s0:
                s0 = s1
            elif dependent == s1:
                below[s0] = s2
            else:
                below[s1] = s3
            below[dependent] = head
        self.to_totals[b] = total


cdef class Sums(Sentences):
    """Sentences whose derivations are to be summed."""

    cdef int take(self, Workspace workspace, Py_ssize_t b, Scores* to) except -1 nogil:
        """Point to the scores of a sentence, with -inf for arcs that contradict its heads.

        Return which trees the heads allow, as one of TreesAllowed: INVALID also for invalid scores.
        """
        cdef const int* heads = NULL
        cdef int n = self.length(b), trees = self.trees_allowed(workspace, b, &heads), x
        to.n, to.reduces, to.single_root = n, self.scores[S0B0].layers, self.single_root
        if trees == INVALID or not workspace.scores.take(self.scores, b, n, to.tensors):
            return INVALID
        for x in range(TENSORS):
            if trees != ALL_TREES and (x == ARC or x == CROSSED_ARC if self.is_1ec else x == ARCS):
                to.tensors[x] = workspace.allowed[x].with_heads(to.tensors[x], heads, n)
        if trees == ONE_TREE:
            to.heads = heads
        return trees


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

    def __init__(self, tensors, heads, single_root, lengths=None, allow_none=False, counted=True, direction=None):
        Sentences.__init__(self, tensors, heads, single_root, lengths)
        self.allow_none = allow_none
        self.differentiated, self.direction = direction is not None, direction or {}
        self.parts = {}
        if counted:
            numbers = sum([tensor.size for tensor in tensors.values()]) + self.count * (self.longest + 1) ** 2
            room_for(8 * numbers, "the expected counts")
            # np.full writes the arrays at once, so that the memory of the chart is checked against what is really left.
            self.parts = {part: np.full(tensor.shape, 0.0) for part, tensor in tensors.items()}
        self.arc_counts = self.parts.get("arcs")
        if counted and self.arc_counts is None and not self.is_1ec:
            self.arc_counts = np.full((*self.shape(self.longest + 1), self.longest + 1), 0.0)
        self.all_padded(self.change, self.direction)
        self.all_padded(self.counts, {**self.parts, "arcs": self.arc_counts})
        self.to_log_partition = self.log_partition = np.empty(self.count)

    def result(self):
        arcs = self.parts["arc"] + self.parts["crossed_arc"] if self.arc_counts is None else self.arc_counts
        if self.single:
            return Marginals(self.to_log_partition[0], arcs, self.parts)
        return BatchMarginals(self.lengths, self.log_partition, arcs, self.parts)

    cdef bint process(self, Workspace workspace, Py_ssize_t b) except -1 nogil:
        cdef Scores scores, direction
        cdef Counts counts
        cdef int n = self.length(b), trees = self.take(workspace, b, &scores), x
        if trees == INVALID or not workspace.direction.take(self.change, b, n, direction.tensors):
            return False
        if trees == NO_TREE:
            return self.none(b)
        for x in range(TENSORS):
            if self.counts[x].values:
                counts.tensors[x] = workspace.counts[x].place(self.counts[x], b, n)
        if self.differentiated:
            direction.n, direction.reduces, direction.single_root = n, scores.reduces, self.single_root
            workspace.charts.sums.differentiate(scores, counts, direction)
        else:
            workspace.charts.sums.find(scores, counts)
        if counts.log_partition == -INFINITY:
            return self.none(b)
        self.to_log_partition[b] = counts.log_partition
        for x in range(TENSORS):
            if self.counts[x].values:
                workspace.counts[x].spread(self.counts[x], b, n)
        return True

    cdef bint none(self, Py_ssize_t b) noexcept nogil:
        """Record that a sentence has no derivation. Return whether this counts as a result."""
        self.to_log_partition[b] = -INFINITY
        return self.allow_none


cdef class Sampling(Sums):
    """Sentences for which trees are to be drawn, with a seed for each sentence. The result is the heads."""

    cdef object drawn
    cdef int* to_drawn
    cdef size_t samples
    cdef const uint64_t[::1] seeds

    def __init__(self, tensors, heads, single_root, samples, rng, lengths=None):
        Sentences.__init__(self, tensors, heads, single_root, lengths)
        self.seeds = arguments.seeds(rng, self.count)
        if not arguments.is_count(samples, 0):
            raise ValueError(f"samples: expected a number of samples, got {samples!r}")
        room_for(4 * self.count * int(samples) * (self.longest + 1), "the samples")
        self.samples = samples
        self.drawn = np.full((self.count, samples, self.longest + 1), -1, dtype=np.int32)
        self.to_drawn = <int*> address(self.drawn)

    def result(self):
        return self.drawn[0] if self.single else self.drawn

    cdef bint process(self, Workspace workspace, Py_ssize_t b) except -1 nogil:
        cdef Scores scores
        cdef size_t columns = self.longest + 1
        cdef Samples to = Samples(self.seeds[b], self.samples, columns, self.to_drawn + b * self.samples * columns, False)
        cdef int trees = self.take(workspace, b, &scores)
        if trees == INVALID or trees == NO_TREE:
            return False
        workspace.charts.sums.draw(scores, to)
        return not to.none
