"""The smaller and the larger of two numbers; min() and max() Cython gets wrong for elements of a vector."""


cdef inline int minimum(int a, int b) noexcept nogil:
    return a if a < b else b


cdef inline int maximum(int a, int b) noexcept nogil:
    return a if a > b else b
