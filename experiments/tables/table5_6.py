"""Tables 5 and 6: LAS on the test set by system, mean and standard deviation over seeds, compared with the paper's."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments import pages, published
from experiments.engine import records, shared_task
from experiments.engine.record_fields import Output, Record
from experiments.engine.treebank import OWN_FILES
from experiments.pages import Average, SystemRow, averages, systems_table
from mh4.data import conll17
from mh4.util.text_tables import Table


@dataclass(frozen=True)
class Tested:
    """The data of the table.

    runs: records of runs, all on the same test set and segmentation. others: the number of runs tested on other files, or not at
    all. outputs: what is recorded of the shared task's systems on this test set, by system.
    """

    name: str
    runs: Sequence[Record]
    others: int
    outputs: Mapping[str, Output]

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
            self.release == published.RELEASE
            and shared_task.is_test_set(self.lang, test)
            and shared_task.is_output(self.lang, conll17.SEGMENTATION, segmentation)
        )

    @property
    def table_number(self) -> int | None:
        """The paper's table that this is comparable with, if any."""
        return published.test_table(self.lang) if self.compares else None


def _files(run: Record) -> tuple[str, str]:
    return run["test"]["git_blob"], run["segmentation"]["git_blob"]


def tested(name: str, runs: Sequence[Record], results: Path) -> Tested | None:
    """Return the test scores of these runs on treebank `name`, on the files that most of them were tested on; None if there are none."""
    scored = [run for run in runs if {"test_las", "test", "segmentation"} <= set(run)]
    if not scored:
        return None
    chosen = Counter(map(_files, scored)).most_common(1)[0][0]
    same = [run for run in scored if _files(run) == chosen]
    reference = shared_task.load(same[0]["lang"], results)
    outputs = reference["systems"] if reference and reference["test"]["git_blob"] == chosen[0] else {}
    return Tested(name, same, len(runs) - len(same), outputs)


def rows(scores: Tested) -> list[SystemRow]:
    """Return a row for each system with records, then the shared task's systems."""
    found = [SystemRow(system, ours, _published(scores, system)) for system, ours in averages(scores.runs, "test_las").items()]
    for system in published.COLUMNS:
        if "las" in scores.outputs.get(system, {}):
            found.append(SystemRow(system, Average(scores.outputs[system]["las"], None), _published(scores, system)))
    return found


def _published(scores: Tested, system: str) -> Average | None:
    numbers = published.test_las(scores.lang, scores.release, system) if scores.compares else None
    return Average(*numbers) if numbers else None


def table(scores: Tested) -> Table:
    return systems_table("test LAS", rows(scores))


def note(scores: Tested) -> str:
    """Return a note on how to read the table: whether the paper's numbers are comparable, and the meaning of ✓."""
    if scores.release == OWN_FILES:
        return (
            "In percent, by the official scorer, with the segmentation of the test set: mean and standard deviation over seeds."
        )
    if not scores.compares:
        return (
            "Not the files of the paper's Tables 5 and 6 (%s), so its numbers are not comparable and not shown."
            % published.RELEASE
        )
    message = "The paper's numbers are from Table %s, with 5 seeds, on the same files." % scores.table_number
    if any(row.agrees for row in rows(scores)):
        message += " ✓: the shared task's output, scored here, gets the identical score."
    return message


def page(scores: Tested) -> list[pages.Part]:
    name, runs, outputs = scores.name, scores.runs, scores.outputs
    files = [("test", runs[0]["test"]), ("segmentation", runs[0]["segmentation"])]
    files += [(row.name, outputs[row.system]) for row in rows(scores) if row.system in published.COLUMNS]
    parts: list[pages.Part] = [table(scores), note(scores), NOTE % (name, name)]
    for system, entry in outputs.items():
        if "rejected" in entry:
            parts.append("The official scorer rejects the output of %s: %s." % (published.COLUMNS[system], entry["rejected"]))
    if scores.others:
        parts.append("Omitted, without scores on these files: %d of %d runs." % (scores.others, scores.others + len(runs)))
    made = "This page is made from `%s.jsonl` and `%s`."
    return [
        *parts,
        *pages.data(("%s: %s" % (what, file["path"]), file["git_blob"]) for what, file in files),
        *pages.command(records.commands(runs), made % (name, shared_task.FILE)),
    ]


NOTE = """\
LAS in percent, by the official scorer, with the segmentation below: mean and standard deviation (n - 1) over seeds.
Models were selected on the development set. Every run is in [%s.md](%s.md)."""


def write(name: str, runs: Sequence[Record], results: Path) -> list[Path]:
    """Write the pages of treebank `name`; return their paths, none if no run was tested."""
    scores = tested(name, runs, results)
    if not scores:
        return []
    number = " (Table %d)" % scores.table_number if scores.table_number else ""
    title = "%s: LAS on the test set%s" % (pages.of_treebank(scores.runs[0]), number)
    return pages.write(results, name + "-test", title, page(scores))
