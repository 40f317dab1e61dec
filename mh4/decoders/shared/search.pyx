"""What the exact decoders of transitions share: filling a chart, and returning the best derivation of a sentence, or an error."""

from libc.math cimport INFINITY

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.replay cimport Tensors, derivation

from mh4.decoders.shared import arguments
from mh4.decoders.shared.memory import out_of_memory, workspaces


cdef class Search:
    """A chart with its memory, which is used again for the next sentence."""

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

    cdef int trace(self) except -1 nogil:
        """Unfold the goal into the codes of its transitions."""

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


cdef class TreeChart(Search):

    cdef int prepare(self) except -1 nogil:
        return 0

    cdef double bytes_needed(self) noexcept nogil:
        return <double> self.tree.bytes_needed()

    cdef void release(self) noexcept nogil:
        self.tree.release()

    cdef bint decode(self) except -1 nogil:
        return self.tree.find(self.scores, self.heads, self.single, self.codes)


cdef object best_derivation(Search search, Tensors tensors, heads, bint single_root, int k, double most=INFINITY):
    """The Derivation that a search taken from the workspaces finds, or None if its chart takes up more than `most` bytes.

    heads: of the only tree to derive, or None; k: that of MH_k.
    """
    cdef const int[::1] tree
    search.scores = tensors.scores
    search.single = single_root
    search.heads = NULL
    if heads is not None:
        tree = heads
        search.heads = &tree[0]
    cdef bint fits, derived = False
    try:
        with nogil:
            search.prepare()
            fits = search.bytes_needed() <= most
            if fits:
                derived = search.decode()
    except MemoryError:
        raise out_of_memory(tensors.scores.n, search.bytes_needed()) from None
    result = derivation(search.codes.data(), &search.scores) if derived else None
    search.release()
    workspaces.give_back(search)
    if fits and not derived:
        raise arguments.no_derivation(heads, k)
    return result
