"""The MH4 decoder in O(n^4) time and O(n^3) memory (Figure 2 of the paper, with k = 4).

Read mh4/decoders/reference.py first: it defines the items and the steps. The fast chart stores only the items [i,l] and
[i,j,l], without backpointers. The trace recomputes the argmaxes along its path (docs/explanation/products.md).

The recurrence is `fill` in charts/mh4/chart.hpp, which also explains the order in which the items are computed.
`TransitionDecoding.process` in sentences.pyx calls `fill`. It then calls `trace` in charts/shared/transition_chart.hpp,
which finds the transitions, and `write`, which executes them.
"""

import numpy as np

from mh4.decoders.sentences cimport Factories, Workspace

from mh4.decoders.arguments import transition_tensors, words
from mh4.decoders.derivation import Derivation, Marginals
from mh4.decoders.sentences import Sampling, Summing, TransitionDecoding

cdef extern from "factories.hpp":
    const Factories* const* VARIANTS


cdef class MH4(Workspace):
    def __cinit__(self):
        self.make(VARIANTS)


def decode(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Derivation:
    """Return the highest-scoring MH4 derivation of a sentence of n words (Figure 2, Section 4.2).

    This takes O(n^4) time and O(n^3) memory.

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (6, n+2, n+2), LA, RA, LA', RA', LA2 and RA2, indexed [t, s0, b0].
    reduce_s1s0: float32 (6, n+2, n+2), indexed [t, s1, s0], added to reduce_s0b0 (MH4-hybrid); or None (MH4-two).
    arcs: float32 (n+1, n+1) or None, arcs[h, m] is added for every arc h->m.
    cost: like arcs, but not a part of the Derivation.
    heads: int array (n+1,); if given, only derivations of trees with these heads are considered. -1 allows any head,
        -2 any head except the root.
    single_root: exactly one dependent of node 0.
    Scores and cost of other floating-point types are rounded to float32. A score of -1e30 or less, such as -inf,
    forbids a transition or an arc.

    Ties are broken in the same way on every processor and in batches. Going back from the goal, the trace follows the
    first of the best ways to an item, in the order in which ``step2``, ``step3`` (charts/shared/transition_chart.hpp)
    and ``step4`` (charts/mh4/chart.hpp) try them.

    Without words (n = 0) the derivation is the shift of the root.
    Returns a Derivation with parts "shift" (n, 2), "reduce_s0b0" (n, 3) and, if given,
    "reduce_s1s0" (n, 3) and "arcs" (n, 2).
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if no tree in MH4 has these heads (and a single root, if required);
    MemoryError if the sentence is too long for the memory of the machine.
    """
    tensors = transition_tensors(6, shift, reduce_s0b0, reduce_s1s0, arcs)
    return TransitionDecoding(tensors, heads, single_root, cost).alone(MH4, k=4)


def marginals(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> Marginals:
    """Return the expected counts of arcs and transitions over the MH4 derivations of a sentence of n words.

    The probability of a derivation, that is, of a transition sequence that the chart derives, is proportional to the
    exponential of its score. This takes O(n^4) time and O(n^3) memory. The arguments are as for `mh4.decode`; float64
    scores are not rounded to float32.

    heads: integers (n+1,), -1 at 0; if given, only derivations of trees with these heads count, as for `decode`.

    Without words (n = 0) the only derivation is the shift of the root.
    Returns Marginals, whose arrays are float64; `parts` has the shapes of the scores.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, heads with a
    cycle, or single_root without words); NotInClass if no tree in MH4 has these `heads` (and a single root, if
    required); MemoryError if the sentence is too long for the memory of the machine.
    """
    tensors = transition_tensors(6, shift, reduce_s0b0, reduce_s1s0, arcs)
    return Summing(tensors, heads, single_root).alone(MH4, k=4)


def sample(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    samples: int,
    rng: int | np.random.Generator | None = None,
    arcs: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> np.ndarray:
    """Sample MH4 derivations of a sentence of n words independently, and return their trees.

    The probability of a derivation is proportional to the exponential of its score; the probability of a tree is the
    sum over its derivations. Sampling is exact. It computes the sums over all derivations once, as for `marginals`, and
    then takes O(n^2) time at most for each sample.

    samples: the number of samples.
    rng: a seed, or a numpy.random.Generator, from which one number is drawn; by default, an unpredictable seed.
    The other arguments are as for `marginals`.

    Returns the heads of the trees, int32 (samples, n+1), -1 at 0. Raises what `marginals` raises, and ValueError for a
    wrong number of samples.
    """
    tensors = transition_tensors(6, shift, reduce_s0b0, reduce_s1s0, arcs)
    return Sampling(tensors, heads, single_root, samples, rng).alone(MH4, k=4)


cdef class FirstFound(Workspace):
    def __cinit__(self):
        self.charts.search.reset(VARIANTS[0].first_found())


def first_found(arcs: np.ndarray, single_root: bool = False) -> "tuple[np.ndarray, np.ndarray]":
    """Return the best derivation of a sentence with arc scores only, with ties broken as in the authors' chart.

    The authors' training trees and sequences are what their chart finds under scores with many ties (0 and 1), so they
    depend on the order in which it tries candidates. This is the order for each kind of item. A later candidate
    replaces an earlier one only if it scores higher:

        [i,l]      Link [i,j,l] without j, j ascending: RA (i->j), LA (l->j);   [i,i+1] = 0
        [i,j,l]    Link [i,q,j,l] without q, q ascending: RA' (i->q), LA' (j->q), LA2 (l->q)
                   Combine [i,j] + [j,l]
                   Link [i,j,k,l] without k, k ascending: RA2 (i->k), RA (j->k), LA (l->k)
        [i,j,k,l]  Combine [i,j,k] + [k,l], Combine [i,j] + [j,k,l]

    arcs: float32 (n+1, n+1), the score of head h and dependent m at [h, m], -inf to forbid an arc.

    Returns the heads, int32 (n+1,), and the codes of the transitions, intp (2n+1,). This takes O(n^4) time and O(n^3)
    memory. Raises ValueError for invalid scores or if they forbid every derivation, MemoryError if the sentence is too
    long.
    """
    side = words("arcs", arcs, 1) + 2
    zeros = np.zeros((6, side, side), dtype=np.float32)
    found = TransitionDecoding(transition_tensors(6, zeros[0], zeros, None, arcs), None, single_root).alone(FirstFound, k=4)
    return found.heads, np.ascontiguousarray(found.transitions[:, 0])
