"""The C++ side of marginals: see weights.h, and inside_outside.hpp of mh3 and mh4 and matrix_tree.hpp of mst for the algorithms."""

from libc.stdint cimport uint64_t


cdef extern from "weights.h" namespace "marginals" nogil:
    cdef struct Scores:
        int n, reduces
        bint single_root
        const double* shift
        const double* s0b0
        const double* s1s0
        const double* arcs
        const int* heads
    cdef struct Counts:
        double log_partition
        double* shift
        double* s0b0
        double* s1s0
        double* arcs

cdef extern from "random_choices.hpp" namespace "marginals" nogil:
    cdef struct Samples:
        uint64_t seed
        size_t count, columns
        int* heads
        bint none

cdef extern from "all_charts.hpp" namespace "marginals" nogil:
    cdef cppclass AnyCharts:
        void find(const Scores& scores, Counts& counts) except +
        void differentiate(const Scores& scores, Counts& counts, const Scores& direction) except +
        void draw(const Scores& scores, Samples& to) except +
        size_t bytes_needed()
        void release()


cdef class Tensors:
    """Validated scores, and heads if given; keeps them alive, as `scores` points into them."""

    cdef Scores scores
    cdef dict tensors
    cdef object heads, possible_arcs  # the latter: their scores, without those that contradict the heads


cdef class Sums:
    """The charts of an algorithm, which are a part of its subclass, with their memory, which is used again for the next sentence."""

    cdef AnyCharts* charts
