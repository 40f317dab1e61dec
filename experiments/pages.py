"""Write Markdown pages of paragraphs, tables and plots; average scores over seeds, and tabulate the averages."""

import csv
import io
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rich.console import Console

from experiments import published
from experiments.engine.provenance import commit
from experiments.engine.record_fields import Record, Score
from experiments.engine.run import Run
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import report_written
from mh4.errors import InputError
from mh4.util.files import git_blob_id, make_folder, write_text
from mh4.util.plots import plotted
from mh4.util.text_tables import Form, Table, written

NONE = "–"  # a cell without a score
FEWEST_SEEDS = 5  # with fewer, an interval over seeds is too small
ENDINGS: dict[Form, str] = {"latex": "tex", "markdown": "md", "csv": "csv"}  # of files of tables for a paper
Part = str | Table  # a str is Markdown


# Averages


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

    @property
    def error(self) -> float | None:
        """The standard error of the mean; None if the deviation is unknown."""
        return None if self.std is None else self.std / math.sqrt(len(self.seeds))

    @property
    def single(self) -> bool:
        """Whether this is the score of one ensemble of the models of several seeds, not a mean over seeds."""
        return self.std is None and len(self.seeds) > 1


def average(scores: Sequence[float], seeds: Sequence[int] = ()) -> Average:
    """Return the average of the scores of these seeds."""
    return Average(statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else None, tuple(seeds))


def paper_average(numbers: tuple[float, float | None] | None) -> Average | None:
    """Return a mean and a standard deviation of the paper as an average over its seeds; None if it has no such numbers."""
    return Average(*numbers, tuple(range(published.SEEDS))) if numbers else None


def averages(records: Sequence[Record], score: Score) -> dict[str, Average]:
    """Return the average of `score` ("dev_uas") over the seeds of each system, in the order of the systems in the records.

    Raises InputError if a record lacks this score.
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


def pooled(averages: Sequence[Average]) -> float | None:
    """Return the standard deviation between seeds, pooled over averages; None if each average is of a single run.

    A deviation of two or three runs alone is unreliable.
    """
    repeated = [(each.std, len(each.seeds) - 1) for each in averages if each.std is not None]
    freedom = sum(more for _, more in repeated)
    return math.sqrt(sum(more * std**2 for std, more in repeated) / freedom) if freedom else None


def with_pooled(averages: Sequence[Average]) -> list[Average]:
    """Return the averages, each with the pooled standard deviation instead of its own, or instead of none for a single run.

    Those of several runs without a deviation (the paper's ensemble), and of no run (the shared task), stay as they are.
    """
    std = pooled(averages)
    return [each if each.std is None and len(each.seeds) != 1 else replace(each, std=std) for each in averages]


def error_between(one: Average, other: Average) -> float | None:
    """Return the standard error of the difference of the means of two independent samples; None if a deviation is unknown."""
    return None if one.error is None or other.error is None else math.hypot(one.error, other.error)


def difference(one: Average | None, other: Average | None) -> str:
    """Format the difference of two means, with its standard error if both have several runs; "" if one is missing."""
    return "" if one is None or other is None else plus_minus(one.mean - other.mean, error_between(one, other), "+z.2f")


def plus_minus(mean: float, spread: float | None, form: str = ".2f") -> str:
    """Return a mean and, if known, its spread, as text."""
    return format(mean, form) + ("" if spread is None else " ± %.2f" % spread)


# Tables


def all_scores(records: Sequence[Record]) -> Table:
    """Return a table of the scores of each system on a treebank, mean and standard deviation over its seeds.

    See scores_of_all.
    """
    columns = {titled(score): averages(records, score) for score in scores_of_all(records)}
    seeds = {system: "%d" % (1 if one.single else len(one.seeds)) for system, one in columns["dev UAS"].items()}
    body = [[system, number, *(str(column[system]) for column in columns.values())] for system, number in seeds.items()]
    return Table(["system", "seeds", *columns], body, right=1)


def scores_of_all(records: Sequence[Record]) -> list[Score]:
    """Return the scores that all runs have; those on test only if all runs have the same test files."""
    tested = {(run["test"]["git_blob"], run["segmentation"]["git_blob"]) for run in records if "test" in run}
    known = [score for score in get_args(Score) if all(score in record for record in records)]
    return [score for score in known if len(tested) < 2 or not score.startswith("test")]


def titled(score: Score) -> str:
    """Return the title of a score in tables: "dev UAS" for dev_uas."""
    return score.replace("_uas", " UAS").replace("_las", " LAS")


def comma_separated(header: Sequence[str], rows: Sequence[Sequence[object]], form: str = "%.4f") -> str:
    """Return a csv table: floats in this form, None as an empty cell, everything else as it is."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([form % value if isinstance(value, float) else value for value in row] for row in rows)
    return text.getvalue()


# Pages


def items(lines: Iterable[str]) -> str:
    """Return a Markdown list."""
    return "\n".join("- " + line for line in lines)


def code(lines: Iterable[str]) -> str:
    """Return lines as a Markdown block of code."""
    return "\n".join("    " + line for line in lines)


def markdown(title: str, parts: Iterable[Part]) -> str:
    """Return a page as Markdown."""
    texts = (part.markdown() if isinstance(part, Table) else part for part in parts)
    return "\n\n".join(["# " + title, *filter(None, texts)]) + "\n"


@dataclass(frozen=True)
class Plot:
    """A function that draws on a matplotlib figure, of this height in inches."""

    draw: Callable[[Any], None]
    height: float


def write(
    results: Path, name: str, title: str, parts: Iterable[Part], csv_text: str = "", plot: Plot | None = None
) -> list[Path]:
    """Write ``NAME.md`` and, if given, the table ``NAME.csv`` and the plot ``NAME.png``; return their paths."""
    make_folder(results)
    texts = {results / (name + ".md"): markdown(title, parts), **({results / (name + ".csv"): csv_text} if csv_text else {})}
    for path, text in texts.items():
        write_text(str(path), text)
    if plot is None:
        return list(texts)
    drawing = results / (name + ".png")
    with plotted(str(drawing), 10, plot.height) as figure:
        plot.draw(figure)
    return [*texts, drawing]


def write_between(page: Path, name: str, table: Table) -> Path:
    """Put a table between the two lines of a page that name it, and return its path. Raises InputError if these lines are missing."""
    begin, end = "<!-- %s: written by make report -->" % name, "<!-- end of %s -->" % name
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, also_found, after = rest.partition(end)
    if not found or not also_found:
        raise InputError("%s has no lines %s and %s, between which the table is" % (page, begin, end))
    write_text(str(page), "%s%s\n\n%s\n\n%s%s" % (before, begin, table.markdown(), end, after))
    return page


def print_table(table: Table, console: Console) -> None:
    """Print a table, between empty lines."""
    console.print("\n%s\n" % table.text(), soft_wrap=True)


def show(console: Console, table: Table, note: str, pages: Sequence[Path] = ()) -> None:
    """Print a table, its note, and the paths of its pages, if any."""
    print_table(table, console)
    console.print(note, soft_wrap=True)
    if pages:
        report_written(pages)


def show_for_paper(console: Console, page: Path, note: str, table: Table, form: Form) -> None:
    """Print a table in a form, unless that is text, with its note, and write both to a file beside the page.

    page: its path without the ending. Existing files of other forms are also written again, so that none is outdated.
    """
    if form != "text":
        console.print("\n%s\n\n%s" % (table.written(form), note), soft_wrap=True)
    paths = {one: page.with_name("%s-table.%s" % (page.name, ending)) for one, ending in ENDINGS.items()}
    for one, path in paths.items():
        if one == form or path.exists():
            write_text(str(path), written([note, table], one) + "\n")
            report_written([path])


# What pages have in common


def of_treebank(run: Record) -> str:
    """Return the title of a run's treebank, with the name of its settings if they are not the defaults."""
    others = ", settings: %s" % run["settings_of"] if "settings_of" in run else ""
    return "%s (%s%s)" % (run["lang"], run["release"], others)


def page_name(name: str, toy: bool) -> str:
    """Return the name of a page on several treebanks: toy-NAME on the toy treebank."""
    return "toy-" + name if toy else name


def data(blobs: Iterable[tuple[str, str]]) -> list[Part]:
    """Make the section on the data: a description of each file, with its git blob id."""
    return ["## Data", items("%s, git blob %s" % described for described in blobs)]


def command(commands: Sequence[str], *origin: str) -> list[Part]:
    """Make the last section: the commands that reproduce the page, and lines on its origin."""
    return ["## Command", code(commands), "\n".join(origin)]


def origin(model: Run) -> str:
    """Return the origin of a model, as text."""
    return "%s, seed %d: trained at commit %s" % (model.system, model.seed, model.commits or "unknown")


def models(described: Iterable[str], bank: Treebank, repeat: str, split: str = "dev") -> list[Part]:
    """Make the last sections of a page that the command `repeat` makes now from models.

    described: a line for each model. split: the data that the models parse.
    """
    parsed = bank.to_parse[split]
    listed = items([*described, "%s: %s, git blob %s" % (split, parsed.name, git_blob_id(parsed))])
    made = "At commit %s, %s." % (commit(), time.strftime("%Y-%m-%d"))
    return ["## Models and data", listed, *command([repeat], made)]
