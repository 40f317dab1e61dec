"""The nearest trees that the authors trained on: of several that keep equally many arcs, the one that their charts find first.

A tree outside a system's class is replaced by one that keeps as many arcs as possible: that of the highest score if the arcs of the tree
score 1 and all others 0. Under such scores there are many of them. mh4.trees.nearest prefers those with few roots.
"""

import numpy as np

from mh4 import trees
from mh4.decoders.mh4 import first_found as first_mh4


def nearest(heads: trees.Heads, name: str, *, single_root: bool = False) -> np.ndarray:
    """A tree of the class that keeps as many arcs as possible, as `trees.nearest`, but the one that is found first.

    For "projective", by Eisner's algorithm with the smallest split point, always with a single root; for "mh4", in the order of
    mh4.decoders.mh4.first_found; for other classes, that of `trees.nearest`.
    """
    heads = np.asarray(heads)
    if name not in ("projective", "mh4") or trees.in_class(heads, name) and not (single_root and (heads[1:] == 0).sum() != 1):
        return trees.nearest(heads, name, single_root=single_root)
    kept = np.zeros((len(heads), len(heads)), dtype=np.float32)
    kept[heads[1:], np.arange(1, len(heads))] = 1
    return eisner(kept) if name == "projective" else first_mh4.decode(kept, single_root)[0]


def eisner(arcs: np.ndarray) -> np.ndarray:
    """The best projective tree with a single root (Eisner 1996), of several the one with the smallest split points.

    arcs: (n+1, n+1), the score of head h and dependent m at [h, m]. Returns heads, int32 (n+1,). O(n^3) time.
    """
    n = len(arcs) - 1
    # Spans [i,j] of words; the head of all others is i (to the right) or j (to the left). In open spans, i and j are joined by an arc.
    right, left, open_right, open_left = np.zeros((4, n + 2, n + 2))
    split_right, split_left, split_open = np.zeros((3, n + 2, n + 2), dtype=int)
    for width in range(1, n):
        for i in range(1, n + 1 - width):
            j = i + width
            inside = right[i, i:j] + left[i + 1 : j + 1, j]
            split_open[i, j] = k = i + int(inside.argmax())
            open_right[i, j], open_left[i, j] = inside[k - i] + arcs[i, j], inside[k - i] + arcs[j, i]
            towards = open_right[i, i + 1 : j + 1] + right[i + 1 : j + 1, j]
            split_right[i, j] = k = i + 1 + int(towards.argmax())
            right[i, j] = towards[k - i - 1]
            towards = left[i, i:j] + open_left[i:j, j]
            split_left[i, j] = k = i + int(towards.argmax())
            left[i, j] = towards[k - i]
    heads = np.full(n + 1, -1, dtype=np.int32)
    if n == 0:
        return heads
    words = np.arange(1, n + 1)
    root = 1 + int((left[1, words] + right[words, n] + arcs[0, words]).argmax())
    heads[root] = 0
    agenda = [(1, root, False), (root, n, True)]  # spans, and whether they go to the right
    while agenda:
        i, j, to_the_right = agenda.pop()
        if i == j:
            continue
        if to_the_right:
            k = split_right[i, j]
            heads[k] = i
            agenda += [(i, split_open[i, k], True), (split_open[i, k] + 1, k, False), (k, j, True)]
        else:
            k = split_left[i, j]
            heads[k] = j
            agenda += [(i, k, False), (k, split_open[k, j], True), (split_open[k, j] + 1, j, False)]
    return heads
