"""Tables 1 and 2: UAS on the development set by the number of positions used as features.

Local parsers are greedy, global ones find the best derivation. The table is written to ``results/NAME-features.md`` and ``.csv``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import paper
from provenance import make_command

from tables.writer import Average, Table, averages, comma_separated, title, write_pages

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
    """One feature set: dev UAS over seeds, and the paper's average over 10 languages."""

    decoding: str
    features: str
    system: str
    ours: Average
    paper: float


def rows(runs: Sequence[dict]) -> list[Row]:
    """A row for each feature set with records, in the order of the paper's tables."""
    ours, published = averages(runs, "dev_uas"), paper.features()
    return [
        Row(decoding, features, system, ours[system], published[decoding, features])
        for decoding, features, system in ROWS
        if system in ours
    ]


def table(runs: Sequence[dict]) -> Table:
    """The table as shown."""
    header = ["decoding", "features", "system", "seeds", "dev UAS", "paper's average"]
    body = [
        [row.decoding, row.features, row.system, row.ours.seeds_listed, str(row.ours), "%.2f" % row.paper] for row in rows(runs)
    ]
    return Table(header, body, right=4)


def note(runs: Sequence[dict]) -> str:
    """A note on how to read the table."""
    return (
        "The scores are for %s (%s), while the paper's Tables 1 and 2 only give averages over 10 languages of UD 2.0: individual "
        "numbers are not comparable, but the differences between feature sets are." % (runs[0]["lang"], runs[0]["release"])
    )


def markdown(name: str, runs: Sequence[dict]) -> list[str]:
    """The lines of the page of treebank `name`."""
    lang, seeds = runs[0]["lang"], sorted({seed for row in rows(runs) for seed in row.ours.seeds})
    return [
        "# %s: UAS on the development set, by features" % title(runs[0]),
        "",
        table(runs).markdown(),
        "",
        note(runs),
        "",
        "UAS in percent over all words, with gold segmentation: mean and standard deviation (n - 1) over seeds. Local parsers are",
        "greedy and score every transition on all features; global ones find the best derivation, and hybrid ones score shifts on",
        "s0 b0 and reduces on s1 s0 b0.",
        "",
        "Every run is in [%s.md](%s.md) and `%s/`, with its data, commit and command. This page is made from them by"
        % (name, name, name),
        "",
        "    " + make_command("features", LANG=lang, SEEDS=[str(seed) for seed in seeds]),
    ]


def as_csv(runs: Sequence[dict]) -> str:
    """The table as csv."""
    header = ["lang", "data", "decoding", "features", "system", "seeds", "mean", "std", "paper_uas_avg10"]
    body = [
        [runs[0]["lang"], runs[0]["release"], row.decoding, row.features, row.system, row.ours.seeds_listed]
        + [row.ours.mean, row.ours.std, "%.2f" % row.paper]
        for row in rows(runs)
    ]
    return comma_separated(header, body)


def write(name: str, runs: Sequence[dict], results: Path) -> list[Path]:
    """Writes the pages of treebank `name`; returns their paths."""
    return write_pages(results, name + "-features", markdown(name, runs), as_csv(runs))
