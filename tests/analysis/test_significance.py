"""Bootstrap and randomisation tests, checked against the enumeration of all samples."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mh4.analysis import significance


@pytest.fixture(autouse=True, scope="module")
def tests_of_few_sentences():
    """Allow significance tests of as few sentences as can be enumerated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "FEWEST", 1)
        yield


def counts(*rows):
    """Return an array of one run and one measure from (correct, total) for each sentence."""
    return np.array(rows, dtype=np.int64)[None, :, None]


def f1(chosen):
    right, there = np.sum(chosen, axis=0)
    return 200 * right / there


@st.composite
def pairs(draw, most=4):
    """Two parsers: for each sentence, the correct count, and the number of words in gold and system together."""
    words = draw(st.lists(st.integers(1, 6), min_size=1, max_size=most))
    parsers = [[(draw(st.integers(0, n)), n + draw(st.integers(max(1, n - 1), n + 1))) for n in words] for _ in range(2)]
    return [counts(*((min(right, there // 2), there) for right, there in parser)) for parser in parsers]


@given(pairs())
def test_p_values_are_those_of_all_samples(pair):
    """10,000 samples are within five standard errors of the values from all n^n resamples and all 2^n exchanges."""
    a, b = (one[0, :, 0].tolist() for one in pair)
    n, observed = len(a), f1(a) - f1(b)
    (found,) = significance.compare(*pair)
    assert (found.a, found.b, found.difference) == pytest.approx((f1(a), f1(b), observed))
    resamples = [f1([a[i] for i in drawn]) - f1([b[i] for i in drawn]) for drawn in itertools.product(range(n), repeat=n)]
    exchanges = [
        f1([y if swap else x for x, y, swap in zip(a, b, swaps)]) - f1([x if swap else y for x, y, swap in zip(a, b, swaps)])
        for swaps in itertools.product([False, True], repeat=n)
    ]
    for differences, value in (
        ([difference - observed for difference in resamples], found.p_bootstrap),
        (exchanges, found.p_randomisation),
    ):
        exact = np.mean([abs(difference) >= abs(observed) - 1e-9 for difference in differences])
        error = (exact * (1 - exact) / significance.SAMPLES) ** 0.5
        assert abs(value - exact) <= 5 * error + 1.1 / significance.SAMPLES
    assert min(resamples) - 1e-9 <= found.low <= found.high <= max(resamples) + 1e-9


@given(pairs(most=30))
def test_a_parser_does_not_differ_from_itself(pair):
    (found,) = significance.compare(pair[0], pair[0], samples=500)
    assert (found.difference, found.low, found.high, found.p_bootstrap, found.p_randomisation) == (0, 0, 0, 1, 1)


def test_the_same_seed_gives_the_same_and_measures_do_not_mix():
    rng = np.random.default_rng(2)
    a, b = (np.stack([rng.integers(0, 11, (50, 3)), np.full((50, 3), 20)], axis=2)[None] for _ in range(2))
    found = significance.compare(a, b, samples=300)
    assert found == significance.compare(a, b, samples=300) != significance.compare(a, b, samples=300, seed=2)
    assert found == [significance.compare(a[:, :, [k]], b[:, :, [k]], samples=300)[0] for k in range(3)]


def test_samples_do_not_depend_on_how_many_are_in_memory(monkeypatch):
    """With one sentence in memory at a time, p-values are nearly the same as with all at once."""
    rng = np.random.default_rng(3)
    a, b = (np.stack([rng.integers(0, 11, (20, 1)), np.full((20, 1), 20)], axis=2)[None] for _ in range(2))
    (whole,) = significance.compare(a, b, samples=999)
    monkeypatch.setattr(significance, "_AT_A_TIME", 1)
    (parts,) = significance.compare(a, b, samples=999)
    assert whole[:3] == parts[:3]
    for value in (parts.p_bootstrap, parts.p_randomisation):
        assert value * 1000 == pytest.approx(round(value * 1000))
    assert abs(whole.p_bootstrap - parts.p_bootstrap) < 0.1 and abs(whole.p_randomisation - parts.p_randomisation) < 0.1


def test_runs_are_drawn_as_sentences_are():
    """p-values for two runs of A and one of B are those of all draws of runs and sentences."""
    a, b = np.concatenate([counts((3, 8), (4, 4)), counts((1, 8), (0, 4))]), counts((2, 8), (1, 4))
    (found,) = significance.compare(a, b)
    scores = [[f1([run[i, 0] for i in drawn]) for run in (*a, *b)] for drawn in itertools.product(range(2), repeat=2)]
    differences = [(one[i] + one[j]) / 2 - one[2] for one in scores for i, j in itertools.product(range(2), repeat=2)]
    observed = (f1(a[0, :, 0]) + f1(a[1, :, 0])) / 2 - f1(b[0, :, 0])
    assert found.difference == pytest.approx(observed) and found.p_randomisation is None
    exact = np.mean([abs(difference - observed) >= abs(observed) - 1e-9 for difference in differences])
    assert abs(found.p_bootstrap - exact) <= 5 * (exact * (1 - exact) / significance.SAMPLES) ** 0.5 + 1e-4
    assert min(differences) - 1e-9 <= found.low <= found.high <= max(differences) + 1e-9


def test_what_cannot_be_compared():
    for a, b in ((counts((1, 2)), counts((1, 2), (1, 2))), (counts((0, 0)), counts((0, 2))), (np.zeros((1, 0, 1, 2)),) * 2):
        with pytest.raises(ValueError, match="same sentences"):
            significance.compare(a, b)


@pytest.mark.parametrize("sentences, text", [(1, "1 sentence is too few"), (29, "29 sentences are too few"), (30, None)])
def test_too_few_sentences_for_a_test(monkeypatch, sentences, text):
    """With fewer than 30 sentences there are scores but no p-values, even between perfect and useless parses."""
    monkeypatch.setattr(significance, "FEWEST", 30)
    better, worse = counts(*[(2, 4)] * sentences), counts(*[(0, 4)] * sentences)
    (found,) = significance.compare(better, worse)
    assert found[:3] == (100, 0, 100)
    if text:
        assert found[3:] == (None, None, None, None) and text in significance.too_few(sentences)
    else:
        assert None not in found
