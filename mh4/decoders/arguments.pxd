"""For Cython: the check that heads are a tree, without which functions in C might crash or never end."""

from libcpp.vector cimport vector

cdef void* address(array) except? NULL
cdef const int[::1] checked_tree(heads)
cdef int not_below_root(const int* heads, int n, vector[int]& reached_from) except -1 nogil
