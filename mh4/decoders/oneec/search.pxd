"""The search for the best 1-Endpoint-Crossing tree, for callers that are not compiled for the same processor."""


cdef class Search:
    cdef bint decode(
        self, int n, const float* arc, const float* crossed_arc, const float* grandparent, const float* sibling, bint single_root,
        int* heads
    ) except -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil
