"""Third-order 1-Endpoint-Crossing, against the scores of trees by definition.

See test_decoders.py for properties of all decoders.
"""

import brute
import numpy as np
import pytest
from common import KINDS, check, costs, rng_for, seeds, small, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st
from marginals_judge import only
from oneec_judge import NAMES, ONEEC, is_in_class, random_scores, random_tree, trees, walk

from mh4.decoders import oneec
from mh4.decoders.reference import score_of_tree
from mh4.decoders.sentences import Decoding


def best_tree(scores, cost):
    """Return the heads of the best tree and its score in the chart."""
    sentence = Decoding({name: scores[name] for name in NAMES}, None, False, cost)
    return sentence.alone(oneec.OneEC).heads, sentence.chart_score


def check_chart(heads, scores):
    """Check that the chart derives the tree with its score by definition."""
    found, score = best_tree(scores, only(heads))
    assert tuple(found.tolist()) == heads
    assert abs(score - score_of_tree(heads, scores)) <= tolerance(len(heads), scores), heads


# ---------------------------------------------------------------------------------- against full enumeration, n = 1 to 5


@small
def test_the_chart_derives_every_tree_of_the_class_at_its_score_and_no_other(n):
    scores = random_scores(n, rng_for("every", n))
    for heads in brute.all_trees(n):
        if brute.is_one_endpoint_crossing(heads):
            check_chart(heads, scores)
        else:
            with pytest.raises(ValueError):
                best_tree(scores, only(heads))


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)])
def test_best_of_all_where_one_tensor_dominates(n, name, sign):
    """The best is found if one tensor has by far the largest scores: all negative, all positive or mixed."""
    rng = rng_for("dominates", n, name, sign)
    for _ in range(10 if n < 6 else 3):
        scores = random_scores(n, rng)
        scores[name] = 50 * (sign * abs(scores[name]) if sign else scores[name])
        for cost in costs(n, rng):
            candidates = trees(n).scores(scores, cost)
            check(ONEEC, oneec.decode(**scores, cost=cost), n, scores, cost, candidates.max())
            single = candidates[trees(n).single_root].max()
            check(ONEEC, oneec.decode(**scores, cost=cost, single_root=True), n, scores, cost, single)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_best_of_all_where_each_tensor_has_a_sign(n, sign):
    rng = rng_for("signs", n, sign)
    for name in (None, *NAMES):
        for _ in range(5):
            scores = {
                other: (sign if other in (name, None) else -sign) * abs(tensor) for other, tensor in random_scores(n, rng).items()
            }
            check(ONEEC, oneec.decode(**scores), n, scores, None, trees(n).scores(scores).max())


def test_the_chart_derives_trees_of_six_words():
    rng = rng_for("six")
    for i in rng.choice(len(trees(6).trees), 300, replace=False):
        check_chart(trees(6).trees[i], random_scores(6, rng))


# ----------------------------------------------------------------------------------------------------- longer sentences


@pytest.mark.slow
@settings(max_examples=40)
@given(n=st.integers(6, 14), seed=seeds)
def test_the_chart_derives_larger_trees_at_their_score(n, seed):
    rng = np.random.default_rng(seed)
    scores = random_scores(n, rng)
    for heads in list(walk(n, rng, 15 * n))[::-4][:8]:
        check_chart(heads, scores)


@settings(max_examples=40)
@given(n=st.integers(5, 12), seed=seeds)
def test_the_chart_derives_nothing_else(n, seed):
    rng = np.random.default_rng(seed)
    scores = random_scores(n, rng)
    heads = list(random_tree(n, rng))
    for word, head in rng.integers(0, n + 1, (20, 2)).tolist():
        new = heads[:word] + [head] + heads[word + 1 :]
        if word and brute.is_tree(new) and not is_in_class(new):
            with pytest.raises(ValueError):
                best_tree(scores, only(new))


@pytest.mark.slow
@settings(max_examples=60)
@given(n=st.integers(1, 16), seed=seeds, kind=st.sampled_from(KINDS))
def test_no_tree_of_the_class_scores_higher(n, seed, kind):
    """Neither random trees nor those that differ from the best in a head have a higher score."""
    rng = np.random.default_rng(seed)
    scores = random_scores(n, rng, kind)
    cost = costs(n, rng)[seed % 3]
    best = oneec.decode(**scores, cost=cost)
    check(ONEEC, best, n, scores, cost)
    _, chart = best_tree(scores, cost)
    near = 2 * tolerance(n, scores, cost)
    assert abs(chart - best.score) <= near
    single = oneec.decode(**scores, cost=cost, single_root=True)
    check(ONEEC, single, n, scores, cost)
    assert brute.has_single_root(single.heads) and single.score <= best.score + near
    for of_all in (best, single):
        heads = of_all.heads.tolist()
        others = [heads[:m] + [h] + heads[m + 1 :] for m, h in rng.integers(0, n + 1, (40, 2)).tolist() if m]
        for other in others + [random_tree(n, rng)]:
            if brute.is_tree(other) and is_in_class(other) and (of_all is best or brute.has_single_root(other)):
                assert score_of_tree(other, scores, cost) <= of_all.score + near
