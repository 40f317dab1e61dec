"""The check of trees for functions in C, which on anything else would go wrong, never end or crash."""

cdef const int[::1] checked_tree(heads)
