"""The scores of mh3, mh4 and mh5, to which the cost of arcs is added here, and the Derivation of a sequence of transition codes."""

import numpy as np

from mh4.decoders.shared.arguments cimport address

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Derivation
from mh4.decoders.shared.memory import room_for


cdef class Tensors:

    def __init__(self, int count, shift, reduce_s0b0, reduce_s1s0, arcs, cost):
        """count: the number of reduce transitions. Raises ValueError for invalid tensors."""
        tensors = arguments.transition_scores(arguments.FLOAT32, count, shift, reduce_s0b0, reduce_s1s0, arcs)
        cdef int n = len(tensors["shift"]) - 2
        self.arrays, self.reduces = [], count
        self.scores = Scores(n)
        self.scores.shift = self.keep(tensors["shift"])
        self.scores.s0b0 = self.keep(tensors["reduce_s0b0"])
        self.scores.s1s0 = self.keep(tensors.get("reduce_s1s0"))
        self.by_arc = tensors.get("arcs")
        self.scores.arcs = self.keep(self.by_arc)
        if cost is not None:
            cost = arguments.float32_scores("cost", cost, (n + 1, n + 1))
            self.scores.cost = self.keep(cost)
            if arcs is not None:
                room_for(cost.nbytes, "the sum of arcs and cost")
            self.by_arc = cost if arcs is None else self.by_arc + cost
        self.scores.by_arc = self.keep(self.by_arc)

    cdef const float* keep(self, array) except? NULL:
        """Where the numbers of a C-contiguous array are; NULL for None."""
        self.arrays.append(array)
        return <const float*> address(array)

    cdef Tensors zeros(self):
        """Tensors of zeros for as many words."""
        cdef int side = self.scores.side
        zeros = np.zeros((self.reduces, side, side), dtype=np.float32)
        return Tensors(self.reduces, zeros[0], zeros, None, None, None)


cdef double replay(const int* codes, const Scores* scores, Replay* to) noexcept nogil:
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
                total += scores.of_shift(s0, b0)
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


cdef object derivation(const int* codes, const Scores* scores):
    """The Derivation of a sequence of transitions."""
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
    """Those of an array, or none."""
    return Rows(<Py_ssize_t*> address(array), -1)
