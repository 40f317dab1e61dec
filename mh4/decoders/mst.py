"""The maximum spanning arborescence: all trees (Chu & Liu 1965, Edmonds 1967), by ufal.chu-liu-edmonds in float64."""

import numpy as np
from ufal.chu_liu_edmonds import chu_liu_edmonds

from mh4.decoders import arguments
from mh4.decoders.derivation import from_heads


def decode(arcs, *, cost=None, heads=None, single_root=False):
    """The highest-scoring tree over n words.

    arcs: float32 (n+1, n+1), the score of head h and dependent m at [h, m].
    cost: float32 (n+1, n+1), added for every arc. -inf forbids an arc.
    heads: int array (n+1,); if given, the derivation is that of this tree.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the tree is the root alone.
    Returns a Derivation with part "arcs" (n, 2), rows (head, dependent); it has no transitions.
    Raises ValueError for wrong shapes, NaN and the like, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if the tree ``heads`` has not the single root required.
    """
    n, arcs, cost, total = arguments.arc_factored(arcs, cost)
    if heads is not None:
        heads = arguments.tree(heads, n)
        arguments.roots(heads, single_root)
    else:
        heads = best_tree(total, single_root)
    derivation = from_heads(heads, arcs, cost)
    if derivation.score == -np.inf or (single_root and (heads[1:] == 0).sum() != 1):
        raise arguments.no_derivation(None, 0)
    return derivation


def best_tree(scores, single_root):
    """Heads of the best tree; it has arcs of -inf, or several roots in spite of single_root, only if all trees do.

    The best tree is the answer if it has a single root. If not, a penalty on every arc from the root, larger than the
    difference between any two trees, makes the number of roots count before the scores: the best tree under the
    penalty has the fewest roots and among these the highest score, since trees with as many roots lose the same.
    Arcs of -inf are treated likewise, with a penalty that counts even before the roots.
    """
    n = len(scores) - 1
    possible = np.isfinite(scores[:, 1:])
    np.fill_diagonal(possible[1:], False)
    scores = scores[:, 1:]
    most = np.where(possible, scores, -np.inf).max(axis=0, initial=-np.inf)
    least = np.where(possible, scores, np.inf).min(axis=0, initial=np.inf)
    penalty = 1 + (most - least)[np.isfinite(most)].sum()

    def search(matrix):
        candidates = np.full((n + 1, n + 1), np.nan)  # NaN: no candidate, here for arcs from a word to itself
        candidates[1:] = matrix.T
        np.fill_diagonal(candidates, np.nan)
        return np.array(chu_liu_edmonds(candidates)[0], dtype=np.int32)

    if not possible.sum() == n * n:
        floor = least[np.isfinite(least)].min(initial=0)
        scores = np.where(possible, scores, floor - (n + 1) * penalty)
    heads = search(scores)
    if single_root and (heads[1:] == 0).sum() > 1:
        scores = scores.copy()
        scores[0] -= penalty
        heads = search(scores)
    return heads
