"""A reference for MH_k with transition scores on longer sentences: Figure 2 by whole arrays, in double precision.

Every item is stored, items[p][h1, ..., hp] for p heads (n^p cells, of which those with h1 < ... < hp are used), and
the items from h1 to hp are computed at once, as an array over the heads between. Nothing is shared with mh4.
"""

import brute
import numpy as np


def best_score(n, k, scores, cost=None, heads=None, root=None):
    """Return the score of the best MH_k derivation over n words, or -inf.

    scores: arrays by tensor name; `heads` allows only the arcs of that tree, `root` only that word as a dependent of 0.
    """
    shift = scores["shift"].astype(float)
    arcs = np.full((n + 2, n + 2), -np.inf)  # nothing is a dependent of n + 1
    arcs[: n + 1, : n + 1] = sum(tensor.astype(float) for tensor in (scores.get("arcs"), cost) if tensor is not None)
    words = np.arange(1, n + 1)
    if heads is not None:
        others = np.ones((n + 2, n + 2), dtype=bool)
        others[list(heads[1:]), words] = False
        arcs[others] = -np.inf
    if root is not None:
        arcs[0, words[words != root]] = -np.inf
    items = [np.full((n + 2,) * p, -np.inf) for p in range(k)]
    for width in range(1, n + 2):
        for first in range(n + 2 - width):
            last = first + width
            between = slice(first + 1, last)
            fewer = None  # items of p heads made by a Link from items of p + 1
            for p in range(min(k, width + 1), 1, -1):
                best = np.full((width - 1,) * (p - 2), -np.inf) if fewer is None else fewer
                if width == 1:
                    best = np.zeros(())
                for m in range(2, p):  # the left item has m heads, the right one begins with the last of them
                    left = items[m][(first,) + (between,) * (m - 1)] + shift[first if m == 2 else between, between]
                    right = items[p - m + 1][(between,) * (p - m) + (last,)]
                    best = np.maximum(best, left[(...,) + (None,) * (p - m - 1)] + right)
                if p < k:
                    items[p][(first,) + (between,) * (p - 2) + (last,)] = best
                fewer = links(best, p, first, last, scores, arcs) if p > 2 else None
    return float(items[2][0, n + 1])


def links(items, p, first, last, scores, arcs):
    """Return the best items of p - 1 heads made by a Link from `items` of p heads, all from `first` to `last`."""
    axes = p - 2
    nodes = {"b0": last, brute.POSITIONS[p - 1]: first}
    for axis in range(axes):  # h2, h3, ... along the axes; the last one is s0
        nodes[brute.POSITIONS[axes - axis]] = np.arange(first + 1, last).reshape((-1,) + (1,) * (axes - 1 - axis))
    best = np.full((items.shape[0],) * (axes - 1), -np.inf)
    for code, (_, head, dependent) in brute.REDUCES.items():
        if head in nodes and dependent in nodes and dependent != brute.POSITIONS[p - 1]:
            total = items + scores["reduce_s0b0"][code - 1, nodes["s0"], nodes["b0"]].astype(float)
            if "reduce_s1s0" in scores:
                total += scores["reduce_s1s0"][code - 1, nodes["s1"], nodes["s0"]]
            total += arcs[nodes[head], nodes[dependent]]
            removed = axes - brute.POSITIONS.index(dependent)
            best = np.maximum(best, total.max(axis=removed, initial=-np.inf))
    return best
