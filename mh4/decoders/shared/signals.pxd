"""Looking for signals; see signals.hpp."""

cdef extern from "signals.hpp" namespace "signals" nogil:
    cdef cppclass Watch:
        int after(size_t work) except -1
    cdef cppclass Less:
        Less(Watch& of)
