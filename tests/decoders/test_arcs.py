"""Arc scores in addition to transition scores. See test_decoders.py and test_beam.py for properties of all decoders."""

import numpy as np
import pytest
from common import MH3_ARCS, MH4_HYBRID_ARCS, WITH_ARCS, check, hamming_cost, parts_score, rng_for, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4.decoders import NotInClass, beam, mh3, mh4

every_decoder = pytest.mark.parametrize("decoder", WITH_ARCS, ids=lambda decoder: decoder.name)
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
def test_high_arcs_bring_about_a_tree(decoder, n, seed):
    """Whatever the transition scores and the cost; its best derivation, as if the tree had been given."""
    rng = np.random.default_rng(seed)
    _, tree, _ = decoder.planted(n, rng)
    scores = decoder.sample(n, rng, "ties")
    scores["arcs"] = 1000 * (1 - hamming_cost(tree))
    given_tree = decoder.decode(without_arcs(scores), heads=tree)
    for cost in (None, hamming_cost(tree)):
        derivation = decoder.decode(scores, cost=cost)
        check(decoder, derivation, n, scores, cost)
        assert tuple(derivation.heads) == tree
        assert derivation.score == 1000 * n + given_tree.score


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 25), seed=seeds)
def test_a_tree_whose_arcs_alone_are_not_forbidden(decoder, n, seed):
    """It is found, and without one of its arcs there is none: an error, but not for a tree outside the class."""
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


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(2, 25), seed=seeds)
def test_the_best_tree_without_one_of_its_arcs(decoder, n, seed):
    """Another tree that is no better, and is the one found when a cost forbids the arc."""
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng, "whole")
    best = decoder.decode(scores)
    word = rng.integers(1, n + 1)
    arc = best.heads[word], word
    cost = np.zeros_like(scores["arcs"])
    cost[arc] = -np.inf
    forbidden = decoder.decode(scores, cost=cost)
    scores["arcs"][arc] = -np.inf
    derivation = decoder.decode(scores)
    check(decoder, derivation, n, scores)
    assert derivation.heads[word] != best.heads[word]
    np.testing.assert_array_equal(derivation.heads, forbidden.heads)
    assert derivation.score == forbidden.score <= best.score


@every_decoder
def test_what_is_no_arc_does_not_matter(decoder):
    """Arcs to the root, and from a word to itself."""
    for n in (1, 4, 17):
        scores, cost = decoder.sample(n, rng_for("no arc", n)), sample((n + 1, n + 1), rng_for("cost", n), "normal")
        expected = decoder.decode(scores, cost=cost)
        for value in (-np.inf, 1e20):
            scores["arcs"][:, 0] = value
            np.fill_diagonal(scores["arcs"], value)
            derivation = decoder.decode(scores, cost=cost)
            assert derivation.score == expected.score
            np.testing.assert_array_equal(derivation.transitions, expected.transitions)


@every_decoder
def test_calls_with_and_without_arcs_in_turn(decoder):
    """Neither arcs nor a cost carry over from one sentence to the next; None means no arcs."""
    rng = rng_for("turns")
    calls = []
    for n in rng.integers(1, 30, 6).tolist():
        scores, cost = decoder.sample(n, rng), sample((n + 1, n + 1), rng, "normal")
        bare = without_arcs(scores)
        heads = decoder.planted(n, rng)[1]
        for options in ({}, {"heads": heads}, {"single_root": True}):
            calls += [(scores, options), (bare, options), (scores, {"cost": cost, **options})]
            calls += [(bare, {"cost": cost, **options}), ({**bare, "arcs": None}, options)]

    def decode(call):
        derivation = decoder.decode(call[0], **call[1])
        parts = {name: rows.tolist() for name, rows in derivation.parts.items()}
        return derivation.score, derivation.transitions.tolist(), parts

    forwards = [decode(call) for call in calls]
    assert [decode(call) for call in reversed(calls)] == forwards[::-1]
    assert forwards[4::5] == forwards[1::5]


# The decoders that take arcs: the charts and the search.
EVERY_CALL = [(f"{d.name}{end}", d, f) for d in WITH_ARCS for end, f in (("", d.decode_scores), ("-search", beam.decode))]
every_call = pytest.mark.parametrize("decoder, decode", [call[1:] for call in EVERY_CALL], ids=[call[0] for call in EVERY_CALL])


@every_call
def test_the_part(decoder, decode):
    """Rows (h, m) to index the arcs by, only where there are arcs."""
    for n in (0, 1, 6):
        scores = decoder.sample(n, rng_for("part", n))
        derivation = decode(**scores)
        rows = derivation.parts["arcs"]
        assert rows.dtype == np.intp and rows.shape == (n, 2)
        assert sorted(rows.tolist(), key=lambda row: row[1]) == [[derivation.heads[m], m] for m in range(1, n + 1)]
        assert "arcs" not in decode(**without_arcs(scores)).parts


@every_call
def test_bad_arcs_whatever_else_is_given(decoder, decode):
    """Different options may use different charts. Scores over all nodes, as for transitions, have one node too many."""
    n = 4
    scores = decoder.sample(n, rng_for("bad"))
    infinite, nan = scores["arcs"].copy(), scores["arcs"].copy()
    infinite[1, 2], nan[1, 2] = np.inf, np.nan
    options = [{}, {"single_root": True}]
    if decode is not beam.decode:
        options += [{"heads": [-1, 0, 1, 2, 3]}, {"cost": hamming_cost([-1, 0, 1, 2, 3])}]
    for bad, message in (
        (np.zeros((n + 2, n + 2), dtype=np.float32), "arcs"),
        (np.zeros((n, n), dtype=np.float32), "arcs"),
        (np.zeros((n + 1, n + 1), dtype=int), "arcs"),
        (0.0, "arcs"),
        (nan, "arcs.*nan.*1, 2"),
        (infinite, "arcs.*inf.*1, 2"),
    ):
        for option in options:
            with pytest.raises(ValueError, match=message):
                decode(**{**scores, "arcs": bad}, **option)


def test_arcs_are_given_by_name():
    for decoder, decode in ((MH3_ARCS, mh3.decode), (MH4_HYBRID_ARCS, mh4.decode), (MH4_HYBRID_ARCS, beam.decode)):
        with pytest.raises(TypeError, match="positional"):
            decode(*decoder.sample(3, rng_for("name")).values())
