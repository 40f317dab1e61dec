"""MH3, the projective parser: the arc-hybrid system. See test_decoders.py for properties of all decoders."""

import brute
import numpy as np
import pytest
from common import MH3, check, rng_for, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import NotInClass, mh3, mh4


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_trees_are_the_projective_ones(n):
    """Section 3.1: for k = 3 the parser covers exactly the projective trees. So does the reference chart."""
    assert set(MH3.trees(n)) == set(brute.class_trees(n, "projective"))
    scores = MH3.sample(n, rng_for(n))
    accepted = set()
    for tree in brute.all_trees(n):
        try:
            mh3.decode(*scores.values(), heads=np.array(tree, dtype=np.int32))
            accepted.add(tree)
        except NotInClass:
            pass
    assert len(accepted) == [1, 3, 12, 55, 273][n - 1]
    assert accepted == set(brute.class_trees(n, "projective"))


@settings(max_examples=30)
@given(n=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_is_mh4_without_the_other_reduces(n, seed):
    """MH4 with its other four transitions penalised heavily finds a derivation with the same score."""
    rng = np.random.default_rng(seed)
    scores = MH3.sample(n, rng)
    hopeless = np.full((4, n + 2, n + 2), -1e4, dtype=np.float32)
    three = mh3.decode(scores["shift"], scores["reduce_s0b0"])
    four = mh4.decode(scores["shift"], np.concatenate([scores["reduce_s0b0"], hopeless]))
    assert set(four.transitions[:, 0]) <= {0, 1, 2}
    check(MH3, four, n, scores)
    assert abs(three.score - four.score) <= 2 * tolerance(n, scores)
    assert brute.is_projective(three.heads.tolist())
