"""Marginals of 1-Endpoint-Crossing trees; the algorithm is in inside_outside.hpp."""

cimport cython
import numpy as np

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.marginals cimport Doubles, Extendeds

from mh4.decoders.oneec.decoder import decode
from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals as Result
from mh4.decoders.shared.memory import out_of_memory, room_for, workspaces

cdef extern from "inside_outside.hpp" namespace "oneec::sums" nogil:
    cdef struct Scores:
        int n
        bint single_root
        const double* arc
        const double* crossed_arc
        const double* grandparent
        const double* sibling
        const double* of_tree
    cdef struct Counts:
        double log_partition
        double* arc
        double* crossed_arc
        double* grandparent
        double* sibling
    cdef cppclass Marginals[N]:
        bint find(const Scores& scores, Counts& counts) except +
        size_t bytes_needed()
        void release(size_t kept)


def marginals(
    arc: np.ndarray, crossed_arc: np.ndarray, grandparent: np.ndarray, sibling: np.ndarray, *, single_root: bool = False,
) -> Result:
    """The probabilities of arcs and of other parts over all 1-Endpoint-Crossing trees of n words.

    The probability of a tree is proportional to the exponential of its score. The arguments are those of `oneec.decode`; float64
    scores are not rounded to float32. The parts are "arc" and "crossed_arc", the probabilities that a tree has the arc and that no
    arc crosses it, or that one does, which add up to `arcs`; and "grandparent" and "sibling", those that the part is in the score.

    Without words (n = 0) the only tree is the root.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, or single_root without words);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    cdef int n = arguments.words("arc", arc, 1)
    shapes = {"arc": (n + 1, n + 1), "crossed_arc": (n + 1, n + 1), "grandparent": (n + 2, n + 1), "sibling": (n + 2, n + 1)}
    given = {"arc": arc, "crossed_arc": crossed_arc, "grandparent": grandparent, "sibling": sibling}
    tensors = {name: arguments.float64_scores(name, given[name], shape) for name, shape in shapes.items()}
    best = decode(**tensors, single_root=single_root)
    room_for(sum([tensor.nbytes for tensor in tensors.values()]) + 8 * (n + 1) ** 2, "the expected counts")
    # All are written now, and not when they are used: the chart is weighed against what is left.
    parts = {name: np.full(shape, 0.0) for name, shape in shapes.items()}
    of_tree = scores_of_words(tensors, best.parts)
    cdef Scores scores = Scores(n, single_root, address(tensors["arc"]), address(tensors["crossed_arc"]),
                                address(tensors["grandparent"]), address(tensors["sibling"]), address(of_tree))
    cdef Counts counts = Counts(0, address(parts["arc"]), address(parts["crossed_arc"]), address(parts["grandparent"]),
                                address(parts["sibling"]))
    cdef Charts charts = workspaces.take(Charts)
    cdef bint found
    try:
        with nogil:
            found = charts.fast.find(scores, counts)
        if not found:
            charts.fast.release(KEEP)
            for part in parts.values():
                part[:] = 0
            with nogil:
                charts.exact.find(scores, counts)
    except MemoryError:
        raise out_of_memory(n, max(charts.fast.bytes_needed(), charts.exact.bytes_needed())) from None
    charts.fast.release(KEEP)
    charts.exact.release(KEEP)
    workspaces.give_back(charts)
    return Result(counts.log_partition, parts["arc"] + parts["crossed_arc"], parts)


def scores_of_words(tensors, parts):
    """What each word contributes to the score of a tree, float64 (3, n+1): in all, and by its sibling and grandparent."""
    n = len(tensors["arc"]) - 1
    of_words = {name: np.zeros(n + 1) for name in tensors}
    for name, rows in parts.items():
        of_words[name][rows[:, 1]] = tensors[name][tuple(rows.T)]
    return np.stack([sum(of_words.values()), of_words["sibling"], of_words["grandparent"]])


cdef double* address(array):
    """Of the first number of a C-contiguous float64 array."""
    cdef double[::1] numbers = array.reshape(-1)
    return &numbers[0]


@cython.final
cdef class Charts:
    cdef Marginals[Doubles] fast
    cdef Marginals[Extendeds] exact  # for scores that float64 is not enough for
