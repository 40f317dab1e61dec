"""Summarize all results: the paper's scores and ours, with the authors' settings and our own, by treebank and system.

The summary is written to ``results/summary.md``, the headline results into README, and the differences between MH4 and
MH3, greedy and exact, into docs/differences.md. All are made from the records.
"""

from dataclasses import replace
from pathlib import Path

from experiments import pages, published
from experiments.engine import ensemble_runs, records
from experiments.engine.run import LIKELIHOOD
from experiments.engine.treebank import AUTHORS
from experiments.engine.workplace import EXPERIMENTS
from experiments.pages import Average, difference, pooled
from experiments.tables import paper_tables
from experiments.tables.paper_tables import SystemRow
from mh4.data import treebanks
from mh4.errors import counted
from mh4.util.text_tables import Table

README, DIFFERENCES = EXPERIMENTS.parent / "README.md", EXPERIMENTS.parent / "docs" / "differences.md"
SETTINGS = {AUTHORS: "authors' settings", "": "ours"}  # by their names in records, in the order of the columns
HEADLINE = ("mh3", "mst", "mh4-hybrid", "1ec", "ensemble", "ensemble-all")
SCORES = {"dev_uas": "dev UAS", "test_las": "test LAS"}
PAIRS = {"greedy": ("greedy-mh4", "greedy-mh3"), "exact": ("mh4-two", "mh3")}  # MH4 and MH3


Scores = dict[tuple[str, str], SystemRow]  # by score and settings


def rows(results: Path = records.RESULTS) -> dict[tuple[str, str], Scores]:
    """Return the scores of systems trained with the paper's loss, by treebank and system, in order."""
    found: dict[tuple[str, str], Scores] = {}
    for name, runs in records.load_all(results).items():
        settings = runs[0].get("settings_of", "")
        if settings not in SETTINGS:
            continue
        bank = name.removesuffix("-" + settings)
        tested = paper_tables.tested(runs, results)
        for score, mine in (("dev_uas", paper_tables.Dev(runs)), ("test_las", tested)):
            for row in mine.rows() if mine else ():
                if not row.system.endswith(LIKELIHOOD) and row.system not in published.COLUMNS:
                    found.setdefault((bank, row.system), {})[score, settings] = row
    order = sorted(found, key=lambda key: (published.treebank_place(key[0]), published.place(key[1])))
    return {key: found[key] for key in order}


def table(results: Path) -> Table:
    body, last = [], ""
    for (bank, system), scores in rows(results).items():
        line = [title(bank) if bank != last else "", system]
        for score in SCORES:
            line += [str(_paper(scores, score) or ""), *(_ours(scores, score, settings) for settings in SETTINGS)]
        body.append([*line, _seeds(scores)])
        last = bank
    columns = [name for what in SCORES.values() for name in (what + ": paper", *SETTINGS.values())]
    return Table(["", "", *columns, "seeds"], body, right=2)


def headline(results: Path = records.RESULTS) -> Table:
    """Return test LAS of the systems of Tables 5 and 6: the paper's, and ours with the authors' and our settings."""
    found: dict[str, dict[str, dict[str, Average]]] = {}  # by treebank, whose it is, and system
    for (bank, system), scores in rows(results).items():
        for settings, whose in SETTINGS.items():
            row = scores.get(("test_las", settings))
            if system in HEADLINE and row and row.paper:
                by_settings = found.setdefault(bank, {"paper": {}, **{each: {} for each in SETTINGS.values()}})
                by_settings["paper"][system], by_settings[whose][system] = row.paper, row.ours
    body = []
    for bank, by_settings in found.items():
        for whose, averages in by_settings.items():
            if averages:
                counts = [len(each.seeds) for each in averages.values()]
                seeds = " to ".join(map(str, sorted({min(counts), max(counts)})))
                name = title(bank) if whose == "paper" else ""
                body.append([name, whose, *(str(averages.get(system, "")) for system in HEADLINE), seeds])
    return Table(["", "", *HEADLINE, "seeds"], body, right=2)


def against_mh3(mh4: str, mh3: str, results: Path = records.RESULTS) -> Table:
    """Return a table of the dev UAS of `mh4` minus that of `mh3`, with a column for each treebank.

    Its rows are the paper's differences, and ours with the authors' and with our settings. The paper's standard errors
    come from its standard deviations, ours from the standard deviation between seeds, pooled over all single models.
    """
    found = rows(results)
    models = [scores for (_, system), scores in found.items() if not system.startswith(ensemble_runs.NAME)]
    std = pooled([row.ours for scores in models for (score, _), row in scores.items() if score == "dev_uas"])
    banks = [bank for bank, system in found if system == mh4 and (bank, mh3) in found]
    lines: dict[str, list[str]] = {"the paper": [], **{name: [] for name in SETTINGS.values()}}
    for bank in banks:
        pair = found[bank, mh4], found[bank, mh3]
        lines["the paper"].append(difference(*(_paper(scores, "dev_uas") for scores in pair)))
        for settings, name in SETTINGS.items():
            ours = [scores.get(("dev_uas", settings)) for scores in pair]
            lines[name].append(difference(*(replace(row.ours, std=std) if row else None for row in ours)))
    return Table(["", *map(title, banks)], [[name, *cells] for name, cells in lines.items()], right=1)


def title(bank: str) -> str:
    """Return the name of a treebank's language, with the release if that is not UD 2.0: "Basque (UD 1.4)" for eu-ud1.4.

    A treebank that is not in the manifest keeps its name.
    """
    names = {}
    for row in treebanks.manifest():
        language = row.repository[len("UD_") :].partition("-")[0].replace("_", " ")
        names[row.lang] = language
        names["%s-ud%s" % (row.lang, row.release)] = "%s (UD %s)" % (language, row.release)
    return names.get(bank, bank)


def _paper(scores: Scores, score: str) -> Average | None:
    """Return the paper's score, which is the same for all settings; None if it has none."""
    return next((row.paper for (what, _), row in scores.items() if what == score and row.paper), None)


def _ours(scores: Scores, score: str, settings: str) -> str:
    """Return our score, and its number of seeds if some runs of the system lack it, such as untested runs."""
    row = scores.get((score, settings))
    if row is None:
        return ""
    some = row.ours.seeds != scores["dev_uas", settings].ours.seeds
    return str(row.ours) + (" (%s)" % counted(len(row.ours.seeds), "seed") if some else "")


def _seeds(scores: Scores) -> str:
    """Return the number of seeds with the authors' settings, if there are any, and with ours."""
    counts = {settings: len(row.ours.seeds) for (score, settings), row in scores.items() if score == "dev_uas"}
    return ", ".join(str(counts.get(settings, 0)) for settings in SETTINGS) if AUTHORS in counts else str(counts[""])


NOTE = """\
In percent, mean and standard deviation (n - 1) over seeds; the paper has five. seeds: their number, with the authors' settings
and with ours. Ensembles are of mh4-hybrid, 1ec and mst: of the models of one seed and, in ensemble-all, of the recorded trees of
all seeds, whose labels vote, too."""


def write(results: Path) -> list[Path]:
    """Write the summary's pages; return their paths, none if no treebank but toy has records."""
    if not rows(results):
        return []
    parts: list[pages.Part] = [table(results), NOTE, "Made from the records by `make report`."]
    return pages.write(results, "summary", "All results", parts)


def write_into(readme: Path, results: Path = records.RESULTS) -> list[Path]:
    """Replace the headline results in README, and return its path. Raises InputError if it has no place for them."""
    return [pages.write_between(readme, "results", headline(results))]


def write_differences() -> list[Path]:
    """Write the tables of MH4 against MH3 into the page of differences, and return its path once for each table."""
    return [pages.write_between(DIFFERENCES, "%s MH4 against MH3" % name, against_mh3(*pair)) for name, pair in PAIRS.items()]
