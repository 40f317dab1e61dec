"""What the exact decoders of transitions share: filling a chart, and returning the best derivation of a sentence, or an error."""

from libc.math cimport INFINITY
from libcpp.algorithm cimport reverse

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.replay cimport LA, LA2, LAp, RA, RA2, RAp, Tensors, derivation

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces

cdef extern from "trace.h" nogil:
    void lost() except +


cdef class Search:
    """A chart with its memory, which is used again for the next sentence.

    It has no backpointers: the trace recomputes the argmaxes along its path. The ways to an item in step2 and step3 are those of MH4 and
    MH5. With a single root, no arc from 0 is made before the last transition, RA from [0,j,n+1].
    """

    cdef int prepare(self) except -1 nogil:
        """Lay out the chart of a new sentence."""
        self.memory.start()
        self.arrange()

    cdef double bytes_needed(self) noexcept nogil:
        """The memory that the chart takes up, at least."""
        return <double> self.memory.bytes()

    cdef int allocate(self) except -1 nogil:
        """Make room for it."""
        self.memory.allocate()
        self.arrange()

    cdef void arrange(self) noexcept nogil:
        """Take the tables from the memory."""

    cdef float* floats(self, size_t count) noexcept nogil:
        """A table of so many, from the memory."""
        return <float*> self.memory.take(count * sizeof(float))

    cdef bint fill(self) except -1 nogil:
        """Find the best score of every item; True if the goal [0,n+1] was derived."""

    cdef float item2(self, int i, int l) noexcept nogil:
        """The score of [i,l], as filled; item3 and item4 are the same of [i,j,l] and [i,j,k,l]."""

    cdef float item3(self, int i, int j, int l) noexcept nogil:
        pass

    cdef float item4(self, int i, int j, int k, int l) noexcept nogil:
        pass

    cdef Step step2(self, int i, int l) noexcept nogil:
        """The best way to [i,l], l > i+1."""
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef bint from_i = i > 0 or l > self.scores.n or not self.single
        cdef int j
        cdef float score
        for j in range(i + 1, l):
            score = self.item3(i, j, l)
            by_link(&best, score + self.scores.of_reduce(LA, -1, -1, i, j, l), LA, j)
            if from_i:
                by_link(&best, score + self.scores.of_reduce(RA, -1, -1, i, j, l), RA, j)
        return best

    cdef Step step3(self, int i, int j, int l) noexcept nogil:
        """The best way to [i,j,l]."""
        cdef Step best = Step(SH, 0, 0, -INFINITY)
        cdef bint from_i = i > 0 or not self.single
        cdef int k
        cdef float score
        by_combine(&best, self.item2(i, j) + self.scores.of_shift(i, j) + self.item2(j, l), 2)
        for k in range(j + 1, l):
            score = self.item4(i, j, k, l)
            by_link(&best, score + self.scores.of_reduce(RA, -1, i, j, k, l), RA, k)
            by_link(&best, score + self.scores.of_reduce(LA, -1, i, j, k, l), LA, k)
            if from_i:
                by_link(&best, score + self.scores.of_reduce(RA2, -1, i, j, k, l), RA2, k)
        for k in range(i + 1, j):
            score = self.item4(i, k, j, l)
            by_link(&best, score + self.scores.of_reduce(LAp, -1, i, k, j, l), LAp, k)
            by_link(&best, score + self.scores.of_reduce(LA2, -1, i, k, j, l), LA2, k)
            if from_i:
                by_link(&best, score + self.scores.of_reduce(RAp, -1, i, k, j, l), RAp, k)
        return best

    cdef Step step4(self, int i, int j, int k, int l) noexcept nogil:
        """The best way to [i,j,k,l]."""

    cdef Step step5(self, int i, int j, int k, int l, int r) noexcept nogil:
        """The best way to [i,j,k,l,r]."""

    cdef int trace(self) except -1 nogil:
        """Unfold the goal into the codes of its transitions: Combine is concatenation, Link appends its reduce."""
        cdef Item item
        cdef Step step
        cdef int* heads = item.heads
        item.size, heads[0], heads[1] = 2, 0, self.scores.n + 1
        self.codes.clear()
        self.agenda.clear()
        self.agenda.push_back(item)
        while self.agenda.size():  # from the last transition to the first
            item = self.agenda.back()
            self.agenda.pop_back()
            if item.size == 2 and heads[1] == heads[0] + 1:
                self.codes.push_back(SH)
                continue
            self.watch.after(100 * (heads[item.size - 1] - heads[0]))
            if item.size == 2:
                step = self.step2(heads[0], heads[1])
            elif item.size == 3:
                step = self.step3(heads[0], heads[1], heads[2])
            elif item.size == 4:
                step = self.step4(heads[0], heads[1], heads[2], heads[3])
            else:
                step = self.step5(heads[0], heads[1], heads[2], heads[3], heads[4])
            if not step.score > -INFINITY:
                lost()
            if step.code == SH:
                self.agenda.push_back(part(item, 0, step.left))
                self.agenda.push_back(part(item, step.left - 1, item.size))
            else:
                self.codes.push_back(step.code)
                self.agenda.push_back(with_head(item, step.removed))
        reverse(self.codes.begin(), self.codes.end())

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""
        self.memory.release(KEEP)

    cdef bint decode(self) except -1 nogil:
        """True if there is a derivation; then the best one is in `codes`."""
        self.allocate()
        cdef bint derived = self.fill()
        if derived:
            self.trace()
        return derived


cdef Item part(const Item& item, int first, int end) noexcept nogil:
    """The item of the heads from `first` to `end` - 1."""
    cdef Item found
    cdef int x
    found.size = end - first
    for x in range(found.size):
        found.heads[x] = item.heads[first + x]
    return found


cdef Item with_head(Item item, int head) noexcept nogil:
    """The item with one head more, which is not the first."""
    cdef int x = item.size
    while item.heads[x - 1] > head:
        item.heads[x] = item.heads[x - 1]
        x -= 1
    item.heads[x] = head
    item.size += 1
    return item


cdef class TreeChart(Search):

    cdef int prepare(self) except -1 nogil:
        return 0

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.tree.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.tree.release()

    cdef bint decode(self) except -1 nogil:
        return self.tree.find(self.scores, self.heads, self.single, self.codes)


def best_derivation(full, tree, Tensors tensors, heads, bint single_root, int k, double most=INFINITY):
    """The best Derivation; if the chart that it takes needs more than `most` bytes, how many it needs.

    full, tree: the classes of Search for all derivations and for those of one tree. heads: that tree, or None; k: that of MH_k.
    """
    heads = arguments.given_tree(heads, tensors.scores.n, single_root)
    cdef Search search = workspaces.take(full if heads is None else tree)
    cdef const int[::1] nodes
    search.scores = tensors.scores
    search.single = single_root
    search.heads = NULL
    if heads is not None:
        nodes = heads
        search.heads = &nodes[0]
    cdef double needed
    cdef bint derived = False
    try:
        with nogil:
            search.prepare()
            needed = search.bytes_needed()
            if needed <= most:
                derived = search.decode()
    except MemoryError:
        raise out_of_memory(tensors.scores.n, search.bytes_needed()) from None
    result = derivation(search.codes.data(), &search.scores) if derived else None
    search.release()
    workspaces.give_back(search)
    if needed > most:
        return needed
    if not derived:
        raise arguments.no_derivation(heads, k)
    return result
