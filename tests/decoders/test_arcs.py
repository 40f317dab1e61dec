"""Arc scores in addition to transition scores. See test_decoders.py and test_beam.py for properties of all decoders."""

import numpy as np
import pytest
from common import MH5, WITH_ARCS, check, hamming_cost, parts_score, rng_for, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import NotInClass

every_decoder = pytest.mark.parametrize("decoder", [*WITH_ARCS, *MH5[2:]], ids=lambda decoder: decoder.name)
seeds = st.integers(0, 2**32 - 1)


def without_arcs(scores):
    return {name: tensor for name, tensor in scores.items() if name != "arcs"}


@pytest.mark.slow
@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 25), seed=seeds)
def test_arcs_are_to_the_tree_what_a_cost_is(decoder, n, seed):
    """All as a cost, all as arcs or some of each: the sums are the same, and so are the tree and the score, exactly."""
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
    np.testing.assert_array_equal(both, one + other)  # none of them was added to another in place


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 25), seed=seeds)
def test_a_tree_whose_arcs_alone_are_not_forbidden(decoder, n, seed):
    """It is found, and without one of its arcs there is none: an error, but not for a tree outside the class."""
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


@pytest.mark.parametrize("decoder", [*WITH_ARCS, *MH5], ids=lambda decoder: decoder.name)
def test_what_is_no_arc_does_not_matter(decoder):
    """Arcs to the root, and from a word to itself; and of the transitions, what no configuration has."""
    for n in (1, 4, 17):
        scores, cost = decoder.sample(n, rng_for("no arc", n)), sample((n + 1, n + 1), rng_for("cost", n), "normal")
        expected = decoder.decode(scores, cost=cost)
        below = np.tri(n + 2, dtype=bool)  # s0 >= b0, s1 >= s0
        by_end = [code for code in (0, 4, 11) if code < len(scores["reduce_s0b0"])]  # LA, LA2, LA3
        for value in (-np.inf, 1e20):
            for arcs in [cost] + [scores[name] for name in scores if name == "arcs"]:
                arcs[:, 0] = value
                np.fill_diagonal(arcs, value)
            for name in set(scores) - {"arcs"}:
                scores[name][..., below] = value
            scores["shift"][:, n + 1] = value  # the end of the sentence is not shifted
            scores["reduce_s0b0"][by_end, :, n + 1] = value  # nor has it a dependent
            derivation = decoder.decode(scores, cost=cost)
            assert derivation.score == expected.score, f"n={n}: with {value} where there is no arc or no configuration"
            np.testing.assert_array_equal(derivation.transitions, expected.transitions)
