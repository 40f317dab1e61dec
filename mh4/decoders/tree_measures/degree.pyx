"""The smallest k such that MH_k derives a tree, in O(n^3) time for any k."""

from libcpp.vector cimport vector

from mh4.decoders.shared.arguments cimport checked_tree
from mh4.decoders.shared.chart_memory cimport Memory
from mh4.decoders.shared.signals cimport Watch
from mh4.decoders.tree_measures.extremes cimport maximum, minimum

from mh4.decoders.shared.memory import out_of_memory


def smallest_k(heads):
    """The smallest k >= 3 whose MH_k derives the tree; heads: int array (n+1,), a tree.

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
