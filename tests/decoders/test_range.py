"""The range of scores: numbers between -1e30 and 1e30 are summed, lower ones forbid, and higher ones are errors."""

import numpy as np
import pytest
from common import DECODERS, MH5, Search, decoders, hamming_cost, rng_for, tolerance
from marginals_judge import every_model, marginals
from oneec_judge import ONEEC

from mh4.decoders import beam

FORBIDDING = [-1e30, -1.5e30, -1e31, -3e37, -1e38, float(np.finfo(np.float32).min)]
FINITE = [-1e4, -1e9, -1e20, -9e29]


class Wide(Search):
    """Beam search with a beam that is wide enough to be exact for short sentences."""

    def decode(self, scores, cost=None, **options):
        return self.decode_scores(**scores, beam=20, **options)


BEAMS = [
    Wide("beam", {"shift": (), "reduce_s0b0": (6,), "reduce_s1s0": (6,), "arcs": ()}, beam.decode),
    Wide("beam, mh5", {"shift": (), "reduce_s0b0": (12,)}, beam.decode),
    Wide("beam, local", {"s0b0": (7,), "s1s0": (7,), "s2s1": (7,)}, beam.decode_local),
]
EXACT = [*DECODERS, *MH5, ONEEC]
every_decoder = decoders(*EXACT, *BEAMS)
exact_decoder = decoders(*EXACT)


def masked(scores, where, mask):
    return {name: np.where(where[name], np.float32(mask), tensor) for name, tensor in scores.items()}


def some(scores, rng, share):
    """Return masks of random scores: the given share of each tensor, or none of it."""
    return {name: rng.random(tensor.shape) < share * (rng.random() < 0.6) for name, tensor in scores.items()}


def outcome(decode, scores, **options):
    try:
        derivation = decode(scores, **options)
    except ValueError as error:
        return str(error)
    return derivation.score, derivation.heads.tolist(), {name: rows.tolist() for name, rows in derivation.parts.items()}


@every_decoder
@pytest.mark.parametrize("n", [*range(1, 7), *(pytest.param(n, marks=pytest.mark.slow) for n in (7, 8, 9))])
def test_all_that_is_far_below_forbids(decoder, n):
    """Numbers far below have the same result or error as -inf, in scores and in the cost."""
    rng = rng_for("forbids", n)
    found = set()
    for draw in range(30):
        scores = decoder.sample(n, rng, ("normal", "ties", "zeros", "large")[draw % 4])
        where = some(scores, rng, (0.1, 0.3, 0.6)[draw % 3])
        options = {"single_root": draw % 2 == 1, "cost": hamming_cost([-1, *range(n)])}
        if draw % 5 == 4:
            options["cost"][rng.random((n + 1, n + 1)) < 0.3] = mask = FORBIDDING[draw % 6]
            forbidding = {**options, "cost": np.where(options["cost"] == np.float32(mask), np.float32(-np.inf), options["cost"])}
        else:
            forbidding = options
        expected = outcome(decoder.decode, masked(scores, where, -np.inf), **forbidding)
        found.add(type(expected))
        for mask in FORBIDDING:
            assert outcome(decoder.decode, masked(scores, where, mask), **options) == expected, mask
    assert tuple in found


@exact_decoder
@pytest.mark.parametrize("n", range(1, 10))
def test_finite_masks_do_not_blur_the_other_scores(decoder, n):
    """If there is a derivation without masked scores, the result is that with forbidden scores."""
    rng = rng_for("finite", n)
    compared = 0
    for draw in range(20):
        scores = decoder.sample(n, rng)
        where = some(scores, rng, (0.1, 0.4, 0.7)[draw % 3])
        expected = outcome(decoder.decode, masked(scores, where, -np.inf))
        if not isinstance(expected, str):
            compared += 1
            for mask in FINITE:
                assert outcome(decoder.decode, masked(scores, where, mask)) == expected, mask
    assert compared > 3


@exact_decoder
@pytest.mark.parametrize("n", range(1, 10))
def test_sums_of_the_largest_scores(decoder, n):
    """Sums of the largest scores do not overflow float32: the best is found up to rounding."""
    rng = rng_for("largest", n)
    for largest in (1e29, 9.99e29):
        scores = {name: tensor * np.float32(largest) for name, tensor in decoder.sample(n, rng, "ties").items()}
        for sign in (None, -1, 1):
            if sign:
                scores = {name: sign * abs(tensor) for name, tensor in scores.items()}
            derivation = decoder.decode(scores)
            assert np.isfinite(derivation.score)
            if n <= 4 and hasattr(decoder, "candidate_scores"):
                best = decoder.candidate_scores(n, scores).max()
                assert abs(derivation.score - best) <= tolerance(n, scores)
            again = decoder.decode(scores, heads=derivation.heads)
            assert abs(again.score - derivation.score) <= tolerance(n, scores)


@every_decoder
@pytest.mark.parametrize("number", [1e30, 2e38, np.inf, np.nan])
def test_what_is_above_is_refused(decoder, number):
    scores = decoder.sample(5, rng_for("above"))
    for name in scores:
        spoilt = {**scores, name: scores[name].copy()}
        spoilt[name][..., 2, 3] = number
        with pytest.raises(ValueError, match=f"{name}: scores must be below 1e.30 and not NaN, got .* at .*2, 3"):
            decoder.decode(spoilt)


@every_decoder
def test_the_same_range_in_other_precisions(decoder):
    """Numbers that are beyond the range of float32 forbid or are errors, too."""
    rng = rng_for("precision")
    scores = decoder.sample(5, rng)
    where = some(scores, rng, 0.2)
    expected = outcome(
        decoder.decode, {name: tensor.astype(np.float64) for name, tensor in masked(scores, where, -np.inf).items()}
    )
    for mask in (-1e30, -1e39, -1e300):
        wide = {name: np.where(where[name], mask, tensor.astype(np.float64)) for name, tensor in scores.items()}
        assert outcome(decoder.decode, wide) == expected
    name = next(iter(scores))
    wide[name][..., 1, 1] = 1e300
    with pytest.raises(ValueError, match=f"{name}: .*1e.300 at "):
        decoder.decode(wide)


@every_model
@pytest.mark.parametrize("n", range(1, 7))
def test_marginals_of_forbidden_scores(model, n):
    rng = rng_for("marginals", n)
    for draw in range(10):
        scores = model.sample(n, rng)
        where = some(scores, rng, (0.1, 0.3)[draw % 2])
        results = []
        for mask in (-np.inf, *FORBIDDING):
            try:
                found = marginals(model, masked(scores, where, mask), single_root=draw % 3 == 0)
                results.append((found.log_partition, found.arcs.tolist(), {k: v.tolist() for k, v in found.parts.items()}))
            except ValueError as error:
                results.append(str(error))
        assert all(result == results[0] for result in results)


@every_decoder
def test_the_error_says_what_forbids(decoder):
    scores = {name: np.full_like(tensor, -2e30) for name, tensor in decoder.sample(4, rng_for("error")).items()}
    with pytest.raises(ValueError, match="^no derivation: scores of -inf, or from -1e[+]30 down, forbid all"):
        decoder.decode(scores)
