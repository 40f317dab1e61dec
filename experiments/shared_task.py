"""``make conll17``: scores the shared-task outputs that are columns of Tables 5 and 6, and reports which agree with the paper."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS, make_command, shown
from rich.console import Console
from tables import shared_task as page
from tables import writer
from training import shared_task

from mh4.data import conll17, treebanks
from mh4.errors import InputError
from mh4.util import progress
from mh4.util.files import git_blob_id

HOW = "fetch a language with `mh4 data hu --conll17`, or name folders with UD=folder and CONLL17=folder"


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; returns its exit code: 0, 2 for bad input, 130 if interrupted. Pages go to the results folder in `home`."""
    parser = argparse.ArgumentParser(usage="make conll17 [UD=folder] [CONLL17=folder]")
    parser.add_argument("--ud", default="", help="the folder of treebanks; by default data/ud-2.0")
    parser.add_argument("--conll17", default="", help="the folder of outputs; by default data/conll17")
    typed = parser.parse_args(arguments)
    ud, outputs = os.path.expanduser(typed.ud), os.path.expanduser(typed.conll17)
    return options.answered("conll17", parser.format_usage, False, lambda: _score(ud, outputs, home / "results"))


def _score(ud: str, outputs: str, results: Path) -> int:
    folders = (
        Path(ud) if ud else treebanks.default_folder(),
        Path(outputs) if outputs else conll17.default_folder(),
    )
    for folder in folders:
        if not folder.is_dir():
            raise InputError("%s is not a folder: %s" % (shown(folder), HOW))
    missing, scored = {}, False
    with progress.console().status("") as status:
        for lang in treebanks.languages():
            files, lacking = at_hand(lang, *folders)
            if "test" in files and len(files) > 1:
                status.update("scoring the outputs for %s" % lang)
                shared_task.score(lang, files.pop("test"), files, results)
                scored = True
            record = shared_task.load(lang, results)
            lacking = {what: reason for what, reason in lacking.items() if not record or what not in (*record["systems"], "test")}
            if lacking:
                missing[lang] = ", ".join(lacking.values())
    if not scored:
        raise InputError("no test set of UD 2.0 in %s with outputs in %s: %s" % (*map(shown, folders), HOW))
    kept = shared_task.load_all(results)
    named = {name: typed and str(Path(typed)) for name, typed in (("UD", ud), ("CONLL17", outputs))}
    pages = page.write(kept, missing, results, make_command("conll17", **named))
    writer.show(Console(highlight=False), page.table(kept), "\n".join(page.agreement(kept, missing)), pages)
    return 0


def at_hand(lang: str, ud: Path, outputs: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """The available files behind the paper's numbers, by system and "test" for the test set; and why others are missing."""
    paths = {"test": ud / ("%s-ud-test.conllu" % lang)}
    paths.update((system, outputs / conll17.file_name(lang, system)) for system in conll17.SYSTEMS)
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
