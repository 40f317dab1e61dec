"""Means over seeds and their differences."""

import statistics

import pytest

from experiments import pages
from experiments.pages import Average


def test_averages_over_seeds():
    runs = [("mst", 1, 80.0), ("mst", 3, 81.0), ("mh3", 2, 83.256), ("mst", 4, 85.0)]
    records = [{"system": system, "seed": seed, "dev_uas": uas} for system, seed, uas in runs]
    found = pages.averages(records, "dev_uas")
    assert list(found) == ["mst", "mh3"] and found["mh3"] == Average(83.256, None, (2,))
    assert found["mst"].mean == pytest.approx(82.0) and found["mst"].std == pytest.approx(statistics.stdev([80, 81, 85]))
    assert (str(found["mst"]), str(found["mh3"])) == ("82.00 ± 2.65", "83.26") and found["mst"].seeds_listed == "1 3 4"
    assert pages.plus_minus(1.0, 0.25, "+z.1f") == "+1.0 ± 0.25" and pages.plus_minus(-1.0, None, "+z.1f") == "-1.0"
    assert pages.plus_minus(-0.04, None, "+z.1f") == "+0.0"


def test_a_difference_of_means():
    """A difference has a standard error if both means have a standard deviation."""
    one, other = Average(85.0, 0.3, (1, 2, 3)), Average(84.5, 0.4, (1, 2))
    assert pages.difference(one, other) == "+0.50 ± %.2f" % (0.03 + 0.08) ** 0.5 == "+0.50 ± 0.33"
    assert pages.difference(other, one) == "-0.50 ± 0.33" and pages.difference(one, None) == pages.difference(None, one) == ""
    assert pages.difference(one, Average(84.5, None, (1,))) == "+0.50"
