"""Table 4: UAS on the development set by system, mean and standard deviation over seeds, compared with the paper's."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments import pages, published
from experiments.engine import records
from experiments.engine.record_fields import Record
from experiments.engine.run import duration
from experiments.engine.treebank import OWN_FILES
from experiments.pages import Average, SystemRow, averages, systems_table
from mh4.util.text_tables import Table

TO_PAPER = "to the paper's mean"


def rows(runs: Sequence[Record]) -> list[SystemRow]:
    """Return a row of dev UAS for each system with records; the paper's numbers only for runs on the paper's data."""
    found = []
    for system, ours in averages(runs, "dev_uas").items():
        paper = published.dev_uas(runs[0]["lang"], runs[0]["release"], system)
        found.append(SystemRow(system, ours, Average(*paper) if paper else None))
    return found


def table(runs: Sequence[Record]) -> Table:
    return systems_table("dev UAS", rows(runs))


def note(runs: Sequence[Record]) -> str:
    """Return a note on how to read the table: the data, and whether the paper's numbers are comparable."""
    lang, release = runs[0]["lang"], runs[0]["release"]
    if release == OWN_FILES:
        return "In percent: mean and standard deviation over seeds."
    if release != published.RELEASE:
        message = "%s: not the paper's data (%s), so the paper's numbers are not comparable and not shown."
        return message % (release[0].upper() + release[1:], published.RELEASE)
    if not any(row.paper for row in rows(runs)):
        what = "these systems" if published.in_table_4(lang, release) else "this treebank (%s)" % lang
        return "The paper gives no development-set UAS for %s." % what
    return "The paper's numbers are from Table 4, with 5 seeds, on the same files."


def every_run(runs: Sequence[Record]) -> Table:
    """Return the scores and training times of each run."""
    columns: dict[str, tuple[str, Callable[[Any], str]]] = {  # what a record has of it, and its form
        "system": ("system", str),
        "seed": ("seed", str),
        "UAS": ("dev_uas", "{:.2f}".format),
        "LAS": ("dev_las", "{:.2f}".format),
        "test LAS": ("test_las", "{:.2f}".format),
        "epochs": ("epochs", "{:.1f}".format),
        "updates": ("updates", str),
        "time": ("seconds", duration),
        TO_PAPER: ("seconds_to_paper", duration),
        "tokens/s": ("tokens_per_second", "{:.0f}".format),
        "finished": ("date", str),
        "commit": ("commit", str),
    }
    if not any("seconds_to_paper" in run for run in runs):  # the paper has no score of the treebank
        del columns[TO_PAPER]
    body = [["" if run.get(name) is None else form(run.get(name)) for name, form in columns.values()] for run in runs]
    return Table(list(columns), body, right=1, left_from=list(columns).index("finished"))


def page(name: str, runs: Sequence[Record]) -> list[pages.Part]:
    """Return the page of treebank `name` below its title: the table, every run, and the commands."""
    made = "This page is made from `%s.jsonl`."
    every, gold = every_run(runs), any("test" in run and run["segmentation"] == run["test"] for run in runs)
    return [
        table(runs),
        note(runs),
        OF_SCORES,
        "## Runs",
        every,
        OF_RUNS % ("gold segmentation" if gold else "the segmentation of the shared task's baseline")
        + (OF_TIMES if TO_PAPER in every.header else ""),
        OF_FILES % name,
        *pages.data(("%s: %s" % (split, file["path"]), file["git_blob"]) for split, file in records.files(runs[0]).items()),
        *pages.command(records.commands(runs), made % name),
    ]


OF_SCORES = """\
UAS in percent over all words, including punctuation, with gold segmentation: mean and standard deviation over seeds. The
score of a run is that of its best evaluation on the development set, which also selects its model. The standard
deviation is the sample standard deviation (n - 1); the paper does not state which one it reports."""
OF_RUNS = "Test LAS is by the official scorer, with %s."
OF_TIMES = """ To the paper's mean: time for
training and evaluation on one core until dev UAS first reaches it."""
OF_FILES = """\
`trees/%s/` has the predicted trees of each run for dev and test, without words:
`.venv/bin/python -m experiments predictions` merges them into the treebank's files."""


def write(name: str, runs: Sequence[Record], results: Path) -> list[Path]:
    """Write the pages of treebank `name`; return their paths."""
    title = "%s: UAS on the development set" % pages.of_treebank(runs[0])
    return pages.write(results, name, title, page(name, runs))
