"""The sentences of a batch, and the threads that take them."""

from libcpp.vector cimport vector

from mh4.decoders.shared.best_tree cimport TENSORS

cdef extern from "padded.hpp" namespace "batch" nogil:
    cdef struct Padded:
        const void* values
        bint wide
        size_t layers, rows, columns, words
    size_t rows_of(const Padded& of, size_t n)
    size_t columns_of(const Padded& of, size_t n)
    cdef cppclass Corner[To]:
        To* room(size_t size) except +
        const To* with_heads(const To* arcs, const int* heads, size_t n) except +
    cdef cppclass Corners[To]:
        bint take(const Padded* of, size_t sentence, size_t n, const To** to) except +
        bint take(const Padded* of, const Padded& cost_of, size_t sentence, size_t n, const To** to, const To** cost) except +
        const To* sum(const To* arcs, const To* cost, size_t n) except +
        const To* with_heads(const To* arcs, const int* heads, size_t n) except +
        Corner[To]& operator[](int x)
        void release()


cdef enum Outcome:
    DONE, FAILED

cdef enum Heads:  # what is given of those of a sentence
    OPEN, SOME_TREES, ONE_TREE, NO_TREE, WRONG


cdef class Sentences:
    cdef readonly Py_ssize_t count
    cdef readonly object lengths
    cdef readonly dict tensors
    cdef readonly tuple names              # of all tensors that the decoder can have, in the order of those of the charts
    cdef Padded[TENSORS] scores            # those that there are
    cdef int longest                       # the words that the arrays have room for
    cdef readonly bint single_root
    cdef const Py_ssize_t[::1] words       # of each sentence
    cdef const Py_ssize_t[::1] order       # the sentences, the longest first
    cdef Py_ssize_t taken                  # how many of them have been taken
    cdef bint stopped                      # whether no thread is to take another
    cdef char[::1] outcomes
    cdef const int[:, ::1] given           # the heads, -1 where they are open, or None

    cdef Padded padded(self, array)
    cdef int all_padded(self, Padded* to, tensors) except -1
    cdef int given_heads(self, Py_ssize_t b, vector[int]& tree, vector[int]& reached_from) except -1 nogil


cdef class Worker:
    cdef vector[int] nodes, reached_from  # for given_heads

    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil
