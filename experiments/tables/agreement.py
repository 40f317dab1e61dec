"""The agreement of scores with the authors' settings and the paper's: a test of all cells together, and the equivalence of each."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from experiments import published
from experiments.pages import Average, error_of_difference, plus_minus
from mh4.util.text_tables import Table

BOUND = 0.8  # a difference of at most so many points counts as equivalent
ONE_SIDED = 1.645  # standard errors: a 90 % interval


class Cell(NamedTuple):
    """The difference of our mean from the paper's, and its standard error."""

    difference: float
    error: float


def cells(pairs: Sequence[tuple[Average, Average]]) -> list[Cell]:
    """Return the cells of (ours, the paper's) in which both have a standard deviation."""
    return [
        Cell(ours.mean - theirs.mean, error_of_difference(ours.std, len(ours.seeds), theirs.std, published.SEEDS))
        for ours, theirs in pairs
        if ours.std and theirs.std
    ]


def chi_squared_tail(value: float, freedom: int) -> float:
    """Return the probability that chi-squared with `freedom` degrees of freedom exceeds `value`."""
    half, shape = value / 2, 0.5 if freedom % 2 else 1.0
    tail = math.erfc(math.sqrt(half)) if freedom % 2 else math.exp(-half)
    while shape < freedom / 2:
        tail += half**shape * math.exp(-half) / math.gamma(shape + 1)
        shape += 1
    return tail


def table(by_score: dict[str, list[Cell]]) -> Table:
    """Return a row for each score that has cells: the mean difference, the joint test, and how many cells are equivalent."""
    header = ["", "cells", "mean difference", "chi-squared", "p", "within ±%.1f" % BOUND]
    body = []
    for score, found in by_score.items():
        if found:
            error = math.sqrt(sum(cell.error**2 for cell in found)) / len(found)
            statistic = sum((cell.difference / cell.error) ** 2 for cell in found)
            equivalent = sum(abs(cell.difference) + ONE_SIDED * cell.error < BOUND for cell in found)
            mean = plus_minus(sum(cell.difference for cell in found) / len(found), error, "+z.2f")
            p = "%.2f" % chi_squared_tail(statistic, len(found))
            body.append([score, "%d" % len(found), mean, "%.1f" % statistic, p, "%d" % equivalent])
    return Table(header, body, right=1)


NOTE = (
    "Scores with the authors' settings against the paper's. Mean difference: ours minus the paper's over all cells, ± its standard error. "
    "Chi-squared: the sum of squared differences in standard errors; a small p would be evidence that some cell differs by more than its "
    "seeds. Within ±%.1f: the cells whose 90 %% interval of the difference lies within these bounds, which are equivalent in this sense; "
    "the others are undecided, as five seeds of each are few." % BOUND
)
