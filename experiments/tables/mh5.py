"""Systems over MH5 trees compared with the same systems over MH4 trees: accuracy, also where MH4 cannot be right, and speed.

This table is not in the paper. It is written to ``results/mh5.md`` and ``.csv`` (``toy-mh5`` for the toy treebank).
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np
from training.treebank import Treebank

from mh4 import trees
from tables.writer import Average, Table, average, comma_separated, error_of_difference, made_now, plus_minus

SYSTEMS = ("mh4-hybrid", "mh5-hybrid", "mh4-arcs", "mh5-arcs")
PAIRS = (("mh4-hybrid", "mh5-hybrid"), ("mh4-arcs", "mh5-arcs"))


@dataclass(frozen=True)
class Reach:
    """What MH4 can do on a treebank's development set.

    gold: the trees; nearest: for each, the MH4 tree that shares the most arcs with it.
    """

    gold: Sequence[np.ndarray]
    nearest: Sequence[np.ndarray]

    @classmethod
    def of(cls, gold: Sequence[np.ndarray]) -> "Reach":
        return cls(gold, [trees.nearest(heads, "mh4") for heads in gold])

    def outside(self) -> list[int]:
        """The indices of the sentences outside MH4."""
        return [k for k, (heads, near) in enumerate(zip(self.gold, self.nearest)) if not np.array_equal(heads, near)]

    def beyond(self) -> list[tuple[int, int]]:
        """The arcs missing from the nearest MH4 tree, as (index of the sentence, dependent)."""
        return [(k, int(m)) for k in self.outside() for m in np.flatnonzero(self.gold[k] != self.nearest[k])]


@dataclass(frozen=True)
class Row:
    """One system, over its seeds.

    outside: UAS in percent on sentences outside MH4; recalled: of the arcs beyond MH4, how many were found, on average; predicted:
    the number of its trees that are outside MH4, on average; training: tokens per second, median over runs, as recorded;
    parsing: words per second, None if not measured.
    """

    system: str
    uas: Average
    las: Average
    outside: Average
    recalled: float
    predicted: float
    training: float
    parsing: Optional[float]

    @classmethod
    def of(
        cls,
        system: str,
        records: Sequence[dict],
        reach: Reach,
        predicted: Sequence[Sequence[np.ndarray]],
        parsing: Optional[float],
    ) -> "Row":
        """records: of the runs of the system; predicted: their trees for the development set."""
        seeds = [record["seed"] for record in records]
        words = sum(len(reach.gold[k]) - 1 for k in reach.outside())
        right = [sum(int((mine[k][1:] == reach.gold[k][1:]).sum()) for k in reach.outside()) for mine in predicted]
        return cls(
            system,
            average([record["dev_uas"] for record in records], seeds),
            average([record["dev_las"] for record in records], seeds),
            average([100.0 * number / words if words else 0.0 for number in right], seeds),
            statistics.mean(sum(int(mine[k][m] == reach.gold[k][m]) for k, m in reach.beyond()) for mine in predicted),
            statistics.mean(sum(not trees.in_class(heads, "mh4") for heads in mine) for mine in predicted),
            statistics.median(record["tokens_per_second"] for record in records),
            parsing,
        )


@dataclass(frozen=True)
class OfTreebank:
    """The rows of one treebank."""

    bank: Treebank
    reach: Reach
    rows: Sequence[Row]


def table(found: OfTreebank) -> Table:
    """The table of a treebank as shown."""
    header = ["system", "seeds", "dev UAS", "dev LAS", "UAS outside MH4", "arcs beyond MH4 found", "trees outside MH4"]
    header += ["training, tokens/s", "parsing, words/s"]
    beyond = len(found.reach.beyond())
    body = [
        [row.system, row.uas.seeds_listed, str(row.uas), str(row.las), str(row.outside), "%.1f of %d" % (row.recalled, beyond)]
        + ["%.1f" % row.predicted, "%.0f" % row.training, "" if row.parsing is None else "%.0f" % row.parsing]
        for row in found.rows
    ]
    return Table(header, body, right=2)


def differences(found: OfTreebank) -> list[str]:
    """A line for each pair of systems with rows: by how much MH5 is better."""
    by_name = {row.system: row for row in found.rows}
    return [
        "- %s instead of %s: %s dev UAS, %s on sentences outside MH4, %+.1f arcs beyond MH4"
        % (
            five,
            four,
            _difference(by_name[five].uas, by_name[four].uas),
            _difference(by_name[five].outside, by_name[four].outside),
            by_name[five].recalled - by_name[four].recalled,
        )
        for four, five in PAIRS
        if four in by_name and five in by_name
    ]


def _difference(one: Average, other: Average) -> str:
    """The difference of two means and, if both are of several runs, its standard error."""
    error = None
    if one.std is not None and other.std is not None:
        error = error_of_difference(one.std, len(one.seeds), other.std, len(other.seeds))
    return plus_minus(one.mean - other.mean, error, "%+.2f")


def markdown(treebanks: Sequence[OfTreebank], command: str) -> list[str]:
    """The lines of the page."""
    lines = ["# MH5 compared with MH4, on development sets", ""]
    for found in treebanks:
        gold = found.reach.gold
        lines += [
            "## %s (%s)" % (found.bank.lang, found.bank.release),
            "",
            table(found).markdown(),
            "",
            "%d of %d sentences are outside MH4, with %d of %d words."
            % (
                len(found.reach.outside()),
                len(gold),
                sum(len(gold[k]) - 1 for k in found.reach.outside()),
                sum(len(heads) - 1 for heads in gold),
            ),
            "",
            *differences(found),
            "",
        ]
    return [
        *lines,
        "Mean and standard deviation (n - 1) over seeds, in percent; differences of means with their standard errors. Arcs beyond MH4",
        "are those missing from the MH4 tree that shares the most arcs with gold; of several such trees the decoder's. Training speed",
        "is that of the records, on machines that may have been busy; parsing is timed by this command, one model after the other on",
        "one core, the best of three rounds.",
        *made_now(command),
    ]


def as_csv(treebanks: Sequence[OfTreebank]) -> str:
    """The tables as csv."""
    header = [
        "lang",
        "data",
        "system",
        "seeds",
        "dev_uas",
        "dev_uas_std",
        "dev_las",
        "dev_las_std",
        "outside_uas",
        "outside_uas_std",
    ]
    header += ["arcs_beyond", "arcs_found", "trees_outside", "training_tokens_per_second", "parsing_words_per_second"]
    body = [
        [found.bank.lang, found.bank.release, row.system, row.uas.seeds_listed]
        + [value for each in (row.uas, row.las, row.outside) for value in (each.mean, each.std)]
        + [len(found.reach.beyond()), float(row.recalled), float(row.predicted), float(row.training), row.parsing]
        for found in treebanks
        for row in found.rows
    ]
    return comma_separated(header, body)
