"""The MH4 decoder in O(n^4) time and O(n^3) memory (Figure 2 of the paper, with k = 4).

Read deduction.pyx first: it has the items, the recurrences, and the same decoder of MH4-hybrid without any optimisation for speed, options
and transitions. Here only [i,l] and [i,j,l] are stored, and no backpointers: the trace recomputes the argmaxes along its path.

The docstring of FullChart in full_chart says in which order the items are computed, and trace in shared/search.pyx how the transitions
are found again; tree_items.hpp has the items of one tree (heads=), and replay executes the transitions.
"""

from typing import Optional

import numpy as np

from mh4.decoders.shared.replay cimport Tensors
from mh4.decoders.shared.search cimport best_derivation

from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Derivation
from mh4.decoders.shared.memory import workspaces
from mh4.decoders.mh4.full_chart import FullChart, MH4TreeChart


def decode(
    shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: Optional[np.ndarray] = None, *,
    arcs: Optional[np.ndarray] = None, cost: Optional[np.ndarray] = None, heads: Optional[np.ndarray] = None,
    single_root: bool = False,
) -> Derivation:
    """The highest-scoring MH4 derivation of a sentence of n words, in O(n^4) time and O(n^3) memory (Figure 2, Section 4.2).

    shift: float32 (n+2, n+2), indexed [s0, b0].
    reduce_s0b0: float32 (6, n+2, n+2), LA, RA, LA', RA', LA2 and RA2, indexed [t, s0, b0].
    reduce_s1s0: the same indexed [t, s1, s0], added to it (MH4-hybrid), or None (MH4-two).
    arcs: float32 (n+1, n+1) or None, arcs[h, m] is added for every arc h->m.
    cost: the same, but without a part in the Derivation. -inf or any number from -1e30 down forbids a transition or arc.
    heads: int array (n+1,); if given, only derivations of this tree (it may have several) are considered.
    single_root: exactly one dependent of node 0.
    Scores and cost of other floating-point types are rounded to float32.

    Without words (n = 0) the derivation is the shift of the root.
    Returns a Derivation with parts "shift" (n, 2), "reduce_s0b0" (n, 3) and, if given,
    "reduce_s1s0" (n, 3) and "arcs" (n, 2).
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (all scores -inf, or
    single_root without words); NotInClass if the tree ``heads`` is not in MH4, or lacks the single root required;
    MemoryError if the sentence is too long for the memory of the machine.
    """
    cdef Tensors tensors = Tensors(6, shift, reduce_s0b0, reduce_s1s0, arcs, cost)
    heads = arguments.given_tree(heads, tensors.scores.n, single_root)
    return best_derivation(workspaces.take(FullChart if heads is None else MH4TreeChart), tensors, heads, single_root, 4)
