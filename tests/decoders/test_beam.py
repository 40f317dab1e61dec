"""Greedy and beam search, against plain Python and against the enumeration of all sequences of legal transitions."""

from functools import cache

import brute
import numpy as np
import pytest
from common import GLOBAL, KINDS, LOCAL, every_kind, every_root, parts_score, rng_for, seeds, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st
from test_transitions import sequences

from mh4 import transitions
from mh4.decoders import beam
from mh4.transitions import MH4, SH, Configuration

WIDE = 10**6  # more than there are sequences over four words

every_model = pytest.mark.parametrize("model", LOCAL + GLOBAL, ids=lambda model: model.name)


def positions(configuration):
    return configuration.s2, configuration.s1, configuration.s0, configuration.b0


def legal(configuration, kinds, single_root):
    """Yield the legal transitions; with a single root, an arc from 0 only if it completes the tree."""
    for code in MH4[:kinds]:
        if configuration.legal(code):
            last = len(configuration.stack) == 2 and configuration.b0 == configuration.n + 1
            if not single_root or code == SH or configuration.arc(code)[0] != 0 or last:
                yield int(code)


@cache
def everything(n, kinds):
    """Return all sequences of legal transitions over n words: (rows, heads), with rows of (code, s2, s1, s0, b0)."""
    found = []
    for codes, heads in sequences(n, MH4[:kinds]):
        configuration, rows = Configuration(n), []
        for code in codes:
            rows.append((int(code), *positions(configuration)))
            configuration.apply(code)
        found.append((tuple(rows), heads))
    return found


def check(model, derivation, n, scores, single_root=False):
    """Check that the transitions make the tree and use the parts, whose sum is the score."""
    heads, rows = derivation.heads, derivation.transitions
    assert heads.dtype == np.int32 and heads.shape == (n + 1,) and heads[0] == -1
    assert brute.is_tree(heads.tolist())
    assert not single_root or brute.has_single_root(heads)
    assert rows.shape == (2 * n + 1, 4)
    np.testing.assert_array_equal(transitions.run(rows, n), heads)
    configuration, expected = Configuration(n), {name: [] for name in scores}
    for code in rows[:, 0].tolist():
        for name, index in model.index(n, code, *positions(configuration)).items():
            expected[name].append(list(index))
        configuration.apply(code)
    assert set(derivation.parts) == set(scores)
    for name, indices in expected.items():
        assert np.issubdtype(derivation.parts[name].dtype, np.integer)
        if name == "arcs":  # in any order
            assert sorted(derivation.parts[name].tolist()) == sorted(indices)
        else:
            assert derivation.parts[name].tolist() == indices
    assert isinstance(derivation.score, float)
    assert derivation.score == pytest.approx(parts_score(derivation, scores), rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------------------------- against full enumeration, n = 1 to 4


@pytest.mark.slow
@every_model
@every_kind
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_beam_wide_enough_finds_the_best_of_all(model, n, kind):
    rng = rng_for("wide", n, kind)
    sequences = everything(n, model.kinds)
    for _ in range(2):
        scores = model.sample(n, rng, kind)
        totals = np.array([sum(model.score(scores, n, *row) for row in rows) for rows, _ in sequences])
        single = np.array([brute.has_single_root(heads) for _, heads in sequences])
        for single_root, best in ((False, totals.max()), (True, totals[single].max())):
            derivation = model.decode(scores, beam=WIDE, single_root=single_root)
            check(model, derivation, n, scores, single_root)
            assert abs(derivation.score - best) <= tolerance(n, scores)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("kinds", [3, 7])
def test_with_a_single_root_the_only_arc_from_it_is_the_last_transition(n, kinds):
    """A sequence has one dependent of the root if and only if no earlier transition makes an arc from it."""
    for rows, heads in everything(n, kinds):
        configuration, early = Configuration(n), False
        for code, *_ in rows[:-1]:
            early |= code != SH and configuration.arc(code)[0] == 0
            configuration.apply(code)
        assert brute.has_single_root(heads) == (not early)
        assert configuration.arc(rows[-1][0]) == (0, configuration.s0)


def test_finds_the_papers_tree_beyond_the_chart():
    """The search finds a tree that the transition system makes and the chart does not derive (Section 3.2)."""
    heads, codes = (-1, 3, 0, 5, 2, 4), [0, 0, 0, 5, 0, 0, 5, 0, 2, 2, 2]
    for model in LOCAL + GLOBAL:
        if model.kinds < len(MH4):
            continue
        scores = model.sample(5, rng_for("planted"), "zeros")
        configuration = Configuration(5)
        for code in codes:
            for name, index in model.index(5, code, *positions(configuration)).items():
                scores[name][index] = 1
            configuration.apply(code)
        derivation = model.decode(scores, beam=64)
        check(model, derivation, 5, scores)
        if not model.name.endswith("two"):  # on {s0, b0}, LA2 has the same score again after LA2
            assert tuple(derivation.heads.tolist()) == heads and derivation.transitions[:, 0].tolist() == codes
            assert not model.exact or derivation.score > model.exact.decode(scores).score


# --------------------------------------------------------------------------------------------------- any length and width


def beam_search(model, scores, n, width, single_root):
    """Return the score and codes found by beam search in plain Python, with a stable sort for ties."""
    beam = [(0.0, ())]
    for _step in range(2 * n + 1):
        continued = []
        for score, done in beam:
            configuration = Configuration(n)
            for code in done:
                configuration.apply(code)
            for code in legal(configuration, model.kinds, single_root):
                continued.append((score + model.score(scores, n, code, *positions(configuration)), done + (code,)))
        kept = sorted(range(len(continued)), key=lambda k: -continued[k][0])[:width]
        beam = [continued[k] for k in sorted(kept)]
    return max(beam, key=lambda hypothesis: hypothesis[0])


@every_model
@every_root
@settings(max_examples=15)
@given(n=st.integers(1, 8), seed=seeds, width=st.integers(1, 9), kind=st.sampled_from(["normal", "ties", "zeros"]))
def test_is_beam_search(model, single_root, n, seed, width, kind):
    scores = model.sample(n, np.random.default_rng(seed), kind)
    derivation = model.decode(scores, beam=width, single_root=single_root)
    score, codes = beam_search(model, scores, n, width, single_root)
    assert derivation.score == pytest.approx(score, abs=1e-6)
    assert tuple(derivation.transitions[:, 0].tolist()) == codes


@every_model
@settings(max_examples=40)
@given(n=st.integers(1, 40), seed=seeds, kind=st.sampled_from(KINDS), width=st.sampled_from([1, 2, 4, 8, 64]))
def test_always_a_tree(model, n, seed, kind, width):
    scores = model.sample(n, np.random.default_rng(seed), kind)
    for single_root in (False, True):
        check(model, model.decode(scores, beam=width, single_root=single_root), n, scores, single_root)
    if model.kinds == 3 and model.exact:
        assert model.decode(scores, beam=width).score <= model.exact.decode(scores).score + tolerance(n, scores)


@every_model
def test_no_words(model):
    scores = model.sample(0, rng_for("empty"))
    derivation = model.decode(scores)
    assert derivation.transitions.tolist() == [[0, -1, -1, 0]] and derivation.heads.tolist() == [-1] and derivation.score == 0
    assert all(rows.shape == (0, 3 if rows.shape[1] == 3 else 2) for rows in derivation.parts.values())
    with pytest.raises(ValueError, match="no derivation.*a sentence without words"):
        model.decode(scores, single_root=True)


@every_model
def test_a_long_sentence(model):
    n = 400
    scores = model.sample(n, rng_for("long"))
    for width in (1, 8):
        check(model, model.decode(scores, beam=width, single_root=True), n, scores, True)


@every_model
def test_minus_infinity_forbids(model):
    """Forbidden transitions are not made. If all others are forbidden, there is no derivation."""
    n, refused = 6, 0
    for k in range(60):
        rng = rng_for("forbid", k)
        scores = model.sample(n, rng)
        for tensor in scores.values():
            tensor[rng.random(tensor.shape) < (0.1, 0.3)[k % 2]] = -np.inf
        try:
            derivation = model.decode(scores, beam=5)
        except ValueError as error:
            assert "no derivation" in str(error) and "width 5" in str(error)
            refused += 1
        else:
            check(model, derivation, n, scores)
            assert derivation.score > -np.inf
    assert 0 < refused < 60
    with pytest.raises(ValueError, match="no derivation"):
        model.decode({name: np.full_like(tensor, -np.inf) for name, tensor in scores.items()})


def test_bad_beam():
    scores = LOCAL[0].sample(3, rng_for("beam"))
    for width in (0, -1, 1.5, "8", None, True):
        with pytest.raises(ValueError, match="beam"):
            beam.decode_local(**scores, beam=width)
    assert beam.decode_local(**scores, beam=np.int64(2)).score >= beam.decode_local(**scores, beam=1).score
    assert beam.decode_local(**scores, beam=10**30).score >= beam.decode_local(**scores).score
