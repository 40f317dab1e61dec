"""The paper's numbers, and the order of the systems."""

import csv
import statistics

import pytest

from experiments import published
from mh4.data import treebanks
from mh4.parser.systems import SYSTEMS, GreedySystem


def test_the_papers_numbers_are_those_of_its_table():
    def of_paper(lang, system, release="UD 2.0"):
        return published.dev_uas(lang, release, system)

    assert of_paper("hu", "mh4-hybrid") == (84.59, 0.50)
    assert of_paper("hu", "mh4-hybrid", release="UD 1.4") == of_paper("toy", "mh3") == of_paper("avg", "mh3") is None
    averages = {  # the table's last row
        "mh3": 86.49, "mst": 86.69, "mh4-two": 86.79, "mh4-hybrid": 87.27, "1ec": 87.21, "greedy-mh3": 85.60, "greedy-mh4": 85.27,
    }  # fmt: skip
    for system in SYSTEMS:
        means = [numbers[0] for numbers in (of_paper(lang, system) for lang in treebanks.languages()) if numbers]
        assert len(means) == (10 if system in averages else 0)
        if means:
            assert statistics.mean(means) == pytest.approx(averages[system], abs=0.006)
    assert set(averages) < set(SYSTEMS)


def test_test_scores_are_those_of_tables_5_and_6():
    def of_paper(lang, system, release="UD 2.0"):
        return published.test_las(lang, release, system)

    assert of_paper("hu", "mh4-hybrid") == (76.90, 0.31) and of_paper("vi", "mst") == (41.04, 0.19)
    assert of_paper("hu", "ensemble") == (79.35, None)
    assert of_paper("hu", "stanford") == (77.56, None) and of_paper("hu", "c2l2") == (76.55, None)
    assert (
        of_paper("hu", "udpipe") is of_paper("hu", "mh4-two") is of_paper("avg", "mst") is of_paper("hu", "mst", "UD 1.4") is None
    )
    averages = {  # the tables' last rows
        5: {"mh3": 78.91, "mst": 78.90, "mh4-hybrid": 79.57, "1ec": 79.44, "ensemble": 80.83, "stanford": 80.85, "c2l2": 79.83},
        6: {"mh3": 73.02, "mst": 72.55, "mh4-hybrid": 73.27, "1ec": 73.03, "ensemble": 74.18, "stanford": 75.67, "c2l2": 73.89},
    }
    assert (
        published.test_languages(5) + published.test_languages(6) == treebanks.languages() and published.test_table("toy") is None
    )
    for number, means in averages.items():
        assert {published.test_table(lang) for lang in published.test_languages(number)} == {number}
        for system, mean in means.items():
            scores = [of_paper(lang, system)[0] for lang in published.test_languages(number)]
            assert len(scores) == 10 and statistics.mean(scores) == pytest.approx(mean, abs=0.01), (number, system)


def test_the_registry_is_in_the_order_of_table_4():
    """Global parsers first, then greedy ones; systems that are not in the table come after those that are."""
    with open(published.FOLDER / "table4_dev_uas.csv", encoding="utf-8", newline="") as lines:
        columns = list(dict.fromkeys(row["system"] for row in csv.DictReader(lines)))

    def column(system):
        return isinstance(SYSTEMS[system], GreedySystem), columns.index(system) if system in columns else len(columns)

    assert list(SYSTEMS) == sorted(SYSTEMS, key=column)
    assert sorted(["another", *reversed(SYSTEMS)], key=published.place) == [*SYSTEMS, "another"]
