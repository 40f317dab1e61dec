"""Decoding with given heads: the best tree that has them, where -1 is any head and -2 any but the root."""

from itertools import product

import brute
import numpy as np
import pytest
from common import DECODERS, MH5_HYBRID, check, costs, decoders, every_root, rng_for, seeds, small, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st
from marginals_judge import only
from oneec_judge import ONEEC

from mh4.decoders import NotInClass, mh3, mh4, mh5

every_decoder = decoders(*DECODERS, MH5_HYBRID, ONEEC)


def patterns(n, rng, at_most=80):
    """Return heads to give: every tree with every subset of words open (-1 or -2), or a random sample of these."""
    trees = brute.all_trees(n) if n < 4 else [brute.random_tree(n, rng) for _ in range(at_most)]
    subsets = list(product([False, True], repeat=n)) if n < 4 else [tuple(rng.random(n) < rng.random()) for _ in range(at_most)]
    pairs = product(trees, subsets) if n < 4 else zip(trees, subsets)
    open_to_root = sorted({(-1, *(-1 if free else h for h, free in zip(tree[1:], subset))) for tree, subset in pairs})
    return open_to_root + [(-1, *(-2 if h == -1 and rng.random() < 0.5 else h for h in heads[1:])) for heads in open_to_root]


def agrees(heads, tree):
    return all(given in (-1, head) or given == -2 and head > 0 for given, head in zip(heads[1:], list(tree)[1:]))


@every_decoder
@every_root
@small
def test_the_best_tree_with_some_heads(decoder, single_root, n):
    rng, refused = rng_for("some", n), 0
    candidates = decoder.trees(n)
    for heads in patterns(n, rng):
        scores = decoder.sample(n, rng)
        cost = costs(n, rng)[int(rng.integers(3))]
        allowed = np.array([agrees(heads, t) and not (single_root and not brute.has_single_root(t)) for t in candidates])
        if not allowed.any():
            with pytest.raises(NotInClass):
                decoder.decode(scores, cost=cost, heads=np.array(heads), single_root=single_root)
            refused += 1
            continue
        derivation = decoder.decode(scores, cost=cost, heads=np.array(heads), single_root=single_root)
        check(decoder, derivation, n, scores, cost, decoder.candidate_scores(n, scores, cost)[allowed].max())
        assert agrees(heads, derivation.heads) and not (single_root and not brute.has_single_root(derivation.heads))
    assert not single_root or n == 1 or refused


@every_decoder
@given(st.integers(6, 18), seeds, st.booleans())
@settings(deadline=None, max_examples=15)
def test_longer_sentences(decoder, n, seed, single_root):
    """The tree found has the heads, the score of its best derivation, and no lower score than another such tree."""
    rng = np.random.default_rng(seed)
    n = min(n, 10) if decoder in (MH5_HYBRID, ONEEC) else n
    tree = decoder.decode(decoder.sample(n, rng), single_root=single_root).heads
    heads = np.where(rng.random(n + 1) < rng.random(), np.where((tree > 0) & (rng.random(n + 1) < 0.3), -2, -1), tree)
    scores = decoder.sample(n, rng)
    found = decoder.decode(scores, heads=heads, single_root=single_root)
    near = tolerance(n, scores)
    assert agrees(heads.tolist(), found.heads)
    assert abs(decoder.decode(scores, heads=found.heads, single_root=single_root).score - found.score) <= near
    assert decoder.decode(scores, heads=tree, single_root=single_root).score <= found.score + near


@pytest.mark.parametrize("module, reduces", [(mh3, 2), (mh4, 6), (mh5, 12)], ids=["mh3", "mh4", "mh5"])
@given(st.integers(3, 12), seeds, st.booleans())
@settings(deadline=None, max_examples=40)
def test_ties_are_broken_as_by_the_chart_of_all_derivations(module, reduces, n, seed, single_root):
    """Of a tree's best derivations, heads= finds the one that is found if every other arc is forbidden."""
    rng, side = np.random.default_rng(seed), n + 2
    shapes = [(side, side), (reduces, side, side)] + [(reduces, side, side)] * (module is not mh3)
    other, tied = (
        [draw(shape).astype(np.float32) for shape in shapes]
        for draw in (lambda s: rng.normal(size=s), lambda s: rng.integers(-2, 3, s))
    )
    heads = module.decode(*other, single_root=single_root).heads
    expected = module.decode(*tied, cost=only(heads), single_root=single_root)
    found = module.decode(*tied, heads=heads, single_root=single_root)
    np.testing.assert_array_equal(found.transitions, expected.transitions)
