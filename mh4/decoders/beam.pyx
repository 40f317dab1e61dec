"""Greedy and beam search in the transition systems MH3, MH4 and MH5, in O(n * beam) time.

A beam holds the best transition sequences of the current length; each is extended by all its legal transitions, and the best of
the results form the next beam. A beam of width 1 is the greedy parser. All sequences have 2n+1 transitions, so sequences of
different lengths are never compared, and there are no dead ends: the result is always a tree.

The search is not exact. On the other hand, it can find every sequence of the transition system, even those that the
chart does not derive. For MH4, this includes trees that no deduction derives (Section 3.2 of the paper).

With a single root, only the last transition can make an arc from the root. A word is removed when it gets its head, and
its head is then still present. So words are removed before their heads, and the only dependent of the root is removed
last: from the stack [0, s0], with only the end of the sentence in the buffer. An earlier arc from the root would leave
words that only a second arc from the root could attach. A sequence without an early arc from the root can always be
continued: by SH while there are words in the buffer, then by RA.
"""


cimport cython
import numpy as np
from libc.math cimport INFINITY
from libcpp.algorithm cimport nth_element
from libcpp.vector cimport vector

from mh4.decoders.arguments cimport address
from mh4.decoders.sentences cimport (
    LA, RA, SH, Less, TransitionDecoding, TransitionScores, Watch, Workspace, dependent_of, head_of, make_room
)

from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation
from mh4.decoders.memory import out_of_memory

cdef enum:
    TRANSITIONS = 13
    MOST = 100 * 1000 * 1000  # hypotheses per sentence, which keeps memory bounded


def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    beam: int = 1,
    single_root: bool = False,
) -> Derivation:
    """Return a high-scoring transition sequence under the scores of a global model, as for mh3.decode, mh4.decode and mh5.decode.

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (r, n+2, n+2) with r = 2, 6 or 12, the reduces of MH3, MH4 or MH5, indexed [t, s0, b0].
    reduce_s1s0: the same shape, indexed [t, s1, s0], added to reduce_s0b0; or None.
    arcs: float32 (n+1, n+1) or None, arcs[h, m] is added for every arc h->m.
    beam: the number of sequences kept at each step, at least 1; 1 is greedy search. At most 100 million sequences are
        kept in all steps together.
    single_root: exactly one dependent of node 0.

    Among equal scores, those found first are kept. A score of -1e30 or less, such as -inf, forbids a transition or arc.
    Returns a Derivation as the exact decoders do. Its score is at most theirs, unless the chart lacks the sequence.
    Raises ValueError for wrong shapes, NaN and similar, for a beam below 1, if more than 100 million sequences would be
    kept, if all scores within the beam are -inf, or if a single root is required of a sentence without words;
    MemoryError if the beam is too wide for the memory of the machine.
    """
    cdef int reduces = _transitions("reduce_s0b0", reduce_s0b0, (2, 6, 12))
    tensors = arguments.transition_tensors(reduces, shift, reduce_s0b0, reduce_s1s0, arcs)
    cdef TransitionDecoding sentence = TransitionDecoding(tensors, None, single_root)
    cdef Workspace workspace = Workspace()
    cdef TransitionScores scores
    if not sentence.take(workspace, 0, &scores):
        raise sentence.error(None, 0)
    cdef Search search = Search(scores.n, 1 + reduces, beam, single_root)
    search.on_s0b0[SH] = scores.shift
    point(search.on_s0b0, LA, scores.s0b0, reduces, scores.side)
    point(search.on_s1s0, LA, scores.s1s0, reduces, scores.side)
    search.on_arcs = scores.arcs
    search.run()
    sentence.write(search.codes.data(), scores, 0)
    return sentence.result()


def decode_local(
    s0b0: np.ndarray, s1s0: np.ndarray | None = None, s2s1: np.ndarray | None = None, *, beam: int = 1, single_root: bool = False
) -> Derivation:
    """Return a high-scoring transition sequence under the scores of a local model.

    Every transition, also SH, is scored by all tensors given.

    s0b0: float32 (t, n+2, n+2) with t = 3 or 7, SH, LA, RA and perhaps the other reduces, indexed [t, s0, b0].
    s1s0, s2s1: the same shape, indexed [t, s1, s0] and [t, s2, s1], added to s0b0; or None. An empty stack position has
        the index n+1, which is free: the end of the sentence is never on the stack.
    The first transition, the shift of the root, is not scored. beam, single_root and errors: see `decode`.

    Returns a Derivation with a part (2n, 3) for each tensor given.
    """
    cdef int transitions = _transitions("s0b0", s0b0, (3, 7)), n = arguments.words("s0b0", s0b0[0], 2)
    shape = (transitions, n + 2, n + 2)
    given = {
        name: arguments.converted(name, arguments.scores(name, scores, shape), arguments.FLOAT32)
        for name, scores in {"s0b0": s0b0, "s1s0": s1s0, "s2s1": s2s1}.items()
        if scores is not None
    }
    cdef Search search = Search(n, transitions, beam, single_root)
    point(search.on_s0b0, SH, <const float*> address(given["s0b0"]), transitions, n + 2)
    point(search.on_s1s0, SH, <const float*> address(given.get("s1s0")), transitions, n + 2)
    point(search.on_s2s1, SH, <const float*> address(given.get("s2s1")), transitions, n + 2)
    search.run()
    rows = np.empty((2 * n + 1, 5), dtype=np.intp)
    heads = np.empty(n + 1, dtype=np.int32)
    score = search.write(rows, heads)
    parts = local_parts(rows, n)
    return Derivation(score, heads, {name: parts[name] for name in given}, rows[:, [0, 2, 3, 4]])


def local_parts(rows: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """Return the index rows into s0b0, s1s0 and s2s1 of a sequence over n words: intp (2n, 3) each, by name.

    rows: int array (2n+1, 5) of rows (code, s2, s1, s0, b0), -1 where a position is empty.
    """
    scored = rows[1:]
    scored = np.where(scored < 0, n + 1, scored)
    return {name: scored[:, [0, 3 - k, 4 - k]] for k, name in enumerate(("s0b0", "s1s0", "s2s1"))}


def _transitions(name: str, tensor: np.ndarray, allowed: tuple[int, ...]) -> int:
    """Return the number of transitions that a tensor scores. Raises ValueError for other shapes."""
    shape = np.shape(tensor)
    if len(shape) != 3 or shape[0] not in allowed:
        numbers = " or ".join(map(str, allowed))
        raise ValueError(f"{name}: expected shape ({numbers}, n+2, n+2) for n words, got {shape}")
    return shape[0]


cdef struct Cell:  # a node on a stack, and the cell below it; stacks share their common parts
    int node, below


cdef struct Positions:
    int s3, s2, s1, s0, b0


cdef struct Hypothesis:
    int top, b0         # the top cell of its stack, and the first node of its buffer
    int previous, code  # the hypothesis that it extends, and by which transition
    double score


@cython.final  # so that its methods are compiled into their callers
cdef class Search:
    """A search over n words. An empty stack position is n+1, its index in the scores."""

    cdef int n, transitions
    cdef Py_ssize_t beam
    cdef bint single
    cdef const float* on_s0b0[TRANSITIONS]  # for each transition, the matrix of its scores, or NULL
    cdef const float* on_s1s0[TRANSITIONS]
    cdef const float* on_s2s1[TRANSITIONS]
    cdef const float* on_arcs         # by head and dependent, or NULL
    cdef vector[Cell] cells
    cdef vector[Hypothesis] hypotheses  # of all steps, for tracing back the best
    cdef vector[Hypothesis] continuations  # whose transitions have not been executed
    cdef vector[double] ranking
    cdef Watch watch
    cdef vector[int] path, codes  # the best sequence: the hypothesis before each transition, and its code

    def __init__(self, n, transitions, beam, single_root):
        if not arguments.is_count(beam):
            raise ValueError(f"beam: expected a whole number of at least 1, got {beam!r}")
        self.n = n
        self.transitions = transitions
        self.beam = min(beam, 2**31 - 1)
        self.single = arguments.flag(single_root)

    cdef run(self):
        """Find the best sequence. Raises ValueError if there is none."""
        cdef bint found
        try:
            with nogil:
                found = self.search()
                if found:
                    self.trace()
        except MemoryError:
            most = min(self.beam * (2 * self.n + 1), MOST)
            raise out_of_memory(self.n, most * (sizeof(Hypothesis) + sizeof(Cell))) from None
        if self.hypotheses.size() > MOST:
            raise ValueError("beam: a width of %d is too large for %d words" % (self.beam, self.n))
        if not found:
            raise ValueError("no derivation: scores of -inf, or from %g down, forbid all that the beam (of width %d) could keep, "
                             "or a single root is required of a sentence without words" % (-arguments.LARGEST, self.beam))

    cdef bint search(self) except -1 nogil:
        """Fill self.hypotheses; return False if there is no sequence."""
        cdef int step
        cdef size_t start = 0, stop
        if self.single and self.n == 0:
            return False
        self.cells.push_back(Cell(self.n + 1, 0))  # the bottom of all stacks: everything below is also empty
        self.cells.push_back(Cell(0, 0))
        self.hypotheses.push_back(Hypothesis(1, 1, -1, SH, 0.0))  # the root has been shifted, unscored
        for step in range(2 * self.n):
            stop = self.hypotheses.size()
            self.continuations.clear()
            while start < stop:
                self.extend(<int>start)
                start += 1
            if self.continuations.empty() or self.hypotheses.size() > MOST:
                return False
            self.keep_best()
        return True

    cdef int extend(self, int h) except -1 nogil:
        """Append the continuations of a hypothesis that are legal and not forbidden."""
        cdef Positions here = self.positions(h)
        cdef Hypothesis continuation = self.hypotheses[h]
        cdef double score, before = continuation.score
        cdef int code
        self.watch.after(20 * self.transitions)
        make_room(self.continuations, self.transitions)
        for code in range(self.transitions):
            score = before + self.score(code, here)
            if score > -INFINITY:
                continuation.previous, continuation.code, continuation.score = h, code, score
                self.continuations.push_back(continuation)

    cdef Positions positions(self, int h) noexcept nogil:
        cdef Positions here
        cdef Cell cell = self.cells[self.hypotheses[h].top]
        here.b0 = self.hypotheses[h].b0
        here.s0 = cell.node
        cell = self.cells[cell.below]
        here.s1 = cell.node
        cell = self.cells[cell.below]
        here.s2 = cell.node
        here.s3 = self.cells[cell.below].node
        return here

    cdef double score(self, int code, Positions here) noexcept nogil:
        """Return the score of a transition, or -inf if it is not legal (see Configuration.legal).

        With a single root, an arc from the root is legal only as the last transition.
        """
        cdef size_t side = self.n + 2
        cdef int end = self.n + 1, head = head_of(code, here.s3, here.s2, here.s1, here.s0, here.b0)
        cdef int dependent = dependent_of(code, here.s2, here.s1, here.s0)
        cdef double score
        if code == SH:
            if here.b0 == end:
                return -INFINITY
        elif head >= end or not 0 < dependent < end or (head == 0 and self.single and (code != RA or here.b0 < end)):
            return -INFINITY
        score = self.on_s0b0[code][here.s0 * side + here.b0]
        if self.on_s1s0[code] != NULL:
            score += self.on_s1s0[code][here.s1 * side + here.s0]
        if self.on_s2s1[code] != NULL:
            score += self.on_s2s1[code][here.s2 * side + here.s1]
        if self.on_arcs != NULL and code != SH:
            score += self.on_arcs[head * (side - 1) + dependent]
        return score

    cdef int keep_best(self) except -1 nogil:
        """Make the next beam from the best continuations, in the order they were found. Ties go to the first."""
        cdef size_t count = self.continuations.size(), k
        cdef Py_ssize_t room = 0  # for continuations with the least score that is in the beam
        cdef double least = -INFINITY
        if count > <size_t>self.beam:
            self.ranking.clear()
            make_room(self.ranking, count)
            for k in range(count):
                self.watch.after(2)
                self.ranking.push_back(-self.continuations[k].score)
            nth_element(self.ranking.begin(), self.ranking.begin() + (self.beam - 1), self.ranking.end(), Less(self.watch))
            least = -self.ranking[self.beam - 1]
            for k in range(self.beam):
                self.watch.after(2)
                room += self.ranking[k] == -least
        for k in range(count):
            room -= self.continuations[k].score == least
            if self.continuations[k].score > least or (self.continuations[k].score == least and room >= 0):
                self.execute(self.continuations[k])

    cdef int execute(self, Hypothesis continuation) except -1 nogil:
        """Execute the transition of a continuation, which then is a hypothesis of the next beam."""
        self.watch.after(30)
        make_room(self.cells, 3)
        make_room(self.hypotheses, 1)
        if continuation.code == SH:
            self.cells.push_back(Cell(continuation.b0, continuation.top))
            continuation.top = <int>self.cells.size() - 1
            continuation.b0 += 1
        else:
            continuation.top = self.without(continuation.top, dependent_of(continuation.code, 2, 1, 0))
        self.hypotheses.push_back(continuation)

    cdef int without(self, int top, int depth) except -1 nogil:
        """Remove the node at a depth from a stack (0 for s0, 1 for s1, 2 for s2), and return the new top cell."""
        cdef Cell cell = self.cells[top]
        if depth == 0:
            return cell.below
        cell.below = self.without(cell.below, depth - 1)
        self.cells.push_back(cell)
        return <int>self.cells.size() - 1

    cdef int trace(self) except -1 nogil:
        """Follow the best hypothesis (the first among equals) back to the start."""
        cdef int step = 2 * self.n, best = <int>self.hypotheses.size() - 1, other = best - 1
        # The hypotheses of the last step are the final ones: only the root is on the stack, and no word is left.
        while other > 0 and self.hypotheses[other].b0 > self.n and self.cells[self.hypotheses[other].top].node == 0:
            if self.hypotheses[other].score >= self.hypotheses[best].score:
                best = other
            other -= 1
        self.path.resize(step + 1, -1)
        self.codes.resize(step + 1, SH)
        while step > 0:
            self.codes[step] = self.hypotheses[best].code
            best = self.hypotheses[best].previous
            self.path[step] = best
            step -= 1

    cdef double write(self, Py_ssize_t[:, ::1] rows, int[::1] heads) noexcept nogil:
        """Write the best sequence, as rows (code, s2, s1, s0, b0), and its heads; return its score."""
        cdef int end = self.n + 1, step, code, head
        cdef double total = 0
        cdef Positions here
        rows[0, 0] = SH
        rows[0, 1] = rows[0, 2] = rows[0, 3] = heads[0] = -1
        rows[0, 4] = 0
        for step in range(1, 2 * self.n + 1):
            code = self.codes[step]
            here = self.positions(self.path[step])
            total += self.score(code, here)
            rows[step, 0] = code
            rows[step, 1] = here.s2 if here.s2 < end else -1
            rows[step, 2] = here.s1 if here.s1 < end else -1
            rows[step, 3] = here.s0
            rows[step, 4] = here.b0
            if code != SH:
                head = head_of(code, here.s3, here.s2, here.s1, here.s0, here.b0)
                heads[dependent_of(code, here.s2, here.s1, here.s0)] = head
        return total


cdef void point(const float** matrices, int first, const float* scores, int count, int side) noexcept nogil:
    """Point `matrices` from transition `first` on to the `count` matrices of `scores`, unless `scores` is NULL."""
    cdef int k
    for k in range(count if scores else 0):
        matrices[first + k] = scores + <size_t> k * side * side
