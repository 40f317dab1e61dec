"""The C++ side of marginals: see weights.h, and inside_outside.hpp of mh3 and mh4 and matrix_tree.hpp of mst for the algorithms."""


cdef extern from "weights.h" namespace "marginals" nogil:
    cdef struct Scores:
        int n, reduces
        bint single_root
        const double* shift
        const double* s0b0
        const double* s1s0
        const double* arcs
    cdef struct Counts:
        double log_partition
        double* shift
        double* s0b0
        double* s1s0
        double* arcs


cdef class Tensors:
    """Validated scores, and the arrays for their expected counts; keeps them alive, as `scores` and `counts` point into them."""

    cdef Scores scores
    cdef Counts counts
    cdef dict tensors, parts
    cdef object arcs

    cdef result(self)


cdef class Sums:
    """The charts of an algorithm, with their memory, which is used again for the next sentence."""

    cdef int find(self, const Scores& scores, Counts& counts) except -1 nogil
    cdef int differentiate(self, const Scores& scores, Counts& counts, const Scores& direction) except -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil


cdef object expected_counts(Sums sums, Tensors of)
