"""The paper's numbers, and the order of its systems."""

import statistics

import pytest

import paper
from mh4 import data
from mh4.systems import SYSTEMS


def test_the_papers_numbers_are_those_of_its_table():
    def published(lang, system, release="UD 2.0"):
        return paper.dev_uas(lang, release, system)

    assert published("hu", "mh4-hybrid") == (84.59, 0.50)
    assert published("hu", "mh4-hybrid", release="UD 1.4") == published("toy", "mh3") == published("avg", "mh3") is None
    averages = {  # the table's last row
        "mh3": 86.49, "mst": 86.69, "mh4-two": 86.79, "mh4-hybrid": 87.27, "1ec": 87.21, "greedy-mh3": 85.60, "greedy-mh4": 85.27,
    }  # fmt: skip
    for system in SYSTEMS:
        means = [numbers[0] for numbers in (published(lang, system) for lang in data.languages()) if numbers]
        assert len(means) == (10 if system in averages else 0)
        if means:
            assert statistics.mean(means) == pytest.approx(averages[system], abs=0.006)
    assert set(averages) < set(SYSTEMS)


def test_systems_are_in_the_order_of_table_4_and_no_one_is_missing():
    assert paper.systems() == [
        "mh3", "mst", "mh4-two", "mh4-hybrid", "1ec", "mh3-arcs", "mh4-arcs",
        "greedy-mh3", "greedy-mh4", "greedy-mh4-two", "greedy-mh4-three",
    ]  # fmt: skip
    assert set(paper.systems()) == set(SYSTEMS)
    assert sorted(["an ensemble", "greedy-mh4", "1ec", "mh3"], key=paper.place) == ["mh3", "1ec", "greedy-mh4", "an ensemble"]
