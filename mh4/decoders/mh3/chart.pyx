"""The arc-hybrid decoder: MH3, all projective trees, in O(n^3) time and O(n^2) memory.

Items are [i,j]: a computation that puts i on top of the stack and ends with j as the first buffer element
(Kuhlmann, Gómez-Rodríguez & Satta, ACL 2011; Section 3 of the MH4 paper). With the shift scored where two items
combine, together with the reduce that always follows,

    [i,l] = max over i<j<l of  [i,j] + shift[i,j] + [j,l] + max(LA[j,l] + arc l->j, RA[j,l] + arc i->j).
"""

cimport cython
from libc.math cimport INFINITY

from mh4.decoders.shared.replay cimport LA, RA, SH, Scores
from mh4.decoders.shared.search cimport Search, Step, TreeChart, TreeSearch, by_link

cdef extern from "tree_items.hpp":
    pass
cdef extern from "tree_search.hpp" nogil:
    cdef cppclass OwnSearch "one_tree::TreeSearchOf<one_tree::MH3Items>"(TreeSearch):
        pass

cdef extern from *:
    ctypedef float* Row "float *__restrict"  # a row that overlaps no other argument, so that loops vectorise


cdef enum:
    BLOCK = 16  # nodes between looks for signals


@cython.final
cdef class Chart(Search):
    """The items [i,l] in rows i.

    The last transition of every derivation is RA, from 0, and no other transition leads to [0,n+1]. So a derivation
    with a single root is one that has no arc from 0 before that.
    """

    cdef float* t2             # [i,l] at i * side + l
    cdef float* left           # [j,l] + LA[j,l] + arc l->j: all that follows the shift of j if l becomes its head
    cdef float* right          # [j,l] + RA[j,l], still without the arc i->j

    cdef void arrange(self) noexcept nogil:
        self.t2 = self.floats(self.at(self.scores.side, 0))
        self.left = self.floats(self.at(self.scores.side, 0))
        self.right = self.floats(self.at(self.scores.side, 0))

    cdef float arc_from(self, int i, int dependent, int l) noexcept nogil:
        """The score of the arc i->dependent in deriving [i,l]."""
        return -INFINITY if self.single and i == 0 and l <= self.scores.n else self.scores.of_arc(i, dependent)

    cdef size_t at(self, int i, int l) noexcept nogil:
        return <size_t> i * self.scores.side + l

    cdef bint fill(self) except -1 nogil:
        cdef const Scores* scores = &self.scores
        cdef int n = scores.n, side = scores.side, i, j, l
        cdef float* items
        for i in range(n, -1, -1):
            items = &self.t2[self.at(i, 0)]
            for l in range(i + 1, side):
                items[l] = -INFINITY
            items[i + 1] = 0
            j = i + 1
            while j <= n:
                self.watch.after(BLOCK * (n - j))
                self.combine(i, j, min(j + BLOCK, n + 1))
                j += BLOCK
            for l in range(i + 1, side):
                self.right[self.at(i, l)] = items[l] + scores.on_s0b0(RA, i, l)
            for l in range(i + 1, n + 1):
                self.left[self.at(i, l)] = items[l] + scores.on_s0b0(LA, i, l) + scores.of_arc(l, i)
        return self.t2[self.at(0, n + 1)] > -INFINITY and not (self.single and n == 0)

    cdef void combine(self, int i, int first, int last) noexcept nogil:
        """[i,l] via each j from `first` to `last` - 1, for all l."""
        cdef int n = self.scores.n, j
        cdef float* items = &self.t2[self.at(i, 0)]
        cdef float before
        for j in range(first, last):
            before = items[j] + self.scores.of_shift(i, j)
            link(items + j + 1, &self.left[self.at(j, j + 1)], &self.right[self.at(j, j + 1)], before,
                 before + self.arc_from(i, j, n), n - j)
            # the end of the sentence cannot be a head
            items[n + 1] = maximum(items[n + 1], before + self.scores.of_arc(i, j) + self.right[self.at(j, n + 1)])

    cdef Step step2(self, int i, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef int j
        cdef float before
        for j in range(i + 1, l):
            before = self.t2[self.at(i, j)] + self.scores.of_shift(i, j)
            by_link(&best, before + self.arc_from(i, j, l) + self.right[self.at(j, l)], RA, j)
            if l <= self.scores.n:
                by_link(&best, before + self.left[self.at(j, l)], LA, j)
        return best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        return Step(SH, 0, 2, 0)  # [i,j] and [j,l]


cdef void link(Row items, const float* left, const float* right, float before, float before_arc, int count) noexcept nogil:
    """[i,l] via one j, for l from j+1 to n."""
    cdef int l
    for l in range(count):
        items[l] = maximum(items[l], maximum(before + left[l], before_arc + right[l]))


cdef inline float maximum(float a, float b) noexcept nogil:
    return a if a > b else b


@cython.final
cdef class MH3TreeChart(TreeChart):
    cdef OwnSearch own

    def __cinit__(self):
        self.tree = &self.own
