"""Properties of all decoders: each finds the best derivation of all, and reports its score correctly.

test_mh5.py and test_oneec.py have what is special to these two.
"""

import brute
import numpy as np
import pytest
from common import (
    BAD_HEADS,
    DECODERS,
    KINDS,
    MH5,
    accepted_trees,
    check,
    costs,
    found_trees,
    hamming_cost,
    kinds,
    parts_score,
    rng_for,
    sample,
    scores_of,
    small,
    some,
    tolerance,
    zero_cost,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from oneec_judge import ONEEC

from mh4.decoders import NotInClass


def decoders(*chosen):
    return pytest.mark.parametrize("decoder", chosen, ids=lambda decoder: decoder.name)


every_decoder = decoders(*DECODERS, *MH5, ONEEC)
of_figure_1 = decoders(*DECODERS)
every_kind = kinds(*KINDS, "planted")
seeds = st.integers(0, 2**32 - 1)


def draws(decoder, n):
    """How many times scores are drawn; MH5 has fifty thousand sequences for five words."""
    return 4 if decoder.k == 5 and n == 5 else 13


COUNTS = {  # of trees over one to five words, by class
    "mh3": [1, 3, 12, 55, 273],  # the projective ones
    "mh4": [1, 3, 16, 118, 1019],
    "mh5": [1, 3, 16, 125, 1276],
    "mh6": [1, 3, 16, 125, 1296],
    "1ec": [1, 3, 16, 125, 1104],
    "all": [1, 3, 16, 125, 1296],
}


# ---------------------------------------------------------------------------------- against full enumeration, n = 1 to 5


@every_decoder
@every_kind
@small
def test_best_of_all(decoder, n, kind):
    rng = rng_for("best", n, kind)
    for _ in range(draws(decoder, n)):
        scores = scores_of(decoder, n, rng, kind)
        for cost in costs(n, rng):
            best = decoder.candidate_scores(n, scores, cost).max()
            check(decoder, decoder.decode(scores, cost=cost), n, scores, cost, best)


@every_decoder
@every_kind
@small
def test_best_with_a_single_root(decoder, n, kind):
    rng = rng_for("root", n, kind)
    single = np.array([brute.has_single_root(heads) for heads in decoder.trees(n)])
    for _ in range(draws(decoder, n)):
        scores = scores_of(decoder, n, rng, kind)
        for cost in costs(n, rng):
            best = decoder.candidate_scores(n, scores, cost)[single].max()
            derivation = decoder.decode(scores, cost=cost, single_root=True)
            check(decoder, derivation, n, scores, cost, best)
            assert brute.has_single_root(derivation.heads)


@every_decoder
@every_kind
@small
def test_best_derivation_of_a_given_tree(decoder, n, kind):
    """MH4 derives a tree in up to 93 ways at n = 5: the best of them; also with a single root where the tree has one."""
    rng = rng_for("many", n, kind)
    all_heads = np.array(decoder.trees(n))
    for _ in range(draws(decoder, n)):
        scores = scores_of(decoder, n, rng, kind)
        cost = costs(n, rng)[rng.integers(3)]
        candidates = decoder.candidate_scores(n, scores, cost)
        for tree in some(decoder.trees(n), rng, at_most=4):
            best = candidates[(all_heads == tree).all(axis=1)].max()
            single = brute.has_single_root(tree) and bool(rng.integers(2))
            derivation = decoder.decode(scores, heads=np.array(tree, dtype=np.int32), cost=cost, single_root=single)
            assert tuple(derivation.heads) == tree
            check(decoder, derivation, n, scores, cost, best)


@every_decoder
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_accepts_the_trees_of_the_class_and_refuses_all_others(decoder, n):
    trees = brute.class_trees(n, decoder.class_name)
    accepted = accepted_trees(decoder, n)
    assert accepted == set(trees) and len(accepted) == COUNTS[decoder.class_name][n - 1]
    assert list(decoder.sample(n, rng_for(n))) != ["arcs"] or found_trees(decoder, n) == accepted
    # A refusal leaves nothing behind.
    scores = decoder.sample(n, rng_for("refused", n))
    check(decoder, decoder.decode(scores), n, scores, best=decoder.candidate_scores(n, scores).max())


@every_decoder
@small
def test_minus_infinity_forbids(decoder, n):
    """The best of the remaining derivations, or an error if there are none; also for the derivations of one tree."""
    rng = rng_for("forbid", n)
    all_heads = np.array(decoder.trees(n))
    single = (all_heads[:, 1:] == 0).sum(axis=1) == 1
    for _ in range(10 if decoder.k == 5 and n == 5 else 50):
        scores, cost = decoder.sample(n, rng), sample((n + 1, n + 1), rng, "normal")
        for tensor in (*scores.values(), cost):
            tensor[rng.random(tensor.shape) < rng.choice([0.1, 0.3])] = -np.inf
        candidates = decoder.candidate_scores(n, scores, cost)
        tree = decoder.trees(n)[rng.integers(len(candidates))]
        of_tree = candidates[(all_heads == tree).all(axis=1)]
        for best, options in (
            (candidates.max(), {}),
            (candidates[single].max(), {"single_root": True}),
            (of_tree.max(), {"heads": np.array(tree, dtype=np.int32)}),
        ):
            if best > -np.inf:
                derivation = decoder.decode(scores, cost=cost, **options)
                check(decoder, derivation, n, scores, cost, best)
                assert brute.has_single_root(derivation.heads) or "single_root" not in options
            else:
                with pytest.raises(ValueError) as error:
                    decoder.decode(scores, cost=cost, **options)
                assert not isinstance(error.value, NotInClass)


@every_decoder
def test_a_sentence_without_words(decoder):
    scores = decoder.sample(0, rng_for("none"))
    derivation = decoder.decode(scores)
    assert derivation.heads.tolist() == [-1] and derivation.heads.dtype == np.int32
    assert derivation.score == 0
    assert {name: len(rows) for name, rows in derivation.parts.items()} == dict.fromkeys(scores, 0)
    assert parts_score(derivation, scores) == 0
    if "shift" in scores:
        assert derivation.transitions.tolist() == [[0, -1, -1, 0]]
    for options in ({"cost": zero_cost(0)}, {"heads": np.array([-1], dtype=np.int32)}):
        derivation = decoder.decode(scores, **options)
        assert derivation.heads.tolist() == [-1] and derivation.score == 0
    with pytest.raises(ValueError):  # there is no word for the root to have
        decoder.decode(scores, single_root=True)
    with pytest.raises(NotInClass, match="single root"):
        decoder.decode(scores, heads=np.array([-1], dtype=np.int32), single_root=True)


# ----------------------------------------------------------------------------------------------------- longer sentences


def longest(decoder):
    """The longest sentences for which the slow chart, or a decoder in O(n^k), is feasible here."""
    return 9 if decoder.k is None or decoder.k > 4 else 20


@pytest.mark.slow
@of_figure_1
@settings(max_examples=40)
@given(data=st.data(), seed=seeds, kind=st.sampled_from(KINDS))
def test_best_by_the_chart_of_figure_1(decoder, data, seed, kind):
    n = data.draw(st.integers(1, longest(decoder)), label="n")
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng, kind)
    cost = costs(n, rng)[seed % 3]
    derivation = decoder.decode(scores, cost=cost)
    check(decoder, derivation, n, scores, cost, decoder.best_score(n, scores, cost))
    # The tree found is in the class, and its own best derivation is the one found.
    again = decoder.decode(scores, cost=cost, heads=derivation.heads)
    np.testing.assert_array_equal(again.heads, derivation.heads)
    best = decoder.best_score(n, scores, cost, heads=derivation.heads.tolist())
    check(decoder, again, n, scores, cost, best)
    assert abs(again.score - derivation.score) <= 2 * tolerance(n, scores, cost)


@pytest.mark.slow
@of_figure_1
@settings(max_examples=20)
@given(n=st.integers(1, 9), seed=seeds)
def test_single_root_by_the_chart_of_figure_1(decoder, n, seed):
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    cost = costs(n, rng)[seed % 3]
    best = max(decoder.best_score(n, scores, cost, root=word) for word in range(1, n + 1))
    derivation = decoder.decode(scores, cost=cost, single_root=True)
    check(decoder, derivation, n, scores, cost, best)
    assert brute.has_single_root(derivation.heads)


def at_most(decoder, n):
    """n, or fewer words for mhk in O(n^5) or O(n^6)."""
    return min(n, {"mhk-5": 16, "mhk-6": 11}.get(decoder.name, n))


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 45), seed=seeds)
def test_finds_a_planted_derivation(decoder, n, seed):
    """Every part of a random derivation scores 1, everything else 0: no derivation scores higher."""
    n = at_most(decoder, n)
    scores, tree, best = decoder.planted(n, np.random.default_rng(seed))
    for heads in (None, np.array(tree, dtype=np.int32)):
        derivation = decoder.decode(scores, heads=heads)
        check(decoder, derivation, n, scores)
        assert derivation.score == best
    assert tuple(derivation.heads) == tree


@pytest.mark.slow
@every_decoder
def test_a_long_sentence(decoder):
    """300 words; fewer where the time grows with their fourth power, at a higher constant, or a higher one."""
    n = {"mhk-4": 100, "mhk-5": 24, "mhk-6": 14, "1ec": 170}.get(decoder.name, 100 if decoder.class_name == "mh5" else 300)
    scores, tree, best = decoder.planted(n, rng_for("long"))
    derivation = decoder.decode(scores)
    check(decoder, derivation, n, scores)
    assert derivation.score == best
    derivation = decoder.decode(scores, heads=np.array(tree, dtype=np.int32), cost=hamming_cost(tree))
    check(decoder, derivation, n, scores)
    assert derivation.score == best and tuple(derivation.heads) == tree
    scores = decoder.sample(n, rng_for("long"))
    cost = sample((n + 1, n + 1), rng_for("cost"), "normal")
    derivation = decoder.decode(scores, cost=cost, single_root=True)
    check(decoder, derivation, n, scores, cost)
    assert brute.has_single_root(derivation.heads)


# ------------------------------------------------------------------------------------------------------------ bad input


@every_decoder
def test_bad_heads(decoder):
    n = 4
    scores = decoder.sample(n, rng_for("bad"))
    for what, heads in BAD_HEADS.items():
        with pytest.raises(ValueError) as error:
            decoder.decode(scores, heads=np.array(heads))
            pytest.fail(what)
        assert not isinstance(error.value, NotInClass), what  # it is no tree at all
        assert str(error.value), what
