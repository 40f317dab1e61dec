"""The paper's numbers, from ``experiments/published/``, and the order of systems in its tables."""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mh4.data import treebanks
from mh4.data.conll17 import SEGMENTATION
from mh4.parser.systems import SYSTEMS

FOLDER = Path(__file__).with_name("published")
DEV_TABLE = "table4_dev_uas"
TEST_TABLES = {5: "table5_test_las_nonprojective", 6: "table6_test_las_projective"}
TEST_COLUMNS = {"stanford": "conll-1", "c2l2": "conll-2"}  # of the shared task's systems, in the paper's tables
COLUMNS = {
    "stanford": "CoNLL #1 (Stanford)",
    "c2l2": "CoNLL #2 (C2L2)",
    SEGMENTATION: "UDPipe 1.1 baseline",
}  # of the shared task's systems, in our tables

SEEDS = 5  # the number of runs in a mean
RELEASE = "UD 2.0"  # the paper's data: only scores on this are compared with its numbers


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    with open(FOLDER / (name + ".csv"), encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def features() -> dict[tuple[str, str], float]:
    """Return UAS in Tables 1 and 2, averaged over 10 languages, by decoding and features: ("local", "s0 b0"), ..."""
    return {(row["decoding"], row["features"]): float(row["uas_avg10"]) for row in _rows("table1_table2_features")}


def coverage() -> dict[str, dict[str, str]]:
    """Return the rows of Table 3 by language code, in its order."""
    return {row["lang"]: row for row in _rows("table3_coverage")}


def _score(tables: Iterable[str], lang: str, release: str, column: str) -> tuple[float, float | None] | None:
    """Return the mean and standard deviation (None for single numbers) in one of these tables; None if not comparable."""
    if release != RELEASE or lang == "avg":
        return None
    rows = [row for name in tables for row in _rows(name) if (row["lang"], row["system"]) == (lang, column)]
    return (float(rows[0]["mean"]), float(rows[0]["std"]) if rows[0]["std"] else None) if rows else None


def dev_uas(lang: str, release: str, system: str) -> tuple[float, float | None] | None:
    """Return the mean and standard deviation in Table 4; None if it has no comparable numbers."""
    return _score([DEV_TABLE], lang, release, system)


def in_table_4(lang: str, release: str) -> bool:
    """Return whether Table 4 has comparable numbers for the treebank."""
    return any(dev_uas(lang, release, system) for system in systems())


def systems(lang: str = "") -> tuple[str, ...]:
    """Return the systems of Table 4 and, for a language of Table 3, also those of Tables 1 and 2."""
    of_table_4 = tuple(dict.fromkeys(row["system"] for row in _rows(DEV_TABLE)))
    return of_table_4 + (("greedy-mh4-two", "greedy-mh4-three") if lang in coverage() else ())


def test_table(lang: str) -> int | None:
    """Return the table with the test scores of a language: 5, for the non-projective ones, or 6; None if neither."""
    return next((number for number, name in TEST_TABLES.items() if any(row["lang"] == lang for row in _rows(name))), None)


def test_languages(number: int) -> list[str]:
    """Return the languages of Table 5 or 6, in its order."""
    return [lang for lang in dict.fromkeys(row["lang"] for row in _rows(TEST_TABLES[number])) if lang != "avg"]


def test_las(lang: str, release: str, system: str) -> tuple[float, float | None] | None:
    """Return the mean and standard deviation (None for single numbers) in Tables 5 and 6; None if not comparable.

    system: the name of one of our systems, or of the shared task's (``mh4.data.conll17``), or "ensemble" or
    "ensemble-all". These two get the same numbers, as the paper does not say which of them is its ensemble.
    """
    column = "ensemble" if system == "ensemble-all" else TEST_COLUMNS.get(system, system)
    return _score(TEST_TABLES.values(), lang, release, column)


def treebank_place(name: str) -> tuple[int, str]:
    """Return the sort key for names of treebanks: as in Table 3, then as in Tables 5 and 6; any others come last."""
    order = list(dict.fromkeys([*coverage(), *treebanks.languages()]))
    return (order.index(name) if name in order else len(order), name)


def place(system: str) -> tuple[int, str]:
    """Return the sort key for systems: as in the registry and in Table 4; any others come last."""
    names = list(SYSTEMS)
    return (names.index(system) if system in names else len(names), system)


def same_digits(ours: float, theirs: float) -> bool:
    """Return whether a percentage equals the paper's, which has two decimals."""
    return "%.2f" % ours == "%.2f" % theirs
