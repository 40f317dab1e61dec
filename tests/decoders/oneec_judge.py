"""The reference for 1-Endpoint-Crossing trees: their parts by definition, and all trees of a short sentence."""

from functools import cache

import brute
import numpy as np
from common import Decoder, sample

from mh4.decoders import oneec
from mh4.decoders.reference import parts

NAMES = ("arc", "crossed_arc", "grandparent", "sibling")


def candidates(trees):
    """Return trees of the class over the same number of words as Candidates by their parts."""
    cells = {name: np.full((2, len(trees), len(trees[0]) - 1), -1) for name in NAMES}
    for i, heads in enumerate(trees):
        for name, rows in parts(heads).items():
            for first, word in rows:
                cells[name][:, i, word - 1] = first, word
    return brute.Candidates(trees, {name: tuple(indices) for name, indices in cells.items()})


@cache
def trees(n):
    """Return all trees of the class over n words as Candidates."""
    return candidates(brute.class_trees(n, "1ec"))


def random_scores(n, rng, kind="normal"):
    shapes = [(n + 1, n + 1), (n + 1, n + 1), (n + 2, n + 1), (n + 2, n + 1)]
    return {name: sample(shape, rng, kind) for name, shape in zip(NAMES, shapes)}


def is_in_class(heads):
    """Return brute.is_one_endpoint_crossing(heads), faster."""
    n = len(heads) - 1
    ends = np.stack([np.array(heads[1:]), np.arange(1, n + 1)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    crossings = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    crossings |= crossings.T
    for crossing in crossings[crossings.any(axis=1)]:
        h, m = ends[:, crossing]
        if not any(((h == end) | (m == end)).all() for end in (h[0], m[0])):
            return False
    return True


def walk(n, rng, steps):
    """Yield trees of the class, each made from the one before by changing a head, with a bias towards crossing arcs."""
    heads, crossed = [-1, *range(n)], 0
    for _ in range(steps):
        word, head = int(rng.integers(1, n + 1)), int(rng.integers(0, n + 1))
        new = heads[:word] + [head] + heads[word + 1 :]
        if new == heads or not brute.is_tree(new) or not is_in_class(new):
            continue
        crossing = len(brute.crossed_arcs(new))
        if crossing >= crossed or rng.random() < 0.1:
            heads, crossed = new, crossing
            yield tuple(heads)


def random_tree(n, rng):
    return list(walk(n, rng, 6 * n + 40))[-1] if n > 1 else (-1, 0)


class OneEc(Decoder):
    """The third-order decoder of 1-Endpoint-Crossing trees, with the interface in common.py."""

    name, class_name, k = "1ec", "1ec", None

    def sample(self, n, rng, kind="normal"):
        return random_scores(n, rng, kind)

    def decode_scores(self, **arguments):
        return oneec.decode(**arguments)

    def candidates(self, n):
        return trees(n)

    def check_parts(self, derivation, n, scores):
        """Check that the parts are those that the definition gives to a tree of the class."""
        tree = tuple(derivation.heads.tolist())
        assert is_in_class(tree) and derivation.transitions is None
        expected = parts(tree)
        for name, rows in derivation.parts.items():
            assert rows.ndim == 2 and rows.shape[1] == 2
            assert sorted(map(tuple, rows.tolist())) == sorted(expected[name]), name

    def planted(self, n, rng):
        """Return scores of 1 for the parts of a random tree and 0 elsewhere; the tree; its score, the only highest."""
        tree, scores = random_tree(n, rng), random_scores(n, rng, "zeros")
        made = parts(tree)
        for name, rows in made.items():
            for row in rows:
                scores[name][row] = 1
        return scores, tree, sum(map(len, made.values()))


ONEEC = OneEc()
