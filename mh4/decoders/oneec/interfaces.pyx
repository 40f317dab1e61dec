"""The search for the best 1-Endpoint-Crossing tree, as chart.pyx implements it, and the sum over all, as inside_outside.pyx does."""


cdef class Search:
    """A chart with its memory, which is used again for the next sentence.

    Scores are an array for each of the parts, in the order of parts.pxd, indexed as for oneec.decode.
    """

    cdef float decode(self, int n, const double** scores, const double* cost, bint single_root, int* heads) except? -1 nogil:
        """Find the heads of the best tree over n words; returns its score, -inf if there is none. cost: of arcs, or NULL."""

    cdef double bytes_needed(self) noexcept nogil:
        """The memory that the chart takes up."""

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""


cdef class Sums:
    """Charts with their memory, which is used again for the next sentence.

    Scores, their direction, and counts are arrays as for Search. Counts that are NULL are not wanted.
    """

    cdef bint find(
        self, int n, const double** scores, bint single_root, const double** direction, double* log_partition, double** counts
    ) except -1 nogil:
        """Sum over all trees over n words; False if there is none.

        Unless the direction is NULL, the counts are their derivatives in this direction of the scores, of numbers from -1 to 1.
        """

    cdef bint find_of_tree(self, int n, const double** scores, const int* heads, double* log_partition, double** counts) except -1 nogil:
        """The same for one tree by itself; False if it is not 1-Endpoint-Crossing, or forbidden. The counts are 0 before."""

    cdef double bytes_needed(self) noexcept nogil:
        """The memory that this takes."""

    cdef void release(self) noexcept nogil:
        """Free memory that is too large to keep."""
