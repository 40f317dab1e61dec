"""All pages of a treebank's scores: Table 4, and Table 5 or 6 if models have been tested."""

from pathlib import Path

from training.records import RESULTS

from tables import table4, table5_6


def write(name: str, results: Path = RESULTS) -> list[Path]:
    """Writes the pages of treebank `name` from all its records in the folder `results`; returns their paths."""
    return table4.write(name, results) + table5_6.write(name, results)
