"""``make compare LANG=hu or TREEBANK=folder [NAME=mine] [SYSTEMS="mh4-hybrid 1ec"] [SEEDS="1 2"] [UD=folder]
[CONLL17=folder] [SETTINGS=authors] [SPLIT=test] [FORMAT=latex]``: where one system is better than another

Compares scores by properties of arcs, over the runs of all seeds that both systems have. The paper (Section 5) states
without numbers that MH4 recovers more short dependencies than 1EC, and 1EC more long ones. The comparison uses recorded
trees, without any model; `mh4 compare` does the same for two files.
"""

import csv
import os
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import harmonic_mean

from experiments import pages
from experiments.engine.command import form_of, repeat, request, study
from experiments.engine.models import lacking
from experiments.engine.predictions import of_record, restored
from experiments.engine.record_fields import Record
from experiments.engine.records import common_seeds, load
from experiments.engine.run import system_and_loss
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, report_written, shown
from experiments.pages import comma_separated, show_for_paper
from mh4.analysis import comparison, significance
from mh4.analysis.comparison import DIMENSIONS, MEASURES, Comparison, Dimension, Group, difference_cells, share_cells
from mh4.errors import InputError, unknown
from mh4.parser.systems import SYSTEMS
from mh4.util.files import write_text
from mh4.util.plots import require_matplotlib
from mh4.util.text_tables import Table, written

DEFAULT_SYSTEMS = ("mh4-hybrid", "1ec")
HEADINGS = {
    "length": "length of the dependency",
    "crossed": "whether an arc crosses it",
    "depth": "distance to the root",
    "sentence_length": "length of the sentence",
}
SPLITS = {"dev": "development set", "test": "test set"}

# The runs of both systems, by seed.
Runs = dict[int, tuple[Record, Record]]


@study(
    systems="two, with recorded trees; by default %s" % " and ".join(DEFAULT_SYSTEMS),
    seeds="of the runs; by default all that both systems have",
    split="dev, the default, or test: the trees to compare",
)
def compare(bench: Bench, systems: str, seeds: str, split: str, **variables: str) -> None:
    require_matplotlib()
    form = form_of(variables.pop("format"))
    asked = request(seeds=seeds, **variables)
    pair = tuple(systems.split()) or DEFAULT_SYSTEMS
    if len(pair) != 2 or pair[0] == pair[1]:
        raise InputError('SYSTEMS: expected two different systems, as in SYSTEMS="%s"' % " ".join(DEFAULT_SYSTEMS))
    if split not in ("", *SPLITS):
        raise InputError("SPLIT: expected dev or test, found %s" % split)
    split = split or "dev"
    bank, results = asked.treebank(test=split == "test"), bench.results
    if split not in bank.to_parse:
        raise InputError("SPLIT: %s has no test set" % bank.title)
    records = load(bank.name, bench.holding(bank.name))
    runs = _common_runs(records, pair, asked.seeds if seeds else None)
    found = _compared(bank, runs, bench.holding(bank.name), split)
    name = "%s-%s-%s" % (bank.name, *pair) + ("-test" if split == "test" else "")
    drawing = results / (name + ".png")
    title = "%s: %s and %s on the %s" % (pages.of_treebank(records[0]), *pair, SPLITS[split])
    explained = note(runs, found, [] if seeds else [run for run in records if run["system"] in pair])
    parts = page(bank, runs, found, explained, drawing.name, split, repeat())
    made = pages.write(results, name, title, parts, as_csv(bank, runs, found))
    comparison.plot(str(drawing), found)
    if form == "text":
        tables = (by(dimension, found, len(runs)) for dimension in DIMENSIONS)
        bench.console.print(written([title, scores(found), explained, *tables, GROUPED]), soft_wrap=True)
    show_for_paper(bench.console, results / name, "%s.\n%s" % (title, explained), scores(found), form)
    report_written([*made, drawing])


def _common_runs(records: Sequence[Record], systems: Sequence[str], seeds: Sequence[int] | None) -> Runs:
    """Return the records of both systems by seed, for the requested seeds or else for all that both systems have."""
    known = dict.fromkeys([*SYSTEMS, *(record["system"] for record in records)])
    for system in systems:
        if system not in known and system_and_loss(system)[0] not in known:
            raise InputError("SYSTEMS: " + unknown("system", system, known))
    by_system = [{record["seed"]: record for record in records if record["system"] == system} for system in systems]
    for system, mine in zip(systems, by_system, strict=True):
        missing = lacking(system, seeds or (), mine)
        if missing:
            raise InputError("no finished run of %s in the results: train it first, with make reproduce" % missing)
    common = sorted(seeds or common_seeds(records, systems))  # in the order in which the report expects them
    if not common:
        raise InputError("no seed that both %s and %s have a finished run of" % tuple(systems))
    return {seed: (by_system[0][seed], by_system[1][seed]) for seed in common}


def _compared(bank: Treebank, runs: Runs, results: Path, split: str) -> Comparison:
    """Return the comparison of both systems' runs on a split, from their recorded trees."""
    with tempfile.TemporaryDirectory() as scratch:
        files: tuple[list[str], list[str]] = ([], [])
        for seed, pair in runs.items():
            for run, mine in zip(pair, files, strict=True):
                mine.append(os.path.join(scratch, "%d" % seed, run["system"]))
                os.makedirs(os.path.dirname(mine[-1]), exist_ok=True)
                write_text(mine[-1], restored(of_record(results, bank.name, run), bank.to_parse[split]))
        return comparison.compare(str(bank.gold[split]), *files)


def scores(found: Comparison) -> Table:
    """Return a table of UAS, LAS and exact matches of both systems, and the significance of the difference."""
    header = ["", *_names(found), "diff.", "95 % interval", "p"]
    body = [[MEASURES[key], *difference_cells(one)[:5]] for key, one in found.differences.items()]
    return Table(header, body, right=1)


def by(dimension: Dimension, found: Comparison, runs: int) -> Table:
    """Return a table of recall and precision of unlabelled arcs in the groups of a dimension. runs: their number."""
    a, b = _names(found)
    body = []
    groups = [[unlabelled for unlabelled, _ in system.groups[dimension.key]] for system in found.systems]
    for one, other in zip(*groups, strict=True):
        shares = share_cells(one.recall, other.recall, none="") + share_cells(one.precision, other.precision, none="")
        body.append(["%d" % (one.gold // runs), *shares])
    columns = [("", ["gold"]), ("recall", [a, b, "diff."]), ("precision", [a, b, "diff."])]
    return Table.grouped(dimension.title, columns, dimension.names, body)


def _names(found: Comparison) -> tuple[str, str]:
    a, b = (Path(system.paths[0]).name for system in found.systems)
    return a, b


def note(runs: Runs, found: Comparison, trained: Sequence[Record]) -> str:
    """Describe which runs are compared, which of the `trained` ones are not, and what the interval and p allow for."""
    message = NOTE % ("s" if len(runs) > 1 else "", " ".join(map(str, runs)), SEVERAL if len(runs) > 1 else ONE)
    if found.sentences < significance.FEWEST:
        message += "\n" + significance.too_few(found.sentences) + "."
    if 1 < len(runs) < pages.FEWEST_SEEDS:
        message += "\nWith fewer than %d seeds, both are too small." % pages.FEWEST_SEEDS
    alone = ["%s seed %d" % (run["system"], run["seed"]) for run in trained if run["seed"] not in runs]
    return message + ("\nLeft out, as the other system has no such seed: %s." % ", ".join(alone) if alone else "")


def page(
    bank: Treebank, runs: Runs, found: Comparison, explained: str, drawing: str, split: str, repeat: str
) -> list[pages.Part]:
    drawn = "![recall and precision of arcs by length, crossing, distance to the root and length of the sentence](%s)" % drawing
    parts: list[pages.Part] = [drawn, scores(found), explained]
    for dimension in DIMENSIONS:
        parts += ["## By " + HEADINGS[dimension.key], by(dimension, found, len(runs))]
    commits = [", ".join(dict.fromkeys(pair[which].get("commit", "unknown") for pair in runs.values())) for which in (0, 1)]
    trained = ["%s: trained at commit %s" % pair for pair in zip(_names(found), commits, strict=True)]
    return [*parts, GROUPED, *pages.models(trained, bank, repeat, split)]


NOTE = """\
In percent, means over the runs of seed%s %s of both systems; UAS and LAS are F1 over words, exact is the share of sentences without an
error. The interval and p are by bootstrap over gold sentences%s."""
SEVERAL, ONE = " and runs, so they allow for other sentences and other seeds", ", so they do not allow for other seeds"
GROUPED = """\
Unlabelled arcs, in percent. Recall groups them by their properties in the gold tree, precision by those in the predicted tree.
The csv has the counts, those with relations as well."""


def as_csv(bank: Treebank, runs: Runs, found: Comparison) -> str:
    """Return the counts of every group of arcs, summed over the runs, as csv."""
    header = ["lang", "data", "seeds", "dimension", "group", "system", "labelled", "gold", "predicted", "recalled", "precise"]
    seeds, body = " ".join(map(str, runs)), []
    groups = [(dimension.key, number, group) for dimension in DIMENSIONS for number, group in enumerate(dimension.names)]
    for (key, number, group), system in product(groups, found.systems):
        for labelled, counts in zip(("no", "yes"), system.groups[key][number], strict=True):
            body.append([bank.lang, bank.release, seeds, key, group, Path(system.paths[0]).name, labelled, *counts])
    return comma_separated(header, body)


def f1_by_group(page: Path, dimension: str) -> tuple[list[int], tuple[float, float], dict[str, tuple[float, float]]]:
    """Return the seeds compared in a csv file, UAS of both systems, and F1 of unlabelled arcs by group of a dimension.

    UAS and F1 are in percent, over all seeds. F1 is the harmonic mean of recall, by groups of the gold tree, and
    precision, by groups of the predicted tree. Groups that are empty in either tree are left out. Raises InputError if
    the file is damaged.
    """
    found: dict[str, list[float]] = {}
    words: dict[str, list[Group]] = {}
    try:
        with open(page, encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        groups = {(row["dimension"], row["group"], row["labelled"]) for row in rows}
        if len(rows) != 2 * len(groups) or {name for name, _, _ in groups} != {one.key for one in DIMENSIONS}:
            raise ValueError
        [compared] = {row["seeds"] for row in rows}
        seeds = list(map(int, compared.split()))
        for row in rows:
            counts = Group(*(int(row[name]) for name in ("gold", "predicted", "recalled", "precise")))
            if row["dimension"] == dimension and row["labelled"] == "no":
                words.setdefault(row["system"], []).append(counts)
                if counts.recall is not None and counts.precision is not None:
                    found.setdefault(row["group"], []).append(harmonic_mean([counts.recall, counts.precision]))
        a, b = (100 * sum(one.recalled for one in mine) / sum(one.gold for one in mine) for mine in words.values())
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        raise InputError("%s: rows are missing or damaged: restore or delete it" % shown(page)) from None
    return seeds, (a, b), {group: (scores[0], scores[1]) for group, scores in found.items() if len(scores) == 2}
