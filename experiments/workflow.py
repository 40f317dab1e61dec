"""``make paper``: the whole paper, many runs on many treebanks.

The data of every treebank is found or downloaded first; Snakemake then has the missing records made, here or on a cluster; the pages
and the report are written at the end, from the records that there are. The same command resumes where an earlier one stopped.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import options
import paper
from provenance import EXPERIMENTS, make_command, report_written, shown
from tables import overview, table3
from training import ensembles, records, shared_task, workflow
from training.costs import requests
from training.treebank import located, with_test
from training.workflow import SNAKEMAKE, Grid

from mh4.data import treebanks
from mh4.errors import InputError

USAGE = (
    'usage: make paper [LANGS="hu got"] [SYSTEMS="mh3 mst"] [SEEDS="1 2"] [PROFILE=slurm] [UD=folder] [CONLL17=folder] [JOBS=2]'
)
NAMES = ("langs", "systems", "seeds", "profile", "ud", "conll17", "jobs", "snakemake", "settings", "home")


def usage() -> str:
    """The usage line and the meaning of its variables."""
    meanings = {
        "LANGS": "from %s toy;\nby default all but toy" % " ".join(treebanks.languages()),
        "SYSTEMS": "by default %s,\nand for the languages of Table 3 those of Tables 1 and 2" % " ".join(paper.systems("")),
        "SEEDS": "by default %s (%s if only toy is asked for)" % (options.PAPER_SEEDS, options.TOY_SEEDS),
        "PROFILE": "local (default), or slurm: runs are jobs of the cluster, JOBS at a time, by default all",
        "UD": "a folder with treebanks; otherwise they are downloaded. Those that cannot be obtained are left out",
        "CONLL17": "as for make reproduce",
        "JOBS": options.JOBS,
        "SETTINGS": options.SETTINGS,
        "SNAKEMAKE": "further options of Snakemake",
    }
    return "\n".join([USAGE, *("  %-9s  %s" % (name, said.replace("\n", "\n" + " " * 13)) for name, said in meanings.items())])


def main(arguments: Sequence[str]) -> int:
    """The command; exit codes as in reproduce.main, 1 also if a record could not be made. --home: the folder of runs and results."""
    typed = options.options(arguments, USAGE, NAMES)
    return options.answered("paper", usage, typed.help, lambda: _paper(typed, Path(typed.home or EXPERIMENTS).resolve()))


def _paper(typed, home: Path) -> int:
    asked = options.requests(typed)
    profile = typed.profile or "local"
    workflow.check(profile)
    further = _words(typed.snakemake)
    if not SNAKEMAKE.exists():
        raise InputError("Snakemake is not set up: %s is missing, which `make paper` makes" % shown(SNAKEMAKE))
    command = make_command(
        "paper",
        LANGS=typed.langs.split(),
        SYSTEMS=typed.systems.split(),
        SEEDS=typed.seeds.split(),
        SETTINGS=typed.settings or None,
        UD=asked[0].ud or typed.ud,
        CONLL17=asked[0].conll17 or typed.conll17,
    )
    with workflow.only_one(home) as lock:
        for name in records.names(home / "results"):  # all of them are needed for the report: damage is better known now
            if name != treebanks.TOY:
                records.load(name, home / "results")
        grids, left_out = found(asked, home)
        for lang, why in left_out.items():
            print("left out: %s: %s" % (lang, why), file=sys.stderr)
        for grid in grids:
            if grid.not_combined:
                seeds = ", ".join(map(str, grid.not_combined))
                print(
                    "no ensemble of %s with seed %s: models are recorded but not here" % (grid.bank.name, seeds), file=sys.stderr
                )
        if not grids:
            raise InputError("none of these treebanks can be obtained")
        jobs = asked[0].jobs if profile == "local" or typed.jobs else None
        missing = sum(len(grid.missing) for grid in grids)
        workflow.check_folders(grids, jobs or missing)
        there = sum(len(grid.runs) for grid in grids) - missing
        print("records to make: %d, already there: %d" % (missing, there), flush=True)
        if missing:
            needs = requests(grids, home) if profile == "slurm" else workflow.Requests()
            workflow.execute(grids, command, profile, jobs, needs, further, lock)
        failed = [workflow.failure(grid, run) for grid in grids for run in grid.unfinished()]
        try:
            if len(failed) < sum(len(grid.runs) for grid in grids):
                _pages(grids, home / "results", command)
        finally:
            for line in failed:
                print(line, file=sys.stderr)
            if failed:
                print("the log of Snakemake is %s" % shown(workflow.log(home)), file=sys.stderr)
    return 1 if failed else 0


def _words(snakemake: str) -> list[str]:
    """The options in SNAKEMAKE."""
    try:
        return shlex.split(snakemake)
    except ValueError as error:
        raise InputError("SNAKEMAKE: %s cannot be split into options: %s" % (snakemake, str(error).lower())) from None


def found(asked: Sequence[options.Request], home: Path) -> tuple[list[Grid], dict[str, str]]:
    """The runs on each treebank that can be obtained, and by language why others cannot."""
    grids, left_out = [], {}
    for one in asked:
        try:
            bank = located(one.lang, one.ud, one.settings)
        except InputError as error:
            left_out[one.lang] = str(error)
            continue
        conll17: Optional[str] = one.conll17
        try:
            bank = with_test(bank, one.ud, conll17)
        except InputError as error:  # no test scores, then
            print("%s: %s" % (one.lang, error), file=sys.stderr)
            conll17 = None
        given = ["--lang", one.lang, *(["--settings", one.settings] if one.settings else [])]
        for name, folder in (("--ud", one.ud), ("--conll17", conll17)):
            given += [name, str(Path(folder).resolve())] if folder else []
        grids.append(Grid(bank, one.systems, one.seeds, given, home))
    return grids, left_out


def _pages(grids: Sequence[Grid], results: Path, command: str) -> None:
    """Writes all pages, from the records that there are, and first the record of the ensemble of all seeds."""
    for grid in grids:  # the shared task's columns of Tables 5 and 6
        shared_task.score_at_hand(grid.bank, results)
        if set(ensembles.MEMBERS) <= set(grid.systems):
            ensembles.record_all_seeds(grid.bank, grid.records, ensembles.MEMBERS, command)
    try:
        _coverage(grids, results)
    except InputError as error:  # perhaps in a treebank that was not asked for
        print("Table 3 is not measured: %s" % error, file=sys.stderr)
    report_written(overview.write_all([grid.bank.name for grid in grids if grid.records.folder.is_dir()], results))


def _coverage(grids: Sequence[Grid], results: Path) -> None:
    """Table 3, if one of its training sets is here that it does not have yet, and all that it has are."""
    folders = {grid.bank.paths["train"].parent for grid in grids if grid.bank.name in paper.coverage()}
    kept = set(table3.recorded(results))
    for folder in folders:
        here = {lang for lang in paper.coverage() if (folder / ("%s-ud-train.conllu" % lang)).is_file()}
        if here > kept:
            table3.write(table3.measure(folder), results, make_command("coverage", UD=str(folder)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
