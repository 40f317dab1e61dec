"""The difference between MH4 and MH3, greedy and exact. The tables are written into docs/differences.md."""

from dataclasses import replace
from pathlib import Path

from experiments import pages, published
from experiments.engine import ensembles, records
from experiments.engine.provenance import EXPERIMENTS
from experiments.pages import Average, difference, pooled
from experiments.tables import summary
from mh4.util.text_tables import Table

PAGE = EXPERIMENTS.parent / "docs" / "differences.md"
PAIRS = {"greedy": ("greedy-mh4", "greedy-mh3"), "exact": ("mh4-two", "mh3")}


def table(mh4: str, mh3: str, results: Path = records.RESULTS) -> Table:
    """Dev UAS of one system minus that of the other: the paper's, with the authors' settings and with ours; a column for each treebank.

    With standard errors: the paper's from its standard deviations, ours from that between seeds in all records of single models.
    """
    scored = summary.rows(results)
    models = [scores for (_, system), scores in scored.items() if not system.startswith(ensembles.NAME)]
    std = pooled([row.ours for scores in models for (score, _), row in scores.items() if score == "dev_uas"])
    banks = {bank: (scored[bank, mh4], scored[bank, mh3]) for bank, system in scored if system == mh4 and (bank, mh3) in scored}
    body = [["the paper", *(_paper(*pair) for pair in banks.values())]]
    for settings, name in summary.SETTINGS.items():
        line = []
        for pair in banks.values():
            rows = [scores.get(("dev_uas", settings)) for scores in pair]
            line.append(difference(*(replace(row.ours, std=std) if row else None for row in rows)))
        body.append([name, *line])
    return Table(["", *map(summary.title, banks)], body, right=1)


def _paper(*systems: summary.Scores) -> str:
    rows = [next((row.paper for (score, _), row in scores.items() if score == "dev_uas"), None) for scores in systems]
    return difference(*(Average(row.mean, row.std, tuple(range(published.SEEDS))) if row else None for row in rows))


def write() -> list[Path]:
    """Write both tables into the page, and return its path for each."""
    return [pages.write_between(PAGE, "%s MH4 against MH3" % name, table(*pair)) for name, pair in PAIRS.items()]
