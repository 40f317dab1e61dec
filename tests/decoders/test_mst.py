"""The maximum spanning tree. See test_decoders.py for properties of all decoders."""

import brute
import numpy as np
import pytest
from common import KINDS, MST, check, rng_for, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st
from ufal.chu_liu_edmonds import chu_liu_edmonds

from mh4.decoders import mst


def arcs_for(*trees):
    """Scores of 1 for the arcs of some trees, or of what should have been trees."""
    n = len(trees[0]) - 1
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    for heads in trees:
        arcs[list(heads[1:]), np.arange(1, n + 1)] = 1
    return arcs


def test_breaks_a_cycle_where_it_costs_least():
    """1 and 2 prefer each other; one of them must take the root, and 2 loses less by doing so."""
    arcs = np.array([[0, 1, 4], [0, 0, 9], [0, 9, 0]], dtype=np.float32)
    derivation = mst.decode(arcs)
    assert derivation.heads.tolist() == [-1, 2, 0]
    assert derivation.score == 13


def test_nested_cycles():
    """1-2 and 3-4 each prefer each other, and then the two pairs do."""
    arcs = np.full((5, 5), -10, dtype=np.float32)
    arcs[1, 2] = arcs[2, 1] = arcs[3, 4] = arcs[4, 3] = 10
    arcs[2, 3] = arcs[4, 1] = 5
    arcs[0, 3] = 1
    derivation = mst.decode(arcs)
    assert derivation.score == 26 == brute.tree_scores(brute.all_trees(4), arcs).max()
    assert derivation.heads.tolist() == [-1, 4, 1, 0, 3]


@settings(max_examples=30)
@given(n=st.integers(2, 60), seed=st.integers(0, 2**32 - 1))
def test_one_cycle_through_all_words(n, seed):
    """All words in one cycle of arcs that score 1, the root scoring least: one arc of the cycle is given up."""
    order = np.random.default_rng(seed).permutation(np.arange(1, n + 1))
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    arcs[order, np.roll(order, 1)] = 1
    arcs[0] = -1
    derivation = mst.decode(arcs)
    check(MST, derivation, n, {"arcs": arcs}, best=(n - 1) - 1)
    assert brute.has_single_root(derivation.heads)


@settings(max_examples=30)
@given(n=st.integers(2, 40), seed=st.integers(0, 2**32 - 1))
def test_no_single_change_of_head_helps(n, seed):
    rng = np.random.default_rng(seed)
    scores = MST.sample(n, rng)
    derivation = mst.decode(scores["arcs"])
    check(MST, derivation, n, scores)
    heads = derivation.heads.tolist()
    for word in range(1, n + 1):
        for head in range(n + 1):
            changed = heads[:word] + [head] + heads[word + 1 :]
            if scores["arcs"][head, word] > scores["arcs"][heads[word], word] + 1e-5:
                assert not brute.is_tree(changed)


@settings(max_examples=30)
@given(n=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_single_root_is_the_best_choice_of_root(n, seed):
    """Against decoding once for each word as the only possible dependent of the root."""
    rng = np.random.default_rng(seed)
    scores = MST.sample(n, rng)
    best = -np.inf
    for root in range(1, n + 1):
        arcs = scores["arcs"].copy()
        arcs[0, np.arange(n + 1) != root] = -1e4
        best = max(best, mst.decode(arcs).score)
    derivation = mst.decode(scores["arcs"], single_root=True)
    check(MST, derivation, n, scores)
    assert abs(derivation.score - best) <= 2 * tolerance(n, scores)
    assert brute.has_single_root(derivation.heads)


@settings(max_examples=100)
@given(n=st.integers(1, 60), seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS), forbidden=st.sampled_from([0, 0.3]))
def test_agrees_with_ufal_chu_liu_edmonds(n, seed, kind, forbidden):
    """An independent implementation."""
    rng = np.random.default_rng(seed)
    scores = MST.sample(n, rng, kind)
    arcs = scores["arcs"]
    arcs[:, 1:][rng.random((n + 1, n)) < forbidden] = -np.inf
    arcs[brute.random_tree(n, rng)[1:], np.arange(1, n + 1)] = 0  # there is one tree
    candidates = arcs.T.astype(float)
    candidates[np.isinf(candidates)] = np.nan
    np.fill_diagonal(candidates, np.nan)
    candidates[0] = np.nan
    heads, score = chu_liu_edmonds(candidates)
    derivation = mst.decode(arcs)
    check(MST, derivation, n, scores)
    assert abs(derivation.score - score) <= tolerance(n, scores)
    if kind == "normal":
        assert derivation.heads.tolist() == heads


def test_a_tree_that_scores_every_arc_highest():
    for n in (1, 2, 7, 30):
        tree = brute.random_tree(n, rng_for(n))
        derivation = mst.decode(arcs_for(tree))
        assert tuple(derivation.heads) == tree and derivation.score == pytest.approx(n)
