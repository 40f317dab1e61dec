"""The reference for the decoders: every tree, and every MH_k derivation, by the definitions of the paper.

Nothing here is fast, and nothing is shared with mh4: trees are enumerated, crossings are checked pair by pair, and the
MH_k chart is the deduction system of Figure 2 taken literally, over all items [h1, ..., hp] with p <= k.

The chart is written once, with the meaning of a value left open: a set of transition sequences (to enumerate), a set of
arc sets, or a number (the best score, for sentences too long to enumerate).
"""

from functools import cache
from itertools import combinations, product

import numpy as np

# ---------------------------------------------------------------------------------------------------------------- trees


def is_tree(heads):
    """Whether every word reaches the root: heads[m] is the head of m, heads[0] is -1."""
    for word in range(1, len(heads)):
        seen = set()
        while word > 0:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word]
    return True


@cache
def all_trees(n):
    """All dependency trees over n words, as tuples (-1, h1, ..., hn)."""
    trees = ((-1,) + heads for heads in product(range(n + 1), repeat=n))
    return tuple(heads for heads in trees if is_tree(heads))


def arcs_of(heads):
    return [(heads[m], m) for m in range(1, len(heads))]


def cross(a, b):
    """Whether exactly one end of b lies strictly inside a, and the other strictly outside."""
    (a1, a2), (b1, b2) = sorted(a), sorted(b)
    return a1 < b1 < a2 < b2 or b1 < a1 < b2 < a2


def crossed_arcs(heads):
    arcs = arcs_of(heads)
    return {a for a in arcs if any(cross(a, b) for b in arcs)}


def is_projective(heads):
    """No arc crosses another (the root being left of all words)."""
    return not crossed_arcs(heads)


def is_one_endpoint_crossing(heads):
    """For every crossed arc, all the arcs crossing it share an endpoint."""
    arcs = arcs_of(heads)
    for a in arcs:
        crossing = [set(b) for b in arcs if cross(a, b)]
        if crossing and not set.intersection(*crossing):
            return False
    return True


def has_single_root(heads):
    return list(heads).count(0) == 1


@cache
def class_trees(n, name):
    """The trees over n words that are in a class: "all", "projective", "1ec", "mh3", "mh4", ..."""
    if name == "all":
        return all_trees(n)
    if name == "projective":
        return tuple(filter(is_projective, all_trees(n)))
    if name == "1ec":
        return tuple(filter(is_one_endpoint_crossing, all_trees(n)))
    return mhk_trees(n, int(name[2:]))


# -------------------------------------------------------------------------------------------------- Figure 2: the chart


def deduce(n, k, axiom, shift, combine, link, union):
    """The value of the goal item [0, n+1] of MH_k over n words.

    An item is a tuple of nodes (h1, ..., hp), p <= k. The value of an item is `union` of the values of all the ways to
    deduce it: `axiom` for [0, 1]; `shift` for [h, h+1], h >= 1 (its antecedent is any item that ends in h: it only says
    that h can be reached, which an item [h-1, h] always shows); `combine(left, value, right, value)`;
    `link(item, value, head, dependent)`.
    """
    value = {}
    for width in range(1, n + 2):
        for first in range(0, n + 2 - width):
            last = first + width
            inside = range(first + 1, last)
            # Link removes one head, so the items of this span with more heads come first.
            for p in range(min(k, width + 1), 1, -1):
                for interior in combinations(inside, p - 2):
                    item = (first, *interior, last)
                    ways = []
                    if item == (0, 1):
                        ways.append(axiom)
                    elif width == 1:
                        ways.append(shift)
                    for m in range(1, p - 1):
                        left, right = item[: m + 1], item[m:]
                        ways.append(combine(left, value[left], right, value[right]))
                    if p < k:
                        for dependent in set(inside) - set(interior):
                            antecedent = tuple(sorted({*item, dependent}))
                            for head in item:
                                if head != n + 1:  # the sentinel is not a node of the tree
                                    ways.append(link(antecedent, value[antecedent], head, dependent))
                    value[item] = union(ways)
    return value[(0, n + 1)]


# The reduces by code: their name, and the positions of the head and of the dependent. MH3 has the first two, MH4 the first six.
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
NUMBER_OF_REDUCES = {3: 2, 4: 6, 5: 12}  # by k


def transition_of(item, head, dependent):
    """The transition (code, s1, s0, b0) corresponding to a Link step of an item with at most 5 heads (Section 3.2).

    The computation of [h1, ..., hm] ends with stack ...|h1|...|h(m-1) and buffer hm|...
    """
    position = dict(zip(reversed(item), POSITIONS))
    return (CODES[position[head], position[dependent]], *item[-3:])


def union_of_sets(ways):
    return frozenset().union(*ways)


@cache
def sequences(n, k):
    """All transition sequences that MH_k (k = 3, 4 or 5) derives over n words.

    Each is a tuple of rows (code, s1, s0, b0). The s1 of a shift is unknown to the deduction and left out (None), and
    so is the s0 of the shift that opens an item, until the item is combined with one on its left: Combine is where the
    shift of h_m is scored (Section 4.2), with the node before h_m in the left item as s0.
    """

    def combine(left, first, right, second):
        opening = (0, None, left[-2], left[-1])
        return frozenset(a + (opening,) + b[1:] for a in first for b in second)

    def link(item, derivations, head, dependent):
        row = transition_of(item, head, dependent)
        return frozenset(a + (row,) for a in derivations)

    axiom = frozenset([((0, None, -1, 0),)])
    opened = frozenset([((0, None, None, None),)])
    return tuple(sorted(deduce(n, k, axiom, opened, combine, link, union_of_sets), key=repr))


@cache
def mhk_trees(n, k):
    """All trees that MH_k derives over n words."""

    def combine(left, first, right, second):
        return frozenset(a | b for a in first for b in second)

    def link(item, forests, head, dependent):
        return frozenset(a | {(dependent, head)} for a in forests)

    empty = frozenset([frozenset()])
    forests = deduce(n, k, empty, empty, combine, link, union_of_sets)
    return tuple(sorted((-1,) + tuple(head for _, head in sorted(forest)) for forest in forests))


def arc_of(code, *positions):
    """The arc (head, dependent) that a reduce makes, by the nodes b0, s0, s1, ... (Section 3.2)."""
    _, head, dependent = REDUCES[code]
    return positions[POSITIONS.index(head)], positions[POSITIONS.index(dependent)]


def heads_of(n, rows):
    """The heads made by a transition sequence, from the positions in its rows and a stack maintained on the way."""
    heads, stack = [-1] * (n + 1), []
    for code, s1, s0, b0 in rows:
        if code == 0:
            stack.append(b0)
            continue
        assert stack[-2:] == [s1, s0]
        head, dependent = arc_of(code, b0, *stack[:-5:-1])
        heads[dependent] = head
        stack.remove(dependent)
    return tuple(heads)


def spell(rows):
    """A transition sequence to read: SH(0) SH(1) SH(2) LA2(3->1) ..."""
    stack, words = [], []
    for code, _, _, b0 in rows:
        if code == 0:
            stack.append(b0)
            words.append(f"SH({b0})")
        else:
            head, dependent = arc_of(code, b0, *stack[:-5:-1])
            stack.remove(dependent)
            words.append(f"{REDUCES[code][0]}({head}->{dependent})")
    return " ".join(words)


class Derivations:
    """All MH_k derivations over n words (k = 3, 4 or 5) as arrays, to score them all at once.

    sequences: as `sequences`, and known: their set; trees[d]: the heads that derivation d makes.
    """

    def __init__(self, n, k):
        self.n = n
        self.sequences = sequences(n, k)
        self.known = frozenset(self.sequences)
        self.trees = [heads_of(n, rows) for rows in self.sequences]
        self.of_tree = {}
        for d, heads in enumerate(self.trees):
            self.of_tree.setdefault(heads, []).append(d)
        self.heads = np.array(self.trees)
        shifts = [[row[2:] for row in rows if row[0] == 0 and row[3] > 0] for rows in self.sequences]
        reduces = [[row for row in rows if row[0] > 0] for rows in self.sequences]
        self.shifts = np.array(shifts, dtype=int).reshape(len(self.trees), n, 2)
        self.reduces = np.array(reduces, dtype=int).reshape(len(self.trees), n, 4)
        self.single_root = (self.heads[:, 1:] == 0).sum(axis=1) == 1

    def scores(self, shift, reduce_s0b0, reduce_s1s0=None, arcs=None, cost=None):
        """The score of every derivation, in double precision."""
        s0, b0 = self.shifts[..., 0], self.shifts[..., 1]
        total = shift[s0, b0].sum(axis=1, dtype=np.float64)
        code, s1, s0, b0 = np.moveaxis(self.reduces, -1, 0)
        total += reduce_s0b0[code - 1, s0, b0].sum(axis=1, dtype=np.float64)
        if reduce_s1s0 is not None:
            total += reduce_s1s0[code - 1, s1, s0].sum(axis=1, dtype=np.float64)
        for arc_probabilities in (arcs, cost):
            if arc_probabilities is not None:
                total += arc_probabilities[self.heads[:, 1:], np.arange(1, self.n + 1)].sum(axis=1, dtype=np.float64)
        return total


@cache
def derivations(n, k):
    return Derivations(n, k)


def tree_scores(trees, arcs, cost=None):
    """The arc-factored score of each tree, in double precision."""
    heads = np.array(trees)[:, 1:]
    words = np.arange(1, heads.shape[1] + 1)
    total = arcs[heads, words].sum(axis=1, dtype=np.float64)
    if cost is not None:
        total += cost[heads, words].sum(axis=1, dtype=np.float64)
    return total


# ------------------------------------------------------------------------------------- longer sentences: the best score


def best_score(n, k, link_score, shift_score=lambda s0, b0: 0.0, heads=None, root=None):
    """The score of the best MH_k derivation over n words, or -inf: the chart of Figure 2 with max and +.

    link_score(item, head, dependent), shift_score(s0, b0); `heads` allows only the arcs of that tree, `root` only that
    word as a dependent of 0.
    """

    def combine(left, first, right, second):
        return first + second + shift_score(left[-2], left[-1])

    def link(item, score, head, dependent):
        if heads is not None and heads[dependent] != head:
            return -np.inf
        if root is not None and head == 0 and dependent != root:
            return -np.inf
        return score + link_score(item, head, dependent)

    return deduce(n, k, 0.0, 0.0, combine, link, lambda ways: max(ways, default=-np.inf))


# ------------------------------------------------------------------------------------------------------- random samples


def random_tree(n, rng, single_root=False):
    """A random tree over n words: words in random order, each attached to the root or an earlier one."""
    heads = [-1] * (n + 1)
    attached = [0]
    for word in rng.permutation(np.arange(1, n + 1)).tolist():
        heads[word] = attached[rng.integers(len(attached))]
        attached = [word] if single_root and heads[word] == 0 else attached + [word]
    return tuple(heads)


def random_sequence(n, k, rng, links=0.5):
    """A random MH_k derivation (k = 3, 4 or 5) over n words as in `sequences`: Figure 2 backwards from the goal.

    An item is taken apart at random: by the Link step that removed a head from it, or by the Combine step it came from.
    links: the probability of the former where both are possible; the higher it is, the more heads the items have.
    """

    def rows_of(item, opening):
        if item[-1] - item[0] == 1:
            return [opening]
        inside = [h for h in range(item[0] + 1, item[-1]) if h not in item]
        if len(item) == 2 or (inside and len(item) < k and rng.random() < links):
            dependent = int(rng.choice(inside))
            head = int(rng.choice([h for h in item if h != n + 1]))
            antecedent = tuple(sorted({*item, dependent}))
            return rows_of(antecedent, opening) + [transition_of(antecedent, head, dependent)]
        m = int(rng.integers(1, len(item) - 1))
        left, right = item[: m + 1], item[m:]
        return rows_of(left, opening) + rows_of(right, (0, None, left[-2], left[-1]))

    return tuple(rows_of((0, n + 1), (0, None, -1, 0)))
