"""What the exact decoders of transitions share."""

from libcpp.vector cimport vector

from mh4.decoders.shared.replay cimport Scores

cdef extern from "best_derivation.hpp" namespace "transitions" nogil:
    cdef cppclass BestDerivation:
        Scores scores
        bint single
        const int* heads
        vector[int] codes
        void prepare() except +
        size_t bytes_needed()
        bint find() except +
        void release()


cdef class Search:
    """What has a search, which is a part of its subclass."""

    cdef BestDerivation* search
