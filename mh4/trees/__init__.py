"""Classes and measures of trees: crossing arcs, membership, the nearest tree of a class; gaps and well-nestedness.

A tree over n words is an integer array ``heads`` of length n+1: ``heads[m]`` in 0..n is the head of word m, 0 is the
root and ``heads[0] == -1``. Arcs from the root count like any others. Every function raises ValueError if ``heads`` is
not a tree (wrong length or numbers, a cycle).

Classes, by name: "projective"; "1ec", 1-Endpoint-Crossing (Pitler, Kannan & Marcus, TACL 2013); "mh3", "mh4", "mh5"
and so on, the trees that MH_k derives (Section 3.1 of the MH4 paper; "mh3" is "projective"); "any", all trees.

The yield of a node is the node and all its descendants; a block is a maximal interval of the yield, and a gap is the material
between two adjacent blocks (Kuhlmann & Nivre, "Mildly Non-Projective Dependency Structures", COLING/ACL 2006; Kuhlmann,
"Mildly Non-Projective Dependency Grammar", Computational Linguistics 39(2), 2013).
"""

import re
import sys
from collections.abc import Sequence
from math import inf as INFINITY

import numpy as np

from mh4.decoders import arguments, mh3, mh4, mh5, mhk, mst, oneec
from mh4.errors import shown
from mh4.trees import measures

Heads = np.ndarray | Sequence[int]

_DEGREES: dict[str, float | None] = {"projective": 3, "1ec": None, "any": INFINITY}


def is_projective(heads: Heads) -> bool:
    """Return whether no two arcs cross."""
    return number_of_crossings(heads) == 0


def is_one_endpoint_crossing(heads: Heads) -> bool:
    """Return whether, for every crossed arc, the arcs that cross it share an endpoint."""
    return measures.one_endpoint_crossing(heads)


def crossed_arcs(heads: Heads) -> np.ndarray:
    """Return which arcs are crossed: bool array (n+1,), True at m if some arc crosses the arc to word m; False at 0."""
    return measures.crossings(heads) > 0


def number_of_crossings(heads: Heads) -> int:
    """Return the number of pairs of arcs that cross."""
    return int(measures.crossings(heads).sum()) // 2  # each pair is counted at both of its arcs


def gap_degree(heads: Heads) -> int:
    """Return the largest number of gaps in the yield of a node; 0 iff the tree is projective (Kuhlmann & Nivre 2006)."""
    return block_degree(heads) - 1


def block_degree(heads: Heads) -> int:
    """Return the largest number of blocks in the yield of a node: the gap degree + 1 (Kuhlmann 2013)."""
    return int(measures.blocks(heads).max())


def is_well_nested(heads: Heads) -> bool:
    """Return whether no two disjoint subtrees interleave (Kuhlmann & Nivre 2006).

    They do if there are nodes a < b < c < d with a and c in one subtree, b and d in the other.
    """
    return measures.well_nested(heads)


def depth(heads: Heads) -> int:
    """Return the number of arcs from the root to the word farthest from it."""
    return int(depths(heads).max())


def depths(heads: Heads) -> np.ndarray:
    """Return the number of arcs from the root to each word: int64 array (n+1,), 0 at 0."""
    above = np.maximum(arguments.tree(heads), 0)
    depths = (np.arange(len(above)) > 0).astype(np.int64)
    while above.any():  # double the steps taken towards the root until every word has reached it
        depths += np.where(above > 0, depths[above], 0)
        above = above[above]
    return depths


def in_class(heads: Heads, name: str) -> bool:
    """Return whether the tree is in the class of this name. Raises ValueError for an unknown class."""
    k = _degree(name)
    return _in_class(arguments.tree(heads), k)


def nearest(heads: Heads, name: str, *, single_root: bool = False) -> np.ndarray:
    """Return a tree of the class that keeps as many arcs as possible: int32 array (n+1,), the tree itself if it is in the class.

    Of such trees, it is one with the fewest dependents of the root. With `single_root`, the root has exactly one, even if that keeps
    fewer arcs.

    Raises ValueError for an unknown class, and for `single_root` without words.

    The decoders are exact, and process only the core of the tree, which is small in treebanks. A core of m words takes
    O(m^3) time for "projective", O(m^4) for "mh4" and "1ec", O(m^k) for larger k.
    """
    k = _degree(name)
    heads = arguments.tree(heads)
    if _in_class(heads, k) and not (arguments.flag(single_root) and (heads[1:] == 0).sum() != 1):
        return heads
    nodes, core_heads = measures.core(heads)
    near = heads.copy()
    near[nodes[1:]] = nodes[_decode(_kept(core_heads), k, single_root)[1:]]
    return near


def best(arcs: np.ndarray, name: str, *, single_root: bool = False) -> np.ndarray:
    """Return the highest-scoring tree of the class: int32 array (n+1,).

    arcs: float32 (n+1, n+1), the score of head h and dependent m at [h, m]. With `single_root` the root has one
    dependent. If the best of all trees is in the class, this takes O(n^2) time, as for "any"; otherwise it takes the
    time of the class's decoder. Raises ValueError for an unknown class, if `arcs` is not a matrix of scores, and if no
    tree is possible: scores of -inf, or `single_root` without words.
    """
    k = _degree(name)
    heads = mst.decode(arcs, single_root=single_root).heads
    return heads if _in_class(heads, k) else _decode(arcs, k, single_root)


def _in_class(heads: np.ndarray, k: float | None) -> bool:
    if k == INFINITY or not measures.crossings(heads).any():
        return True
    if k is None:
        return measures.one_endpoint_crossing(heads)
    return k > 3 and mhk.smallest_k(measures.core(heads)[1]) <= k


def _kept(heads: np.ndarray) -> np.ndarray:
    """Return arc scores, (n+1, n+1), under which the best tree is the one nearest to `heads` with the fewest roots."""
    n = len(heads) - 1
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    arcs[0] = -1  # less than n + 1 in total: roots only break ties
    arcs[heads[1:], np.arange(1, n + 1)] += n + 1
    return arcs


def _decode(arcs: np.ndarray, k: float | None, single_root: bool) -> np.ndarray:
    """Return the heads of the best tree, found by the decoder of the class."""
    n = len(arcs) - 1
    if k is None:
        zeros = np.zeros((n + 2, n + 1), dtype=np.float32)
        return oneec.decode(arcs, arcs, zeros, zeros, single_root=single_root).heads
    if k == INFINITY:
        return mst.decode(arcs, single_root=single_root).heads
    if k > 5:
        return mhk.decode(arcs, int(k), single_root=single_root).heads
    chart, reduces = {3: (mh3, 2), 4: (mh4, 6), 5: (mh5, 12)}[int(k)]
    limit = {"max_bytes": sys.maxsize} if k == 5 else {}
    shift, reduce = np.zeros((n + 2, n + 2), np.float32), np.zeros((reduces, n + 2, n + 2), np.float32)
    return chart.decode(shift, reduce, cost=arcs, single_root=single_root, **limit).heads


def _degree(name: str) -> float | None:
    """Return the k of a class MH_k, infinity for "any" and None for "1ec". Raises ValueError for an unknown class."""
    if isinstance(name, str) and name in _DEGREES:
        return _DEGREES[name]
    match = re.fullmatch(r"mh([0-9]{1,9})", str(name))
    if not match or int(match[1]) < 3:
        raise ValueError(
            f'unknown class of trees {shown(name)}: expected "projective", "1ec", "any", "mh3", "mh4" or a larger k below 10**9'
        )
    return int(match[1])
