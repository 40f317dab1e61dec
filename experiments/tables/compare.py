"""Two systems compared by the properties of arcs, over the runs of all seeds: what the paper's Section 5 says about MH4 and 1EC.

This table is not in the paper. It is written to ``results/NAME-A-B.md``, ``.csv`` and ``.png``, and made from the runs' trees.
"""

import csv
from pathlib import Path
from typing import Optional

from training.treebank import Treebank

from mh4.analysis.comparison import DIMENSIONS, MEASURES, Comparison, Dimension
from tables.writer import Table, comma_separated, models_section

HEADINGS = {
    "length": "length of the dependency",
    "crossed": "whether an arc crosses it",
    "depth": "distance to the root",
    "sentence_length": "length of the sentence",
}

# The runs of both systems, by seed.
Runs = dict[int, tuple[dict, dict]]


def scores(found: Comparison) -> Table:
    """UAS, LAS and exact matches of both systems, and the significance of the difference."""
    header = ["", *_names(found), "difference", "95 % interval", "p, bootstrap", "p, randomisation"]
    body = [
        [MEASURES[key], "%.2f" % one.a, "%.2f" % one.b, "%+.2f" % one.difference, "%+.2f to %+.2f" % (one.low, one.high)]
        + ["%.4f" % one.p_bootstrap, "%.4f" % one.p_randomisation]
        for key, one in found.differences.items()
    ]
    return Table(header, body, right=1)


def by(dimension: Dimension, found: Comparison, runs: int) -> Table:
    """Recall and precision of unlabelled arcs in the groups of a dimension, over this number of runs."""
    a, b = _names(found)
    header = [dimension.title, "gold arcs", "recall, " + a, b, "difference", "precision, " + a, b, "difference"]
    body = []
    for name, rows in zip(dimension.names, zip(*(system.groups[dimension.key] for system in found.systems))):
        one, other = (unlabelled for unlabelled, _ in rows)
        cells = ["%d" % (one.gold // runs), *_pair(one.recall, other.recall), *_pair(one.precision, other.precision)]
        body.append([name, *cells])
    return Table(header, body, right=1)


def _pair(a: Optional[float], b: Optional[float]) -> list[str]:
    if a is None or b is None:
        return ["" if value is None else "%.1f" % value for value in (a, b)] + [""]
    return ["%.1f" % a, "%.1f" % b, "%+.1f" % (a - b)]


def _names(found: Comparison) -> tuple[str, str]:
    a, b = (Path(system.path).name for system in found.systems)
    return a, b


def markdown(bank: Treebank, runs: Runs, found: Comparison, drawing: str, command: str) -> list[str]:
    """The lines of the page."""
    a, b = _names(found)
    lines = [
        "# %s (%s): %s and %s on the development set" % (bank.lang, bank.release, a, b),
        "",
        "![recall and precision of arcs by length, crossing, distance to the root and length of the sentence](%s)" % drawing,
        "",
        scores(found).markdown(),
        "",
        "In percent, over the runs of seed%s %s of both systems together. The interval and p are by resampling gold sentences, each"
        % ("s" if len(runs) > 1 else "", " ".join(map(str, runs))),
        "with its trees of all these runs: they say what other sentences might have given, not what other seeds might have.",
        "",
    ]
    for dimension in DIMENSIONS:
        lines += ["## By " + HEADINGS[dimension.key], "", by(dimension, found, len(runs)).markdown(), ""]
    commits = [", ".join(dict.fromkeys(pair[which].get("commit", "unknown") for pair in runs.values())) for which in (0, 1)]
    return lines + [
        "Unlabelled arcs, in percent. Recall groups them by their properties in the gold tree, precision by those in the predicted tree.",
        "The csv has the counts, those with relations as well.",
        "",
        *models_section(("%s: trained at commit %s" % pair for pair in zip((a, b), commits)), bank, command),
    ]


def as_csv(bank: Treebank, runs: Runs, found: Comparison) -> str:
    """The counts of every group of arcs, summed over the runs, as csv."""
    header = ["lang", "data", "seeds", "dimension", "group", "system", "labelled", "gold", "predicted", "recalled", "precise"]
    seeds, body = " ".join(map(str, runs)), []
    for dimension in DIMENSIONS:
        for number, group in enumerate(dimension.names):
            for system in found.systems:
                for labelled, counts in zip(("no", "yes"), system.groups[dimension.key][number]):
                    body.append([bank.lang, bank.release, seeds, dimension.key, group, Path(system.path).name, labelled, *counts])
    return comma_separated(header, body)


def f1_by_group(page: Path, dimension: str) -> dict[str, tuple[float, float]]:
    """F1 of the unlabelled arcs of both systems in each group of a dimension, in percent, from a csv file that was written above.

    F1 is the harmonic mean of recall, by groups of the gold tree, and precision, by those of the predicted one. Groups that are empty
    in either are left out.
    """
    found: dict[str, list[float]] = {}
    with open(page, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            counts = {name: int(row[name]) for name in ("gold", "predicted", "recalled", "precise")}
            if row["dimension"] == dimension and row["labelled"] == "no" and all(counts.values()):
                recall, precision = counts["recalled"] / counts["gold"], counts["precise"] / counts["predicted"]
                found.setdefault(row["group"], []).append(200 * recall * precision / (recall + precision))
    return {group: (scores[0], scores[1]) for group, scores in found.items() if len(scores) == 2}
