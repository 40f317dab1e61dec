"""Tables 5 and 6: LAS on the test set by system, mean and standard deviation over seeds, compared with the paper's.

Made only from records: those of a treebank's runs, and those of the shared task's systems. It is written to
``results/NAME-test.md`` and ``.csv``.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import paper
from training import records, shared_task

from mh4.data import conll17
from tables.shared_task import COLUMNS, same_digits
from tables.writer import (
    Average,
    SystemRow,
    Table,
    averages,
    command_section,
    data_section,
    pages,
    systems_as_csv,
    title,
    write_pages,
)


@dataclass(frozen=True)
class Row(SystemRow):
    """One system, and its test LAS.

    reference: True for the shared task's systems, whose numbers should be identical to the paper's.
    """

    reference: bool = False

    @property
    def agrees(self) -> Optional[bool]:
        """Whether the number is identical to the paper's; None if that is not expected."""
        return same_digits(self.ours.mean, self.paper.mean) if self.reference and self.paper else None


@dataclass(frozen=True)
class Tested:
    """The data of the table.

    runs: records of runs, all on the same test set and segmentation. others: the number of runs tested on other files, or not at
    all. reference: the record of the shared task's systems on this test set, or None.
    """

    name: str
    runs: Sequence[dict]
    others: int
    reference: Optional[dict]

    @property
    def lang(self) -> str:
        return self.runs[0]["lang"]

    @property
    def release(self) -> str:
        return self.runs[0]["release"]

    @property
    def compares(self) -> bool:
        """True if training and test files are those of the paper."""
        test, segmentation = _files(self.runs[0])
        return (
            self.release == paper.RELEASE
            and shared_task.is_test_set(self.lang, test)
            and shared_task.is_output(self.lang, conll17.SEGMENTATION, segmentation)
        )

    @property
    def table_number(self) -> Optional[int]:
        """The paper's table that this is comparable with, if any."""
        return paper.test_table(self.lang) if self.compares else None


def _files(run: dict) -> tuple[str, str]:
    return run["test"]["git_blob"], run["segmentation"]["git_blob"]


def tested(name: str, runs: Sequence[dict], results: Path) -> Optional[Tested]:
    """The test scores of these runs on treebank `name`, on the files that most of them were tested on; None if there are none."""
    scored = [run for run in runs if {"test_las", "test", "segmentation"} <= set(run)]
    if not scored:
        return None
    chosen = Counter(map(_files, scored)).most_common(1)[0][0]
    same = [run for run in scored if _files(run) == chosen]
    reference = shared_task.load(same[0]["lang"], results)
    if reference and reference["test"]["git_blob"] != chosen[0]:
        reference = None
    return Tested(name, same, len(runs) - len(same), reference)


def rows(scores: Tested) -> list[Row]:
    """A row for each system with records, then the shared task's systems."""
    found = [Row(system, ours, _published(scores, system)) for system, ours in averages(scores.runs, "test_las").items()]
    systems = scores.reference["systems"] if scores.reference else {}
    for system in COLUMNS:
        if "las" in systems.get(system, {}):
            found.append(Row(system, Average(systems[system]["las"], None), _published(scores, system), reference=True))
    return found


def _published(scores: Tested, system: str) -> Optional[Average]:
    numbers = paper.test_las(scores.lang, scores.release, system) if scores.compares else None
    return Average(*numbers) if numbers else None


def table(scores: Tested) -> Table:
    """The table as shown; the paper's columns are omitted if nothing is comparable."""
    lines = rows(scores)
    header = ["system", "seeds", "test LAS"]
    body = [[COLUMNS[row.system] if row.reference else row.system, row.ours.seeds_listed, str(row.ours)] for row in lines]
    if any(row.paper for row in lines):
        header += ["paper", "difference"]
        for cells, row in zip(body, lines):
            cells += [str(row.paper), "✓" if row.agrees else "%+.2f" % row.difference] if row.paper else ["", ""]
    return Table(header, body, right=2)


def note(scores: Tested) -> str:
    """A note on how to read the table: whether the paper's numbers are comparable, and the meaning of ✓."""
    if not scores.compares:
        return (
            "Not the files of the paper's Tables 5 and 6 (%s), so its numbers are not comparable and not shown." % paper.RELEASE
        )
    said = "The paper's numbers are from Table %d, with 5 seeds, on the same files." % scores.table_number
    if any(row.agrees for row in rows(scores)):
        said += " ✓: the shared task's output, scored here, gets the identical score."
    return said


def markdown(scores: Tested) -> list[str]:
    """The lines of the page."""
    name, runs = scores.name, scores.runs
    number = " (Table %d)" % scores.table_number if scores.table_number else ""
    files = [("test", runs[0]["test"]), ("segmentation", runs[0]["segmentation"])]
    files += [(COLUMNS[row.system], scores.reference["systems"][row.system]) for row in rows(scores) if row.reference]
    lines = [
        "# %s: LAS on the test set%s" % (title(runs[0]), number),
        "",
        table(scores).markdown(),
        "",
        note(scores),
        "",
        "LAS in percent, by the official scorer, with the segmentation below: mean and standard deviation (n - 1) over seeds.",
        "Models were selected on the development set. Every run is in [%s.md](%s.md) and `%s/`." % (name, name, name),
    ]
    for system, entry in (scores.reference["systems"] if scores.reference else {}).items():
        if "rejected" in entry:
            lines += ["", "The official scorer rejects the output of %s: %s." % (COLUMNS[system], entry["rejected"])]
    if scores.others:
        lines += ["", "Omitted, without scores on these files: %d of %d runs." % (scores.others, scores.others + len(runs))]
    return lines + [
        *data_section(("%s: %s" % (what, file["path"]), file["git_blob"]) for what, file in files),
        *command_section(
            records.commands(runs),
            "This page and the csv are made from `%s/` and `%s/` by `.venv/bin/python experiments/report.py %s`."
            % (name, shared_task.FOLDER, name),
        ),
    ]


def as_csv(scores: Tested) -> str:
    """The table as csv."""
    return systems_as_csv(scores.lang, scores.release, rows(scores))


def page_paths(name: str, results: Path) -> list[Path]:
    """The paths of the pages of treebank `name`."""
    return pages(results, name + "-test")


def write(name: str, results: Path = records.RESULTS) -> list[Path]:
    """Writes the pages of treebank `name` from all its records in `results`; returns their paths, none if no run was tested."""
    scores = tested(name, records.load(name, results), results)
    return write_pages(results, name + "-test", markdown(scores), as_csv(scores)) if scores else []
