"""The paper's numbers, and the order of the systems."""

import csv
from statistics import mean

import pytest

from experiments import published
from mh4.data import treebanks
from mh4.parser.systems import SYSTEMS, GreedySystem


def test_the_papers_numbers_have_the_papers_averages():
    """The numbers have the averages in the last rows of Tables 4, 5 and 6."""
    averages = {"mh3": (86.49, 78.91, 73.02), "mst": (86.69, 78.90, 72.55), "mh4-hybrid": (87.27, 79.57, 73.27)}
    averages |= {"1ec": (87.21, 79.44, 73.03), "ensemble": (None, 80.83, 74.18), "mh4-two": (86.79, None, None)}
    averages |= {"greedy-mh3": (85.60, None, None), "greedy-mh4": (85.27, None, None), "stanford": (None, 80.85, 75.67)}
    averages |= {"c2l2": (None, 79.83, 73.89), "udpipe": (None, None, None)}
    for system, expected in averages.items():
        dev = [published.dev_uas(lang, "UD 2.0", system) for lang in treebanks.languages()]
        tests = [[published.test_las(lang, "UD 2.0", system) for lang in published.test_languages(number)] for number in (5, 6)]
        for column, average in zip((dev, *tests), expected, strict=True):
            numbers = [number[0] for number in column if number]
            assert len(numbers) == (10 if average else 0)
            assert not average or mean(numbers) == pytest.approx(average, abs=0.01)
    assert published.dev_uas("hu", "UD 1.4", "mst") is published.test_las("hu", "UD 1.4", "mst") is None
    assert published.test_table("toy") is None


def test_the_registry_is_in_the_order_of_table_4():
    """Global parsers precede greedy ones, and among both, systems of the table precede others."""
    with open(published.FOLDER / "table4_dev_uas.csv", encoding="utf-8", newline="") as lines:
        columns = list(dict.fromkeys(row["system"] for row in csv.DictReader(lines)))

    def column(system):
        return isinstance(SYSTEMS[system], GreedySystem), columns.index(system) if system in columns else len(columns)

    assert list(SYSTEMS) == sorted(SYSTEMS, key=column)
    assert sorted(["another", *reversed(SYSTEMS)], key=published.place) == [*SYSTEMS, "another"]
