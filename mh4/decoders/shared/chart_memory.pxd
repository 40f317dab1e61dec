"""The memory of charts; see chart_memory.hpp."""

from libcpp.vector cimport vector

cdef extern from "chart_memory.hpp" nogil:
    cdef cppclass Memory[Value]:
        void start()
        Value* take(size_t size)
        void allocate() except +
        Value* allocate(size_t size) except +
    void require(size_t bytes) except +
    void make_room[Value](vector[Value]& values, size_t more) except +
