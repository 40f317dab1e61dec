"""The dependents of the nodes of a tree; see dependents.hpp."""

cdef extern from "dependents.hpp" nogil:
    cppclass Outside:
        Outside()
        int count, sum
    cppclass Words "Dependents::Words":
        const int* begin()
        const int* end()
    cppclass Dependents:
        void find(const int* tree, int n) except +
        Words of(int h)
        void extend(Outside& outside, int i, int l)
