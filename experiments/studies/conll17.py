"""``make conll17 [UD=folder] [CONLL17=folder]``: the scores of the shared task's systems in the paper (Tables 5 and 6)

Scores the outputs of these systems, and of the baseline, for all treebanks whose test sets and outputs are in two
folders. By default, these are data/ud-2.0 and data/conll17, where `mh4 data --conll17` puts them. Scores that agree
with the paper's are marked. The report shows the scores in its Tables 5 and 6.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from experiments import published
from experiments.engine import shared_task
from experiments.engine.command import study
from experiments.engine.record_fields import SharedTask
from experiments.engine.workplace import Bench, shown
from experiments.pages import show
from mh4.data import conll17 as task
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util import progress
from mh4.util.text_tables import Table

HOW = "fetch a language with `mh4 data hu --conll17`, or name folders with UD=folder and CONLL17=folder"


@study(ud="the folder of treebanks; by default data/ud-2.0", conll17="the folder of outputs; by default data/conll17")
def conll17(bench: Bench, ud: str, conll17: str) -> None:
    tests = Path(os.path.expanduser(ud)) if ud else treebanks.default_folder()
    outputs = Path(os.path.expanduser(conll17)) if conll17 else task.default_folder()
    for folder in (tests, outputs):
        if not folder.is_dir():
            raise InputError("%s is not a folder: %s" % (shown(folder), HOW))
    missing = {}
    with progress.console().status("") as status:
        for lang in treebanks.languages():
            status.update("scoring the outputs for %s" % lang)
            files = {system: outputs / task.file_name(lang, system) for system in task.SYSTEMS}
            lacking = shared_task.score(lang, tests / ("%s-ud-test.conllu" % lang), files, bench.results)
            if lacking:
                missing[lang] = ", ".join(lacking.values())
    kept = shared_task.load_all(bench.results)
    if not kept:
        raise InputError("no test set of UD 2.0 in %s with outputs in %s: %s" % (shown(tests), shown(outputs), HOW))
    rejected = [
        "Not scored, as the official scorer rejects it: %s of %s: %s"
        % (published.COLUMNS[system], record["lang"], entry["rejected"])
        for record in kept
        for system, entry in record["systems"].items()
        if "rejected" in entry
    ]
    note = [NOTE, *rejected, *("Not scored: %s (%s)." % reason for reason in missing.items())]
    show(bench.console, table(kept), "\n".join(note), [bench.results / shared_task.FILE])


def table(kept: Sequence[SharedTask]) -> Table:

    def cell(record: SharedTask, system: str) -> str:
        entry = record["systems"].get(system)
        if not entry or "las" not in entry:
            return ""
        paper, _ = published.test_las(record["lang"], published.RELEASE, system) or (None, None)
        theirs = "" if paper is None else " ✓" if published.same_digits(entry["las"], paper) else " (paper: %.2f)" % paper
        return "%.2f" % entry["las"] + theirs

    body = [[record["lang"], *(cell(record, system) for system in published.COLUMNS)] for record in kept]
    return Table(["treebank", *published.COLUMNS.values()], body, right=1)


NOTE = "LAS on the test sets of UD 2.0. ✓: identical to the paper, which does not list the baseline."
