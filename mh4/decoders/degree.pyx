"""The smallest k such that MH_k derives a tree, in O(n^3) time for any k."""

from libcpp.vector cimport vector

from mh4.decoders.memory import out_of_memory


def smallest_k(const int[::1] heads):
    """The smallest k >= 3 whose MH_k derives the tree; heads: int32 (n+1,), a valid tree (not checked).

    It is always safe to Link as early as possible: an item head that has all its dependents only makes items larger. Then
    however [i,...,l] was derived, the words missing from it are the same: those whose subtree lies strictly between i and l
    and whose head lies between them or is one of them. So every span has one item, of some size [i,l], and MH_k derives
    it iff for some x in between, size [i,x] + size [x,l] - 1 <= k and MH_k derives both parts.
    """
    cdef int n = heads.shape[0] - 1, i, l, x, w, h, needed, best
    cdef size_t side = n + 2
    cdef vector[int] low, high, size, smallest
    try:
        low.resize(n + 1)
        high.resize(n + 1)
        size.resize(side * side, 0)
        smallest.resize(side * side, 0)
    except MemoryError:
        raise out_of_memory(n, 2 * side * side * sizeof(int)) from None
    with nogil:
        for w in range(n + 1):
            low[w] = high[w] = w
        for w in range(1, n + 1):  # the extent of every subtree
            h = heads[w]
            while h > 0:
                low[h] = minimum(low[h], w)
                high[h] = maximum(high[h], w)
                h = heads[h]
        # size[i,l] first counts the words linked inside i..l: those with i <= low and high <= l
        for w in range(1, n + 1):
            size[minimum(low[w] - 1, heads[w]) * side + maximum(high[w] + 1, heads[w])] += 1
        for i in range(n, -1, -1):
            for l in range(i + 1, n + 2):
                size[i * side + l] += (size[i * side + l - 1] + size[(i + 1) * side + l]
                                       - size[(i + 1) * side + l - 1])
        for i in range(n, -1, -1):
            smallest[i * side + i + 1] = 3
            for l in range(i + 2, n + 2):
                best = n + 3
                for x in range(i + 1, l):
                    needed = (x - i + 1 - size[i * side + x]) + (l - x + 1 - size[x * side + l]) - 1
                    needed = maximum(needed, maximum(smallest[i * side + x], smallest[x * side + l]))
                    best = minimum(best, needed)
                smallest[i * side + l] = best
    return smallest[n + 1]


cdef inline int minimum(int a, int b) noexcept nogil:  # not min(), which Cython gets wrong for elements of a vector
    return a if a < b else b


cdef inline int maximum(int a, int b) noexcept nogil:
    return a if a > b else b
