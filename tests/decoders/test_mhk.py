"""Arc-factored MH_k for any k. See test_decoders.py for properties of all decoders."""

import brute
import numpy as np
import pytest
from common import MHK, MST, accepted_trees, found_trees, rng_for, sample, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import NotInClass, mh3, mh4, mhk, mst

COUNTS = {3: [1, 3, 12, 55, 273], 4: [1, 3, 16, 118, 1019], 5: [1, 3, 16, 125, 1276], 6: [1, 3, 16, 125, 1296]}


@pytest.mark.parametrize("decoder", MHK, ids=lambda decoder: decoder.name)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_number_of_trees(decoder, n):
    accepted = accepted_trees(decoder, n)
    assert len(accepted) == COUNTS[decoder.k][n - 1]
    assert accepted == found_trees(decoder, n) == set(brute.mhk_trees(n, decoder.k))


@pytest.mark.parametrize("name", ["arcs", "cost"])
@settings(max_examples=50)
@given(n=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_agrees_with_the_transition_based_decoders(name, n, seed):
    """Arc scores given as arcs or cost, with all transitions scored zero, make mh3 and mh4 arc-factored."""
    arcs = sample((n + 1, n + 1), np.random.default_rng(seed), "normal")
    zeros = np.zeros((6, n + 2, n + 2), dtype=np.float32)
    near = 2 * tolerance(n, {"arcs": arcs})
    for single_root in (False, True):
        three, four = (mhk.decode(arcs, k, single_root=single_root).score for k in (3, 4))
        options = {name: arcs, "single_root": single_root}
        assert abs(three - mh3.decode(zeros[0], zeros[:2], **options).score) <= near
        assert abs(four - mh4.decode(zeros[0], zeros, **options).score) <= near


def test_the_papers_tree_that_mh5_derives_and_mh4_does_not():
    """Section 3.2: 0 -> 2 -> 4 -> 5 -> 3 -> 1, which the transition system produces (test_transitions.py)."""
    heads = np.array([-1, 3, 0, 5, 2, 4], dtype=np.int32)
    arcs = np.zeros((6, 6), dtype=np.float32)
    arcs[heads[1:], np.arange(1, 6)] = 1
    five = mhk.decode(arcs, 5)
    assert five.score == 5 and five.heads.tolist() == heads.tolist()
    assert mhk.decode(arcs, 5, heads=heads).heads.tolist() == heads.tolist()
    assert mhk.decode(arcs, 4).score < 5
    with pytest.raises(NotInClass, match="not in MH4, only MH5"):
        mhk.decode(arcs, 4, heads=heads)


@settings(max_examples=20)
@given(n=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
def test_a_larger_k_never_scores_lower(n, seed):
    arcs = sample((n + 1, n + 1), np.random.default_rng(seed), "normal")
    near = 2 * tolerance(n, {"arcs": arcs})
    best = [mhk.decode(arcs, k).score for k in (3, 4, 5, 6)] + [mst.decode(arcs).score]
    assert all(lower <= higher + near for lower, higher in zip(best, best[1:]))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_is_mst_when_k_leaves_room_for_every_node(n):
    for seed in range(5):
        scores = MST.sample(n, rng_for(n, seed))
        wide = mhk.decode(scores["arcs"], n + 2)
        assert abs(wide.score - mst.decode(scores["arcs"]).score) <= 2 * tolerance(n, scores)


@pytest.mark.parametrize("k", [2, 1, 0, -1])
def test_k_too_small(k):
    with pytest.raises(ValueError, match="k"):
        mhk.decode(np.zeros((4, 4), dtype=np.float32), k)
