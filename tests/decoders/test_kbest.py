"""The k best trees, against the scores of all trees."""

from functools import partial

import brute
import numpy as np
import pytest
from common import DECODERS, MH5_HYBRID, costs, decoders, every_root, rng_for, tolerance
from oneec_judge import ONEEC

from mh4.decoders import NotInClass, mhk, mst
from mh4.decoders.kbest import kbest

every_length = pytest.mark.parametrize("n", range(1, 6))


def check_order(found, candidates, expected, single_root, heads, near):
    """Check that all allowed trees are found once, with their scores, from the best to the worst."""
    allowed = {  # the best derivation of each tree
        tuple(tree[1:]): score
        for score, tree in sorted(zip(expected.tolist(), map(tuple, candidates)))
        if all(given in (-1, head) for given, head in zip(heads[1:], tree[1:]))
        and not (single_root and not brute.has_single_root(tree))
    }
    assert [tuple(each.heads[1:]) for each in found] == list(dict.fromkeys(tuple(each.heads[1:]) for each in found))
    assert {tuple(each.heads[1:]) for each in found} == set(allowed)
    for each in found:
        assert abs(each.score - allowed[tuple(each.heads[1:])]) <= near
    assert all(earlier.score >= later.score - near for earlier, later in zip(found, found[1:]))


def some_heads(candidates, n, rng, single_root):
    """Return the heads of some words of one of the trees: two or more of five words, so that few trees are left."""
    possible = [tree for tree in candidates if brute.has_single_root(tree) or not single_root]
    tree = np.array(possible[int(rng.integers(len(possible)))])
    given = np.full(n + 1, -1)
    words = 1 + rng.permutation(n)[: max(int(rng.integers(n)), n - 3)]
    given[words] = tree[words]
    return given


def decoding(decoder, *, cost, heads, single_root, **tensors):
    return decoder.decode(tensors, cost=cost, heads=heads, single_root=single_root)


@decoders(*DECODERS, MH5_HYBRID, ONEEC)
@every_root
@every_length
def test_all_trees_in_order(decoder, single_root, n):
    rng, candidates = rng_for("kbest", n), decoder.trees(n)
    for heads in [np.full(n + 1, -1)] * (n < 5) + [some_heads(candidates, n, rng, single_root) for _ in range(4)]:
        scores, cost = decoder.sample(n, rng), costs(n, rng)[int(rng.integers(3))]
        found = kbest(partial(decoding, decoder), scores, len(candidates) + 1, cost=cost, heads=heads, single_root=single_root)
        expected = decoder.candidate_scores(n, scores, cost)
        check_order(found, candidates, expected, single_root, heads, tolerance(n, scores, cost))


def test_the_first_of_all_trees_of_five_words():
    rng = np.random.default_rng(1)
    arcs = rng.normal(size=(6, 6))
    totals = sorted((sum(arcs[tree[m], m] for m in range(1, 6)) for tree in brute.all_trees(5)), reverse=True)
    found = kbest(mst.decode, {"arcs": arcs}, 200)
    np.testing.assert_allclose([each.score for each in found], totals[:200])
    assert len({tuple(each.heads) for each in found}) == 200
    few = kbest(partial(mhk.decode, k=7), {"arcs": arcs}, 3)
    assert [each.heads.tolist() for each in few] == [each.heads.tolist() for each in found[:3]]


def test_forbidden_arcs_stay_forbidden():
    arcs = np.zeros((4, 4))
    arcs[0, 1:] = -np.inf
    arcs[0, 2] = 0
    found = kbest(mst.decode, {"arcs": arcs}, 100)
    assert len(found) == 3 and all(each.heads[2] == 0 for each in found)


def test_what_is_wrong_is_said():
    arcs = np.zeros((3, 3))
    with pytest.raises(ValueError, match="k: expected a number of trees, got 0"):
        kbest(mst.decode, {"arcs": arcs}, 0)
    with pytest.raises(ValueError, match="cycle"):
        kbest(mst.decode, {"arcs": arcs}, 1, heads=np.array([-1, 2, 1]))
    with pytest.raises(NotInClass):
        kbest(mst.decode, {"arcs": arcs}, 1, heads=np.array([-1, 0, 0]), single_root=True)
    assert [each.heads.tolist() for each in kbest(mst.decode, {"arcs": arcs[:1, :1]}, 5)] == [[-1]]
