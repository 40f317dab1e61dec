"""All items of the MH4 decoder, in O(n^4) time and O(n^3) memory, laid out for vector instructions.

The recurrences are those of deduction.pyx; the innermost loops are in inner_loops.h. Those of one tree are in tree_items.hpp.
"""

cimport cython
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.replay cimport LA, LA2, LAp, RA, RA2, RAp, SH, Scores
from mh4.decoders.shared.search cimport Search, Step, TreeChart, TreeSearch, by_combine

cdef extern from *:
    ctypedef float* Row "float *__restrict"  # a row that overlaps no other argument, so that loops vectorise

cdef extern from "tree_items.hpp":
    pass
cdef extern from "tree_search.hpp" nogil:
    cdef cppclass OwnSearch "one_tree::TreeSearchOf<one_tree::MH4Items>"(TreeSearch):
        pass

cdef extern from "inner_loops.h" nogil:
    enum:
        LANES
    float maximum(float a, float b)
    float link2(const float* column, const float* la_from, const float* la_to, const float* ra_from, const float* ra_to,
                int count)
    void link3 "link3<false>"(
        float** tj, float* tk, const float* t2k, const float* tjk, const float* links_k, const float* links_j,
        const float* left, const float* right, const float* ra2, const float* rap, const float* row_ra2,
        const float* row_rap, int first_j, int k, int start, int count)
    void link3_by_head "link3<true>"(
        float** tj, float* tk, const float* t2k, const float* tjk, const float* links_k, const float* links_j,
        const float* left, const float* right, const float* ra2, const float* rap, const float* row_ra2,
        const float* row_rap, int first_j, int k, int start, int count)


VECTOR = LANES  # floats in a vector register of the target processor


@cython.final
cdef class FullChart(Search):
    """All items, for i from n down and, for each i, k from i+1 up; all items that start further right are then known.

    At k, every [i,j,k] is final, since it is made by Combine at j and by Link at j or the removed node, whichever is later, and both
    come before k. So these items are linked to [i,k]. Then the items [i,k,l] begin by Combine, and for all j < k < l, [i,j,k,l] is
    computed by Combine from [i,j,k] and [k,l] or [i,j] and [j,k,l], and pushed by Link to [i,j,l] and [i,k,l]; it is not stored.

    Rows run over l, the last node of an item: from the multiple of LANES at or below the first possible l, with -inf
    before that l and beyond the sentence. As [j,k,l] is read for one k and all j and l, tables by three nodes are indexed
    k, j, l: the rows read one after the other are adjacent. Scores that do not depend on i, those of the best Link of [i,j,k,l]
    by an arc from j, k or l to k and to j, are tabulated first (also for arcs from i, if their scores do not depend on i). That
    leaves a few additions and maxima for every i, j, k and l.

    Node 0 can only be the start of an item. The last transition of every derivation is RA, from 0, and no other transition leads to
    [0,n+1]. So a derivation with a single root is one that has no arc from 0 before that.
    """

    cdef int n, stride
    cdef size_t volume         # of a table by three nodes
    cdef bint by_head          # arcs from i are not in the tables, as their scores depend on i
    cdef vector[size_t] place  # of l = 0 in the row of [0,k,l] in the tables by three nodes
    cdef vector[float*] rows   # [i,j,l] for the current i, by j
    # tables by three nodes
    cdef float* t3             # [i,k,l] at k, i, l
    cdef float* links_k        # the best score of RA, LA and, unless by_head, RA2 of k in [i,j,k,l], at k, j, l
    cdef float* links_j        # that of LA', LA2 and, unless by_head, RA' of j
    # tables by two nodes: rows of `stride`
    cdef float* t2             # [i,l] at i, l
    cdef float* s0b0           # six rows at s0, by b0
    cdef float* la_to          # LA of j by l in [i,j,l] at l, j: the terms that depend on j and l
    cdef float* ra_to          # RA of j by i in [i,j,l]: the same
    cdef float* shifts         # shift[j,k] at k, j
    cdef float* ra2_to         # RA2 of k in [i,j,k,l] at k, j: the terms that depend on j and k
    cdef float* rap_to         # RA' of j in [i,j,k,l]: the same
    cdef float* arcs_to        # the score of an arc at dependent, head
    # tables by one node, for the current i, or i and k
    cdef float* la_from        # LA of j by l in [i,j,l] at j: the terms that depend on i and j
    cdef float* ra_from        # RA of j by i in [i,j,l]: the same
    cdef float* arcs_from      # the score of i->j at j
    cdef float* column         # [i,j,k] at j
    cdef float* left           # [i,j,k] + shift[j,k] at j
    cdef float* right          # [i,j] + shift[i,j] at j
    cdef float* ra2            # RA2 of k in [i,j,k,l] at j: the terms that depend on i, j and k
    cdef float* rap            # RA' of j in [i,j,k,l]: the same

    cdef int prepare(self) except -1 nogil:
        cdef int n = self.scores.n, k
        cdef size_t stride = (n + 1 + LANES) // LANES * LANES
        self.n = n
        self.stride = stride
        self.by_head = self.single or self.scores.by_arc  # with a single root, arcs from i are forbidden for i = 0 only
        self.place.resize(n + 1)
        self.rows.resize(n + 1)
        self.volume = 0
        for k in range(n + 1):
            self.place[k] = self.volume - row_start(k)
            self.volume += k * (stride - row_start(k))
        return Search.prepare(self)

    cdef void arrange(self) noexcept nogil:
        cdef size_t stride = self.stride, square = (self.n + 2) * stride
        self.t3 = self.floats(self.volume)
        self.links_k = self.floats(self.volume)
        self.links_j = self.floats(self.volume)
        self.t2 = self.floats(square)
        self.s0b0 = self.floats(6 * square)
        self.la_to = self.floats(square)
        self.ra_to = self.floats(square)
        self.shifts = self.floats(square)
        self.ra2_to = self.floats(square)
        self.rap_to = self.floats(square)
        self.arcs_to = self.floats(square)
        self.la_from = self.floats(stride)
        self.ra_from = self.floats(stride)
        self.arcs_from = self.floats(stride)
        self.column = self.floats(stride)
        self.left = self.floats(stride)
        self.right = self.floats(stride)
        self.ra2 = self.floats(stride)
        self.rap = self.floats(stride)

    cdef size_t at(self, int j, int k) noexcept nogil:
        """The position of l = 0 in the row of [j,k,l] in the tables by three nodes."""
        return self.place[k] + <size_t> j * (self.stride - row_start(k))

    cdef float* row(self, float* table, int x) noexcept nogil:
        """The row of x in a table by two nodes."""
        return table + <size_t> x * self.stride

    cdef float* row_s0b0(self, int code, int s0) noexcept nogil:
        return self.row(self.s0b0, 6 * s0 + code - LA)

    cdef bint fill(self) except -1 nogil:
        cdef int i
        self.tabulate()
        for i in range(self.n, -1, -1):
            self.fill_plane(i)
        return self.t2[self.n + 1] > -INFINITY and not (self.single and self.n == 0)

    cdef int tabulate(self) except -1 nogil:
        """Lay out the scores as the loops read them; the score of an arc is added where its head and dependent are known."""
        cdef const Scores* scores = &self.scores
        cdef int n = self.n, start, code, h, m, j, k, l
        cdef float reduces[6]
        cdef float* row
        for m in range(1, n + 1):
            row = self.row(self.arcs_to, m)
            for h in range(self.stride):
                row[h] = scores.of_arc(h, m) if h <= n else 0
        for k in range(1, n + 1):
            self.watch.after(k * (n - k + LANES))
            start = row_start(k)
            for code in range(LA, RA2 + 1):
                row = self.row_s0b0(code, k)
                for l in range(start, n + 2):
                    row[l] = scores.on_s0b0(code, k, l)
                for l in range(n + 2, self.stride):
                    row[l] = 0
            row = self.row_s0b0(LA, k)
            for l in range(start, n + 1):
                row[l] += self.row(self.arcs_to, k)[l]
            row[n + 1] = self.row_s0b0(LA2, k)[n + 1] = -INFINITY  # the end of the sentence cannot be a head
            for l in range(k + 1, n + 2):
                self.row(self.la_to, l)[k] = row[l]
                self.row(self.ra_to, l)[k] = self.row_s0b0(RA, k)[l]
            self.row(self.shifts, k)[0] = scores.of_shift(0, k)
            for j in range(1, k):
                for code in range(LA, RA2 + 1):
                    reduces[code - LA] = scores.on_s1s0(code, j, k)
                reduces[RA - LA] += self.row(self.arcs_to, k)[j]
                reduces[LAp - LA] += self.row(self.arcs_to, j)[k]
                self.row(self.shifts, k)[j] = scores.of_shift(j, k)
                self.row(self.ra2_to, k)[j] = reduces[RA2 - LA]
                self.row(self.rap_to, k)[j] = reduces[RAp - LA]
                links(self.links_k + self.at(j, k) + start, self.links_j + self.at(j, k) + start,
                      self.row_s0b0(LA, k) + start, self.row(self.arcs_to, j) + start, reduces, self.by_head,
                      self.stride, self.stride - start)
        return 0

    cdef int fill_plane(self, int i) except -1 nogil:
        """All items starting with i."""
        cdef int n = self.n, j, k, l
        cdef float* t2 = self.row(self.t2, i)
        cdef bint forbidden = self.single and i == 0  # arcs from i
        for l in range(row_start(i), self.stride):
            t2[l] = -INFINITY
        t2[i + 1] = 0
        for j in range(i + 1, n + 1):
            self.rows[j] = self.t3 + self.at(i, j)
            self.arcs_from[j] = -INFINITY if forbidden else self.row(self.arcs_to, j)[i]
            self.la_from[j] = self.scores.on_s1s0(LA, i, j)
            self.ra_from[j] = self.scores.on_s1s0(RA, i, j) + self.arcs_from[j]
        for k in range(i + 1, n + 2):
            # Link [i,j,k] to [i,k]
            for j in range(i + 1, k):
                self.column[j] = self.rows[j][k]
            if forbidden and k > n:  # only the last transition, which leads to [0,n+1], may make an arc from 0
                for j in range(1, k):
                    self.ra_from[j] = self.scores.on_s1s0(RA, 0, j) + self.row(self.arcs_to, j)[0]
            if k > i + 1:
                t2[k] = link2(self.column + i + 1, self.la_from + i + 1, self.row(self.la_to, k) + i + 1,
                              self.ra_from + i + 1, self.row(self.ra_to, k) + i + 1, k - i - 1)
            if k > n:
                return 0
            self.watch.after((k - i) * (n - k + LANES))
            self.right[k] = t2[k] + self.row(self.shifts, k)[i]
            self.link(i, k)

    cdef void link(self, int i, int k) noexcept nogil:
        """Start the row of [i,k,l], and push all [i,j,k,l] to [i,j,l] and [i,k,l]."""
        cdef int start = row_start(k), count = self.stride - start
        cdef size_t at = self.at(i + 1, k) + start
        # [i,k,l] by Combine: [i,k] + shift[i,k], which is right[k], + [k,l]
        add(self.rows[k] + start, self.row(self.t2, k) + start, self.right[k], count)
        # [i,j,k,l] by Combine, left[j] + [k,l] or right[j] + [j,k,l], and then by Link [i,j,l] and [i,k,l]
        add2(self.left + i + 1, self.column + i + 1, self.row(self.shifts, k) + i + 1, k - i - 1)
        if self.by_head:
            add(self.ra2 + i + 1, self.row(self.ra2_to, k) + i + 1, self.arcs_from[k], k - i - 1)
            add2(self.rap + i + 1, self.row(self.rap_to, k) + i + 1, self.arcs_from + i + 1, k - i - 1)
            link3_by_head(self.rows.data(), self.rows[k] + start, self.row(self.t2, k) + start, self.t3 + at,
                          self.links_k + at, self.links_j + at, self.left, self.right, self.ra2, self.rap,
                          self.row_s0b0(RA2, k) + start, self.row_s0b0(RAp, k) + start, i + 1, k, start, count)
        else:
            link3(self.rows.data(), self.rows[k] + start, self.row(self.t2, k) + start, self.t3 + at,
                  self.links_k + at, self.links_j + at, self.left, self.right, NULL, NULL,
                  NULL, NULL, i + 1, k, start, count)

    cdef float item2(self, int i, int l) noexcept nogil:
        return self.row(self.t2, i)[l]

    cdef float item3(self, int i, int j, int l) noexcept nogil:
        return self.t3[self.at(i, j) + l]

    cdef float item4(self, int i, int j, int k, int l) noexcept nogil:
        return self.step4(i, j, k, l).score

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        by_combine(&best, self.item2(i, j) + self.scores.of_shift(i, j) + self.item3(j, k, l), 2)
        by_combine(&best, self.item3(i, j, k) + self.scores.of_shift(j, k) + self.item2(k, l), 3)
        return best


cdef inline int row_start(int k) noexcept nogil:
    """The start of rows over l > k."""
    return (k + 1) // LANES * LANES


cdef void links(Row links_k, Row links_j, const float* s0b0, const float* arcs_to_j, const float* s1s0, bint by_head,
                int stride, int count) noexcept nogil:
    """Links of j and k over l, from the six rows of k and the scores on j and k."""
    cdef float la = s1s0[0], ra = s1s0[RA - LA], lap = s1s0[LAp - LA]
    cdef float rap = s1s0[RAp - LA], la2 = s1s0[LA2 - LA], ra2 = s1s0[RA2 - LA]
    cdef const float* row_la = s0b0
    cdef const float* row_ra = s0b0 + stride
    cdef const float* row_lap = s0b0 + 2 * stride
    cdef const float* row_rap = s0b0 + 3 * stride
    cdef const float* row_la2 = s0b0 + 4 * stride
    cdef const float* row_ra2 = s0b0 + 5 * stride
    cdef int l
    for l in range(count):
        links_k[l] = maximum(ra + row_ra[l], la + row_la[l])
        links_j[l] = maximum(lap + row_lap[l], la2 + row_la2[l] + arcs_to_j[l])
    if not by_head:
        for l in range(count):
            links_k[l] = maximum(links_k[l], ra2 + row_ra2[l])
            links_j[l] = maximum(links_j[l], rap + row_rap[l])


cdef void add(Row total, const float* row, float value, int count) noexcept nogil:
    cdef int x
    for x in range(count):
        total[x] = row[x] + value


cdef void add2(Row total, const float* a, const float* b, int count) noexcept nogil:
    cdef int x
    for x in range(count):
        total[x] = a[x] + b[x]


@cython.final
cdef class MH4TreeChart(TreeChart):
    cdef OwnSearch own

    def __cinit__(self):
        self.tree = &self.own
