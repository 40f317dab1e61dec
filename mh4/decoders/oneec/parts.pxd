"""The parts of a 1-Endpoint-Crossing tree."""

from libcpp.vector cimport vector

from mh4.decoders.shared.replay cimport Rows

cdef enum:
    ARC, CROSSED_ARC, GRANDPARENT, SIBLING, PARTS


cpdef parts_of(const int[::1] heads)
cdef bint write_parts(const int* heads, int n, vector[int]& crossed, Rows* to) except -1 nogil
