"""Properties of all decoders: each finds the best of all derivations and returns its score.

test_mh5.py and test_oneec.py test what is special to these two.
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
    decoders,
    every_root,
    found_trees,
    hamming_cost,
    kinds,
    parts_score,
    rng_for,
    sample,
    scores_of,
    seeds,
    small,
    some,
    tolerance,
    zero_cost,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from oneec_judge import ONEEC

from mh4.decoders import NotInClass

every_decoder = decoders(*DECODERS, *MH5, ONEEC)
of_figure_1 = decoders(*DECODERS)
every_kind = kinds(*KINDS, "planted")


def draws(decoder, n):
    """Return how many times scores are drawn: fewer for MH5, which has fifty thousand sequences for five words."""
    return 4 if decoder.k == 5 and n == 5 else 13


COUNTS = {  # by class: the numbers of trees over one to five words
    "mh3": [1, 3, 12, 55, 273],  # the projective trees
    "mh4": [1, 3, 16, 118, 1019],
    "mh5": [1, 3, 16, 125, 1276],
    "mh6": [1, 3, 16, 125, 1296],
    "1ec": [1, 3, 16, 125, 1104],
    "all": [1, 3, 16, 125, 1296],
}


# ---------------------------------------------------------------------------------- against full enumeration, n = 1 to 5


@every_decoder
@every_kind
@every_root
@small
def test_best_of_all(decoder, n, single_root, kind):
    rng = rng_for("root" if single_root else "best", n, kind)
    allowed = np.array([brute.has_single_root(heads) or not single_root for heads in decoder.trees(n)])
    for _ in range(draws(decoder, n)):
        scores = scores_of(decoder, n, rng, kind)
        for cost in costs(n, rng):
            best = decoder.candidate_scores(n, scores, cost)[allowed].max()
            derivation = decoder.decode(scores, cost=cost, single_root=single_root)
            check(decoder, derivation, n, scores, cost, best)
            assert brute.has_single_root(derivation.heads) or not single_root


@every_decoder
@every_kind
@small
def test_best_derivation_of_a_given_tree(decoder, n, kind):
    """The best derivation of a given tree, of which MH4 has up to 93 at n = 5, is found, also with a single root."""
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
    # Rejected trees do not change later results.
    scores = decoder.sample(n, rng_for("refused", n))
    check(decoder, decoder.decode(scores), n, scores, best=decoder.candidate_scores(n, scores).max())


@every_decoder
@small
def test_minus_infinity_forbids(decoder, n):
    """The best of the remaining derivations, of all trees or of one, is found. Without any there is an error."""
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
    with pytest.raises(ValueError):  # the root has no dependent
        decoder.decode(scores, single_root=True)
    with pytest.raises(NotInClass, match="single root"):
        decoder.decode(scores, heads=np.array([-1], dtype=np.int32), single_root=True)


# ----------------------------------------------------------------------------------------------------- longer sentences


def longest(decoder):
    """Return the longest sentences for which the slow chart, or a decoder in O(n^k), is feasible here."""
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
    # The best derivation of the tree found has the same score.
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
    """Return n, or fewer words for mhk in O(n^5) or O(n^6)."""
    return min(n, {"mhk-5": 16, "mhk-6": 11}.get(decoder.name, n))


@every_decoder
@settings(max_examples=40)
@given(n=st.integers(1, 45), seed=seeds)
def test_finds_a_planted_derivation(decoder, n, seed):
    """The derivation whose parts score 1, everything else 0, is found."""
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
    """Sentences of 300 words, or fewer for slower decoders, are decoded exactly."""
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
        assert not isinstance(error.value, NotInClass), what  # which is for trees
        assert str(error.value), what
