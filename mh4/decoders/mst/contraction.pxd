"""The search for the maximum spanning arborescence."""

from libcpp.vector cimport vector

from mh4.decoders.shared.chart_memory cimport Memory
from mh4.decoders.shared.signals cimport Watch


cdef enum State:
    NEW, ON_PATH, DONE


cdef class Contraction:
    cdef int n, nodes
    cdef Memory[double] memory
    cdef double* entering         # the best arc from h to a member of the node at node * (n + 1) + h; -inf if h is one
    cdef vector[int] top          # for 0 to n: the node they are contracted to
    cdef vector[int] whole        # the node that a node is a member of, or 0
    cdef vector[int] head         # the h of the arc taken
    cdef vector[double] best      # its score
    cdef vector[State] states
    cdef vector[int] path
    cdef Watch watch

    cdef int prepare(self, int n) except -1 nogil
    cdef bint tree(self, const double* arcs, bint single_root, int* heads) except -1 nogil
    cdef double* row(self, int node) noexcept nogil
    cdef bint span(self, const double* arcs, bint single_root) except -1 nogil
    cdef bint take(self, int node, bint single_root) noexcept nogil
    cdef int contract(self, int last) except -1 nogil
    cdef int expand(self, int* heads) except -1 nogil
