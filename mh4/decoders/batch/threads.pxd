"""The sentences of a batch, and the threads that take them."""

cdef extern from "padded.hpp" namespace "batch" nogil:
    cdef struct Padded:
        const void* values
        bint wide
        size_t layers, rows, columns
    cdef cppclass Corner[To]:
        To* room(size_t size) except +
        const To* take(const Padded& of, size_t sentence, size_t rows, size_t columns) except +
        const To* transpose(const Padded& of, size_t sentence, size_t rows, size_t columns) except +
        void release()
    cdef struct Tensors:
        Padded shift, s0b0, s1s0, arcs
    cdef cppclass Corners[To]:
        bint take[Scores](const Tensors& of, size_t sentence, Scores& to) except +
        void release()


cdef enum Outcome:
    DONE, FAILED


cdef Padded as_padded(array)
cdef Tensors all_padded(tensors)


cdef class Sentences:
    cdef readonly Py_ssize_t count
    cdef readonly object lengths
    cdef readonly dict tensors
    cdef int longest                       # the words that the arrays have room for
    cdef bint single_root
    cdef const Py_ssize_t[::1] words       # of each sentence
    cdef const Py_ssize_t[::1] order       # the sentences, the longest first
    cdef Py_ssize_t taken                  # how many of them have been taken
    cdef bint stopped                      # whether no thread is to take another
    cdef char[::1] outcomes


cdef class Worker:
    cdef int decode(self, Sentences sentences, Py_ssize_t b) except -1 nogil
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil
