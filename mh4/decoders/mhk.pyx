"""The arc-factored decoder of MH_k for any k >= 3, in O(n^k) time and O(n^(k-1)) memory (Figure 2 of the paper).

    [h1,...,hm] = best of  Combine  [h1,...,hs] + [hs,...,hm],  1 < s < m
                           Link     [h1,...,x,...,hm] + arc h->x,  h one of h1,...,hm;      [i,i+1] = 0

Items of k heads are only used by Link and are not stored.
"""

import math
from collections.abc import Sequence

import numpy as np
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.arguments cimport checked_tree
from mh4.decoders.sentences cimport Memory, Watch

from mh4.decoders import arguments, mst
from mh4.decoders.derivation import Derivation
from mh4.decoders.memory import out_of_memory

cdef extern from "interface.hpp" nogil:
    void lost() except +


def decode(
    arcs: np.ndarray, k: int, *, cost: np.ndarray | None = None, heads: np.ndarray | None = None, single_root: bool = False
) -> Derivation:
    """Return the highest-scoring tree over n words that MH_k derives: projective for k = 3, as mh4 for k = 4, any tree for k = n+2.

    It takes O(n^k) time and O(n^(k-1)) memory (Figure 2).

    arcs: float32 or float64 (n+1, n+1), the score of head h and dependent m at [h, m]. k: int, at least 3.
    cost: the same, added for every arc. -inf or any number from -1e30 down forbids an arc.
    heads: int array (n+1,); if given, only trees with these heads are considered, -1 leaving the head of a word open.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the tree is just the root.
    Returns a Derivation with part "arcs" (n, 2), rows (head, dependent); it has no transitions.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if no tree in MH_k has these heads, or the single root required; MemoryError if the
    sentence is too long for the memory of the machine.
    """
    if not arguments.is_count(k, 3):
        raise ValueError(f"k: expected an integer of at least 3, got {k!r}")
    n = arguments.words("arcs", arcs, 1)
    heads, whole = arguments.given_heads(heads, n, single_root)
    if whole:
        found = heads if smallest_k(heads) <= k else None
    else:
        total = arguments.scores("arcs", arcs, (n + 1, n + 1)).astype(arguments.FLOAT64)
        if cost is not None:
            total += arguments.scores("cost", cost, total.shape)
        size = min(k, max(n + 2, 3))
        found = best_tree(total if heads is None else arguments.with_heads(total, heads), size, single_root)
    if found is None:
        possible = lambda: not whole and best_tree(arguments.with_heads(None, heads), size, single_root) is not None  # noqa: E731
        raise arguments.no_derivation(heads, k, possible)
    return mst.decode(arcs, cost=cost, heads=found)


def smallest_k(heads: np.ndarray | Sequence[int]) -> int:
    """Return the smallest k >= 3 such that MH_k derives the tree; heads: int array (n+1,), a tree.

    It is always safe to Link as early as possible: an item head that has all its dependents only makes items larger. Then
    however [i,...,l] was derived, the words missing from it are the same: those whose subtree lies strictly between i and l
    and whose head lies between them or is one of them. So every span has one item, of some size [i,l], and MH_k derives
    it iff for some x in between, size [i,x] + size [x,l] - 1 <= k and MH_k derives both parts.
    """
    cdef const int[::1] head = checked_tree(heads)
    cdef int n = head.shape[0] - 1, i, l, x, w, h, needed, best
    cdef size_t side = n + 2
    cdef vector[int] low, high
    cdef Memory[int] memory  # new, so all numbers are 0
    cdef int* size
    cdef int* smallest
    cdef Watch watch
    try:
        low.resize(n + 1)
        high.resize(n + 1)
        size = memory.allocate(2 * side * side)
    except MemoryError:
        raise out_of_memory(n, 2 * side * side * sizeof(int)) from None
    smallest = size + side * side
    with nogil:
        for w in range(n + 1):
            low[w] = high[w] = w
        for w in range(1, n + 1):  # the extent of every subtree
            h = head[w]
            watch.after(n)
            while h > 0:
                low[h] = minimum(low[h], w)
                high[h] = maximum(high[h], w)
                h = head[h]
        # size[i,l] first counts the words linked inside i..l: those with i <= low and high <= l
        for w in range(1, n + 1):
            size[minimum(low[w] - 1, head[w]) * side + maximum(high[w] + 1, head[w])] += 1
        for i in range(n, -1, -1):
            watch.after(4 * n)
            for l in range(i + 1, n + 2):
                size[i * side + l] += (size[i * side + l - 1] + size[(i + 1) * side + l]
                                       - size[(i + 1) * side + l - 1])
        for i in range(n, -1, -1):
            smallest[i * side + i + 1] = 3
            for l in range(i + 2, n + 2):
                watch.after(4 * (l - i))
                best = n + 3
                for x in range(i + 1, l):
                    needed = (x - i + 1 - size[i * side + x]) + (l - x + 1 - size[x * side + l]) - 1
                    needed = maximum(needed, maximum(smallest[i * side + x], smallest[x * side + l]))
                    best = minimum(best, needed)
                smallest[i * side + l] = best
    return smallest[n + 1]


cdef inline int minimum(int a, int b) noexcept nogil:  # min() and max() Cython gets wrong for elements of a vector
    return a if a < b else b


cdef inline int maximum(int a, int b) noexcept nogil:
    return a if a > b else b


cdef best_tree(const double[:, ::1] arcs, int k, bint single_root):
    """Return the heads of the highest-scoring tree in MH_k, k <= n+2 or 3; None if there is none."""
    needed = sizeof(double) * sum([math.comb(len(arcs) + 1, size) for size in range(2, k)])
    if needed >> 40:  # then the numbers of the items would soon overflow, too
        raise out_of_memory(len(arcs) - 1, needed)
    found = np.full(len(arcs), -1, dtype=np.int32)
    cdef Chart chart
    cdef int[::1] heads = found
    cdef bint derived
    try:
        chart = Chart(len(arcs) - 1, k, single_root)
        with nogil:
            derived = chart.fill(arcs)
            if derived:
                chart.trace(arcs, heads)
    except MemoryError:
        raise out_of_memory(len(arcs) - 1, needed) from None
    return found if derived else None


cdef class Chart:
    """The items of up to k-1 heads.

    With a single root, all words are below it and leave before it does: the only arc from 0 is the last, made by Link of [0,m,n+1].
    """

    cdef int n, k
    cdef bint single
    cdef Memory[double] memory
    cdef vector[double*] scores   # by number of heads, and rank
    cdef vector[size_t] binomial  # a over b, b <= k
    cdef Watch watch

    def __init__(self, int n, int k, bint single):
        cdef int a, b
        self.n, self.k, self.single = n, k, single
        self.binomial.resize((n + 3) * (k + 1), 0)
        for a in range(n + 3):
            self.binomial[a * (k + 1)] = 1
            for b in range(1, min(a, k) + 1):
                self.binomial[a * (k + 1) + b] = self.choose(a - 1, b - 1) + self.choose(a - 1, b)
        self.scores.resize(k)
        self.memory.start()
        self.arrange()
        self.memory.allocate()
        self.arrange()

    cdef void arrange(self) noexcept:
        cdef int size
        for size in range(2, self.k):
            self.scores[size] = self.memory.take(self.choose(self.n + 2, size))

    cdef size_t choose(self, int a, int b) noexcept nogil:
        return self.binomial[a * (self.k + 1) + b]

    cdef double* score(self, const int* item, int size, int without) noexcept nogil:
        """Return a pointer to the score of an item of `size` heads, omitting the one at index `without` (none if it is -1)."""
        cdef int x, m = 0
        cdef size_t rank = 0  # among the subsets of the nodes with m elements
        for x in range(size):
            if x != without:
                m += 1
                rank += self.choose(item[x], m)
        return &self.scores[m][rank]

    cdef double combine(self, const int* item, int size, int* split) noexcept nogil:
        cdef double value, best = -INFINITY
        cdef int x
        for x in range(1, size - 1):
            value = self.score(item, x + 1, -1)[0] + self.score(item + x, size - x, -1)[0]
            if value > best:
                best = value
                split[0] = x
        return best

    cdef bint fill(self, const double[:, ::1] arcs) except -1 nogil:
        """Find the score of every item; return whether the goal [0,n+1] was derived."""
        cdef vector[int] item
        cdef int i, l, size, x
        cdef size_t rank
        for size in range(2, self.k):
            for rank in range(self.choose(self.n + 2, size)):
                self.watch.after(1)
                self.scores[size][rank] = -INFINITY
        for i in range(self.n, -1, -1):
            for l in range(i + 1, self.n + 2):
                for size in range(min(self.k, l - i + 1), 1, -1):
                    item.resize(size)
                    item[size - 1] = l
                    for x in range(size - 1):
                        item[x] = i + x
                    self.reach(arcs, item.data(), size)
                    while next_item(item.data(), size):
                        self.reach(arcs, item.data(), size)
        return self.score(item.data(), 2, -1)[0] > -INFINITY and not (self.single and self.n == 0)

    cdef int reach(self, const double[:, ::1] arcs, int* item, int size) except -1 nogil:
        """Combine to an item, which completes it, since larger items of its span come first; then apply Link to it."""
        cdef int x, split, head
        cdef double value = 0 if size == 2 and item[1] == item[0] + 1 else self.combine(item, size, &split)
        self.watch.after(20 * size * size)
        if size < self.k:
            raise_to(self.score(item, size, -1), value)
            value = self.score(item, size, -1)[0]
        for x in range(1, size - 1):
            raise_to(self.score(item, size, x), value + self.link(arcs, item, size, x, &head))
        return 0

    cdef double link(self, const double[:, ::1] arcs, const int* item, int size, int removed, int* head) noexcept nogil:
        """Return the score of the best possible arc to item[removed] from another head, and write that head."""
        cdef double value, best = -INFINITY
        cdef bint last = item[0] == 0 and size == 3 and item[2] > self.n
        cdef int x
        for x in range(size):
            if x != removed and item[x] <= self.n and not (self.single and item[x] == 0 and not last):
                value = arcs[item[x], item[removed]]
                if value > best:
                    best = value
                    head[0] = item[x]
        return best

    cdef int trace(self, const double[:, ::1] arcs, int[::1] heads) except -1 nogil:
        """Unfold the goal, recomputing every maximum."""
        cdef vector[vector[int]] agenda
        cdef vector[int] item, larger, best_item
        cdef int x, y, split = 0, head = 0, best_head, removed, best_removed, size
        cdef double value, best
        item.push_back(0)
        item.push_back(self.n + 1)
        agenda.push_back(item)
        while agenda.size():
            item.swap(agenda.back())
            agenda.pop_back()
            size = item.size()
            if size == 2 and item[1] == item[0] + 1:
                continue
            best = self.combine(item.data(), size, &split)
            best_removed = -1
            larger.resize(size + 1)
            y = 1  # the index for a new head
            for removed in range(item[0] + 1, item[size - 1] if size < self.k else 0):
                if removed == item[y]:
                    y += 1
                    continue
                self.watch.after(20 * size * size)
                for x in range(size):
                    larger[x + (x >= y)] = item[x]
                larger[y] = removed
                value = self.value(larger) + self.link(arcs, larger.data(), size + 1, y, &head)
                if value > best:
                    best, best_removed, best_head = value, removed, head
                    best_item.assign(larger.begin(), larger.end())
            if best == -INFINITY:
                lost()
            if best_removed < 0:
                larger.assign(item.begin(), item.begin() + split + 1)
                agenda.push_back(larger)
                item.erase(item.begin(), item.begin() + split)
                agenda.push_back(item)
            else:
                heads[best_removed] = best_head
                agenda.push_back(best_item)

    cdef double value(self, vector[int]& item) noexcept nogil:
        cdef int split
        if item.size() < <size_t> self.k:
            return self.score(item.data(), item.size(), -1)[0]
        return self.combine(item.data(), item.size(), &split)


cdef inline void raise_to(double* score, double value) noexcept nogil:
    if value > score[0]:
        score[0] = value


cdef inline bint next_item(int* item, int size) noexcept nogil:
    """Advance the interior heads to their next combination between the outer two; False after the last."""
    cdef int x = size - 2
    while x > 0 and item[x] == item[size - 1] - (size - 1 - x):
        x -= 1
    if x <= 0:
        return False
    item[x] += 1
    for x in range(x + 1, size - 1):
        item[x] = item[x - 1] + 1
    return True
