"""Third-order 1-Endpoint-Crossing, against the score of every tree by its definition."""

from concurrent.futures import ThreadPoolExecutor

import brute
import numpy as np
import pytest
from common import KINDS, bad_arrays, costs, every_kind, hamming_cost, read_only, rng_for, sample, small, tolerance, zero_cost
from hypothesis import given, settings
from hypothesis import strategies as st
from oneec_judge import NAMES, ONEEC, is_in_class, random_scores, random_tree, trees, walk

from mh4.decoders import NotInClass, oneec, search
from mh4.decoders.reference import parts, score_of_tree

COUNTS = [1, 3, 16, 125, 1104]

seeds = st.integers(0, 2**32 - 1)


def int32(heads):
    return np.array(heads, dtype=np.int32)


def only(heads):
    """A cost that forbids all other trees."""
    cost = np.full((len(heads), len(heads)), -np.inf, dtype=np.float32)
    cost[list(heads[1:]), np.arange(1, len(heads))] = 0
    return cost


def check(derivation, scores, cost=None, best=None):
    """Checks for a tree of the class with parts and score by definition and, if known, the best score."""
    heads = derivation.heads
    assert heads.dtype == np.int32 and heads[0] == -1
    tree = tuple(heads.tolist())
    assert brute.is_tree(tree) and is_in_class(tree)
    expected = parts(tree)
    assert set(derivation.parts) == set(NAMES) and derivation.transitions is None
    for name, rows in derivation.parts.items():
        assert rows.ndim == 2 and rows.shape[1] == 2 and np.issubdtype(rows.dtype, np.integer)
        assert sorted(map(tuple, rows.tolist())) == sorted(expected[name]), name
    assert isinstance(derivation.score, float)
    near = tolerance(len(heads), scores, cost)
    assert abs(derivation.score - score_of_tree(tree, scores, cost)) <= near
    if best is not None:
        assert abs(derivation.score - best) <= near


def best_tree(scores, cost, single_root):
    """The heads of the best tree, and its score in the chart."""
    tensors = {name: scores[name].astype(np.float64) for name in NAMES}
    return search.best_tree(oneec.OneEC, tensors, None if cost is None else cost.astype(np.float64), single_root)


def check_chart(heads, scores):
    """Checks that the chart derives the tree with exactly the score by definition."""
    found, score = best_tree(scores, only(heads), False)
    assert tuple(found.tolist()) == heads
    assert abs(score - score_of_tree(heads, scores)) <= tolerance(len(heads), scores), heads


# ---------------------------------------------------------------------------------- against full enumeration, n = 1 to 5


@small
def test_the_chart_derives_every_tree_of_the_class_at_its_score_and_no_other(n):
    scores = random_scores(n, rng_for("every", n))
    derived = 0
    for heads in brute.all_trees(n):
        if brute.is_one_endpoint_crossing(heads):
            check_chart(heads, scores)
            derived += 1
        else:
            with pytest.raises(ValueError):
                best_tree(scores, only(heads), False)
    assert derived == COUNTS[n - 1]


@every_kind
@small
def test_best_of_all(n, kind):
    rng = rng_for("best", n, kind)
    for _ in range(5):
        scores = random_scores(n, rng, kind)
        for cost in costs(n, rng):
            check(oneec.decode(**scores, cost=cost), scores, cost, trees(n).scores(scores, cost).max())


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)])
def test_best_of_all_where_one_tensor_dominates(n, name, sign):
    """This tensor has by far the largest scores: all negative, all positive or mixed."""
    rng = rng_for("dominates", n, name, sign)
    for _ in range(10 if n < 6 else 3):
        scores = random_scores(n, rng)
        scores[name] = 50 * (sign * abs(scores[name]) if sign else scores[name])
        for cost in costs(n, rng):
            candidates = trees(n).scores(scores, cost)
            check(oneec.decode(**scores, cost=cost), scores, cost, candidates.max())
            single = candidates[trees(n).single_root].max()
            check(oneec.decode(**scores, cost=cost, single_root=True), scores, cost, single)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_best_of_all_where_each_tensor_has_a_sign(n, sign):
    rng = rng_for("signs", n, sign)
    for name in (None, *NAMES):
        for _ in range(5):
            scores = {
                other: (sign if other in (name, None) else -sign) * abs(tensor) for other, tensor in random_scores(n, rng).items()
            }
            check(oneec.decode(**scores), scores, None, trees(n).scores(scores).max())


def test_the_chart_derives_trees_of_six_words():
    rng = rng_for("six")
    for i in rng.choice(len(trees(6).trees), 300, replace=False):
        check_chart(trees(6).trees[i], random_scores(6, rng))


@every_kind
@small
def test_best_with_a_single_root(n, kind):
    rng = rng_for("root", n, kind)
    for _ in range(5):
        scores = random_scores(n, rng, kind)
        tempting = zero_cost(n)
        tempting[0] = 100
        for cost in [*costs(n, rng), tempting]:
            best = trees(n).scores(scores, cost)[trees(n).single_root].max()
            derivation = oneec.decode(**scores, cost=cost, single_root=True)
            check(derivation, scores, cost, best)
            assert brute.has_single_root(derivation.heads)


@small
def test_the_chart_derives_every_tree_with_a_single_root(n):
    scores = random_scores(n, rng_for("single", n))
    for heads in trees(n).trees:
        if brute.has_single_root(heads):
            found, score = best_tree(scores, only(heads), True)
            assert tuple(found.tolist()) == heads
            assert abs(score - score_of_tree(heads, scores)) <= tolerance(n, scores), heads
        else:
            with pytest.raises(ValueError):
                best_tree(scores, only(heads), True)


@small
def test_a_given_tree(n):
    rng = rng_for("heads", n)
    scores, cost = random_scores(n, rng), sample((n + 1, n + 1), rng, "normal")
    derived = set()
    for heads in brute.all_trees(n):
        try:
            derivation = oneec.decode(**scores, heads=int32(heads), cost=cost)
        except NotInClass as error:
            assert "1-Endpoint-Crossing" in str(error)
            continue
        assert tuple(derivation.heads.tolist()) == heads
        derived.add(heads)
    assert derived == set(trees(n).trees)
    for i in rng.choice(len(trees(n).trees), min(100, len(trees(n).trees)), replace=False):
        check(oneec.decode(**scores, heads=trees(n).heads[i], cost=cost), scores, cost)


def test_a_given_tree_and_a_single_root():
    scores = random_scores(4, rng_for("both"))
    for heads in trees(4).trees:
        if brute.has_single_root(heads):
            check(oneec.decode(**scores, heads=int32(heads), single_root=True), scores)
        else:
            with pytest.raises(NotInClass, match="root"):
                oneec.decode(**scores, heads=int32(heads), single_root=True)


@small
def test_minus_infinity_forbids(n):
    rng = rng_for("forbid", n)
    for _ in range(30):
        scores, cost = random_scores(n, rng), sample((n + 1, n + 1), rng, "normal")
        for tensor in (*scores.values(), cost):
            tensor[rng.random(tensor.shape) < rng.choice([0.1, 0.3])] = -np.inf
        candidates = trees(n).scores(scores, cost)
        i = rng.integers(len(candidates))
        for best, heads in ((candidates.max(), None), (candidates[i], trees(n).heads[i])):
            if best > -np.inf:
                check(oneec.decode(**scores, cost=cost, heads=heads), scores, cost, best)
            else:
                with pytest.raises(ValueError) as error:
                    oneec.decode(**scores, cost=cost, heads=heads)
                assert not isinstance(error.value, NotInClass)


def test_a_trap():
    """A complex with an arc between two boundary nodes of an item."""
    heads = (-1, 3, 0, 0, 1)
    check_chart(heads, random_scores(4, rng_for("trap")))


def test_a_sentence_without_words():
    scores = random_scores(0, rng_for("none"))
    derivation = oneec.decode(**scores)
    assert derivation.heads.tolist() == [-1] and derivation.heads.dtype == np.int32 and derivation.score == 0
    assert {name: rows.shape for name, rows in derivation.parts.items()} == dict.fromkeys(NAMES, (0, 2))
    with pytest.raises(ValueError):
        oneec.decode(**scores, single_root=True)


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
                best_tree(scores, only(new), False)


@pytest.mark.slow
@settings(max_examples=60)
@given(n=st.integers(1, 16), seed=seeds, kind=st.sampled_from(KINDS))
def test_no_tree_of_the_class_scores_higher(n, seed, kind):
    """Of random ones, and of those that differ in a head from the best."""
    rng = np.random.default_rng(seed)
    scores = random_scores(n, rng, kind)
    cost = costs(n, rng)[seed % 3]
    best = oneec.decode(**scores, cost=cost)
    check(best, scores, cost)
    _, chart = best_tree(scores, cost, False)
    near = 2 * tolerance(n, scores, cost)
    assert abs(chart - best.score) <= near
    single = oneec.decode(**scores, cost=cost, single_root=True)
    check(single, scores, cost)
    assert brute.has_single_root(single.heads) and single.score <= best.score + near
    for of_all in (best, single):
        heads = of_all.heads.tolist()
        others = [heads[:m] + [h] + heads[m + 1 :] for m, h in rng.integers(0, n + 1, (40, 2)).tolist() if m]
        for other in others + [random_tree(n, rng)]:
            if brute.is_tree(other) and is_in_class(other) and (of_all is best or brute.has_single_root(other)):
                assert score_of_tree(other, scores, cost) <= of_all.score + near


@pytest.mark.slow
@settings(max_examples=60)
@given(n=st.integers(1, 50), seed=seeds)
def test_finds_a_planted_tree(n, seed):
    """Every part of a random tree scores 1, everything else 0: no other tree scores as high."""
    rng = np.random.default_rng(seed)
    scores, tree, score = ONEEC.planted(n, rng)
    derivation = oneec.decode(**scores)
    check(derivation, scores)
    assert tuple(derivation.heads.tolist()) == tree
    assert derivation.score == score


def test_sentences_and_results_do_not_disturb_each_other():
    rng = rng_for("turns")
    calls = []
    for i in range(12):
        scores = random_scores(int(rng.integers(1, 15)), rng)
        n = len(scores["arc"]) - 1
        heads = int32(random_tree(n, rng))
        calls.append({**scores, **[{}, {"cost": hamming_cost(heads)}, {"heads": heads}, {"single_root": True}][i % 4]})

    def result(derivation):
        return derivation.score, derivation.heads.tolist(), {k: v.tolist() for k, v in derivation.parts.items()}

    derivations = [oneec.decode(**call) for call in calls]
    results = [result(derivation) for derivation in derivations]
    assert [result(oneec.decode(**call)) for call in reversed(calls)] == results[::-1]
    assert [result(derivation) for derivation in derivations] == results
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            assert list(pool.map(lambda call: result(oneec.decode(**call)), calls)) == results


@pytest.mark.slow
def test_a_long_sentence():
    """Its memory is more than what is kept."""
    n = 170
    rng = rng_for("long")
    scores = random_scores(n, rng)
    best, single = oneec.decode(**scores), oneec.decode(**scores, single_root=True)
    check(best, scores)
    check(single, scores)
    assert brute.has_single_root(single.heads) and single.score <= best.score + tolerance(n, scores)
    _, chart = best_tree(scores, None, False)
    assert abs(chart - best.score) <= tolerance(n, scores)
    check(oneec.decode(**scores, heads=best.heads), scores, best=best.score)


# ------------------------------------------------------------------------------------------------------------ arguments


def test_bad_scores():
    scores = random_scores(4, rng_for("bad"))
    for name in scores:
        for what, bad in bad_arrays(scores[name]).items():
            with pytest.raises(ValueError, match=name):
                oneec.decode(**{**scores, name: bad})
                pytest.fail(f"{name}: {what}")
        for number in (np.nan, np.inf):
            bad = scores[name].copy()
            bad[1, 2] = number
            with pytest.raises(ValueError, match=rf"{name}.*{number}"):
                oneec.decode(**{**scores, name: bad})
    for name, other in random_scores(5, rng_for("five")).items():
        with pytest.raises(ValueError):
            oneec.decode(**{**scores, name: other})
    for what, bad in bad_arrays(scores["arc"]).items():
        with pytest.raises(ValueError, match="cost"):
            oneec.decode(**scores, cost=bad)
            pytest.fail(what)


@pytest.mark.parametrize("heads", [[-1, 0, 1, 2], [-1, 0, 3, 2, 1], [-1, 0, 1, 2, 5], [1, 0, 1, 2, 3], [-1.0, 0, 1, 2, 3]])
def test_bad_heads(heads):
    with pytest.raises(ValueError, match="heads") as error:
        oneec.decode(**random_scores(4, rng_for("bad")), heads=np.array(heads))
    assert not isinstance(error.value, NotInClass)  # it is no tree at all


def test_other_layouts_and_precisions_of_the_same_scores():
    rng = rng_for("layout")
    scores, cost = random_scores(5, rng), sample((6, 6), rng, "normal")
    before = {name: tensor.copy() for name, tensor in scores.items()}
    expected = oneec.decode(**scores, cost=cost)
    for variant in (
        lambda array: array.astype(np.float64),
        np.asfortranarray,
        lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
        read_only,
    ):
        derivation = oneec.decode(**{name: variant(array) for name, array in scores.items()}, cost=variant(cost))
        assert derivation.score == pytest.approx(expected.score, rel=1e-6)
        np.testing.assert_array_equal(derivation.heads, expected.heads)
    for name in NAMES:
        np.testing.assert_array_equal(scores[name], before[name])
