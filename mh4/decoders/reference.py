"""Decode by the definitions: slow, but short enough to read. The tests compare the fast decoders with this code.

The file has two parts, which do not use the rest of mh4:

- MH_k, as deduced in Figure 2 of the paper: `deductions` and `deduce`, with the scores of Section 4.2 in
  `transition_scores`;
- 1-Endpoint-Crossing trees, scored and searched by their definition: `parts`, `best_tree`.

Nodes are 0 for the root, 1 to n for the words, and n+1 for the end of the sentence. A tree is a tuple `heads`, with the
head of word m at index m, and -1 at index 0. Scores are arrays as for the decoders.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import product
from operator import add, mul
from typing import Any, NamedTuple

import numpy as np

Heads = Sequence[int]
Arc = tuple[int, int]  # head, dependent
Item = tuple[int, ...]  # [h1, ..., hp] of Figure 2

# ---------------------------------------------------------------------------------------------------------- MH_k: Figure 2


def deductions(item: Item, n: int, k: int) -> Iterator[tuple[tuple[Item, ...], Arc | None]]:
    """Yield all ways to deduce an item of MH_k by a step of Figure 2: the antecedent items and, for Link, its arc.

    Link removes the dependent from the item; n+1 is never a head. Shift derives [h, h+1] from any item that ends with
    h. Such an item always exists, so Shift has no antecedents here.

    >>> for step in deductions((0, 2, 4), n=3, k=4):
    ...     print(*step)
    ((0, 2), (2, 4)) None
    ((0, 1, 2, 4),) (0, 1)
    ((0, 1, 2, 4),) (2, 1)
    ((0, 2, 3, 4),) (0, 3)
    ((0, 2, 3, 4),) (2, 3)
    """
    first, last = item[0], item[-1]
    if last == first + 1:  # Axiom, Shift
        yield (), None
    for m in range(1, len(item) - 1):  # Combine
        yield (item[: m + 1], item[m:]), None
    if len(item) < k:  # Link
        for dependent in sorted(set(range(first, last)) - set(item)):
            antecedent = tuple(sorted((*item, dependent)))
            for head in item:
                if head <= n:
                    yield (antecedent,), (head, dependent)


class Semiring(NamedTuple):
    """The semiring of the values: `times` combines the parts of one deduction of an item, `plus` all its deductions."""

    plus: Callable[[Collection[Any]], Any]
    times: Callable[[Any, Any], Any]
    one: Any


def log_sum(values: Collection[float]) -> float:
    """Return log(sum(exp(values)))."""
    largest = max(values, default=-math.inf)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values)) if largest > -math.inf else -math.inf


BEST = Semiring(max, add, 0.0)  # the score of the best deduction
LOG_SUM = Semiring(log_sum, add, 0.0)  # the logarithm of the sum of exp(score) over all deductions
COUNT = Semiring(sum, mul, 1)  # the number of deductions
TREES = Semiring(  # the trees, each as a set of arcs
    lambda ways: frozenset().union(*ways), lambda a, b: frozenset(x | y for x in a for y in b), frozenset([frozenset()])
)
SEQUENCES = Semiring(TREES.plus, lambda a, b: frozenset(x + y for x in a for y in b), frozenset([()]))  # transition sequences


def deduce(
    n: int, k: int, semiring: Semiring, shift: Callable[[int, int], Any], link: Callable[[Item, int, int], Any]
) -> dict[Item, Any]:
    """Return the value of every item of MH_k over n words. The goal is [0, n+1].

    shift(s0, b0): the value of the shift of b0. Section 4.2 scores this shift where Combine joins an item to one that
        begins with b0. s0 is known only there: it is the node before b0 in the left item.
    link(item, head, dependent): the value of the Link step that makes this arc from an item.

    All trees of MH4 over four words:

    >>> trees = deduce(4, 4, TREES, lambda s0, b0: TREES.one, lambda item, *arc: {frozenset([arc])})
    >>> len(trees[0, 5])
    118

    A sequence can have several deductions, which differ in where they combine (except in MH3, where it has one).
    Counting a sequence more than once changes sums, but not sets or the best score. The chart of `mh4.marginals`
    derives each sequence once.

    >>> for k in (3, 4):
    ...     sequences = deduce(4, k, SEQUENCES, lambda s0, b0: {("SH",)}, lambda *step: {(transition(*step)[0],)})
    ...     print(k, len(sequences[0, 5]), deduce(4, k, COUNT, lambda s0, b0: 1, lambda *step: 1)[0, 5])
    3 67 67
    4 840 2907
    """
    plus, times, one = semiring
    chart: dict[Item, Any] = {}

    def value(item: Item) -> Any:
        if item not in chart:
            ways = []
            for antecedents, arc in deductions(item, n, k):
                match antecedents:
                    case ():
                        ways.append(one)
                    case (left, right):
                        ways.append(times(times(value(left), shift(left[-2], left[-1])), value(right)))
                    case (antecedent,) if arc:
                        ways.append(times(value(antecedent), link(antecedent, *arc)))
            chart[item] = plus(ways)
        return chart[item]

    value((0, n + 1))
    return chart


# ------------------------------------------------------------------------------------- Sections 3.2 and 4.2: transitions, scores

# The reduces by code: name, head and dependent. MH3 has the first two, MH4 the first six, MH5 all.
REDUCES = {
    1: ("LA", "b0", "s0"),
    2: ("RA", "s1", "s0"),
    3: ("LA'", "s0", "s1"),
    4: ("RA'", "s2", "s1"),
    5: ("LA2", "b0", "s1"),
    6: ("RA2", "s2", "s0"),
    7: ("RA3", "s3", "s0"),
    8: ("RA'2", "s3", "s1"),
    9: ("RA''", "s3", "s2"),
    10: ("LA''", "s1", "s2"),
    11: ("LA''2", "s0", "s2"),
    12: ("LA3", "b0", "s2"),
}
CODES = {(head, dependent): code for code, (_, head, dependent) in REDUCES.items()}
POSITIONS = ("b0", "s0", "s1", "s2", "s3")


def transition(item: Item, head: int, dependent: int) -> tuple[int, ...]:
    """Return the transition that a Link step stands for, and its positions: (code, s1, s0, b0).

    After the transitions of an item [h1, ..., hp], h1, ..., h(p-1) are on the stack, h(p-1) on top, and hp is first in
    the buffer.

    >>> code, s1, s0, b0 = transition((6, 7, 9, 10), head=6, dependent=9)
    >>> REDUCES[code], s1, s0, b0
    (('RA2', 's2', 's0'), 7, 9, 10)
    """
    position = dict(zip(reversed(item), POSITIONS, strict=False))
    return CODES[position[head], position[dependent]], *item[-3:]


def transition_scores(
    shift: np.ndarray,
    reduce_s0b0: np.ndarray,
    reduce_s1s0: np.ndarray | None = None,
    *,
    arcs: np.ndarray | None = None,
    cost: np.ndarray | None = None,
) -> tuple[Callable[[int, int], float], Callable[[Item, int, int], float]]:
    """Return the arguments shift and link of `deduce` for the tensors of `mh4.decode`: the scores of MH3, MH4 or MH5.

    With them, the best score equals the fast decoder's:

    >>> from mh4.decoders import mh4
    >>> rng = np.random.default_rng(1)
    >>> shift, s0b0, s1s0 = (rng.normal(size=size).astype(np.float32) for size in [(7, 7), (6, 7, 7), (6, 7, 7)])
    >>> best = deduce(5, 4, BEST, *transition_scores(shift, s0b0, s1s0))[0, 6]
    >>> math.isclose(best, mh4.decode(shift, s0b0, s1s0).score, rel_tol=1e-6)
    True
    """

    def link(item: Item, head: int, dependent: int) -> float:
        code, s1, s0, b0 = transition(item, head, dependent)
        if code > len(reduce_s0b0):
            return -math.inf
        score = float(reduce_s0b0[code - 1, s0, b0])
        if reduce_s1s0 is not None:
            score += float(reduce_s1s0[code - 1, s1, s0])
        return score + sum(float(of_arc[head, dependent]) for of_arc in (arcs, cost) if of_arc is not None)

    return lambda s0, b0: float(shift[s0, b0]), link


# --------------------------------------------------------------------------------------------------------------- all trees


def is_tree(heads: Heads) -> bool:
    """Return whether every word reaches the root."""
    for word in range(1, len(heads)):
        passed = set()
        while word > 0:
            if word in passed:
                return False
            passed.add(word)
            word = heads[word]
    return True


@cache
def all_trees(n: int) -> tuple[Heads, ...]:
    """Return all dependency trees over n words.

    >>> [len(all_trees(n)) for n in range(1, 6)]
    [1, 3, 16, 125, 1296]
    """
    return tuple(heads for words in product(range(n + 1), repeat=n) if is_tree(heads := (-1, *words)))


def arcs_of(heads: Heads) -> list[Arc]:
    """Return the arcs (head, dependent) of a tree."""
    return [(heads[m], m) for m in range(1, len(heads))]


def cross(a: Arc, b: Arc) -> bool:
    """Return whether exactly one end of b lies strictly inside a, and the other strictly outside."""
    (a1, a2), (b1, b2) = sorted(a), sorted(b)
    return a1 < b1 < a2 < b2 or b1 < a1 < b2 < a2


def crossed_arcs(heads: Heads) -> set[Arc]:
    """Return the arcs that some arc of the tree crosses."""
    arcs = arcs_of(heads)
    return {a for a in arcs if any(cross(a, b) for b in arcs)}


# --------------------------------------------------------------------- 1-Endpoint-Crossing trees (Pitler et al. 2013; Pitler 2014)


def is_one_endpoint_crossing(heads: Heads) -> bool:
    """Return whether, for every crossed arc, all the arcs that cross it share an endpoint.

    >>> [sum(map(is_one_endpoint_crossing, all_trees(n))) for n in range(1, 6)]
    [1, 3, 16, 125, 1104]
    """
    arcs = arcs_of(heads)
    for a in arcs:
        crossing = [set(b) for b in arcs if cross(a, b)]
        if crossing and not set.intersection(*crossing):
            return False
    return True


def parts(heads: Heads) -> dict[str, set[tuple[int, int]]]:
    """Return the parts of a tree that are scored: the rows and columns of each tensor of `oneec.decode`.

    A crossed arc h -> m has the score crossed_arc[h, m]. Any other arc has the score arc[h, m], with sibling[s, m] and
    grandparent[g, m] where s and g are visible; n+1 stands for none.

    >>> for name, rows in parts((-1, 2, 4, 4, 0, 2, 7, 5, 4)).items():  # A hearing is scheduled on the issue today
    ...     print(name, sorted(rows))
    crossed_arc [(0, 4), (2, 5), (4, 8)]
    arc [(2, 1), (4, 2), (4, 3), (5, 7), (7, 6)]
    sibling [(3, 2), (9, 1), (9, 3), (9, 6), (9, 7)]
    grandparent [(5, 6)]
    """
    none, crossed = len(heads), crossed_arcs(heads)
    found: dict[str, set[tuple[int, int]]] = {"crossed_arc": set(), "arc": set(), "sibling": set(), "grandparent": set()}
    for h, m in arcs_of(heads):
        if (h, m) in crossed:
            found["crossed_arc"].add((h, m))
            continue
        found["arc"].add((h, m))
        # s is m's nearest sibling between h and m. It is visible if there is none, or h -> s is not crossed.
        dependents = [d for d in range(1, len(heads)) if heads[d] == h]
        between = [d for d in dependents if min(h, m) < d < max(h, m)]
        s = min(between, key=lambda d: abs(d - m)) if between else none
        if (h, s) not in crossed:
            found["sibling"].add((s, m))
        # g is the head of h. It is visible if g -> h is not crossed, and no crossed arc h -> d lies between h -> m and g -> h
        # in the order of the arcs around h: on its left from the shortest to the longest, then on its right from the
        # longest to the shortest. The root has no head; its missing arc counts as the longest on the right.
        g = heads[h]
        around = sorted([*dependents, g if h else none], key=lambda d: (d > h, -d))
        low, high = sorted([around.index(m), around.index(g if h else none)])
        if (g, h) not in crossed and not any((h, d) in crossed for d in around[low:high]):
            found["grandparent"].add((g if h else none, m))
    return found


def score_of_tree(heads: Heads, scores: dict[str, np.ndarray], cost: np.ndarray | None = None) -> float:
    """Return the score of a 1-Endpoint-Crossing tree: the scores of its parts, and the cost of its arcs.

    scores: the tensors arc, crossed_arc, grandparent and sibling.
    """
    score = sum(float(scores[name][row]) for name, rows in parts(heads).items() for row in rows)
    return score if cost is None else score + sum(float(cost[arc]) for arc in arcs_of(heads))


def best_tree(scores: dict[str, np.ndarray]) -> Heads:
    """Return the best 1-Endpoint-Crossing tree by trying all, which takes some seconds for seven words.

    >>> from mh4.decoders import oneec
    >>> rng, shapes = np.random.default_rng(1), {"arc": (6, 6), "crossed_arc": (6, 6), "grandparent": (7, 6), "sibling": (7, 6)}
    >>> scores = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    >>> best_tree(scores) == tuple(oneec.decode(**scores).heads.tolist())
    True
    """
    trees = filter(is_one_endpoint_crossing, all_trees(len(scores["arc"]) - 1))
    return max(trees, key=lambda heads: score_of_tree(heads, scores))
