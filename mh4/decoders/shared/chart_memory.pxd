"""The memory of charts; see chart_memory.hpp."""

from libcpp.vector cimport vector

cdef extern from "chart_memory.hpp" nogil:
    cdef cppclass Memory[Value]:
        void start()
        Value* take(size_t size)
        size_t bytes()
        void allocate() except +
        Value* allocate(size_t size) except +
        void release(size_t kept)
    void require(size_t bytes) except +
    void make_room[Value](vector[Value]& values, size_t more) except +
    enum:
        KEEP
