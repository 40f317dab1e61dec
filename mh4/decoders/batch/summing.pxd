"""The scores of a sentence of a batch, as the sums of mh3, mh4 and mst take them."""

from mh4.decoders.batch.sentences cimport Corner, Padded
from mh4.decoders.shared.marginals cimport Scores


cdef struct Tensors:
    Padded shift, s0b0, s1s0, arcs


cdef Tensors all_padded(tensors)


cdef class Corners:
    cdef Corner[double] shift, s0b0, s1s0, arcs

    cdef bint take(self, const Tensors& of, Py_ssize_t b, Scores* to) except -1 nogil
    cdef void release(self) noexcept nogil
