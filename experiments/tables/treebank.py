"""All pages of a treebank's scores: Table 4, Tables 1 and 2 if they have a greedy parser, and Table 5 or 6 if models have been tested."""

from pathlib import Path

from experiments.engine.records import load
from experiments.tables import table1_2, table4, table5_6


def write(name: str, results: Path) -> list[Path]:
    """Write the pages of treebank `name` from all its records in the folder `results`; return their paths."""
    runs = load(name, results)
    written = table4.write(name, runs, results)
    if any(row.decoding == "local" for row in table1_2.rows(runs)):
        written += table1_2.write(name, runs, results)
    return written + table5_6.write(name, runs, results)
