"""The maximum spanning arborescence: all trees, in O(n^2) (Chu & Liu 1965, Edmonds 1967; Tarjan 1977 for dense graphs).

Every node takes its best incoming arc, and a cycle of these is contracted to a node. An arc that enters this node enters one
of its members, and scores the gain over the arc that it replaces. Each contraction costs n for each member, and a node becomes
a member only once. With a path grown from word to head to head, the cycles are found on the way (Gabow, Galil, Spencer
& Tarjan 1986).

For a single root, an arc from 0 is taken only if there is no other. This amounts to minimising the number of arcs from 0 first
and maximising the score second: no cycle has an arc from 0, so contraction never changes whether an arc counts.
"""

cimport cython
import numpy as np
from libc.math cimport INFINITY

from mh4.decoders.shared.chart_memory cimport KEEP

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces

cdef extern from "trace.h" nogil:
    void lost() except +

cdef extern from *:
    ctypedef double* Row "double *__restrict"  # a row that overlaps no other argument, so that loops vectorise


def best_tree(const double[:, ::1] arcs, bint single_root):
    """Heads of the highest-scoring tree."""
    cdef int n = arcs.shape[0] - 1
    found = np.full(n + 1, -1, dtype=np.int32)
    cdef int[::1] heads = found
    cdef Contraction contraction = workspaces.take(Contraction)
    cdef bint spanned
    try:
        with nogil:
            contraction.prepare(n)
            spanned = contraction.tree(&arcs[0, 0], single_root, &heads[0])
    except MemoryError:
        raise out_of_memory(n, contraction.memory.bytes()) from None
    contraction.memory.release(KEEP)
    workspaces.give_back(contraction)
    if not spanned:
        raise arguments.no_derivation()
    return found


cdef enum:
    BLOCK = 128  # rows that are transposed together


@cython.final
cdef class Contraction:
    """The nodes 0 to n and, numbered after these, the contracted ones."""

    cdef int prepare(self, int n) except -1 nogil:
        """Make room for a sentence of n words."""
        self.n = n
        self.entering = self.memory.allocate((2 * <size_t> n + 1) * (n + 1))
        self.whole.resize(2 * n + 1)
        self.head.resize(2 * n + 1)
        self.best.resize(2 * n + 1)
        self.states.resize(2 * n + 1)
        self.top.resize(n + 1)

    cdef bint tree(self, const double* arcs, bint single_root, int* heads) except -1 nogil:
        """Find the heads of the highest-scoring tree; False if there is none. arcs: (n+1, n+1), of the n that is prepared."""
        cdef int word, roots = 0
        heads[0] = -1
        if not self.span(arcs, single_root):
            return False
        self.expand(heads)
        for word in range(1, self.n + 1):
            roots += heads[word] == 0
        return roots == 1 or not single_root

    cdef double* row(self, int node) noexcept nogil:
        return self.entering + <size_t> node * (self.n + 1)

    cdef bint span(self, const double* arcs, bint single_root) except -1 nogil:
        """Take an arc for every node; False if some node has none."""
        cdef int n = self.n, h, m, word, node, first, last
        self.nodes = n + 1
        first = 1
        while first <= n:  # in blocks: if all rows were begun at once, the system would have to clear all their pages
            last = min(first + BLOCK, n + 1)
            for h in range(n + 1):
                self.watch.after(4 * BLOCK)
                for m in range(first, last):
                    self.row(m)[h] = arcs[<size_t> h * (n + 1) + m]
            first = last
        for m in range(n + 1):
            self.row(m)[m] = -INFINITY
            self.top[m] = m
            self.whole[m] = 0
            self.states[m] = NEW
        self.states[0] = DONE
        self.path.clear()
        for word in range(1, n + 1):
            node = self.top[word]
            while self.states[node] != DONE:  # it is new, or a contraction that ends the path
                if self.states[node] == NEW:
                    self.states[node] = ON_PATH
                    self.path.push_back(node)
                self.watch.after(2 * n)
                if not self.take(node, single_root):
                    return False
                h = self.top[self.head[node]]
                if self.states[h] == ON_PATH:
                    h = self.contract(h)
                node = h
            for node in self.path:
                self.states[node] = DONE
            self.path.clear()
        return True

    cdef bint take(self, int node, bint single_root) noexcept nogil:
        """Take the best arc that enters a node; False if there is none."""
        cdef const double* row = self.row(node)
        cdef double best = -INFINITY
        cdef int h, head = 0
        for h in range(1, self.n + 1):
            if row[h] > best:
                best = row[h]
                head = h
        if row[0] > best and not (single_root and head):
            best = row[0]
            head = 0
        self.best[node] = best
        self.head[node] = head
        return best > -INFINITY

    cdef int contract(self, int last) except -1 nogil:
        """Contract the cycle at the end of the path, back to this node, to a new node, and return that."""
        cdef int new = self.nodes, member = -1, h
        cdef double* row = self.row(new)
        self.nodes += 1
        self.whole[new] = 0
        for h in range(self.n + 1):
            row[h] = -INFINITY
        while member != last:
            member = self.path.back()
            self.path.pop_back()
            self.watch.after(self.n)
            self.whole[member] = new
            enter(row, self.row(member), self.best[member], self.n + 1)
        for h in range(1, self.n + 1):
            if self.whole[self.top[h]] == new:
                self.top[h] = new
                row[h] = -INFINITY
        self.states[new] = ON_PATH
        self.path.push_back(new)
        return new

    cdef int expand(self, int* heads) except -1 nogil:
        """Expand the contracted nodes: the arc that enters one replaces that of the member it enters."""
        cdef int node, member, entered, h
        cdef double value, best
        for node in range(self.nodes - 1, self.n, -1):
            self.watch.after(4 * node)
            h = self.head[node]
            best = -INFINITY
            entered = -1
            for member in range(1, node):
                if self.whole[member] == node:
                    value = self.row(member)[h] - self.best[member]
                    if value > best:
                        best = value
                        entered = member
            if entered < 0:
                lost()
            self.head[entered] = h
        for node in range(1, self.n + 1):
            heads[node] = self.head[node]
        return 0


cdef void enter(Row row, const double* member, double best, int count) noexcept nogil:
    cdef int h
    for h in range(count):
        row[h] = max(row[h], member[h] - best)
