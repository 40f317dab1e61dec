"""What the decoders share: their charts, checked scores, and the conversion of what is found to a Derivation or Marginals."""

from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport pair
from libcpp.vector cimport vector

cdef extern from "signals.hpp" namespace "signals" nogil:
    cdef cppclass Watch:
        int after(size_t work) except -1
    cdef cppclass Less:
        Less(Watch& of)

cdef extern from "chart_memory.hpp" nogil:
    cdef cppclass Memory[Value]:
        void start()
        Value* take(size_t size)
        void allocate() except +
        Value* allocate(size_t size) except +
    void require(size_t bytes) except +
    void make_room[Value](vector[Value]& values, size_t more) except +

cdef extern from "transition_scores.hpp" namespace "transitions" nogil:
    enum:
        SH, LA, RA, LAp, RAp, LA2, RA2
    int head_of(int code, int s3, int s2, int s1, int s0, int b0)
    int dependent_of(int code, int s2, int s1, int s0)
    cppclass TransitionScores:
        int n, side
        const float* shift
        const float* s0b0
        const float* s1s0
        const float* arcs
        const float* cost
        const float* by_arc
        TransitionScores()
        TransitionScores(int n)
        float shift_score(int s0, int b0)
        float on_s0b0(int code, int s0, int b0)
        float on_s1s0(int code, int s1, int s0)

ctypedef vector[pair[int, int]] PartRows

cdef extern from "interface.hpp" nogil:
    enum:
        ARCS, TENSORS
    cdef cppclass BestDerivation:
        TransitionScores scores
        bint single
        vector[int] codes
        void prepare() except +
        size_t bytes_needed()
        bint find() except +
        void release()
    cdef cppclass BestTree:
        double find(int n, const double** scores, const double* cost, bint single_root, int* heads) except +
        const PartRows* parts(const int* heads, int n) except +
    cdef cppclass Sums "marginals::Sums":
        void find(const Scores& scores, Counts& counts) except +
        void differentiate(const Scores& scores, Counts& counts, const Scores& direction) except +
        void draw(const Scores& scores, Samples& to) except +
    cdef cppclass Scores "marginals::Scores":
        int n, reduces
        bint single_root
        const double** tensors
        const int* heads
    cdef cppclass Counts "marginals::Counts":
        double log_partition
        double** tensors
    cdef struct Samples "marginals::Samples":
        uint64_t seed
        size_t count, columns
        int* heads
        bint none
    cdef cppclass Factories:
        BestDerivation* (*first_found)()
    cdef cppclass OwnCharts "Charts":
        unique_ptr[BestDerivation] search
        unique_ptr[BestTree] best_tree
        Sums sums
        void make(const Factories& chosen, const Factories& baseline) except +
        size_t bytes_needed()
        void release()


cdef class Charts:
    """The charts of an algorithm, with their memory, which is used again for the next sentence."""

    cdef OwnCharts own

    cdef int make(self, const Factories* const* variants) except -1
    cdef int give_back(self) except -1


cdef enum Outcome:
    NONE, DERIVED, TOO_LARGE


cdef int derive(BestDerivation* search, const TransitionScores& scores, bint single, double most) except -1 nogil


cdef class Tensors:
    """The validated scores of a decoder of transitions; keeps them alive, as `scores` points into them."""

    cdef TransitionScores scores
    cdef list arrays
    cdef object by_arc  # the sum of arcs and cost, or whichever is given, or None
    cdef int reduces

    cdef const float* keep(self, array) except? NULL
    cdef Tensors zeros(self)


cdef struct Rows:  # index rows, to be written one after the other
    Py_ssize_t* next
    Py_ssize_t sentence  # which begins each row, or -1


cdef inline void write(Rows* rows, int code, int first, int second) noexcept nogil:
    """Write an index row: the sentence and the code, unless they are -1, and two nodes."""
    if rows.sentence >= 0:
        rows.next[0] = rows.sentence
        rows.next += 1
    if code >= 0:
        rows.next[0] = code
        rows.next += 1
    rows.next[0] = first
    rows.next[1] = second
    rows.next += 2


cdef struct Replay:  # what a sequence of transitions comes to
    int* heads                # n + 1
    Py_ssize_t* transitions   # 2n + 1 rows of code, s1, s0, b0
    Rows shift, s0b0, s1s0, arcs


cdef double replay(const int* codes, const TransitionScores* scores, Replay* to) noexcept nogil
cdef object derivation(const int* codes, const TransitionScores* scores)
