"""For Cython: the check that heads are a tree, without which functions in C might crash or never end; and the tensors of charts."""

from libcpp.vector cimport vector

cdef void* address(array) except? NULL
cpdef tuple names_of(dict tensors)
cpdef tuple score_arcs(dict tensors)
cdef const int[::1] checked_tree(heads)
cdef int not_below_root(const int* heads, int n, vector[int]& reached_from) except -1 nogil
