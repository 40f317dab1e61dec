"""Enumerate all trees and MH_k derivations of a sentence by mh4/decoders/reference.py, and draw random ones.

Nothing here is fast. Nothing is shared with the tested decoders; the code is based on mh4/decoders/reference.py.
"""

from functools import cache

import numpy as np

from mh4.decoders.reference import (  # noqa: F401  (also for the tests)
    BEST,
    POSITIONS,
    REDUCES,
    SEQUENCES,
    TREES,
    all_trees,
    arcs_of,
    cross,
    crossed_arcs,
    deduce,
    is_one_endpoint_crossing,
    is_tree,
    transition,
)

# ---------------------------------------------------------------------------------------------------------------- trees


def is_projective(heads):
    """Return whether no arc crosses another, with the root left of all words."""
    return not crossed_arcs(heads)


def has_single_root(heads):
    return list(heads).count(0) == 1


@cache
def class_trees(n, name):
    """Return the trees over n words of a class: "all", "projective", "1ec", "mh3", "mh4", ..."""
    if name == "all":
        return all_trees(n)
    if name == "projective":
        return tuple(filter(is_projective, all_trees(n)))
    if name == "1ec":
        return tuple(filter(is_one_endpoint_crossing, all_trees(n)))
    return mhk_trees(n, int(name[2:]))


# ---------------------------------------------------------------------------------------------------------- derivations

NUMBER_OF_REDUCES = {3: 2, 4: 6, 5: 12}  # by k


@cache
def sequences(n, k):
    """Return all transition sequences that MH_k (k = 3, 4 or 5) derives over n words.

    Each is a tuple of rows (code, s1, s0, b0). The s1 of a shift is unknown to the deduction and left out (None).
    """

    def shift(s0, b0):
        return {((0, None, s0, b0),)}

    def link(item, head, dependent):
        return {(transition(item, head, dependent),)}

    of_words = deduce(n, k, SEQUENCES, shift, link)[0, n + 1]
    return tuple(sorted((((0, None, -1, 0), *rows) for rows in of_words), key=repr))


@cache
def mhk_trees(n, k):
    """Return all trees that MH_k derives over n words."""
    forests = deduce(n, k, TREES, lambda s0, b0: TREES.one, lambda item, *arc: {frozenset([arc])})[0, n + 1]
    return tuple(sorted((-1, *(head for head, _ in sorted(forest, key=lambda arc: arc[1]))) for forest in forests))


def arc_of(code, *positions):
    """Return the arc (head, dependent) that a reduce makes; positions: the nodes b0, s0, s1, ... (Section 3.2)."""
    _, head, dependent = REDUCES[code]
    return positions[POSITIONS.index(head)], positions[POSITIONS.index(dependent)]


def heads_of(n, rows):
    """Return the heads made by a transition sequence, and check the positions in its rows against the stack."""
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


class Candidates:
    """Trees or derivations over n words, to score them all at once.

    trees: the heads of each candidate. cells: by tensor, the indices of the scores that each candidate uses: for each
    dimension of the tensor an array (candidates, n), with -1 where a candidate uses no score.
    """

    def __init__(self, trees, cells=()):
        self.trees, self.heads = trees, np.array(trees)
        words = np.broadcast_to(np.arange(1, self.heads.shape[1]), self.heads[:, 1:].shape)
        self.cells = {"arcs": (self.heads[:, 1:], words), **dict(cells)}
        self.single_root = (self.heads[:, 1:] == 0).sum(axis=1) == 1

    def used(self, scores):
        """Return the scores that each candidate uses: by tensor an array (candidates, n), 0 where it uses none."""
        return [np.where(self.cells[name][-1] < 0, 0, tensor[self.cells[name]]) for name, tensor in scores.items()]

    def scores(self, scores, cost=None):
        """Return the score of each candidate, in double precision."""
        used = self.used(scores) + self.used({"arcs": cost} if cost is not None else {})
        return sum(each.sum(axis=1, dtype=np.float64) for each in used)

    def counts(self, tensors, weights):
        """Return for each cell of the tensors the sum of the weights of the candidates that use it."""
        found = {name: np.zeros(tensor.shape) for name, tensor in tensors.items()}
        for name, array in found.items():
            uses = self.cells[name][-1] >= 0
            np.add.at(array, tuple(i[uses] for i in self.cells[name]), np.broadcast_to(weights[:, None], uses.shape)[uses])
        return found


class Derivations(Candidates):
    """All MH_k derivations over n words (k = 3, 4 or 5).

    sequences: as returned by `sequences`; known: their set; of_tree: by tree, the indices of its derivations.
    """

    def __init__(self, n, k):
        self.sequences = sequences(n, k)
        self.known = frozenset(self.sequences)
        shifts = [[row[2:] for row in rows if row[0] == 0 and row[3] > 0] for rows in self.sequences]
        reduces = [[row for row in rows if row[0] > 0] for rows in self.sequences]
        self.shifts = np.array(shifts, dtype=int).reshape(len(self.sequences), n, 2)
        self.reduces = np.array(reduces, dtype=int).reshape(len(self.sequences), n, 4)
        code, s1, s0, b0 = np.moveaxis(self.reduces, -1, 0)
        cells = {"shift": tuple(np.moveaxis(self.shifts, -1, 0))}
        cells.update(reduce_s0b0=(code - 1, s0, b0), reduce_s1s0=(code - 1, s1, s0))
        super().__init__([heads_of(n, rows) for rows in self.sequences], cells)
        self.of_tree = {}
        for d, heads in enumerate(self.trees):
            self.of_tree.setdefault(heads, []).append(d)


@cache
def derivations(n, k):
    return Derivations(n, k)


@cache
def trees_of_class(n, name):
    """Return the trees of `class_trees` as Candidates."""
    return Candidates(class_trees(n, name))


# ------------------------------------------------------------------------------------- longer sentences: the best score


def best_score(n, k, link_score, shift_score=lambda s0, b0: 0.0, heads=None, root=None):
    """Return the score of the best MH_k derivation over n words, or -inf.

    link_score(item, head, dependent), shift_score(s0, b0): functions. heads: if given, only the arcs of this tree are
    allowed. root: if given, only this word is allowed as a dependent of 0.
    """

    def link(item, head, dependent):
        if heads is not None and heads[dependent] != head or root is not None and head == 0 and dependent != root:
            return -np.inf
        return link_score(item, head, dependent)

    return deduce(n, k, BEST, shift_score, link)[0, n + 1]


# ------------------------------------------------------------------------------------------------------- random samples


def random_tree(n, rng, single_root=False):
    """Return a random tree over n words: in random order, each is attached to the root or to an earlier word."""
    heads = [-1] * (n + 1)
    attached = [0]
    for word in rng.permutation(np.arange(1, n + 1)).tolist():
        heads[word] = attached[rng.integers(len(attached))]
        attached = [word] if single_root and heads[word] == 0 else attached + [word]
    return tuple(heads)


def random_sequence(n, k, rng, links=0.5):
    """Return a random MH_k derivation (k = 3, 4 or 5) over n words as in `sequences`.

    It is found by Figure 2 backwards from the goal: each item is taken apart by a random Link or Combine step.
    links: the probability of Link where both are possible. The higher it is, the more heads the items have.
    """

    def rows_of(item, opening):
        if item[-1] - item[0] == 1:
            return [opening]
        inside = [h for h in range(item[0] + 1, item[-1]) if h not in item]
        if len(item) == 2 or (inside and len(item) < k and rng.random() < links):
            dependent = int(rng.choice(inside))
            head = int(rng.choice([h for h in item if h != n + 1]))
            antecedent = tuple(sorted({*item, dependent}))
            return rows_of(antecedent, opening) + [transition(antecedent, head, dependent)]
        m = int(rng.integers(1, len(item) - 1))
        left, right = item[: m + 1], item[m:]
        return rows_of(left, opening) + rows_of(right, (0, None, left[-2], left[-1]))

    return tuple(rows_of((0, n + 1), (0, None, -1, 0)))
