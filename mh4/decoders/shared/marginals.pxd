"""The C++ side of marginals: see weights.h, and inside_outside.hpp of mh3, mh4 and oneec and matrix_tree.hpp of mst for the algorithms."""

from libc.stdint cimport uint64_t


cdef extern from "weights.h" namespace "marginals" nogil:
    cdef cppclass Scores:
        int n, reduces
        bint single_root
        const double** tensors
        const int* heads
    cdef cppclass Counts:
        double log_partition
        double** tensors

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


cdef class Sums:
    """The charts of an algorithm, which are a part of its subclass, with their memory, which is used again for the next sentence."""

    cdef AnyCharts* charts
