"""The items of the MH5 decoder in derivations of one given tree, used in training to find gold's best derivation."""

from libc.math cimport INFINITY
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport KEEP, make_room
from mh4.decoders.mh5.chart cimport Chart, Step, better
from mh4.decoders.shared.dependents cimport Dependents
from mh4.decoders.shared.replay cimport LA, LA2, LA3, LAp, LApp, LApp2, RA, RA2, RA3, RAp, RAp2, RApp, SH
from mh4.decoders.shared.signals cimport Less


ctypedef pair[int, int] Inner  # j, k of [i,j,k,l]

cdef int[5][5] CODE  # of a reduce, by the positions of its dependent and head, counted from the end of the item: b0, s0, s1, ...
CODE[1][:] = [LA, SH, RA, RA2, RA3]
CODE[2][:] = [LA2, LAp, SH, RAp, RAp2]
CODE[3][:] = [LA3, LApp2, LApp, SH, RApp]

cdef struct Span:  # i..l
    Step best                   # [i,l]
    size_t begin, middle, end   # items[begin] to items[middle - 1] are the items [i,j,k,l], in the order of j, k; from there to
                                # items[end - 1] the items [i,j,l], in the order of j


cdef struct Item:  # [i,j,k,l], or [i,j,l] if k is 0
    int j, k
    Step best


cdef class TreeChart(Chart):
    """Only the items in derivations of one tree: every Link makes an arc of the tree.

    There are few of these. Words between i and l that are not heads of an item of the span i..l have found their heads in it. So
    words with a head outside the span are heads of the item, which must not be more than two; and those heads j, k of the item
    that have their head in the span have it among i, j, k and l.
    """

    cdef Dependents dependents
    cdef Span* spans                       # at i, l
    cdef vector[Item] items
    # of the current span
    cdef vector[int] outside               # words with a head outside the span, in increasing order
    cdef vector[int] inside                # dependents of i and l, in increasing order
    cdef vector[Inner] inner

    cdef double bytes_needed(self) noexcept nogil:
        return Chart.bytes_needed(self) + self.items.size() * sizeof(Item)

    cdef void arrange(self) noexcept nogil:
        self.spans = <Span*> self.memory.take(<size_t> self.scores.side * self.scores.side * sizeof(Span))

    cdef void release(self) noexcept nogil:
        Chart.release(self)
        if self.items.capacity() * sizeof(Item) > KEEP:
            vector[Item]().swap(self.items)

    cdef bint fill(self) except -1 nogil:
        cdef Step underived = Step(SH, 0, 0, -INFINITY)
        cdef int n = self.scores.n, i, l, x
        cdef Step made = Step(SH, 0, 0, 0)
        self.dependents.find(self.heads, n)
        self.items.clear()
        for i in range(n, -1, -1):
            self.span(i, i + 1)[0] = Span(made, 0, 0, 0)
            self.outside.clear()
            for l in range(i + 2, n + 2):
                if self.heads[l - 1] < i or self.heads[l - 1] > l:
                    self.outside.push_back(l - 1)
                for x in range(<int> self.outside.size() - 1, -1, -1):
                    if self.heads[self.outside[x]] == l:
                        self.outside.erase(self.outside.begin() + x)
                self.watch.after(20 + self.outside.size())
                self.span(i, l)[0] = Span(underived, self.items.size(), self.items.size(), self.items.size())
                self.fill_span(i, l, self.span(i, l))
        return self.span(0, n + 1).best.score > -INFINITY

    cdef int fill_span(self, int i, int l, Span* span) except -1 nogil:
        """All items of the span i..l: those with more heads first, as Link removes one."""
        cdef size_t x
        cdef int j, code
        if self.outside.size() > 2:
            return 0
        self.inside.clear()
        self.append_dependents(i, i, l)
        self.append_dependents(l, i, l)
        sort(self.inside.begin(), self.inside.end())
        self.list_inner(i, l)
        for x in range(self.inner.size()):
            self.add4(i, self.inner[x].first, self.inner[x].second, l)
        span.middle = span.end = self.items.size()
        if self.outside.size() == 1:
            self.add3(i, self.outside[0], l)
        elif self.outside.size() == 0:
            for x in range(self.inside.size()):
                self.add3(i, self.inside[x], l)
        span.end = self.items.size()
        if self.outside.size() == 0:
            for x in range(span.middle, span.end):
                j = self.items[x].j
                code = RA if self.heads[j] == i else LA
                better(&span.best, self.items[x].best.score + self.scores.of_reduce(code, -1, -1, i, j, l), code, j, 0)
        return 0

    cdef Span* span(self, int i, int l) noexcept nogil:
        return &self.spans[<size_t> i * self.scores.side + l]

    cdef int append_dependents(self, int head, int i, int l) except -1 nogil:
        """Append the dependents of `head` between i and l to `inside`."""
        cdef int word
        for word in self.dependents.of(head):
            if i < word < l:
                self.inside.push_back(word)
        return 0

    cdef int list_inner(self, int i, int l) except -1 nogil:
        """The possible j, k of the items [i,j,k,l]."""
        cdef size_t count = self.inside.size(), x, y
        self.inner.clear()
        if self.outside.size() == 2:
            self.inner.push_back(Inner(self.outside[0], self.outside[1]))
        elif self.outside.size() == 1:
            self.append_dependents(self.outside[0], i, l)
            for x in range(self.inside.size()):
                self.append_inner(self.inside[x], self.outside[0])
            self.inside.resize(count)
        else:
            for x in range(count):
                for y in range(x):
                    self.append_inner(self.inside[x], self.inside[y])
                self.append_dependents(self.inside[x], i, l)
                for y in range(count, self.inside.size()):
                    self.append_inner(self.inside[x], self.inside[y])
                self.inside.resize(count)
        sort(self.inner.begin(), self.inner.end(), Less(self.watch))
        return 0

    cdef int append_inner(self, int a, int b) except -1 nogil:
        self.watch.after(8)
        make_room(self.inner, 1)
        self.inner.push_back(Inner(min(a, b), max(a, b)))
        return 0

    cdef int add3(self, int i, int j, int l) except -1 nogil:
        """Append [i,j,l] if it can be derived."""
        cdef Item new
        cdef int[3] nodes
        nodes[0], nodes[1], nodes[2] = i, j, l
        new.j, new.k = j, 0
        new.best = Step(SH, 0, 2, self.item2(i, j) + self.scores.of_shift(i, j) + self.item2(j, l))
        self.link(&new.best, nodes, 3)
        if new.best.score > -INFINITY:
            make_room(self.items, 1)
            self.items.push_back(new)
        return 0

    cdef int add4(self, int i, int j, int k, int l) except -1 nogil:
        """Append [i,j,k,l] if it can be derived."""
        cdef Item new
        cdef int[4] nodes
        nodes[0], nodes[1], nodes[2], nodes[3] = i, j, k, l
        new.j, new.k = j, k
        new.best = Step(SH, 0, 3, self.item3(i, j, k) + self.scores.of_shift(j, k) + self.item2(k, l))
        better(&new.best, self.item2(i, j) + self.scores.of_shift(i, j) + self.item3(j, k, l), SH, 0, 2)
        self.link(&new.best, nodes, 4)
        if new.best.score > -INFINITY:
            make_room(self.items, 1)
            self.items.push_back(new)
        return 0

    cdef int link(self, Step* best, const int* nodes, int count) except -1 nogil:
        """Link dependents of the heads `nodes` of an item, to derive it."""
        cdef int h, d, removed, code, left = 0
        cdef float score
        cdef int[5] item
        for h in range(count):
            for removed in self.dependents.of(nodes[h]):
                self.watch.after(100)
                if not nodes[0] < removed < nodes[count - 1]:
                    continue
                d = 0
                while nodes[d] < removed:
                    item[d] = nodes[d]
                    d += 1
                if nodes[d] == removed:
                    continue
                item[d] = removed
                while d < count:
                    item[d + 1] = nodes[d]
                    d += 1
                d = 1
                while item[d] != removed:
                    d += 1
                code = CODE[count - d][count - (h if h < d else h + 1)]
                if count == 3:
                    score = self.item4(item[0], item[1], item[2], item[3])
                    score += self.scores.of_reduce(code, -1, item[0], item[1], item[2], item[3])
                else:
                    score = self.score5(item[0], item[1], item[2], item[3], item[4], &left)
                    score += self.scores.of_reduce(code, item[0], item[1], item[2], item[3], item[4])
                better(best, score, code, removed, left)
        return 0

    cdef float score5(self, int i, int j, int k, int l, int r, int* left) noexcept nogil:
        """[i,j,k,l,r], and the number of heads in its left part."""
        cdef float best = self.item4(i, j, k, l) + self.scores.of_shift(k, l) + self.item2(l, r)
        cdef float of_three = self.item3(i, j, k) + self.scores.of_shift(j, k) + self.item3(k, l, r)
        cdef float of_two = self.item2(i, j) + self.scores.of_shift(i, j) + self.item4(j, k, l, r)
        left[0] = 4
        if of_three > best:
            best, left[0] = of_three, 3
        if of_two > best:
            best, left[0] = of_two, 2
        return best

    cdef float item2(self, int i, int l) noexcept nogil:
        return self.span(i, l).best.score

    cdef float item3(self, int i, int j, int l) noexcept nogil:
        return self.step3(i, j, l).score

    cdef float item4(self, int i, int j, int k, int l) noexcept nogil:
        return self.step4(i, j, k, l).score

    cdef Step step2(self, int i, int l) noexcept nogil:
        return self.span(i, l).best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        return self.find(self.span(i, l).middle, self.span(i, l).end, j, 0)

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        return self.find(self.span(i, l).begin, self.span(i, l).middle, j, k)

    cdef Step find(self, size_t begin, size_t end, int j, int k) noexcept nogil:
        """The item with j, k in a part of the list that is sorted."""
        cdef size_t middle
        while begin < end:
            middle = (begin + end) // 2
            if self.items[middle].j < j or (self.items[middle].j == j and self.items[middle].k < k):
                begin = middle + 1
            elif self.items[middle].j == j and self.items[middle].k == k:
                return self.items[middle].best
            else:
                end = middle
        return Step(SH, 0, 0, -INFINITY)
