"""The maximum spanning tree. See test_decoders.py for properties of all decoders."""

import brute
import numpy as np
from common import KINDS, MST, check, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st
from ufal.chu_liu_edmonds import chu_liu_edmonds

from mh4.decoders import mst


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
