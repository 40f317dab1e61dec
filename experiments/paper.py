"""The paper's numbers, from ``experiments/paper/``, and the order in which its tables have the systems."""

import csv
from functools import lru_cache
from typing import Dict, Optional, Tuple

from mh4.systems import SYSTEMS
from provenance import EXPERIMENTS

RELEASE = "UD 2.0"  # the paper's data: nothing else is ever compared with its numbers


@lru_cache(maxsize=None)
def _rows(name: str) -> Tuple[Dict[str, str], ...]:
    with open(EXPERIMENTS / "paper" / (name + ".csv"), encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def features() -> Dict[Tuple[str, str], float]:
    """Tables 1 and 2: UAS averaged over 10 languages, by decoding ("local" or "global") and features ("s0 b0")."""
    return {(row["decoding"], row["features"]): float(row["uas_avg10"]) for row in _rows("table1_table2_features")}


def coverage() -> Dict[str, Dict[str, str]]:
    """The rows of Table 3 by language code, in its order."""
    return {row["lang"]: row for row in _rows("table3_coverage")}


def dev_uas(lang: str, release: str, system: str) -> Optional[Tuple[float, float]]:
    """Mean and standard deviation in Table 4; None where it has none that compare."""
    if release != RELEASE:
        return None
    # The table's last row, the averages, has no standard deviations.
    table = {(row["lang"], row["system"]): row for row in _rows("table4_dev_uas") if row["std"]}
    row = table.get((lang, system))
    return (float(row["mean"]), float(row["std"])) if row else None


def place(system: str) -> Tuple[int, str]:
    """What to sort by, to have systems in the order of their registry, which is that of Table 4; any others come last."""
    names = list(SYSTEMS)
    return (names.index(system) if system in names else len(names), system)
