"""The k best trees, in order, by decoding with some arcs fixed and others forbidden (Lawler, Management Science 1972)."""

from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import count, islice

import numpy as np

from mh4.decoders.arguments import is_count
from mh4.decoders.derivation import Derivation


def kbest(
    decode: Callable[..., Derivation],
    scores: Mapping[str, np.ndarray],
    k: int,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
) -> list[Derivation]:
    """Find the k highest-scoring trees of a sentence, all different, best first; fewer if there are fewer.

    All trees except the best one are divided into n sets, by the first word whose head differs from the best tree. In
    the set of a word, the words before it have the same heads as in the best tree, and the word has another head. One
    decode finds the best tree of a set. The best of these is the second-best tree of all, and its set is divided in the
    same way. This takes up to n decodes for each of the k trees.

    decode: any exact decoder, such as `mh4.decode` or `partial(mhk.decode, k=5)`. scores: its tensors by name.
    cost, heads, single_root: as for the decoder.

    Returns Derivations as `decode` does. Trees whose scores are equal in the decoder's precision come in any order.
    Raises ValueError unless k is a positive integer, and any error that `decode` raises for the best tree.
    """
    if not is_count(k):
        raise ValueError(f"k: expected a number of trees, got {k!r}")
    return list(islice(_in_order(decode, scores, cost, heads, single_root), k))


def _in_order(
    decode: Callable[..., Derivation],
    scores: Mapping[str, np.ndarray],
    cost: np.ndarray | None,
    heads: np.ndarray | None,
    single_root: bool,
) -> Iterator[Derivation]:
    best = decode(**scores, cost=cost, heads=heads, single_root=single_root)
    n, number = len(best.heads) - 1, count()
    given = np.full(n + 1, -1, dtype=np.int32) if heads is None else np.asarray(heads, dtype=np.int32)
    added = np.zeros((n + 1, n + 1), dtype=np.float32) if cost is None else np.asarray(cost)
    # For each set: the score and number that order the heap, its best tree, the first word whose head is not fixed, and
    # the heads that this word may not have.
    sets: list[tuple[float, int, Derivation, int, list[int]]] = [(-best.score, next(number), best, 1, [])]
    while sets:
        _, _, best, first, forbidden = heappop(sets)
        yield best
        for word in range(first, n + 1):
            if given[word] >= 0:
                continue
            others = [*(forbidden if word == first else []), int(best.heads[word])]
            fixed, without = given.copy(), added.copy()
            fixed[:word] = best.heads[:word]
            without[others, word] = -np.inf
            try:
                found = decode(**scores, cost=without, heads=fixed, single_root=single_root)
            except ValueError:  # no tree is in this set
                continue
            heappush(sets, (-found.score, next(number), found, word, others))
