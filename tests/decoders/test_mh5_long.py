"""MH5 on longer sentences: against the chart by whole arrays, mhk and smaller classes, and by what must not change."""

import brute
import dense
import numpy as np
import pytest
from common import (
    KINDS,
    MH5,
    MH5_HYBRID_ARCS,
    check,
    costs,
    hamming_cost,
    parts_score,
    rng_for,
    sample,
    scores_of,
    small,
    tolerance,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4 import trees
from mh4.decoders import beam, mh4, mh5, mhk

pytestmark = pytest.mark.slow

every_decoder = pytest.mark.parametrize("decoder", MH5, ids=lambda decoder: decoder.name)
seeds = st.integers(0, 2**32 - 1)


# ------------------------------------------------------------------------------- longer sentences, against whole arrays


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 20), seed=seeds, kind=st.sampled_from((*KINDS, "planted")))
def test_best_of_longer_sentences(decoder, n, seed, kind):
    """Its tree being given, the sequence found is found again."""
    rng = np.random.default_rng(seed)
    scores = scores_of(decoder, n, rng, kind)
    cost = costs(n, rng)[seed % 3]
    derivation = decoder.decode(scores, cost=cost)
    check(decoder, derivation, n, scores, cost, dense.best_score(n, 5, scores, cost), kind)
    assert trees.in_class(derivation.heads, "mh5")
    again = decoder.decode(scores, cost=cost, heads=derivation.heads)
    np.testing.assert_array_equal(again.heads, derivation.heads)
    check(decoder, again, n, scores, cost, said=f"{kind}, heads= of the tree found")
    assert abs(again.score - derivation.score) <= 2 * tolerance(n, scores, cost)


@pytest.mark.parametrize("decoder", MH5[1::2], ids=lambda decoder: decoder.name)
@pytest.mark.parametrize("kind", ["whole", "planted"])
@pytest.mark.parametrize("n", [14, 15, 16, 17, 24, 30, 31, 32, 33])
def test_best_at_the_lengths_where_blocks_begin(decoder, n, kind):
    """Of eight, sixteen or thirty-two nodes, should the chart be filled in such."""
    rng = rng_for("blocks", n)
    scores = scores_of(decoder, n, rng, kind)
    cost = costs(n, rng)[n % 3]
    check(decoder, decoder.decode(scores, cost=cost), n, scores, cost, dense.best_score(n, 5, scores, cost))


@every_decoder
@settings(max_examples=20)
@given(n=st.integers(1, 14), seed=seeds)
def test_best_of_what_is_not_forbidden(decoder, n, seed):
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    for tensor in scores.values():
        tensor[rng.random(tensor.shape) < 0.2] = -np.inf
    best = dense.best_score(n, 5, scores, None)
    if best > -np.inf:
        check(decoder, decoder.decode(scores), n, scores, None, best, "forbidding")
    else:
        with pytest.raises(ValueError, match="no derivation"):
            decoder.decode(scores)


@every_decoder
@settings(max_examples=15)
@given(n=st.integers(1, 16), seed=seeds)
def test_best_sequence_of_a_tree_in_longer_sentences(decoder, n, seed):
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    cost = costs(n, rng)[seed % 3]
    tree = brute.heads_of(n, brute.random_sequence(n, 5, rng, links=0.9))
    derivation = decoder.decode(scores, cost=cost, heads=np.array(tree, dtype=np.int32))
    assert tuple(derivation.heads) == tree
    check(decoder, derivation, n, scores, cost, dense.best_score(n, 5, scores, cost, heads=tree), f"heads={tree}")
    assert derivation.score <= decoder.decode(scores, cost=cost).score + 2 * tolerance(n, scores, cost)


@every_decoder
@settings(max_examples=15)
@given(n=st.integers(1, 10), seed=seeds)
def test_best_with_a_single_root_in_longer_sentences(decoder, n, seed):
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    cost = costs(n, rng)[seed % 3]
    best = max(dense.best_score(n, 5, scores, cost, root=word) for word in range(1, n + 1))
    derivation = decoder.decode(scores, cost=cost, single_root=True)
    assert brute.has_single_root(derivation.heads)
    check(decoder, derivation, n, scores, cost, best, "single root")


@settings(max_examples=60)
@given(n=st.integers(1, 15), seed=seeds, kind=st.sampled_from(KINDS), single_root=st.booleans())
def test_arc_factored_mh5(n, seed, kind, single_root):
    """Arc scores given as arcs, as a cost or as some of each, all transitions scored zero, are those of mhk."""
    rng = np.random.default_rng(seed)
    arcs, cost = sample((2, n + 1, n + 1), rng, kind)
    zeros = MH5[0].sample(n, rng, "zeros")
    expected = mhk.decode(arcs, 5, cost=cost, single_root=single_root).score
    both = arcs + cost
    for options in ({"arcs": arcs, "cost": cost}, {"arcs": both}, {"cost": both}):
        score = mh5.decode(**zeros, **options, single_root=single_root).score
        near = 2 * tolerance(n, {"arcs": arcs}, cost)
        assert abs(score - expected) <= near, f"n={n}, {list(options)}: scores {score}, mhk {expected}"


@settings(max_examples=30)
@given(n=st.integers(1, 4), seed=seeds, single_root=st.booleans())
def test_a_beam_that_holds_everything_finds_at_least_as_much(n, seed, single_root):
    """The transition system produces all that the chart derives."""
    scores = MH5_HYBRID_ARCS.sample(n, np.random.default_rng(seed))
    found = beam.decode(**scores, beam=10**6, single_root=single_root)
    assert found.score == pytest.approx(parts_score(found, scores), rel=1e-12)
    assert found.score >= MH5_HYBRID_ARCS.decode(scores, single_root=single_root).score - 1e-4


# ---------------------------------------------------------------------------------------------------- beside smaller classes


def first_reduces(scores, count, value=None):
    """The scores of the first reduces only, or all with a value for the others."""
    changed = dict(scores)
    for name in set(scores) & {"reduce_s0b0", "reduce_s1s0"}:
        changed[name] = scores[name][:count].copy()
        if value is not None:
            changed[name] = np.concatenate([changed[name], np.full_like(scores[name][count:], value)])
    return changed


@every_decoder
@settings(max_examples=30)
@given(n=st.integers(1, 25), seed=seeds)
def test_scores_no_less_than_mh4(decoder, n, seed):
    """MH4's reduces by themselves, on items of five heads, are more than MH4; with the others they are more again."""
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    cost = costs(n, rng)[seed % 3]
    four = mh4.decode(**first_reduces(scores, 6), cost=cost)
    six = mh5.decode(**first_reduces(scores, 6, -np.inf), cost=cost)
    twelve = mh5.decode(**scores, cost=cost)
    assert set(six.transitions[:, 0]) <= set(range(7))
    near = 2 * tolerance(n, scores, cost)
    assert four.score <= six.score + near and six.score <= twelve.score + near
    given_tree = mh5.decode(**first_reduces(scores, 6, -np.inf), cost=cost, heads=four.heads)
    assert given_tree.score >= four.score - near


@pytest.mark.parametrize("count", [2, 6])
@small
def test_the_first_reduces_only(count, n):
    """The other sequences forbidden: the best of the rest, which for n = 5 and six reduces is more than MH4."""
    derivations = brute.derivations(n, 5)
    rest = (derivations.reduces[..., 0] <= count).all(axis=1)
    by_six = {derivations.sequences[d] for d in np.flatnonzero(rest)}
    assert by_six >= set(brute.derivations(n, {2: 3, 6: 4}[count]).known)
    for draw in range(10):
        scores = first_reduces(MH5_HYBRID_ARCS.sample(n, rng_for("first", n, draw)), count, -np.inf)
        best = MH5_HYBRID_ARCS.candidate_scores(n, scores).max()
        check(MH5_HYBRID_ARCS, MH5_HYBRID_ARCS.decode(scores), n, scores, best=best, said=f"the first {count} reduces")


# ------------------------------------------------------------------------------------------------ how scores and cost add up


@every_decoder
@settings(max_examples=30)
@given(n=st.integers(1, 25), seed=seeds)
def test_hamming_cost(decoder, n, seed):
    """However large it is: as arc scores instead, and of a tree in the class or of another."""
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng, "whole")
    bare = {name: tensor for name, tensor in scores.items() if name != "arcs"}
    in_class = brute.heads_of(n, brute.random_sequence(n, 5, rng, links=0.9))
    for gold in (in_class, brute.random_tree(n, rng)):
        for weight in (1, 100_000):
            cost = weight * hamming_cost(gold)
            derivation = decoder.decode(scores, cost=cost)
            check(decoder, derivation, n, scores, cost, said="Hamming cost")
            as_arcs = mh5.decode(**bare, arcs=cost + scores.get("arcs", 0))
            assert derivation.score == as_arcs.score, f"{decoder.name} n={n}: {weight} for each wrong head of {gold}"
            assert derivation.score >= decoder.decode(scores).score
    of_gold = decoder.decode(scores, heads=np.array(in_class), cost=100_000 * hamming_cost(in_class))
    assert of_gold.score == decoder.decode(scores, heads=np.array(in_class)).score
