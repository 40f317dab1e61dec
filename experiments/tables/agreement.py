"""Test the agreement of scores with the authors' settings and the paper's: of all cells jointly, and of each cell."""

import math
from collections.abc import Sequence

from experiments.pages import Average, error_between, plus_minus, with_pooled
from experiments.tables import tails
from mh4.util.text_tables import Table

BOUND = 0.8  # points; scores are equivalent if the interval of their difference lies within it
ONE_SIDED = 1.645  # standard errors: a 90 % interval


Cell = tuple[float, float]  # the difference of our mean from the paper's, and its standard error


def cells(pairs: Sequence[tuple[Average, Average]]) -> list[Cell]:
    """Return a cell for each pair (ours, the paper's), with the pooled deviations of each side; none if these are unknown."""
    sides = map(with_pooled, zip(*pairs, strict=True))
    differences = ((ours.mean - theirs.mean, error_between(ours, theirs)) for ours, theirs in zip(*sides, strict=True))
    return [(difference, error) for difference, error in differences if error]


def table(by_score: dict[str, list[Cell]]) -> Table:
    """Return a table with a row per score: the mean difference, the joint test, and the number of equivalent cells."""
    header = ["", "cells", "mean difference", "chi-squared", "p", "within ±%.1f" % BOUND]
    body = []
    for score, found in by_score.items():
        if found:
            mean, error = sum(lead for lead, _ in found) / len(found), math.sqrt(sum(error**2 for _, error in found)) / len(found)
            statistic = sum((lead / error) ** 2 for lead, error in found)
            equivalent = sum(abs(lead) + ONE_SIDED * error < BOUND for lead, error in found)
            cells = ["%.1f" % statistic, "%.2f" % tails.chi_squared(statistic, len(found)), "%d" % equivalent]
            body.append([score, "%d" % len(found), plus_minus(mean, error, "+z.2f"), *cells])
    return Table(header, body, right=1)


NOTE = (
    "Scores with the authors' settings against the paper's. Mean difference: ours minus the paper's over all cells, ± its standard error. "
    "Errors come from standard deviations that are pooled over all cells, ours and the paper's, as one of few seeds is unreliable. "
    "Chi-squared: the sum of squared differences in standard errors; a small p would be evidence that some cell differs by more than its "
    "seeds. Within ±%.1f: the cells whose 90 %% interval of the difference lies within these bounds, which are equivalent in this sense; "
    "the others are undecided, as there are few seeds." % BOUND
)
