"""Marginals of 1-Endpoint-Crossing trees; the algorithm is in inside_outside.hpp."""

cimport cython
import numpy as np

from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.oneec.parts cimport ARC, GRANDPARENT, PARTS, SIBLING, parts_of, write_parts
from mh4.decoders.oneec.interfaces cimport Search, Sums
from mh4.decoders.shared.arguments cimport address
from mh4.decoders.shared.replay cimport Rows

from mh4.decoders.oneec.chart import Workspace
from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals, NotInClass
from mh4.decoders.shared.memory import out_of_memory, room_for, workspaces

cdef extern from "inside_outside.hpp" namespace "oneec::sums" nogil:
    cdef struct Scores:
        int n
        bint single_root
        const double* arc
        const double* crossed_arc
        const double* grandparent
        const double* sibling
        const double* of_tree
    cdef struct Counts:
        double log_partition
        double* arc
        double* crossed_arc
        double* grandparent
        double* sibling
    cdef cppclass Charts "marginals::Charts<oneec::sums::Marginals>":
        void find(const Scores& scores, Counts& counts) except +
        size_t bytes_needed()
        void release()
    cdef cppclass DualCharts "marginals::Charts<oneec::sums::Marginals, marginals::Duals>":
        void find(const Scores& scores, Counts& counts, const Scores& direction) except +
        size_t bytes_needed()
        void release()


def expected_counts(dict tensors, heads, bint single_root):
    """The Marginals of a sentence; tensors: as `tensors_of` returns them."""
    cdef int n = len(tensors["arc"]) - 1
    room_for(sum([tensor.nbytes for tensor in tensors.values()]) + 8 * (n + 1) ** 2, "the expected counts")
    # All are written now, and not when they are used: the chart is weighed against what is left.
    counts = {name: np.full(tensor.shape, 0.0) for name, tensor in tensors.items()}
    cdef const int[::1] tree
    cdef bint whole = False
    if heads is not None:
        heads, whole = arguments.given_heads(heads, n, single_root)
        tree = heads
        if not whole:
            tensors.update({name: arguments.with_heads(tensors[name], heads) for name in ("arc", "crossed_arc")})
    cdef const double* of[PARTS]
    cdef double* to[PARTS]
    cdef int x
    for x, name in enumerate(tensors):
        of[x], to[x] = address(tensors[name]), address(counts[name])
    cdef OneECSums sums = workspaces.take(OneECSums)
    cdef bint found
    cdef double log_partition = 0
    try:
        with nogil:
            if whole:
                found = sums.find_of_tree(n, of, &tree[0], &log_partition, to)
            else:
                found = sums.find(n, of, single_root, NULL, &log_partition, to)
    except MemoryError:
        raise out_of_memory(n, sums.bytes_needed()) from None
    sums.release()
    workspaces.give_back(sums)
    if not found and whole and parts_of(tree) is None:
        raise NotInClass("heads: the tree is not 1-Endpoint-Crossing")
    if not found:
        raise arguments.no_sum(heads, None)
    return Marginals(log_partition, counts["arc"] + counts["crossed_arc"], counts)


@cython.final
@cython.auto_pickle(False)
cdef class OneECSums(Sums):
    """Finds the best tree first, as the weights are scaled by those of its parts."""

    cdef Charts charts
    cdef DualCharts dual_charts
    cdef Search best
    cdef vector[int] heads, crossed
    cdef vector[Py_ssize_t] rows   # of its parts
    cdef vector[double] of_tree    # what each word contributes to its score: in all, as its sibling, and as its grandparent

    def __init__(self):
        self.best = Workspace()

    cdef bint find(
        self, int n, const double** scores, bint single_root, const double** direction, double* log_partition, double** counts
    ) except -1 nogil:
        if not self.find_tree(n, scores, single_root):
            return False
        cdef Scores of = Scores(n, single_root, scores[0], scores[1], scores[2], scores[3], self.of_tree.data()), change
        cdef Counts to = Counts(0, counts[0], counts[1], counts[2], counts[3])
        if direction:
            change = Scores(n, single_root, direction[0], direction[1], direction[2], direction[3], NULL)
            self.dual_charts.find(of, to, change)
        else:
            self.charts.find(of, to)
        log_partition[0] = to.log_partition
        return True

    cdef bint find_of_tree(self, int n, const double** scores, const int* heads, double* log_partition, double** counts) except -1 nogil:
        cdef size_t side = n + 1
        cdef Rows[PARTS] to
        cdef Py_ssize_t* row
        cdef int x
        if not self.write_rows(heads, n, to):
            return False
        log_partition[0] = 0
        for x in range(PARTS):
            row = self.rows.data() + 2 * side * x
            while row != to[x].next:
                log_partition[0] += scores[x][row[0] * side + row[1]]
                row += 2
        if log_partition[0] == -INFINITY:
            return False
        if not counts[ARC]:
            return True
        for x in range(PARTS):
            row = self.rows.data() + 2 * side * x
            while row != to[x].next:
                counts[x][row[0] * side + row[1]] = 1
                row += 2
        return True

    cdef bint write_rows(self, const int* heads, int n, Rows* to) except -1 nogil:
        """Write the parts of a tree, each kind to its place in `rows`; False if it is not 1-Endpoint-Crossing."""
        cdef size_t side = n + 1
        cdef int x
        self.rows.resize(2 * PARTS * side)
        for x in range(PARTS):
            to[x] = Rows(self.rows.data() + 2 * side * x, -1)
        return write_parts(heads, n, self.crossed, to)

    cdef bint find_tree(self, int n, const double** scores, bint single_root) except -1 nogil:
        """The best tree and what its words contribute; False if there is none."""
        cdef size_t side = n + 1
        cdef double score
        cdef int part
        self.heads.clear()
        self.heads.resize(side, -1)
        if self.best.decode(n, scores, NULL, single_root, self.heads.data()) == -INFINITY:
            return False
        cdef Rows[PARTS] to
        cdef Py_ssize_t* row
        self.write_rows(self.heads.data(), n, to)
        self.of_tree.clear()
        self.of_tree.resize(3 * side, 0)
        for part in range(PARTS):
            row = self.rows.data() + 2 * side * part
            while row != to[part].next:
                score = scores[part][row[0] * side + row[1]]
                self.of_tree[row[1]] += score
                if part == SIBLING:
                    self.of_tree[side + row[1]] = score
                elif part == GRANDPARENT:
                    self.of_tree[2 * side + row[1]] = score
                row += 2
        return True

    cdef double bytes_needed(self) noexcept nogil:
        return <double> max(self.charts.bytes_needed(), self.dual_charts.bytes_needed())

    cdef void release(self) noexcept nogil:
        self.charts.release()
        self.dual_charts.release()
        self.best.release()
