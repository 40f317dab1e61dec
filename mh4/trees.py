"""Classes of trees: crossing arcs, membership, and the nearest tree of a class.

A tree over n words is an integer array ``heads`` of length n+1: ``heads[m]`` in 0..n is the head of word m, 0 is the
root and ``heads[0] == -1``. Arcs from the root count like all others. Every function raises ValueError if ``heads`` is
not a tree (wrong length or numbers, a cycle).

Classes, by name: "projective"; "1ec", 1-Endpoint-Crossing (Pitler, Kannan & Marcus, TACL 2013); "mh3", "mh4", "mh5"
and so on, what MH_k derives (section 3.1 of the MH4 paper; "mh3" is "projective").
"""

import re

import numpy as np

from mh4.decoders import arguments, mh3, mh4, mhk, oneec
from mh4.decoders.degree import smallest_k


def is_projective(heads):
    """True if no two arcs cross."""
    return not _crossings(arguments.tree(heads)).any()


def is_one_endpoint_crossing(heads):
    """True if for every crossed arc the arcs crossing it share an endpoint."""
    heads = arguments.tree(heads)
    crossings = _crossings(heads)
    for crossing in crossings[crossings.any(axis=1)]:
        m = 1 + np.flatnonzero(crossing)
        if not any(((m == end) | (heads[m] == end)).all() for end in (m[0], heads[m[0]])):
            return False
    return True


def crossed_arcs(heads):
    """Which arcs are crossed by some arc: bool array (n+1,), True at m if the arc to word m is; False at 0."""
    return np.concatenate([[False], _crossings(arguments.tree(heads)).any(axis=1)])


def in_class(heads, name):
    """True if the tree is in the class of this name."""
    k = _degree(name)
    heads = arguments.tree(heads)
    if name == "1ec":
        return is_one_endpoint_crossing(heads)
    return not _crossings(heads).any() or (k > 3 and smallest_k(heads) <= k)


def nearest(heads, name, *, single_root=False):
    """A tree of the class that keeps as many arcs as any: int32 array (n+1,), the tree itself if it is in the class.

    Of these it is one with the fewest dependents of the root. With `single_root` it has just one even where that keeps
    fewer arcs.
    """
    k = _degree(name)
    heads = arguments.tree(heads)
    if in_class(heads, name) and not (single_root and (heads[1:] == 0).sum() != 1):
        return heads
    n = len(heads) - 1
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    arcs[0] = -1  # fewer than n + 1 in all: roots only matter where as many arcs are kept
    arcs[heads[1:], np.arange(1, n + 1)] += n + 1
    if name == "1ec":
        zeros = np.zeros((n + 2, n + 1), dtype=np.float32)
        return oneec.decode(arcs, arcs, zeros, zeros, single_root=single_root).heads
    if k > 4:
        return mhk.decode(arcs, k, single_root=single_root).heads
    decode, reduces = (mh3.decode, 2) if k == 3 else (mh4.decode, 6)
    shift, reduce = np.zeros((n + 2, n + 2), np.float32), np.zeros((reduces, n + 2, n + 2), np.float32)
    return decode(shift, reduce, cost=arcs, single_root=single_root).heads


def _degree(name):
    """The k of a class MH_k, None for "1ec"."""
    if name == "1ec":
        return None
    if name == "projective":
        return 3
    match = re.fullmatch(r"mh([0-9]+)", name)
    if not match or int(match[1]) < 3:
        raise ValueError(f'unknown class of trees {name!r}: expected "projective", "1ec", "mh4", "mh5" or a larger k')
    return int(match[1])


def _crossings(heads):
    """Bool matrix (n, n): at [a, b], whether the arcs to words a+1 and b+1 cross."""
    ends = np.stack([heads[1:], np.arange(1, len(heads))])
    low, high = ends.min(axis=0), ends.max(axis=0)
    crossings = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    return crossings | crossings.T
