"""Arc scores in addition to transition scores. See test_decoders.py and test_beam.py for properties of all decoders."""

import numpy as np
import pytest
from common import MH5, WITH_ARCS, check, decoders, fill_unused, hamming_cost, parts_score, rng_for, sample, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import NotInClass

every_decoder = decoders(*WITH_ARCS, *MH5[2:])


def without_arcs(scores):
    return {name: tensor for name, tensor in scores.items() if name != "arcs"}


@pytest.mark.slow
@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 25), seed=seeds)
def test_arcs_are_to_the_tree_what_a_cost_is(decoder, n, seed):
    """Numbers given as a cost, as arcs or divided between both have exactly the same tree and score."""
    rng = np.random.default_rng(seed)
    scores = without_arcs(decoder.sample(n, rng, "whole"))
    one, other = sample((2, n + 1, n + 1), rng, "whole")
    both = one + other
    _, tree, _ = decoder.planted(n, rng)
    for options in ({}, {"single_root": True}, {"heads": tree}):
        as_cost = decoder.decode(scores, cost=both, **options)
        assert set(as_cost.parts) == set(scores)
        for arcs, cost in ((both, None), (one, other), (other, one)):
            derivation = decoder.decode(scores, arcs=arcs, cost=cost, **options)
            check(decoder, derivation, n, {**scores, "arcs": arcs}, cost)
            np.testing.assert_array_equal(derivation.heads, as_cost.heads)
            assert derivation.score == as_cost.score == parts_score(derivation, {**scores, "arcs": arcs}, cost)
    np.testing.assert_array_equal(both, one + other)  # the arguments did not change


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 25), seed=seeds)
def test_a_tree_whose_arcs_alone_are_not_forbidden(decoder, n, seed):
    """The only tree that is not forbidden is found. Without one of its arcs, the error is not NotInClass."""
    n = min(n, 12) if decoder in MH5 else n
    rng = np.random.default_rng(seed)
    _, tree, _ = decoder.planted(n, rng)
    scores = decoder.sample(n, rng, "whole")
    scores["arcs"][hamming_cost(tree) == 1] = -np.inf
    derivation = decoder.decode(scores)
    check(decoder, derivation, n, scores)
    assert tuple(derivation.heads) == tree
    arc_probabilities = scores["arcs"][list(tree[1:]), np.arange(1, n + 1)].sum(dtype=float)
    assert derivation.score == arc_probabilities + decoder.decode(without_arcs(scores), heads=tree).score
    word = rng.integers(1, n + 1)
    scores["arcs"][tree[word], word] = -np.inf
    for options in ({}, {"heads": tree}):
        with pytest.raises(ValueError, match="no derivation") as error:
            decoder.decode(scores, **options)
        assert not isinstance(error.value, NotInClass)


@decoders(*WITH_ARCS, *MH5)
def test_what_is_no_arc_does_not_matter(decoder):
    """Scores of arcs and transitions that do not exist change nothing."""
    for n in (1, 4, 17):
        scores, cost = decoder.sample(n, rng_for("no arc", n)), sample((n + 1, n + 1), rng_for("cost", n), "normal")
        expected = decoder.decode(scores, cost=cost)
        for value in (-np.inf, 1e20):
            fill_unused({**scores, "cost": cost}, value)
            derivation = decoder.decode(scores, cost=cost)
            assert derivation.score == expected.score, f"n={n}: with {value} for what does not exist"
            np.testing.assert_array_equal(derivation.transitions, expected.transitions)
