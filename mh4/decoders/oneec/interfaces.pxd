"""The search for the best 1-Endpoint-Crossing tree, and the sum over all, for callers not compiled for the same processor."""


cdef class Search:
    cdef float decode(self, int n, const double** scores, const double* cost, bint single_root, int* heads) except? -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil


cdef class Sums:
    cdef bint find(
        self, int n, const double** scores, bint single_root, const double** direction, double* log_partition, double** counts
    ) except -1 nogil
    cdef bint find_of_tree(self, int n, const double** scores, const int* heads, double* log_partition, double** counts) except -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil
