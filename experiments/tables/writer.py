"""Writing tables, in markdown, on the console and as csv; and averages over seeds."""

import csv
import io
import math
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from provenance import commit, report_written
from rich import box
from rich.console import Console
from rich.table import Table as ConsoleTable
from training.run import Run
from training.treebank import Treebank

from mh4.data import treebanks
from mh4.util.files import make_folder, write_text

WIDE = 1000  # characters: wider than any table


@dataclass(frozen=True)
class Average:
    """A mean over runs, in percent, with the sample standard deviation (n - 1), None for a single run."""

    mean: float
    std: Optional[float]
    seeds: tuple[int, ...] = ()

    def __str__(self) -> str:
        return plus_minus(self.mean, self.std)

    @property
    def seeds_listed(self) -> str:
        return " ".join(map(str, self.seeds))


def averages(records: Sequence[dict], score: str) -> dict[str, Average]:
    """The average of `score` ("dev_uas") over the seeds of each system, in the order of the systems in the records."""
    table = {}
    for system in dict.fromkeys(record["system"] for record in records):
        mine = [record for record in records if record["system"] == system]
        seeds = [record["seed"] for record in mine]
        if seeds == [0]:  # an ensemble of all seeds
            seeds = sorted({member["seed"] for member in mine[0].get("members", [])}) or seeds
        table[system] = average([record[score] for record in mine], seeds)
    return table


def error_of_difference(std: float, runs: int, other_std: float, other_runs: int) -> float:
    """The standard error of the difference of the means of two independent samples."""
    return math.sqrt(std**2 / runs + other_std**2 / other_runs)


def average(scores: Sequence[float], seeds: Sequence[int] = ()) -> Average:
    """The average of scores, those of these seeds."""
    return Average(statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else None, tuple(seeds))


def plus_minus(mean: float, spread: Optional[float], form: str = "%.2f") -> str:
    """A mean and, if known, its spread, as text."""
    return form % mean if spread is None else "%s ± %.2f" % (form % mean, spread)


@dataclass(frozen=True)
class Table:
    """Header and rows as shown. Columns from `right` up to `left_from` contain numbers and are right-aligned."""

    header: Sequence[str]
    body: Sequence[Sequence[str]]
    right: int
    left_from: Optional[int] = None

    def is_number(self, column: int) -> bool:
        """Whether a column contains numbers."""
        return self.right <= column < (len(self.header) if self.left_from is None else self.left_from)

    def markdown(self) -> str:
        rule = ["---:" if self.is_number(column) else "---" for column in range(len(self.header))]
        return "\n".join("| %s |" % " | ".join(line) for line in [self.header, rule, *self.body])

    def print(self, console: Console) -> None:
        if not console.is_terminal:  # only a terminal has a width
            console = Console(file=console.file, width=WIDE, highlight=False)
        printed = ConsoleTable(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, header_style="bold")
        for column, name in enumerate(self.header):
            printed.add_column(name, justify="right" if self.is_number(column) else "left", no_wrap=True)
        for line in self.body:
            printed.add_row(*line)
        console.print()
        console.print(printed)
        console.print()


@dataclass(frozen=True)
class SystemRow:
    """One system: its score over seeds, and the paper's if it is comparable (otherwise None)."""

    system: str
    ours: Average
    paper: Optional[Average]

    @property
    def difference(self) -> Optional[float]:
        return None if self.paper is None else self.ours.mean - self.paper.mean


def systems_as_csv(lang: str, release: str, rows: Sequence[SystemRow]) -> str:
    """The scores of systems on a treebank as csv, with the paper's."""
    header = ["lang", "data", "system", "seeds", "mean", "std", "paper_mean", "paper_std", "difference"]
    body = []
    for row in rows:
        theirs = [row.paper.mean, row.paper.std] if row.paper else [None, None]
        body.append([lang, release, row.system, row.ours.seeds_listed, row.ours.mean, row.ours.std, *theirs, row.difference])
    return comma_separated(header, body)


def comma_separated(header: Sequence[str], rows: Sequence[Sequence[str | int | float | None]]) -> str:
    """A csv table: floats with four decimals, None as an empty cell, everything else as it is."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: str | int | float | None) -> str | int:
    if value is None:
        return ""
    return "%.4f" % value if isinstance(value, float) else value


def data_section(files: Iterable[tuple[str, str]]) -> list[str]:
    """The lines of a page on its data: the description and git blob id of each file."""
    return ["", "## Data", "", *("- %s, git blob %s" % file for file in files)]


def command_section(commands: Iterable[str], *origin: str) -> list[str]:
    """The last lines of a page: the commands that reproduce it, and lines on what it was made from, or when."""
    return ["", "## Command", "", *("    " + command for command in commands), "", *origin]


def origin(model: Run) -> str:
    """The origin of a model, as text."""
    commits = model.origin().get("commits") or ["unknown"]
    return "%s, seed %d: trained at commit %s" % (model.system, model.seed, ", ".join(commits))


def models_section(models: Iterable[str], bank: Treebank, command: str) -> list[str]:
    """The last lines of a page that `command` makes now from models, each described in a line, on a development set."""
    dev = "- dev: %s, git blob %s" % (bank.paths["dev"].name, bank.blobs["dev"])
    return ["## Models and data", "", *("- " + model for model in models), dev, *made_now(command)]


def made_now(command: str) -> list[str]:
    """The last lines of a page that `command` makes now, with the code as it is."""
    return command_section([command], "At commit %s, %s." % (commit(), time.strftime("%Y-%m-%d")))


def pages(results: Path, name: str) -> list[Path]:
    """The paths of a table's pages."""
    return [results / (name + ".md"), results / (name + ".csv")]


def title(run: dict) -> str:
    """The treebank of a run in the titles of pages, with the name of its settings if they are not the defaults."""
    others = ", settings: %s" % run["settings_of"] if "settings_of" in run else ""
    return "%s (%s%s)" % (run["lang"], run["release"], others)


def page_name(name: str, treebanks_shown: Sequence[str]) -> str:
    """The name of a page on these treebanks: toy-NAME if they are only toy, so that it is kept apart from that on real ones."""
    return "toy-" + name if list(treebanks_shown) == [treebanks.TOY] else name


def write_pages(results: Path, name: str, markdown: Sequence[str], csv_text: str) -> list[Path]:
    """Writes ``NAME.md``, with these lines, and ``NAME.csv``; returns their paths."""
    make_folder(results)
    written = pages(results, name)
    for path, text in zip(written, ("\n".join([*markdown, ""]), csv_text)):
        write_text(str(path), text)
    return written


def show(console: Console, table: Table, note: str, pages: Sequence[Path]) -> None:
    """Prints a table, its note, and the paths of its pages."""
    table.print(console)
    console.print(note, soft_wrap=True)
    report_written(pages)
