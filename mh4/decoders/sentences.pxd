"""Declare what the decoders share: their charts, and the sentences that they process."""

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
    void make_room[Value](vector[Value]& values, size_t more) except +

cdef extern from "transition_scores.hpp" namespace "transitions" nogil:
    enum:
        SH, LA, RA
    int head_of(int code, int s3, int s2, int s1, int s0, int b0)
    int dependent_of(int code, int s2, int s1, int s0)
    cppclass TransitionScores:
        int n, side
        const float* shift
        const float* s0b0
        const float* s1s0
        const float* arcs
        const float* cost
        const float* arcs_and_cost
        TransitionScores()
        TransitionScores(int n, bint single_root)
        float shift_score(int s0, int b0)
        float on_s0b0(int code, int s0, int b0)
        float on_s1s0(int code, int s1, int s0)

ctypedef vector[pair[int, int]] PartRows

cdef extern from "interface.hpp" nogil:
    enum:
        SHIFT, S0B0, S1S0, ARCS, TENSORS
        ARC, CROSSED_ARC
    cdef cppclass BestDerivation:
        TransitionScores scores
        vector[int] codes
        void prepare() except +
        size_t bytes_needed()
        void allocate() except +
        bint fill() except +
        void trace() except +
        void release()
    cdef cppclass BestTree:
        int k
        double find(int n, const double** scores, const double* cost, bint single_root, int* heads) except +
        const PartRows* parts(const int* heads, int n) except +
    cdef cppclass AllSums "marginals::Sums":
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
    cdef cppclass Charts:
        unique_ptr[BestDerivation] search
        unique_ptr[BestTree] best_tree
        AllSums sums
        void make(const Factories& chosen, const Factories& baseline) except +
        size_t bytes_needed()
        void release()

cdef extern from "padded.hpp" namespace "padded" nogil:
    cdef struct Padded:
        const void* values
        bint wide
        size_t layers, rows, columns, words
    cdef cppclass Corner[To]:
        To* place(const Padded& to, size_t sentence, size_t n) except +
        void spread(const Padded& to, size_t sentence, size_t n)
        const To* with_heads(const To* arcs, const int* heads, size_t n) except +
    cdef cppclass Corners[To]:
        bint take(const Padded* of, size_t sentence, size_t n, const To** to) except +
        bint take(const Padded* of, const Padded& cost_of, size_t sentence, size_t n, const To** to, const To** cost) except +
        const To* sum(const To* arcs, const To* cost, size_t n) except +
        const To* with_heads(const To* arcs, const int* heads, size_t n) except +
        Corner[To]& operator[](int x)
        void release()


cdef class Workspace:
    """The charts of an algorithm, and other memory with which a thread processes sentences. The memory is reused."""

    cdef Charts charts
    cdef Workspace simpler                 # of mh4, for sentences that mh5 has no room for; None for other decoders
    cdef Corners[float] rounded            # scores of transitions, for decoding
    cdef Corners[double] scores            # all other scores
    cdef Corners[double] allowed, direction, counts
    cdef vector[int] nodes, reached_from   # for trees_allowed

    cdef int make(self, const Factories* const* variants) except -1
    cdef double bytes_needed(self) noexcept nogil
    cdef void release(self) noexcept nogil


cdef class Sentences:
    """Sentences in padded arrays, or a single one. Subclasses define how to process a sentence.

    tensors: C-contiguous arrays of float32 or float64 by name, (count, ..., rows, columns); without the first dimension
        for a single sentence.
    heads: the argument of the decoder. lengths: the number of words of each sentence, or None for a single one.
    """

    cdef readonly dict tensors
    cdef readonly object heads, lengths    # as given
    cdef object cost
    cdef readonly list too_long            # the sentences that MH4 decoded instead of MH5
    cdef tuple names                       # of all tensors that the decoder can have, in the order of the charts
    cdef Padded[TENSORS] scores            # the location of each tensor that is given
    cdef Py_ssize_t count
    cdef bint single                       # whether there is one sentence, in arrays without padding
    cdef readonly int longest              # the words that the arrays have room for
    cdef readonly bint single_root
    cdef bint is_1ec                       # whether the scores are 1EC's
    cdef double max_words                  # of the sentences that MH5 decodes
    cdef const int* given_heads            # the heads, -1 or -2 where they are open, or NULL
    cdef const Py_ssize_t* offsets         # the number of words before each sentence, and of all sentences
    cdef Py_ssize_t[2] one_offset          # `offsets` of a single sentence
    cdef object batch_offsets
    cdef const Py_ssize_t[::1] order       # the sentences, the longest first
    cdef Py_ssize_t taken                  # how many of them have been taken
    cdef public bint stopped               # whether the threads are to stop
    cdef unsigned char[::1] found          # whether each sentence has a result

    cdef int length(self, Py_ssize_t b) noexcept nogil
    cdef Padded padded(self, array) except *
    cdef int all_padded(self, Padded* to, tensors) except -1
    cdef shape(self, int columns)
    cdef int trees_allowed(self, Workspace workspace, Py_ssize_t b, const int** heads) except -1 nogil
    cdef bint process(self, Workspace workspace, Py_ssize_t b) except -1 nogil
    cdef bint try_alone(self, kind, int k) except -1
    cdef error(self, kind, int k)


cdef struct Rows:  # index rows, to be written one after the other
    Py_ssize_t* next
    Py_ssize_t sentence  # the first number of each row; -1 if rows have none


cdef class Decoding(Sentences):
    """Sentences to be decoded by a chart of trees: of mst, 1ec or mhk."""

    cdef Padded padded_cost
    cdef dict parts
    cdef Py_ssize_t* rows[TENSORS]     # where the index rows of each tensor begin, or NULL
    cdef int columns[TENSORS]          # the length of these rows
    cdef object best_heads, totals
    cdef double total
    cdef readonly double chart_score   # the chart's score of the last tree found
    cdef int* to_heads
    cdef double* to_totals             # the scores, summed as in `from_heads` or `write`

    cdef int* cleared_heads(self, Py_ssize_t b) noexcept nogil
    cdef Rows rows_of(self, int x, Py_ssize_t b) noexcept nogil
    cdef double write_parts(self, const PartRows& parts, const double* scores, int x, Py_ssize_t b) noexcept nogil


cdef class TransitionDecoding(Decoding):
    """Sentences to be decoded by mh3, mh4 or mh5."""

    cdef object transitions
    cdef Py_ssize_t* to_transitions

    cdef bint take(self, Workspace workspace, Py_ssize_t b, TransitionScores* to) except -1 nogil
    cdef void write(self, const int* codes, const TransitionScores& scores, Py_ssize_t b) noexcept nogil
