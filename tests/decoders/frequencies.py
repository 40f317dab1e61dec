"""Whether frequencies agree with probabilities, by chi-squared tests."""

import numpy as np

LIMIT = 4.0  # of deviations, which have a standard normal distribution, about; seeds are fixed


def deviation(observed, expected):
    """How far the chi-squared statistic of counts is above what it should be, in standard deviations (Wilson & Hilferty, 1931).

    What is expected less than five times is put together, with more if that makes less than five.
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
    """That of random trees from the probabilities of trees. No tree of probability 0 may be among them."""
    counts = dict.fromkeys(expected, 0)
    trees, times = np.unique(found, axis=0, return_counts=True)
    for tree, count in zip(map(tuple, trees.tolist()), times):
        assert expected[tree] > 0, "%s is impossible" % (tree,)
        counts[tree] += count
    return deviation(np.array(list(counts.values())), len(found) * np.array(list(expected.values())))
