"""The items of the MH4 decoder in derivations of one given tree, used in training to find gold's best derivation."""

cimport cython
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport KEEP, make_room
from mh4.decoders.mh4.chart cimport Chart, Step, better
from mh4.decoders.shared.dependents cimport Dependents, Outside
from mh4.decoders.shared.replay cimport LA, LA2, LAp, RA, RA2, RAp, SH

cdef extern from "lanes.h" nogil:
    float maximum(float a, float b)


cdef struct Span:
    Step best              # [i,l]
    size_t begin, end      # the items [i,j,l] are t3[begin] to t3[end - 1]


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
    cdef Span* spans                    # at i, l
    cdef vector[Item] t3

    cdef void arrange(self) noexcept nogil:
        self.spans = <Span*> self.memory.take(self.at(self.scores.side, 0) * sizeof(Span))

    cdef void release(self) noexcept nogil:
        Chart.release(self)
        if self.t3.capacity() * sizeof(Item) > KEEP:
            vector[Item]().swap(self.t3)

    cdef double bytes_needed(self) noexcept nogil:
        return Chart.bytes_needed(self) + self.t3.size() * sizeof(Item)

    cdef size_t at(self, int i, int l) noexcept nogil:
        return <size_t> i * self.scores.side + l

    cdef bint fill(self) except -1 nogil:
        cdef Step underived = Step(SH, 0, False, -INFINITY)
        cdef int n = self.scores.n, i, j, l, code
        cdef Outside outside
        cdef size_t x
        cdef Span* span
        self.dependents.find(self.heads, n)
        self.t3.clear()
        for i in range(n, -1, -1):
            self.spans[self.at(i, i + 1)].best = Step(SH, 0, False, 0)
            outside = Outside()
            for l in range(i + 2, n + 2):
                self.watch.after(20)
                span = &self.spans[self.at(i, l)]
                span.best = underived
                self.dependents.extend(outside, i, l)
                span.begin = span.end = self.t3.size()
                if outside.count == 1:
                    self.add(i, outside.sum, l)
                elif outside.count == 0:
                    for j in self.dependents.of(i):
                        self.add(i, j, l)
                    for j in self.dependents.of(l):
                        self.add(i, j, l)
                    for x in range(span.begin, span.end):
                        j = self.t3[x].j
                        code = RA if self.heads[j] == i else LA
                        better(&span.best, self.t3[x].best.score + self.scores.of_reduce(code, -1, -1, i, j, l),
                               code, j, False)
        return self.spans[n + 1].best.score > -INFINITY

    cdef int add(self, int i, int j, int l) except -1 nogil:
        """Add [i,j,l] to the list of i..l if j lies between them and the item can be derived."""
        cdef Item new
        if not i < j < l:
            return 0
        new.j = j
        new.best = Step(SH, 0, False, self.spans[self.at(i, j)].best.score + self.spans[self.at(j, l)].best.score
                        + self.scores.of_shift(i, j))
        self.link_dependents(&new.best, i, i, j, l)
        self.link_dependents(&new.best, j, i, j, l)
        self.link_dependents(&new.best, l, i, j, l)
        if new.best.score > -INFINITY:
            make_room(self.t3, 1)
            self.t3.push_back(new)
            self.spans[self.at(i, l)].end += 1
        return 0

    cdef int link_dependents(self, Step* best, int head, int i, int j, int l) except -1 nogil:
        """Link the dependents of `head`, one of i, j and l, to derive [i,j,l]."""
        cdef int k, code
        cdef bint splits_at_k
        cdef float score
        for k in self.dependents.of(head):
            self.watch.after(l - i)
            if j < k < l:
                code = RA2 if head == i else RA if head == j else LA
                score = self.score4(i, j, k, l, &splits_at_k) + self.scores.of_reduce(code, -1, i, j, k, l)
            elif i < k < j:
                code = RAp if head == i else LAp if head == j else LA2
                score = self.score4(i, k, j, l, &splits_at_k) + self.scores.of_reduce(code, -1, i, k, j, l)
            else:
                continue
            better(best, score, code, k, splits_at_k)
        return 0

    cdef float score4(self, int i, int j, int k, int l, bint* splits_at_k) noexcept nogil:
        """[i,j,k,l]"""
        cdef float left = self.step3(i, j, k).score + self.scores.of_shift(j, k) + self.spans[self.at(k, l)].best.score
        cdef float right = self.spans[self.at(i, j)].best.score + self.scores.of_shift(i, j) + self.step3(j, k, l).score
        splits_at_k[0] = left > right
        return maximum(left, right)

    cdef Step step2(self, int i, int l) noexcept nogil:
        return self.spans[self.at(i, l)].best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        cdef size_t x
        cdef const Span* span = &self.spans[self.at(i, l)]
        for x in range(span.begin, span.end):
            if self.t3[x].j == j:
                return self.t3[x].best
        return Step(SH, 0, False, -INFINITY)
