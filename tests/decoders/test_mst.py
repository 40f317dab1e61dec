"""The maximum spanning tree. See test_decoders.py for properties of all decoders."""

import brute
import numpy as np
from common import KINDS, MST, check, seeds, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st
from ufal.chu_liu_edmonds import chu_liu_edmonds

from mh4.decoders import mst


@settings(max_examples=100)
@given(n=st.integers(1, 60), seed=seeds, kind=st.sampled_from(KINDS), forbidden=st.sampled_from([0, 0.3]))
def test_agrees_with_ufal_chu_liu_edmonds(n, seed, kind, forbidden):
    """Scores and trees are those of an independent implementation."""
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
