"""Marginals of spanning trees; the algorithm is in matrix_tree.hpp."""

cimport cython
import numpy as np

from mh4.decoders.shared.chart_memory cimport KEEP
from mh4.decoders.shared.marginals cimport Doubles, Extendeds

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Marginals
from mh4.decoders.shared.memory import out_of_memory, room_for, workspaces

cdef extern from "matrix_tree.hpp" namespace "marginals" nogil:
    cdef cppclass MST[N]:
        bint find(const double* arcs, int n, const int* words, bint single_root, double* log_partition, double* counts) except +
        size_t bytes_needed()
        void release(size_t kept)


def marginals(arcs: np.ndarray, *, single_root: bool = False) -> Marginals:
    """The probabilities of arcs over all trees of n words, each with probability proportional to the exponential of its score.

    The arguments are those of `mst.decode`; float64 scores are not rounded to float32. The part "arcs" is the array of
    probabilities itself.

    Raises ValueError for wrong shapes, NaN and similar, and if there is no tree (scores -inf, or single_root without words);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    cdef int n = arguments.words("arcs", arcs, 1)
    arcs = arguments.float64_scores("arcs", arcs, (n + 1, n + 1))
    order = np.arange(n + 1, dtype=np.int32)
    if single_root:
        root = possible_root(arcs)
        if root == 0:
            raise arguments.no_derivation()
        order[1], order[root] = root, 1
    room_for(arcs.nbytes, "the probabilities of arcs")
    probabilities = np.full((n + 1, n + 1), 0.0)  # written now: the charts are weighed against what is left
    cdef const double[:, ::1] scores = arcs
    cdef double[:, ::1] counts = probabilities
    cdef const int[::1] words = order
    cdef double log_partition
    cdef bint single = single_root
    cdef Charts charts = workspaces.take(Charts)
    try:
        with nogil:
            if not charts.fast.find(&scores[0, 0], n, &words[0], single, &log_partition, &counts[0, 0]):
                charts.fast.release(KEEP)
                charts.exact.find(&scores[0, 0], n, &words[0], single, &log_partition, &counts[0, 0])
    except MemoryError:
        raise out_of_memory(n, max(charts.fast.bytes_needed(), charts.exact.bytes_needed())) from None
    charts.fast.release(KEEP)
    charts.exact.release(KEEP)
    workspaces.give_back(charts)
    if log_partition == -np.inf:
        raise arguments.no_derivation()
    return Marginals(log_partition, probabilities, {"arcs": probabilities})


def possible_root(arcs: np.ndarray) -> int:
    """The word with the best arc from 0 of those that all others can descend from; 0 if there is none. arcs: (n+1, n+1)."""
    from_root, linked = arcs[0, 1:], arcs[1:, 1:] > -np.inf
    if len(from_root) == 0 or from_root.max() == -np.inf:
        return 0
    root = int(from_root.argmax())
    if descendants(linked, root).all():
        return 1 + root
    reached = np.zeros(len(from_root), dtype=bool)
    for word in range(len(from_root)):
        if not reached[word]:  # so none before it can be the root
            root = word
            reached |= descendants(linked, word)
    if not descendants(linked, root).all():
        return 0
    scores = np.where(descendants(linked.T, root), from_root, -np.inf)
    return 1 + int(scores.argmax()) if scores.max() > -np.inf else 0


def descendants(linked: np.ndarray, word: int) -> np.ndarray:
    """Which words can be descendants of this one, itself included; linked[h, m]: whether there is an arc."""
    reached = np.zeros(len(linked), dtype=bool)
    reached[word] = True
    new = reached
    while new.any():
        new = linked[new].any(axis=0) & ~reached
        reached = reached | new
    return reached


@cython.final
cdef class Charts:
    cdef MST[Doubles] fast
    cdef MST[Extendeds] exact  # for scores that float64 is not enough for
