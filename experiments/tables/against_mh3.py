"""By how much MH4 is ahead of MH3, for greedy and for exact parsers. The tables are written into docs/differences.md."""

from dataclasses import replace
from pathlib import Path

from experiments import paper
from experiments.engine import ensembles, records
from experiments.engine.provenance import EXPERIMENTS
from experiments.pages import document
from experiments.pages.writer import Average, SystemRow, Table, difference, pooled
from experiments.tables import summary

PAGE = EXPERIMENTS.parent / "docs" / "differences.md"
PAIRS = {"greedy": ("greedy-mh4", "greedy-mh3"), "exact": ("mh4-two", "mh3")}


def table(mh4: str, mh3: str, results: Path = records.RESULTS) -> Table:
    """Dev UAS of one system minus that of the other: the paper's, with the authors' settings and with ours; a column for each treebank.

    With standard errors: the paper's from its standard deviations, ours from that between seeds in all records of single models.
    """
    scored: dict[str, dict[str, dict[tuple[str, str], SystemRow]]] = {}
    of_models = []
    for bank, system, scores in summary.rows(results):
        if system in (mh4, mh3):
            scored.setdefault(bank, {})[system] = scores
        if not system.startswith(ensembles.NAME):
            of_models += [row.ours for (score, _), row in scores.items() if score == "dev_uas"]
    std = pooled(of_models)
    banks = {bank: systems for bank, systems in scored.items() if len(systems) == 2}
    body = [["the paper", *(_paper(systems[mh4], systems[mh3]) for systems in banks.values())]]
    for settings, name in summary.SETTINGS.items():
        line = []
        for systems in banks.values():
            rows = [systems[system].get(("dev_uas", settings)) for system in (mh4, mh3)]
            line.append(difference(*(replace(row.ours, std=std) if row else None for row in rows)))
        body.append([name, *line])
    return Table(["", *map(summary.title, banks)], body, right=1)


def _paper(*systems: dict[tuple[str, str], SystemRow]) -> str:
    rows = [next((row.paper for (score, _), row in scores.items() if score == "dev_uas"), None) for scores in systems]
    return difference(*(Average(row.mean, row.std, tuple(range(paper.SEEDS))) if row else None for row in rows))


def write() -> list[Path]:
    """Writes both tables into the page, and returns its path for each."""
    return [document.write_between(PAGE, "%s MH4 against MH3" % name, table(*pair)) for name, pair in PAIRS.items()]
