"""Averages over seeds, tables of them, and tables of numbers as csv."""

import csv
import io
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from rich.console import Console

from experiments import published
from experiments.engine.provenance import report_written
from experiments.engine.record_fields import Record, Score
from mh4.errors import InputError
from mh4.util.files import write_text
from mh4.util.text_tables import Form, Table, written

ENDINGS = {"latex": "tex", "markdown": "scores.md", "csv": "scores.csv"}  # of files of tables for a paper


@dataclass(frozen=True)
class Average:
    """A mean over runs, in percent, with the sample standard deviation (n - 1), None for a single run."""

    mean: float
    std: float | None
    seeds: tuple[int, ...] = ()

    def __str__(self) -> str:
        return plus_minus(self.mean, self.std)

    @property
    def seeds_listed(self) -> str:
        return " ".join(map(str, self.seeds))


def averages(records: Sequence[Record], score: Score) -> dict[str, Average]:
    """Return the average of `score` ("dev_uas") over the seeds of each system, in the order of the systems in the records.

    Raises InputError if a record lacks it.
    """
    table = {}
    for record in records:
        if score not in record:
            message = "the record of %s seed %d on %s (%s) has no %s: restore or delete it"
            raise InputError(message % (record["system"], record["seed"], record["lang"], record["release"], score))
    for system in dict.fromkeys(record["system"] for record in records):
        mine = [record for record in records if record["system"] == system]
        seeds = [record["seed"] for record in mine]
        if seeds == [0]:  # an ensemble of all seeds
            seeds = sorted({member["seed"] for member in mine[0].get("members", [])}) or seeds
        table[system] = average([record[score] for record in mine], seeds)
    return table


def error_of_difference(std: float, runs: int, other_std: float, other_runs: int) -> float:
    """Return the standard error of the difference of the means of two independent samples."""
    return math.sqrt(std**2 / runs + other_std**2 / other_runs)


def pooled(averages: Sequence[Average]) -> float | None:
    """The standard deviation between seeds, pooled over averages, as two or three runs say little of it; None if each is of one run."""
    repeated = [(each.std, len(each.seeds) - 1) for each in averages if each.std is not None]
    freedom = sum(more for _, more in repeated)
    return math.sqrt(sum(more * std**2 for std, more in repeated) / freedom) if freedom else None


def difference(one: Average | None, other: Average | None) -> str:
    """Format the difference of two means, with its standard error if both have several runs; "" if one is missing."""
    if one is None or other is None:
        return ""
    return plus_minus(one.mean - other.mean, error_between(one, other), "+z.2f")


def error_between(one: Average, other: Average) -> float | None:
    """Return the standard error of the difference of two means, if both are of several runs."""
    if one.std is None or other.std is None:
        return None
    return error_of_difference(one.std, len(one.seeds), other.std, len(other.seeds))


def average(scores: Sequence[float], seeds: Sequence[int] = ()) -> Average:
    """Return the average of scores, those of these seeds."""
    return Average(statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else None, tuple(seeds))


def plus_minus(mean: float, spread: float | None, form: str = ".2f") -> str:
    """Return a mean and, if known, its spread, as text."""
    return format(mean, form) + ("" if spread is None else " ± %.2f" % spread)


def print_table(table: Table, console: Console) -> None:
    """Print a table, between empty lines."""
    console.print("\n%s\n" % table.text(), soft_wrap=True)


@dataclass(frozen=True)
class SystemRow:
    """One system: its score over seeds, and the paper's if it is comparable (otherwise None)."""

    system: str
    ours: Average
    paper: Average | None

    @property
    def name(self) -> str:
        """The name of the system in tables."""
        return published.COLUMNS.get(self.system, self.system)

    @property
    def difference(self) -> float | None:
        return None if self.paper is None else self.ours.mean - self.paper.mean

    @property
    def agrees(self) -> bool:
        """Return whether this is one of the shared task's systems, whose score should be identical to the paper's, and it is."""
        return (
            self.system in published.COLUMNS and self.paper is not None and published.same_digits(self.ours.mean, self.paper.mean)
        )

    @property
    def verdict(self) -> str:
        """The difference as tables show it."""
        return "" if self.difference is None else "✓" if self.agrees else f"{self.difference:+z.2f}"


def systems_table(score: str, rows: Sequence[SystemRow]) -> Table:
    """Return the scores of systems on a treebank as shown; the paper's columns are omitted if nothing is comparable."""
    header, body = ["system", "seeds", score], [[row.name, row.ours.seeds_listed, str(row.ours)] for row in rows]
    if any(row.paper for row in rows):
        header += ["paper", "difference"]
        body = [[*cells, str(row.paper or ""), row.verdict] for cells, row in zip(body, rows, strict=True)]
    return Table(header, body, right=2)


def all_scores(records: Sequence[Record]) -> Table:
    """Every score of each system on a treebank, mean and standard deviation over its seeds; those that a run lacks are left out."""
    known = [score for score in get_args(Score) if all(score in record for record in records)]
    columns = {score: averages(records, score) for score in known}
    body = [
        [system, "%d" % len(one.seeds), *(str(columns[score][system]) for score in known)]
        for system, one in columns["dev_uas"].items()
    ]
    return Table(["system", "seeds", *(score.replace("_uas", " UAS").replace("_las", " LAS") for score in known)], body, right=1)


def comma_separated(header: Sequence[str], rows: Sequence[Sequence[object]], form: str = "%.4f") -> str:
    """Return a csv table: floats in this form, None as an empty cell, everything else as it is."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([form % value if isinstance(value, float) else value for value in row] for row in rows)
    return text.getvalue()


def show(console: Console, table: Table, note: str, pages: Sequence[Path]) -> None:
    """Print a table, its note, and the paths of its pages."""
    print_table(table, console)
    console.print(note, soft_wrap=True)
    report_written(pages)


def show_for_paper(console: Console, page: Path, tables: Sequence[Table], form: Form) -> None:
    """Print tables in a form, and write them to a file beside the page, whose path is given without its ending."""
    path, text = page.with_name("%s.%s" % (page.name, ENDINGS[form])), written(tables, form)
    write_text(str(path), text + "\n")
    console.print("\n%s\n" % text, soft_wrap=True)
    report_written([path])
