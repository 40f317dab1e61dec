"""Declare for Cython the checks that heads form a tree: without them, compiled code might crash or never end."""

from libcpp.vector cimport vector

cdef void* address(array) except? NULL
cdef const int[::1] checked_tree(heads)
cdef int not_below_root(const int* heads, int n, vector[int]& reached_from) except -1 nogil
