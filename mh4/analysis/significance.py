"""Significance of the difference between two parsers on the same sentences: paired bootstrap and approximate randomisation.

Both estimate how often a difference as large as the observed one, in either direction, would be seen if the parsers
were equally good. The paired bootstrap (Efron & Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 16;
Berg-Kirkpatrick, Burkett & Klein, "An Empirical Investigation of Statistical Significance in NLP", EMNLP 2012) draws as
many sentences as there are, with replacement; the differences in such samples are distributed about the observed one as
those in other texts are about the true one. Approximate randomisation (Noreen, "Computer-Intensive Methods for Testing
Hypotheses", 1989; Yeh, "More accurate tests for the statistical significance of result differences", COLING 2000) swaps
the two parsers' trees of randomly chosen sentences, which makes no systematic difference if they are equally good.

If a parser was trained several times, the bootstrap draws runs as well as sentences, independently for both parsers
(the multi-bootstrap of Sellam et al., "The MultiBERTs: BERT Reproductions for Robustness Analysis", ICLR 2022). Its
interval then also covers other seeds, except for a parser with one run. Randomisation has no such extension.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mh4.errors import counted

SAMPLES = 10_000
SEED = 1
# The fewest sentences for a test: the usual limit for methods that rely on large samples. With fewer, the bootstrap is
# overconfident: it found 10 % of simulated, equally good parsers to differ at p < .05 on 10 sentences, 7 % on 30, and
# 5 % on 200. Randomisation never found more than 5 %.
FEWEST = 30
_AT_A_TIME = 2**18  # random numbers in memory at once
_EQUAL = 1e-9  # differences of percentages closer than this are rounding errors


class Difference(NamedTuple):
    """Scores of A and B (means over runs), their difference A - B, in percent, and its significance.

    low, high: the interval of the middle 95 % of the differences in bootstrap samples. p_bootstrap, p_randomisation:
    two-sided p-values, (1 + samples with a difference as large) / (1 + samples), which are never 0. With fewer than
    30 sentences, there is no test: all four are None. With several runs, p_randomisation is None.
    """

    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    p_bootstrap: float | None
    p_randomisation: float | None


def compare(a: np.ndarray, b: np.ndarray, samples: int = SAMPLES, seed: int = SEED) -> list[Difference]:
    """Compare the scores of A and B by each of m measures.

    a and b: int (runs, sentences, m, 2), for each run and sentence the correct count, and the total count in gold and
    system together. The numbers of runs may differ. A score is F1, 200 * correct / total in percent, over all sentences
    of a sample, averaged over runs. (F1 is accuracy if both totals are equal.) Raises ValueError if there are no
    sentences or a total is 0.
    """
    if a.shape[1:] != b.shape[1:] or not all(one[..., 1].any(axis=1).all() for one in (a, b)):
        raise ValueError("expected counts of the same sentences and measures, with positive totals")
    runs, (n, measures) = np.array([len(a), len(b)]), a.shape[1:3]
    # Products of floats are fast, and sums of whole numbers are exact.
    both = np.concatenate([*a, *b], axis=1).astype(np.float64)
    observed = _means(_scores(both.sum(axis=0)[None]), runs, measures)[0]
    difference = observed[0] - observed[1]
    scores = np.stack([*observed, difference], axis=1).tolist()
    if n < FEWEST:
        return [Difference(one, other, more, None, None, None, None) for one, other, more in scores]
    rng = np.random.default_rng([seed, 2])
    resampled = np.concatenate([_differences(_means(part, runs, measures, rng)) for part in _bootstrap(both, samples, seed)])
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    as_large = np.abs(difference) - _EQUAL
    tests = [low, high, (1 + (np.abs(resampled - difference) >= as_large).sum(axis=0)) / (1 + samples)]
    if runs.max() == 1:
        exchanged = np.concatenate([_differences(_means(part, runs, measures)) for part in _exchanges(both, samples, seed)])
        tests.append((1 + (np.abs(exchanged) >= as_large).sum(axis=0)) / (1 + samples))
    by_measure = np.stack(tests, axis=1).tolist()
    return [Difference(*row, *(test if runs.max() == 1 else [*test, None])) for row, test in zip(scores, by_measure, strict=True)]


def _means(scores: np.ndarray, runs: np.ndarray, measures: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """Average scores over all runs or, with `rng`, over as many runs drawn with replacement: (k, 2, measures).

    scores: (k, runs of A and of B times measures).
    """
    by_system = np.split(scores.reshape(len(scores), -1, measures), [runs[0]], axis=1)
    if rng is not None:
        drawn = [rng.integers(0, number, size=(len(scores), number, 1)) for number in runs]
        by_system = [np.take_along_axis(one, which, axis=1) for one, which in zip(by_system, drawn, strict=True)]
    return np.stack([one.mean(axis=1) for one in by_system], axis=1)


def _differences(means: np.ndarray) -> np.ndarray:
    return means[:, 0] - means[:, 1]


def too_few(sentences: int) -> str:
    """Return the message that a Difference of this many sentences has no test."""
    are = "is" if sentences == 1 else "are"
    return "%s %s too few for a test, which needs %d" % (counted(sentences, "sentence"), are, FEWEST)


def _scores(sums: np.ndarray) -> np.ndarray:
    """Return the scores, (...), of counts, (..., 2). A sample whose total is 0 has score 0."""
    return 200.0 * sums[..., 0] / np.maximum(sums[..., 1], 1)


def _bootstrap(both: np.ndarray, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the scores of samples of sentences drawn with replacement, with a row for each sample."""
    rng, n = np.random.default_rng([seed, 0]), len(both)
    for count in _parts(samples, n):
        drawn = rng.integers(0, n, size=(count, n), dtype=np.int32)
        times = np.bincount((drawn + np.arange(0, count * n, n)[:, None]).ravel(), minlength=count * n).reshape(count, n)
        yield _scores(np.tensordot(times.astype(np.float64), both, axes=1))


def _exchanges(both: np.ndarray, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yield the scores (some samples, 2m) after A and B have swapped about half of their sentences."""
    rng, n = np.random.default_rng([seed, 1]), len(both)
    measures = both.shape[1] // 2
    more, total = both[:, :measures] - both[:, measures:], both.sum(axis=0)
    for count in _parts(samples, n):
        moved = np.tensordot(rng.integers(0, 2, size=(count, n), dtype=np.uint8).astype(np.float64), more, axes=1)
        yield _scores(total + np.concatenate([-moved, moved], axis=1))


def _parts(samples: int, n: int) -> Iterator[int]:
    """Yield the sizes of the parts in which to draw the samples, of n sentences each."""
    step = max(1, _AT_A_TIME // n)
    for start in range(0, samples, step):
        yield min(step, samples - start)
