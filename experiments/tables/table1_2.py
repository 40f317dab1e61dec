"""Tables 1 and 2: UAS on the development set by the number of positions used as features.

Local parsers are greedy, global ones find the best derivation. The table is written to ``results/NAME-features.md``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments import pages, published
from experiments.engine.provenance import make_command
from experiments.engine.record_fields import Record
from experiments.pages import Average, averages, of_treebank
from mh4.data import treebanks
from mh4.util.text_tables import Table

# Decoding and features as in the csv of the paper's numbers, and the system.
ROWS = (
    ("local", "s0 b0", "greedy-mh4-two"),
    ("local", "s1 s0 b0", "greedy-mh4-three"),
    ("local", "s2 s1 s0 b0", "greedy-mh4"),
    ("global", "s0 b0", "mh4-two"),
    ("global", "hybrid", "mh4-hybrid"),
)


@dataclass(frozen=True)
class Row:
    """One feature set: dev UAS over seeds, and the paper's average over 10 languages, None beside a treebank that is no language's."""

    decoding: str
    features: str
    system: str
    ours: Average
    paper: float | None


def rows(runs: Sequence[Record]) -> list[Row]:
    """Return a row for each feature set with records, in the order of the paper's tables."""
    ours = averages(runs, "dev_uas")
    paper = {} if runs[0]["lang"] == treebanks.TOY else published.features()
    return [
        Row(decoding, features, system, ours[system], paper.get((decoding, features)))
        for decoding, features, system in ROWS
        if system in ours
    ]


def table(runs: Sequence[Record]) -> Table:
    header = ["decoding", "features", "system", "seeds", "dev UAS"]
    found = rows(runs)
    body = [[row.decoding, row.features, row.system, row.ours.seeds_listed, str(row.ours)] for row in found]
    if any(row.paper for row in found):
        header.append("paper's average")
        body = [[*cells, "%.2f" % row.paper if row.paper else ""] for cells, row in zip(body, found, strict=True)]
    return Table(header, body, right=4)


def note(runs: Sequence[Record]) -> str:
    """Return a note on how to read the table."""
    if runs[0]["lang"] == treebanks.TOY:
        return "The paper has no numbers for the toy treebank: the table shows that all of the workflow has run."
    return (
        "The scores are for %s (%s), while the paper's Tables 1 and 2 only give averages over 10 languages of UD 2.0: individual "
        "numbers are not comparable, but the differences between feature sets are." % (runs[0]["lang"], runs[0]["release"])
    )


def page(name: str, runs: Sequence[Record]) -> list[pages.Part]:
    """Return the page of treebank `name` below its title."""
    seeds = sorted({seed for row in rows(runs) for seed in row.ours.seeds})
    lang, settings = runs[0]["lang"], runs[0].get("settings_of")
    ud = None if lang == treebanks.TOY or runs[0]["release"] == published.RELEASE else "FOLDER"  # what is downloaded is UD 2.0
    command = make_command("features", LANG=lang, SEEDS=list(map(str, seeds)), SETTINGS=settings, UD=ud)
    made = "Every run is in [%s.md](%s.md) and `%s/`, with its data, commit and command. This page is made from them by"
    return [table(runs), note(runs), NOTE, made % (name, name, name), pages.code([command])]


NOTE = """\
UAS in percent over all words, with gold segmentation: mean and standard deviation (n - 1) over seeds. Local parsers are
greedy and score every transition on all features; global ones find the best derivation, and hybrid ones score shifts on
s0 b0 and reduces on s1 s0 b0."""


def write(name: str, runs: Sequence[Record], results: Path) -> list[Path]:
    """Write the pages of treebank `name`; return their paths."""
    title = "%s: UAS on the development set, by features" % of_treebank(runs[0])
    return pages.write(results, name + "-features", title, page(name, runs))
