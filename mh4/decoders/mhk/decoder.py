"""The highest-scoring tree that MH_k derives, for any k."""

import numbers

import numpy as np

from mh4.decoders.mhk.chart import best_tree
from mh4.decoders.shared import arguments
from mh4.decoders.shared.derivation import Derivation, from_heads
from mh4.decoders.tree_measures.degree import smallest_k


def decode(
    arcs: np.ndarray, k: int, *, cost: np.ndarray | None = None, heads: np.ndarray | None = None, single_root: bool = False
) -> Derivation:
    """The highest-scoring tree over n words that MH_k derives: projective for k = 3, as mh4 for k = 4, any tree for k = n+2.

    It takes O(n^k) time and O(n^(k-1)) memory (Figure 2).

    arcs: float32 or float64 (n+1, n+1), the score of head h and dependent m at [h, m]. k: int, at least 3.
    cost: the same, added for every arc. -inf or any number from -1e30 down forbids an arc.
    heads: int array (n+1,); if given, only trees with these heads are considered, -1 leaving the head of a word open.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the tree is just the root.
    Returns a Derivation with part "arcs" (n, 2), rows (head, dependent); it has no transitions.
    Raises ValueError for wrong shapes, NaN and similar, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if no tree in MH_k has these heads, or the single root required; MemoryError if the
    sentence is too long for the memory of the machine.
    """
    if not isinstance(k, numbers.Integral) or k < 3:
        raise ValueError(f"k: expected an integer of at least 3, got {k!r}")
    n, arcs, cost, total = arguments.arc_factored(arcs, cost)
    heads, whole = arguments.given_heads(heads, n, single_root)
    found = heads
    if whole:
        if smallest_k(heads) > k:
            raise arguments.no_derivation(heads, k)
    else:
        size = min(k, max(n + 2, 3))
        found = best_tree(total if heads is None else arguments.with_heads(total, heads), size, single_root)
        if found is None:
            possible = lambda: best_tree(arguments.with_heads(None, heads), size, single_root) is not None  # noqa: E731
            raise arguments.no_derivation(heads, k, possible)
    derivation = from_heads(found, arcs, cost)
    if derivation.score == -np.inf:
        raise arguments.no_derivation()
    return derivation
