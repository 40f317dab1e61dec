"""The shared part of the decoders: charts, checked scores, and the conversion of results to a Derivation or Marginals.

In all functions, kind is the class of the Charts; a dict `tensors` has the scores by name, checked C-contiguous arrays of float64, and the
class Tensors those of transitions, in float32; heads are those of the words, -1 where they are open, or None.

The charts are compiled for several kinds of processors, from the same sources. The variant is chosen here, at import: the fastest that this
processor can run, or the one that the environment variable MH4_SIMD names. The results are the same to the bit.
"""

import os

import numpy as np
from libc.math cimport INFINITY

from mh4.decoders.arguments cimport address, names_of, score_arcs

from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation, Marginals, NotInClass
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

VARIANTS = ("baseline", "avx2", "avx512")[:usable()]
if not VARIANTS:
    raise InputError("this processor lacks SSE4.2, which the decoders need")
VARIANT = os.environ.get("MH4_SIMD", VARIANTS[len(VARIANTS) - 1])
if VARIANT not in VARIANTS:
    raise InputError("MH4_SIMD=%s: this processor can run: %s" % (VARIANT, " ".join(VARIANTS)))
cdef int chosen = VARIANTS.index(VARIANT)


cdef class Charts:

    cdef int make(self, const Factories* const* variants) except -1:
        """Make the charts, in the variant chosen."""
        self.own.make(variants[chosen][0], variants[0][0])

    cdef int give_back(self) except -1:
        """Keep the charts for this thread's next sentence."""
        self.own.release()
        workspaces.give_back(self)


cdef class Tensors:

    def __init__(self, int count, shift, reduce_s0b0, reduce_s1s0, arcs, cost):
        """count: the number of reduce transitions. Raises ValueError for invalid tensors."""
        tensors = arguments.transition_scores(arguments.FLOAT32, count, shift, reduce_s0b0, reduce_s1s0, arcs)
        cdef int n = len(tensors["shift"]) - 2
        self.arrays, self.reduces = [], count
        self.scores = TransitionScores(n)
        self.scores.shift = self.keep(tensors["shift"])
        self.scores.s0b0 = self.keep(tensors["reduce_s0b0"])
        self.scores.s1s0 = self.keep(tensors.get("reduce_s1s0"))
        self.by_arc = tensors.get("arcs")
        self.scores.arcs = self.keep(self.by_arc)
        if cost is not None:
            cost = arguments.typed_scores("cost", cost, (n + 1, n + 1), arguments.FLOAT32)
            self.scores.cost = self.keep(cost)
            if arcs is not None:
                room_for(cost.nbytes, "the sum of arcs and cost")
            self.by_arc = cost if arcs is None else self.by_arc + cost
        self.scores.by_arc = self.keep(self.by_arc)

    cdef const float* keep(self, array) except? NULL:
        """Keep a C-contiguous array alive, and return the address of its numbers; NULL for None."""
        self.arrays.append(array)
        return <const float*> address(array)

    cdef Tensors zeros(self):
        """Return tensors of zeros for the same number of words."""
        cdef int side = self.scores.side
        zeros = np.zeros((self.reduces, side, side), dtype=np.float32)
        return Tensors(self.reduces, zeros[0], zeros, None, None, None)


cdef double replay(const int* codes, const TransitionScores* scores, Replay* to) noexcept nogil:
    """Execute the 2n+1 transitions, and write and add up the scores that they use; returns their sum.

    The first transition, the shift of the root, is not scored.
    """
    cdef int n = scores.n, step, code, s0 = -1, s1, s2, s3, head, dependent, b0 = 0
    cdef size_t arc
    cdef double total = 0
    cdef int* below = to.heads  # for a node on the stack, the node below it; once it is removed, its head
    cdef Py_ssize_t* row = to.transitions
    for step in range(2 * n + 1):
        code = codes[step]
        s1 = below[s0] if s0 >= 0 else -1
        s2 = below[s1] if s1 >= 0 else -1
        s3 = below[s2] if s2 >= 0 else -1
        row[0], row[1], row[2], row[3] = code, s1, s0, b0
        row += 4
        if code == SH:
            if b0 > 0:
                write(&to.shift, -1, s0, b0)
                total += scores.shift_score(s0, b0)
            below[b0] = s0
            s0 = b0
            b0 += 1
            continue
        write(&to.s0b0, code - LA, s0, b0)
        total += scores.on_s0b0(code, s0, b0)
        if scores.s1s0:
            write(&to.s1s0, code - LA, s1, s0)
            total += scores.on_s1s0(code, s1, s0)
        head = head_of(code, s3, s2, s1, s0, b0)
        dependent = dependent_of(code, s2, s1, s0)
        arc = <size_t> head * (n + 1) + dependent
        if scores.arcs:
            write(&to.arcs, -1, head, dependent)
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
    return total


cdef object derivation(const int* codes, const TransitionScores* scores):
    """Return the Derivation of a sequence of transitions."""
    cdef int n = scores.n
    transitions = np.empty((2 * n + 1, 4), dtype=np.intp)
    heads = np.empty(n + 1, dtype=np.int32)
    parts = {"shift": np.empty((n, 2), dtype=np.intp), "reduce_s0b0": np.empty((n, 3), dtype=np.intp)}
    if scores.s1s0:
        parts["reduce_s1s0"] = np.empty((n, 3), dtype=np.intp)
    if scores.arcs:
        parts["arcs"] = np.empty((n, 2), dtype=np.intp)
    cdef Replay to = Replay(
        <int*> address(heads), <Py_ssize_t*> address(transitions),
        rows(parts["shift"]), rows(parts["reduce_s0b0"]), rows(parts.get("reduce_s1s0")), rows(parts.get("arcs")),
    )
    cdef double total = replay(codes, scores, &to)
    return Derivation(total, heads, parts, transitions)


cdef Rows rows(array):
    """Return the place to write index rows to: an array, or NULL for None."""
    return Rows(<Py_ssize_t*> address(array), -1)


def best_derivation(kind, Tensors tensors, heads, bint single_root, int k, double most=INFINITY):
    """Return the best Derivation or, if its chart takes more than `most` bytes, the bytes that it takes; k: of MH_k."""
    heads, _ = arguments.given_heads(heads, tensors.scores.n, single_root)

    def possible():
        return search(kind, tensors.zeros(), heads, single_root, most) is not None

    found = search(kind, tensors, heads, single_root, most)
    if found is None:
        raise arguments.no_derivation(heads, k, possible)
    return found


cdef Charts charts_of(kind, int n):
    """Return this thread's charts of a kind, for a sentence of n words."""
    try:
        return workspaces.take(kind)
    except MemoryError:
        raise out_of_memory(n, 0) from None


cdef search(kind, Tensors tensors, heads, bint single_root, double most):
    """Like `best_derivation` with checked heads, but return None if there is no derivation."""
    cdef TransitionScores scores = tensors.scores
    cdef Charts charts = charts_of(kind, scores.n)
    cdef BestDerivation* search = charts.own.search.get()
    if heads is not None:
        allowed = arguments.with_heads(tensors.by_arc, heads, arguments.FLOAT32)
        scores.by_arc = <const float*> address(allowed)
    cdef int outcome
    try:
        with nogil:
            outcome = derive(search, scores, single_root, most)
    except MemoryError:
        raise out_of_memory(scores.n, charts.own.bytes_needed()) from None
    result = <double> search.bytes_needed() if outcome == TOO_LARGE else None
    if outcome == DERIVED:
        result = derivation(search.codes.data(), &scores)
    charts.give_back()
    return result


cdef int derive(BestDerivation* search, const TransitionScores& scores, bint single, double most) except -1 nogil:
    """Find the best derivation of a sentence, by itself or in a batch; it is in search.codes if the Outcome is DERIVED.

    most: the bytes that the chart may take, or else it is TOO_LARGE.
    """
    search.scores = scores
    search.single = single
    search.prepare()
    if search.bytes_needed() > most:
        return TOO_LARGE
    return DERIVED if search.find() else NONE


def best_tree(kind, dict tensors, cost, bint single_root, heads=None):
    """Return the heads of the highest-scoring tree, and its score in the search; cost: like tensors, or None. heads: from `given_heads`."""
    def possible():
        zeros = {name: np.zeros_like(tensor) for name, tensor in tensors.items()}
        return search_tree(kind, zeros, arguments.with_heads(None, heads), single_root)[1] > -INFINITY

    found, best = search_tree(kind, tensors, cost if heads is None else arguments.with_heads(cost, heads), single_root)
    if best == -INFINITY:
        raise arguments.no_derivation(heads, possible=possible)
    return found, best


cdef tuple search_tree(kind, dict tensors, cost, bint single_root):
    """Return what `best_tree` does, but a score of -inf if there is no tree."""
    cdef int n = len(next(iter(tensors.values()))) - 1
    cdef const double* scores[TENSORS]
    for x, name in enumerate(names_of(tensors)):
        scores[x] = <const double*> address(tensors.get(name))
    cdef const double* arcs_cost = <const double*> address(cost)
    found = np.full(n + 1, -1, dtype=np.int32)
    cdef int* heads = <int*> address(found)
    cdef Charts charts = charts_of(kind, n)
    cdef BestTree* search = charts.own.best_tree.get()
    cdef double best
    try:
        with nogil:
            best = search.find(n, scores, arcs_cost, single_root, heads)
    except MemoryError:
        raise out_of_memory(n, charts.own.bytes_needed()) from None
    charts.give_back()
    return found, best


def parts_of(kind, names, const int[::1] heads):
    """Return the parts of a tree in the tensors with these names, as in Derivation. Raises NotInClass if it is not 1EC."""
    cdef int n = heads.shape[0] - 1
    cdef Charts charts = charts_of(kind, n)
    cdef const PartRows* found
    try:
        with nogil:
            found = charts.own.best_tree.get().parts(&heads[0], n)
    except MemoryError:
        raise out_of_memory(n, 9.0 * n * sizeof(int)) from None
    parts = {name: array_of(found[x]) for x, name in enumerate(names)} if found else None
    charts.give_back()
    if parts is None:
        raise NotInClass("heads: the tree is not 1-Endpoint-Crossing")
    return parts


cdef array_of(const PartRows& rows):
    """Return index rows as an intp array (rows, 2)."""
    found = np.empty((rows.size(), 2), dtype=np.intp)
    cdef Py_ssize_t[:, ::1] to = found
    cdef size_t x
    for x in range(rows.size()):
        to[x, 0], to[x, 1] = rows[x].first, rows[x].second
    return found


cdef int words_of(dict tensors) except -1:
    return len(tensors["shift"]) - 2 if "shift" in tensors else len(next(iter(tensors.values()))) - 1


def expected_counts(kind, dict tensors, bint single_root, heads):
    """Return the Marginals of a sentence; heads: those given, or None. Raises ValueError for invalid heads, or without a derivation."""
    heads, whole = arguments.given_heads(heads, words_of(tensors), single_root)
    return summed(kind, tensors, single_root, heads, whole)


cdef summed(kind, dict tensors, bint single_root, heads, bint whole):
    """Return what `expected_counts` does, for heads as `given_heads` returns them."""
    cdef int n = words_of(tensors)
    arcs = score_arcs(tensors)
    cdef Charts charts = charts_of(kind, n)
    room_for(sum([tensor.nbytes for tensor in tensors.values()]) + 8 * (n + 1) ** 2, "the expected counts")
    # They are written now, not at first use, so that the memory of the chart is checked against what is left.
    parts = {name: np.full(tensor.shape, 0.0) for name, tensor in tensors.items()}
    counted = parts if arcs[0] in parts else {"arcs": np.full((n + 1, n + 1), 0.0), **parts}
    cdef Counts counts
    for x, name in enumerate(names_of(tensors)):
        counts.tensors[x] = <double*> address(counted.get(name))
    sum_up(charts, tensors, single_root, heads, whole, &counts, NULL)
    if counts.log_partition == -np.inf:
        if whole and charts.own.best_tree:
            parts_of(kind, (), heads)
        raise none_of(kind, tensors, single_root, heads)
    return Marginals(counts.log_partition, counted["arcs"] if "arcs" in counted else parts["arc"] + parts["crossed_arc"], parts)


cdef int sum_up(Charts charts, dict tensors, bint single_root, heads, bint whole, Counts* counts, Samples* samples) except -1:
    """Sum over the derivations of a sentence, for counts or samples, of which one is NULL; heads: as `given_heads` returns them."""
    used = tensors if heads is None else arguments.all_with_heads(tensors, heads)
    cdef Scores scores
    for x, name in enumerate(names_of(used)):
        scores.tensors[x] = <const double*> address(used.get(name))
    if "shift" in used:
        scores.reduces = len(used["reduce_s0b0"])
    if whole:
        scores.heads = <const int*> address(heads)
    scores.n, scores.single_root = words_of(used), single_root
    try:
        with nogil:
            if samples:
                charts.own.sums.draw(scores, samples[0])
            else:
                charts.own.sums.find(scores, counts[0])
    except MemoryError:
        raise out_of_memory(scores.n, charts.own.bytes_needed()) from None
    charts.give_back()


cdef none_of(kind, dict tensors, bint single_root, heads):
    """Return the error for a sum without derivations; heads: as `given_heads` returns them."""
    def possible():
        if not any([tensor.any() for tensor in tensors.values()]):
            return False
        try:
            summed(kind, {name: np.zeros_like(tensor) for name, tensor in tensors.items()}, single_root, heads, False)
        except NotInClass:
            return False
        return True

    reduces = len(tensors["reduce_s0b0"]) if "shift" in tensors else 0
    return arguments.no_derivation(heads, {2: 3, 6: 4}.get(reduces), possible)  # MH3 has two reduces, MH4 has six


def drawn(kind, dict tensors, bint single_root, samples, rng, heads):
    """Sample trees of a sentence, and return their heads, int32 (samples, n+1); heads: as for `expected_counts`."""
    cdef int n = words_of(tensors)
    heads, whole = arguments.given_heads(heads, n, single_root)
    samples = arguments.sample_size(samples)
    room_for(4 * samples * (n + 1), "the samples")
    found = np.full((samples, n + 1), -1, dtype=np.int32)
    cdef Samples to = Samples(arguments.seeds(rng, 1)[0], samples, n + 1, <int*> address(found), False)
    sum_up(charts_of(kind, n), tensors, single_root, heads, whole, NULL, &to)
    if to.none:
        raise none_of(kind, tensors, single_root, heads)
    return found
