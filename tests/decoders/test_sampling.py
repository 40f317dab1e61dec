"""Random trees: the frequencies of trees, and of arcs in longer sentences, agree with their probabilities."""

import brute
import numpy as np
import pytest
from common import MH3, MH3_ARCS, MST, every_root, padded, rng_for
from marginals_judge import SEQUENCES, extreme, marginals, sample
from partition import distribution

from mh4.decoders import batch, mst
from mh4.decoders.batch import DECODERS, single

MODELS = [*SEQUENCES, MST]
SAMPLES = 30_000

every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)

LIMIT = 4.0  # of deviations, whose distribution is nearly standard normal; seeds are fixed


def deviation(observed, expected):
    """Return by how many standard deviations the chi-squared statistic of counts is too high (Wilson & Hilferty, 1931).

    Outcomes that are expected less than five times are pooled until five are expected.
    """
    order = np.argsort(expected)
    rare = max(int((expected < 5).sum()), int((np.cumsum(expected[order]) < 5).sum()) + 1)
    observed, expected = (np.append(x[order][rare:], x[order][:rare].sum()) for x in (observed, expected))
    freedom = len(expected) - 1
    if freedom == 0:
        return 0.0
    statistic = ((observed - expected) ** 2 / expected).sum()
    return ((statistic / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / (2 / (9 * freedom)) ** 0.5


def deviation_of(found, expected):
    """Return the deviation of random trees from probabilities of trees. A tree of probability 0 is an error."""
    counts = dict.fromkeys(expected, 0)
    trees, times = np.unique(found, axis=0, return_counts=True)
    for tree, count in zip(map(tuple, trees.tolist()), times):
        assert expected[tree] > 0, "%s is impossible" % (tree,)
        counts[tree] += count
    return deviation(np.array(list(counts.values())), len(found) * np.array(list(expected.values())))


def probabilities(model, n, scores, single_root):
    """Return the probabilities of all trees, by heads: the sums over their derivations."""
    candidates = model.candidates(n)
    _, probability = distribution(candidates.used(scores), candidates.single_root | (not single_root))
    found = dict.fromkeys(candidates.trees, 0.0)
    for tree, each in zip(candidates.trees, probability):
        found[tree] += each
    return found


@pytest.mark.slow
@every_model
@every_root
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_frequency_of_every_tree(model, single_root, n):
    scores = model.sample(n, rng_for("frequency", n))
    found = sample(model, scores, SAMPLES, rng=n, single_root=single_root)
    assert found.dtype == np.int32 and found.shape == (SAMPLES, n + 1)
    assert deviation_of(found, probabilities(model, n, scores, single_root)) < LIMIT


@pytest.mark.slow
@every_model
@every_root
@pytest.mark.parametrize("case", ["far above", "up or down", "some far below", "some far above", "100"])
def test_large_and_small_scores(model, single_root, case):
    """Frequencies are right for scores beyond the range of float64."""
    n = 4
    for draw in range(3):
        scores = extreme(model, n, rng_for("extreme", case, draw), case)
        found = sample(model, scores, 3000, rng=draw, single_root=single_root)
        assert deviation_of(found, probabilities(model, n, scores, single_root)) < LIMIT


@every_root
def test_sums_too_small_for_an_inverse(single_root):
    """Frequencies are right for weights from e^-700 to e^-745, of which float64 has only a few digits."""
    for less in (-712, -720, -740):
        arcs = np.full((5, 5), -3000.0)
        arcs[0, 1], arcs[1, 2:], arcs[2, 3], arcs[3, 2], arcs[1, 4] = 0, (less, less - 1, 0), 0, 0, -1
        found = sample(MST, {"arcs": arcs}, 2000, single_root=single_root)
        assert deviation_of(found, probabilities(MST, 4, {"arcs": arcs}, single_root)) < LIMIT


@every_model
@every_root
def test_forbidden_scores(model, single_root):
    n, drawn = 4, 0
    rng = rng_for("forbidden")
    for draw in range(20):
        scores = model.sample(n, rng)
        for tensor in scores.values():
            tensor[rng.random(tensor.shape) < 0.15] = -np.inf
        expected = probabilities(model, n, scores, single_root)
        if not any(expected.values()):
            with pytest.raises(ValueError, match="no derivation"):
                sample(model, scores, 1, single_root=single_root)
            continue
        drawn += 1
        assert deviation_of(sample(model, scores, 2000, rng=draw, single_root=single_root), expected) < LIMIT
    assert drawn > 2


@every_model
@every_root
@pytest.mark.parametrize("n", [12, 30])
def test_frequencies_of_arcs_are_marginals(model, single_root, n):
    """The frequencies of each word's heads are its marginals. Samples are trees of the class with the right roots."""
    scores = model.sample(n, rng_for("arcs", n))
    found = sample(model, scores, 4000, rng=n, single_root=single_root)
    arcs = marginals(model, scores, single_root=single_root).arcs
    for word in range(1, n + 1):
        counts = np.bincount(found[:, word], minlength=n + 1)
        assert counts.sum() == len(found) and not counts[arcs[:, word] == 0].any()
        assert deviation(counts, len(found) * arcs[:, word]) < LIMIT, word
    for heads in found[:50].tolist():
        assert brute.is_tree(tuple(heads)) and heads[0] == -1
        assert not single_root or brute.has_single_root(heads)
        if model in (MH3, MH3_ARCS):
            assert brute.is_projective(heads)


def test_arcs_of_a_graph_of_hubs_and_a_long_cycle():
    """Arcs have the right frequencies where a random walk hardly ever finds the root."""
    n = 40
    arcs = np.full((n + 1, n + 1), -40.0)
    words = np.arange(1, n + 1)
    arcs[words, np.roll(words, 1)] = 0
    arcs[n // 2, words] = -1
    found = mst.sample(arcs, samples=3000, rng=1)
    probability = mst.marginals(arcs).arcs
    for word in words:
        assert deviation(np.bincount(found[:, word], minlength=n + 1), 3000 * probability[:, word]) < LIMIT
    assert all(brute.is_tree(tuple(heads)) for heads in found[:100].tolist())


@every_model
def test_random_numbers(model):
    scores = model.sample(8, rng_for("random"))
    one, again, other = (sample(model, scores, 50, rng=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    np.testing.assert_array_equal(sample(model, scores, 20, rng=3), one[:20])
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(sample(model, scores, 50, rng=generator), one)
    assert (sample(model, scores, 50, rng=generator) != one).any()
    assert (sample(model, scores, 50, rng=None) != sample(model, scores, 50, rng=None)).any()


@every_model
def test_borderline_cases(model):
    nothing = model.sample(0, rng_for("none"))
    assert sample(model, nothing, 3).tolist() == [[-1]] * 3
    with pytest.raises(ValueError, match="no derivation"):
        sample(model, nothing, 3, single_root=True)
    assert sample(model, model.sample(1, rng_for("one")), 2, single_root=True).tolist() == [[-1, 0]] * 2
    assert sample(model, model.sample(3, rng_for("three")), 0).shape == (0, 4)


@every_model
def test_bad_arguments(model):
    scores = model.sample(3, rng_for("bad"))
    for samples in (-1, 1.5, "3", None, True):
        with pytest.raises(ValueError, match="samples: expected a number of samples"):
            sample(model, scores, samples)
    for samples in (2**62, 2**70):
        with pytest.raises((MemoryError, ValueError)):  # numpy's ValueError if available memory is unknown
            sample(model, scores, samples)
    with pytest.raises((TypeError, ValueError)):
        sample(model, scores, 3, rng="seed")
    with pytest.raises(ValueError, match="no derivation"):
        sample(model, {name: np.full_like(tensor, -np.inf) for name, tensor in scores.items()}, 3)


# -------------------------------------------------------------------------------------------------------------------- batches

WITH_SAMPLES = [name for name, decoder in DECODERS.items() if decoder.sample]


@pytest.mark.parametrize("name", WITH_SAMPLES)
@every_root
def test_a_batch_is_its_sentences_one_after_the_other(name, single_root):
    lengths = [4, 9, 1, 6, *([] if single_root else [0])]
    tensors, others = (padded(name, lengths, 10, rng_for(what, name), np.float32) for what in ("batch", "others"))
    heads = batch.decode(name, others, lengths, single_root=single_root).heads
    heads[rng_for("open").random(heads.shape) < 0.5] = -1
    for given in (None, heads):
        generator, expected = np.random.default_rng(7), np.full((len(lengths), 30, 11), -1)
        for b, n in enumerate(lengths):
            alone = single(name, tensors, b, n, given)
            expected[b, :, : n + 1] = DECODERS[name].sample(**alone, samples=30, rng=generator, single_root=single_root)
        for threads in (None, 1, 3):
            found = batch.sample(name, tensors, lengths, 30, rng=7, heads=given, single_root=single_root, threads=threads)
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, expected)
    assert batch.sample(name, tensors, lengths, 0).shape == (len(lengths), 0, 11)


def test_errors_of_batches():
    tensors = padded("mh3", [4, 3], 4, rng_for("errors"))
    tensors["shift"][1, 1, 2] = np.nan
    with pytest.raises(ValueError, match="sentence 1: shift: scores must be .* nan at \\(1, 2\\)"):
        batch.sample("mh3", tensors, [4, 3], 5)
    tensors["shift"][1] = -np.inf
    with pytest.raises(ValueError, match="sentence 1: no derivation"):
        batch.sample("mh3", tensors, [4, 3], 5)
    for name in ("mh5", "1ec"):
        with pytest.raises(ValueError, match="%s has no sampling; mh3, mh4, mst have" % name):
            batch.sample(name, {}, [], 1)
    with pytest.raises(ValueError, match="samples: expected a number"):
        batch.sample("mh3", tensors, [4, 3], -5)
    for wrong in ("x", -1):
        with pytest.raises(ValueError, match="^rng: expected a seed or a numpy.random.Generator, got %r" % wrong):
            batch.sample("mh3", tensors, [4, 3], 5, rng=wrong)
