"""MH4 with scores on {s0, b0} and hybrid. See test_decoders.py for properties of all decoders."""

import dense
import numpy as np
from common import MH4_HYBRID, sample, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import mh4


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 45), seed=st.integers(0, 2**32 - 1))
def test_long_sentences(n, seed):
    """By the reference that computes whole arrays."""
    rng = np.random.default_rng(seed)
    scores, cost = MH4_HYBRID.sample(n, rng), sample((n + 1, n + 1), rng, "normal")
    found = mh4.decode(**scores, cost=cost)
    near = 2 * tolerance(n, scores)
    assert abs(found.score - dense.best_score(n, 4, scores, cost)) <= near
    assert abs(mh4.decode(**scores, cost=cost, heads=found.heads).score - found.score) <= near
