"""The check of trees for functions in C, which on anything else would go wrong, never end or crash; and where arrays are."""

from libcpp.vector cimport vector

cdef double* address(array)
cdef const int[::1] checked_tree(heads)
cdef int not_below_root(const int* heads, int n, vector[int]& reached_from) except -1 nogil
