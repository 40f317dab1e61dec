"""``make conll17 [UD=folder] [CONLL17=folder]``: the scores of the shared task's systems in the paper (Tables 5 and 6)

Scores the outputs that are columns of these tables, for all treebanks whose test sets and outputs are in two folders, by default
data/ud-2.0 and data/conll17, where `mh4 data --conll17` puts them, and says which scores agree with the paper's.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments import pages, published
from experiments.engine import shared_task
from experiments.engine.command import repeat, study
from experiments.engine.record_fields import SharedTask
from experiments.engine.workplace import Bench, shown
from experiments.pages import show
from mh4.data import conll17 as task
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util import progress
from mh4.util.files import git_blob_id
from mh4.util.text_tables import Table

HOW = "fetch a language with `mh4 data hu --conll17`, or name folders with UD=folder and CONLL17=folder"


@study(ud="the folder of treebanks; by default data/ud-2.0", conll17="the folder of outputs; by default data/conll17")
def conll17(bench: Bench, ud: str, conll17: str) -> None:
    tests = Path(os.path.expanduser(ud)) if ud else treebanks.default_folder()
    outputs = Path(os.path.expanduser(conll17)) if conll17 else task.default_folder()
    for folder in (tests, outputs):
        if not folder.is_dir():
            raise InputError("%s is not a folder: %s" % (shown(folder), HOW))
    missing, scored = {}, False
    with progress.console().status("") as status:
        for lang in treebanks.languages():
            files, lacking = available(lang, tests, outputs)
            if "test" in files and len(files) > 1:
                status.update("scoring the outputs for %s" % lang)
                shared_task.score(lang, files.pop("test"), files, bench.results)
                scored = True
            record = shared_task.load(lang, bench.results)
            lacking = {what: reason for what, reason in lacking.items() if not record or what not in (*record["systems"], "test")}
            if lacking:
                missing[lang] = ", ".join(lacking.values())
    if not scored:
        raise InputError("no test set of UD 2.0 in %s with outputs in %s: %s" % (shown(tests), shown(outputs), HOW))
    kept = shared_task.load_all(bench.results)
    parts: list[pages.Part] = []
    for number in published.TEST_TABLES:
        mine = [record for record in kept if published.test_table(record["lang"]) == number]
        parts += ["Table %d, LAS on the test sets of UD 2.0:" % number, table(mine)] if mine else []
    entries = [record["systems"][system] for record in kept for system in published.COLUMNS if system in record["systems"]]
    made = sorted({(entry.get("commit", "unknown"), entry.get("scorer", "unknown")) for entry in entries})
    parts += [NOTE, pages.items(agreement(kept, missing)), OF_FILES]
    parts += pages.command([repeat()], *("At commit %s, with the official scorer of %s." % how for how in made))
    written = pages.write(bench.results, "conll17", "The shared task's systems (Tables 5 and 6)", parts)
    show(bench.console, table(kept), "\n".join(agreement(kept, missing)), written)


def available(lang: str, ud: Path, outputs: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the available files behind the paper's numbers, by system and "test" for the test set; and why others are missing."""
    paths = {"test": ud / ("%s-ud-test.conllu" % lang)}
    paths.update((system, outputs / task.file_name(lang, system)) for system in task.SYSTEMS)
    lacking = {}
    for what, path in paths.items():
        if not path.is_file():
            lacking[what] = "no " + path.name
            continue
        blob = git_blob_id(path)
        released = shared_task.is_test_set(lang, blob) if what == "test" else shared_task.is_output(lang, what, blob)
        if not released:
            lacking[what] = path.name + " is not the released file"
    there = {what: path for what, path in paths.items() if what not in lacking}
    return there, lacking if there else {"test": "neither test set nor outputs"}


def agreement(kept: Sequence[SharedTask], missing: Mapping[str, str]) -> list[str]:
    """Lines stating which rows equal the paper's, which do not, and which are missing and why.

    missing: why something was not scored, by language.
    """
    same, lines = [], []
    for record in kept:
        different, scored = [], 0
        for system, entry in record["systems"].items():
            paper = _published(record["lang"], system)
            if "rejected" in entry:
                message = "Not scored, as the official scorer rejects it: %s of %s: %s"
                lines.append(message % (published.COLUMNS[system], record["lang"], entry["rejected"]))
            elif paper is not None:
                scored += 1
                different += [] if published.same_digits(entry["las"], paper) else [published.COLUMNS[system]]
        if different:
            lines.append("Different from the paper's Tables 5 and 6: %s in %s." % (record["lang"], " and ".join(different)))
        elif scored == len(published.TEST_COLUMNS):
            same.append(record["lang"])
    if same:
        lines.insert(0, "Identical to the paper's Tables 5 and 6 in both columns: %s (%d)." % (", ".join(same), len(same)))
    return lines + ["Not scored: %s (%s)." % reason for reason in missing.items()]


def _published(lang: str, system: str) -> float | None:
    """Return the paper's LAS of a system; None if it has none."""
    numbers = published.test_las(lang, published.RELEASE, system)
    return numbers[0] if numbers else None


def table(kept: Sequence[SharedTask]) -> Table:

    def cell(record: SharedTask, system: str) -> str:
        entry, paper = record["systems"].get(system), _published(record["lang"], system)
        if not entry or "las" not in entry:
            return ""
        theirs = "" if paper is None else " ✓" if published.same_digits(entry["las"], paper) else " (paper: %.2f)" % paper
        return "%.2f" % entry["las"] + theirs

    body = [[record["lang"], *(cell(record, system) for system in published.COLUMNS)] for record in kept]
    return Table(["treebank", *published.COLUMNS.values()], body, right=1)


NOTE = """\
✓: identical to the paper, which does not list the baseline. The baseline's segmentation is the input of the paper's
parsers and of ours."""
OF_FILES = """\
The files are those released after the shared task (LINDAT 11234/1-2424) and with UD 2.0. `conll17.jsonl` has their git blob
ids, and every score with the commit that produced it."""
