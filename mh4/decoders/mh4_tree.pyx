"""The items of the MH4 decoder in derivations of one given tree, used in training to find gold's best derivation."""

cimport cython
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.mh4_chart cimport Chart, Step, better, reduce_score
from mh4.decoders.replay cimport LA, LA2, LAp, RA, RA2, RAp, SH, shift_score

cdef extern from "lanes.h" nogil:
    float maximum(float a, float b)


cdef extern from "dependents.h" nogil:
    cppclass Dependents:
        vector[int] list, first  # of h: list[first[h]] to list[first[h + 1] - 1], in increasing order
        void find(const int* heads, int n) except +


cdef struct Item:  # [i,j,l], in the list of its span i..l
    int j
    Step best


@cython.final  # so that its methods are compiled into their callers
cdef class TreeChart(Chart):
    """Only the items in derivations of one tree: every Link makes an arc of the tree.

    There are few of these. In an item [i,j,l] every other word between i and l has been removed. Its head is inside the span,
    so at most one word between i and l has a head outside, and if there is one, it is j. Otherwise the head of j is i or l,
    since a word that has been removed cannot be a head any more.
    """

    cdef Dependents dependents
    cdef vector[Step] t2                # at i, l
    cdef vector[int] begin, end         # at i, l: the items [i,j,l] are t3[begin] to t3[end - 1]
    cdef vector[Item] t3

    cdef double bytes_needed(self) noexcept:
        cdef double spans = <double> self.scores.side * self.scores.side
        return spans * (sizeof(Step) + 2 * sizeof(int)) + self.t3.size() * sizeof(Item)

    cdef size_t at(self, int i, int l) noexcept nogil:
        return <size_t> i * self.scores.side + l

    cdef bint fill(self) except -1 nogil:
        cdef Step underived = Step(SH, 0, False, -INFINITY)
        cdef int n = self.scores.n, i, j, l, x, outside, which, code
        cdef size_t side = self.scores.side, span
        self.dependents.find(self.heads, n)
        self.t3.clear()
        self.t2.clear()
        self.t2.resize(side * side, underived)
        self.begin.resize(side * side)
        self.end.resize(side * side)
        for i in range(n, -1, -1):
            self.t2[i * side + i + 1].score = 0
            outside = which = 0  # words between i and l with a head outside i..l: their number and their sum
            for l in range(i + 2, n + 2):
                span = i * side + l
                if self.heads[l - 1] < i or self.heads[l - 1] > l:
                    outside += 1
                    which += l - 1
                for x in range(self.dependents.first[l], self.dependents.first[l + 1]):
                    j = self.dependents.list[x]
                    if i < j < l - 1:
                        outside -= 1
                        which -= j
                self.begin[span] = self.end[span] = self.t3.size()
                if outside == 1:
                    self.add(i, which, l)
                elif outside == 0:
                    for x in range(self.dependents.first[i], self.dependents.first[i + 1]):
                        self.add(i, self.dependents.list[x], l)
                    for x in range(self.dependents.first[l], self.dependents.first[l + 1]):
                        self.add(i, self.dependents.list[x], l)
                    for x in range(self.begin[span], self.end[span]):
                        j = self.t3[x].j
                        code = RA if self.heads[j] == i else LA
                        better(&self.t2[span], self.t3[x].best.score + reduce_score(&self.scores, code, -1, i, j, l),
                               code, j, False)
        return self.t2[n + 1].score > -INFINITY

    cdef int add(self, int i, int j, int l) except -1 nogil:
        """Add [i,j,l] to the list of i..l if j lies between them and the item can be derived."""
        cdef Item new
        if not i < j < l:
            return 0
        new.j = j
        new.best = Step(SH, 0, False, self.t2[self.at(i, j)].score + self.t2[self.at(j, l)].score
                        + shift_score(&self.scores, i, j))
        self.link_dependents(&new.best, i, i, j, l)
        self.link_dependents(&new.best, j, i, j, l)
        self.link_dependents(&new.best, l, i, j, l)
        if new.best.score > -INFINITY:
            self.t3.push_back(new)
            self.end[self.at(i, l)] += 1

    cdef void link_dependents(self, Step* best, int head, int i, int j, int l) noexcept nogil:
        """Link the dependents of `head`, one of i, j and l, to derive [i,j,l]."""
        cdef int x, k, code
        cdef bint splits_at_k
        cdef float score
        for x in range(self.dependents.first[head], self.dependents.first[head + 1]):
            k = self.dependents.list[x]
            if j < k < l:
                code = RA2 if head == i else RA if head == j else LA
                score = self.score4(i, j, k, l, &splits_at_k) + reduce_score(&self.scores, code, i, j, k, l)
            elif i < k < j:
                code = RAp if head == i else LAp if head == j else LA2
                score = self.score4(i, k, j, l, &splits_at_k) + reduce_score(&self.scores, code, i, k, j, l)
            else:
                continue
            better(best, score, code, k, splits_at_k)

    cdef float score4(self, int i, int j, int k, int l, bint* splits_at_k) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.step3(i, j, k).score + shift_score(&self.scores, j, k) + self.t2[self.at(k, l)].score
        cdef float right = self.t2[self.at(i, j)].score + shift_score(&self.scores, i, j) + self.step3(j, k, l).score
        splits_at_k[0] = left > right
        return maximum(left, right)

    cdef Step step2(self, int i, int l) noexcept nogil:
        return self.t2[self.at(i, l)]

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef int x
        cdef size_t span = self.at(i, l)
        for x in range(self.begin[span], self.end[span]):
            if self.t3[x].j == j:
                return self.t3[x].best
        return Step(SH, 0, False, -INFINITY)
