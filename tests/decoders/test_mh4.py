"""MH4 with scores on {s0, b0} and hybrid. See test_decoders.py for properties of all decoders."""

import brute
import dense
import numpy as np
import pytest
from common import MH4_HYBRID, MH4_TWO, accepted_trees, parts_score, rng_for, sample, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4 import transitions
from mh4.decoders import NotInClass, mh4

# Section 3.2: the transition system produces this tree, but no deduction derives it.
BEYOND_MH4 = np.array([-1, 3, 0, 5, 2, 4], dtype=np.int32)


@pytest.mark.parametrize("decoder", [MH4_TWO, MH4_HYBRID], ids=lambda decoder: decoder.name)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_number_of_trees(decoder, n):
    accepted = accepted_trees(decoder, n)
    assert len(accepted) == [1, 3, 16, 118, 1019][n - 1]
    assert accepted == set(brute.mhk_trees(n, 4))


def test_a_tree_the_transition_system_makes_but_mh4_does_not():
    """The paper's example; test_transitions.py runs the computation given there."""
    assert tuple(BEYOND_MH4) not in brute.mhk_trees(5, 4)
    for decoder in (MH4_TWO, MH4_HYBRID):
        scores = decoder.sample(5, rng_for("example"))
        with pytest.raises(NotInClass):
            decoder.decode(scores, heads=BEYOND_MH4)


def test_not_in_class_says_so():
    scores = MH4_TWO.sample(5, rng_for("message"))
    with pytest.raises(NotInClass, match="(?i)mh4"):
        mh4.decode(*scores.values(), heads=BEYOND_MH4)


@settings(max_examples=30)
@given(n=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_two_is_hybrid_with_nothing_on_s1(n, seed):
    scores = MH4_TWO.sample(n, np.random.default_rng(seed))
    two = mh4.decode(**scores)
    hybrid = mh4.decode(**scores, reduce_s1s0=np.zeros((6, n + 2, n + 2), dtype=np.float32))
    assert two.score == pytest.approx(hybrid.score, rel=1e-5, abs=1e-5)
    assert set(two.parts) == {"shift", "reduce_s0b0"}
    assert set(hybrid.parts) == {"shift", "reduce_s0b0", "reduce_s1s0"}


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


@settings(max_examples=50)
@given(n=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_no_random_derivation_scores_higher(n, seed):
    """Than the best one of its tree, nor that than the best of all: random derivations from the reference."""
    rng = np.random.default_rng(seed)
    scores = MH4_HYBRID.sample(n, rng)
    best = mh4.decode(**scores)
    for _ in range(5):
        rows = brute.random_sequence(n, 4, rng)
        reduces = np.array([row for row in rows if row[0] > 0])
        shifts = np.array([row[2:] for row in rows if row[0] == 0 and row[3] > 0])
        total = scores["shift"][tuple(shifts.T)].sum(dtype=float)
        code, s1, s0, b0 = reduces.T
        total += scores["reduce_s0b0"][code - 1, s0, b0].sum(dtype=float)
        total += scores["reduce_s1s0"][code - 1, s1, s0].sum(dtype=float)
        of_tree = mh4.decode(**scores, heads=np.array(brute.heads_of(n, rows), dtype=np.int32))
        assert total <= of_tree.score + 1e-4
        assert of_tree.score <= best.score + 1e-4


def test_the_transitions_come_as_a_parser_executes_them():
    """One sentence in full: 'A hearing is scheduled on the issue today', with its extraposed modifiers."""
    heads = np.array([-1, 2, 4, 4, 0, 2, 7, 5, 4], dtype=np.int32)
    assert not brute.is_projective(heads.tolist())
    scores = MH4_HYBRID.sample(8, rng_for("hearing"))
    derivation = mh4.decode(**scores, heads=heads)
    rows = derivation.transitions
    assert rows[0].tolist() == [0, -1, -1, 0]
    assert rows[1].tolist() == [0, -1, 0, 1]
    assert rows[-1, -1] == 9
    assert rows.shape == (17, 4)
    np.testing.assert_array_equal(transitions.run(rows, 8), heads)
    assert parts_score(derivation, scores) == pytest.approx(derivation.score, rel=1e-5)
