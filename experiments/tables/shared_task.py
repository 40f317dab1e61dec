"""The shared task's systems, columns of Tables 5 and 6: their LAS as scored here compared with the paper's, for all languages.

Made from their records (``training.shared_task``) and written to ``results/conll17.md`` and ``.csv``.
"""

from collections.abc import Sequence
from pathlib import Path

import paper

from mh4.data.conll17 import SEGMENTATION
from tables.writer import Table, comma_separated, command_section, write_pages

COLUMNS = {
    "stanford": "CoNLL #1 (Stanford)",
    "c2l2": "CoNLL #2 (C2L2)",
    SEGMENTATION: "UDPipe 1.1 baseline",
}  # with their names in tables


def same_digits(ours: float, theirs: float) -> bool:
    """True if a percentage equals the paper's, which has two decimals."""
    return "%.2f" % ours == "%.2f" % theirs


def agreement(kept: Sequence[dict], missing: dict[str, str]) -> list[str]:
    """Lines stating which rows equal the paper's, which do not, and which are missing and why.

    missing: why something was not scored, by language.
    """
    same, lines = [], []
    for record in kept:
        different, scored = [], 0
        for system, entry in record["systems"].items():
            published = paper.test_las(record["lang"], paper.RELEASE, system)
            if "rejected" in entry:
                lines.append(
                    "Not scored, as the official scorer rejects it: %s of %s: %s"
                    % (COLUMNS[system], record["lang"], entry["rejected"])
                )
            elif published:
                scored += 1
                different += [] if same_digits(entry["las"], published[0]) else [COLUMNS[system]]
        if different:
            lines.append("Different from the paper's Tables 5 and 6: %s in %s." % (record["lang"], " and ".join(different)))
        elif scored == len(paper.TEST_COLUMNS):
            same.append(record["lang"])
    if same:
        lines.insert(0, "Identical to the paper's Tables 5 and 6 in both columns: %s (%d)." % (", ".join(same), len(same)))
    return lines + ["Not scored: %s (%s)." % reason for reason in missing.items()]


def table(kept: Sequence[dict]) -> Table:
    """The table as shown."""

    def cell(record: dict, system: str) -> str:
        las = record["systems"].get(system, {}).get("las")
        published = paper.test_las(record["lang"], paper.RELEASE, system)
        if las is None:
            return ""
        theirs = "" if published is None else " ✓" if same_digits(las, published[0]) else " (paper: %.2f)" % published[0]
        return "%.2f" % las + theirs

    body = [[record["lang"], *(cell(record, system) for system in COLUMNS)] for record in kept]
    return Table(["treebank", *COLUMNS.values()], body, right=1)


def markdown(kept: Sequence[dict], missing: dict[str, str], command: str) -> list[str]:
    """The lines of the page: Tables 5 and 6, the agreement with the paper, and the command."""
    lines = ["# The shared task's systems (Tables 5 and 6)", ""]
    for number in paper.TEST_TABLES:
        mine = [record for record in kept if paper.test_table(record["lang"]) == number]
        if mine:
            lines += ["Table %d, LAS on the test sets of UD 2.0:" % number, "", table(mine).markdown(), ""]
    entries = [
        (record, system, record["systems"][system]) for record in kept for system in COLUMNS if system in record["systems"]
    ]
    made = sorted({(entry["commit"], entry["scorer"]) for _, _, entry in entries})
    return lines + [
        "✓: identical to the paper, which does not list the baseline. The baseline's segmentation is the input of the paper's",
        "parsers and of ours.",
        "",
        *("- " + line for line in agreement(kept, missing)),
        "",
        "The files are those released after the shared task (LINDAT 11234/1-2424) and with UD 2.0. Their git blob ids are in",
        "[conll17.csv](conll17.csv); `conll17/` has every score with the commit that produced it.",
        *command_section([command], *("At commit %s, with the official scorer of %s." % how for how in made)),
    ]


def as_csv(kept: Sequence[dict]) -> str:
    """The table as csv, a line for each output; scores are empty if the scorer rejects it."""
    header = ["lang", "table", "system", "uas", "las", "paper_las", "agrees", "git_blob", "test_git_blob"]
    body = []
    for record in kept:
        lang = record["lang"]
        for system in COLUMNS:
            entry, published = record["systems"].get(system), paper.test_las(lang, paper.RELEASE, system)
            if entry:
                las, theirs = entry.get("las"), published[0] if published else None
                agrees = None if las is None or theirs is None else "yes" if same_digits(las, theirs) else "no"
                numbers = [entry.get("uas"), las, None if theirs is None else "%.2f" % theirs, agrees]
                body.append([lang, paper.test_table(lang), system, *numbers, entry["git_blob"], record["test"]["git_blob"]])
    return comma_separated(header, body)


def write(kept: Sequence[dict], missing: dict[str, str], results: Path, command: str) -> list[Path]:
    """Writes the pages; returns their paths. `command`: the command that makes them."""
    return write_pages(results, "conll17", markdown(kept, missing, command), as_csv(kept))
