"""The search for the best tree where trees are scored, not transitions."""

from libcpp.utility cimport pair
from libcpp.vector cimport vector

ctypedef vector[pair[int, int]] PartRows

cdef extern from "best_tree.hpp" nogil:
    enum:
        ARCS, TENSORS
    cdef cppclass BestTree:
        double find(int n, const double** scores, const double* cost, bint single_root, int* heads) except +
        const PartRows* parts(const int* heads, int n) except +
        size_t bytes_needed()
        void release()


cdef class TreeSearch:
    """What has a search, which is a part of its subclass."""

    cdef BestTree* search
