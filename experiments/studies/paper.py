"""``make paper [LANGS="hu got"] [SYSTEMS="mh3 mst"] [SEEDS="1 2"] [SETTINGS=authors] [PROFILE=slurm] [UD=folder]
[CONLL17=folder] [JOBS=2] [SNAKEMAKE=options]``: the whole paper, or that on some treebanks: trainings, ensembles, tables and report

The data of every treebank is found or downloaded first; Snakemake then has the missing records made, here or on a cluster; the pages
and the report are written at the end, from the existing records. The same command resumes where an earlier one stopped.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from experiments import paper as published
from experiments.engine import costs, ensembles, options, records, shared_task, workflow
from experiments.engine.command import study
from experiments.engine.options import PAPER_SEEDS, TOY_SEEDS
from experiments.engine.provenance import make_command, report_written, shown
from experiments.engine.treebank import located, with_test
from experiments.engine.workflow import Grid
from experiments.engine.workplace import Bench
from experiments.studies import coverage, report
from mh4.cli.group import say
from mh4.data import treebanks
from mh4.errors import InputError

SYSTEMS = "by default %s,\nand for the languages of Table 3 those of Tables 1 and 2" % " ".join(published.systems(""))


@study
@options.variable("langs", "from %s toy;\nby default all but toy" % " ".join(treebanks.languages()))
@options.variable("systems", SYSTEMS)
@options.variable("seeds", "by default %s (%s if only toy is asked for)" % (PAPER_SEEDS, TOY_SEEDS))
@options.SETTINGS
@options.variable("profile", "local (default), or slurm: runs are jobs of the cluster, JOBS at a time, by default all")
@options.variable("ud", "a folder with treebanks; otherwise they are downloaded. Those that cannot be obtained are left out")
@options.CONLL17
@options.JOBS
@options.variable("snakemake", "further options of Snakemake")
def paper(bench: Bench, profile: str, jobs: str, snakemake: str, **others: str) -> int:
    """Have all records made, and write the pages; the exit code is 1 if a treebank could not be obtained, or a record not be made."""
    asked = options.requests(jobs=jobs, **others)
    profile = profile or "local"
    workflow.check(profile)
    further = _words(snakemake)
    if not workflow.SNAKEMAKE.exists():
        raise InputError("Snakemake is not set up: %s is missing, which `make paper` makes" % shown(workflow.SNAKEMAKE))
    command = options.repeat()
    with workflow.only_one(bench.home) as lock:
        records.load_all(bench.results)  # all of them are needed for the report: better to learn of damage now
        grids, left_out = found(asked, bench.home)
        for lang, why in left_out.items():
            say("left out: %s: %s" % (lang, why), err=True)
        for grid in grids:
            if grid.not_combined:
                said = "no ensemble of %s with seed %s: models are recorded but not here"
                say(said % (grid.bank.name, ", ".join(map(str, grid.not_combined))), err=True)
        if not grids:
            raise InputError("none of these treebanks can be obtained")
        at_once = asked[0].jobs if profile == "local" or jobs else None
        missing = sum(len(grid.missing) for grid in grids)
        workflow.check_folders(grids, at_once or missing)
        there = sum(len(grid.runs) for grid in grids) - missing
        print("records to make: %d, already there: %d" % (missing, there), flush=True)
        if missing:
            needs = costs.resources(grids, bench.home) if profile == "slurm" else workflow.Resources()
            workflow.execute(grids, command, profile, at_once, needs, further, lock)
        failed = [workflow.failure(grid, run) for grid in grids for run in grid.unfinished()]
        try:
            if len(failed) < sum(len(grid.runs) for grid in grids):
                _pages(grids, bench.results, command)
        finally:
            for line in failed:
                say(line, err=True)
            if failed:
                say("the log of Snakemake is %s" % shown(workflow.log(bench.home)), err=True)
    return int(bool(failed or left_out))


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
        conll17: str | None = one.conll17
        try:
            bank = with_test(bank, one.ud, conll17)
        except InputError as error:  # no test scores, then
            say("%s: %s" % (one.lang, error), err=True)
            conll17 = None
        given = ["--lang", one.lang, *(["--settings", one.settings] if one.settings else [])]
        for name, folder in (("--ud", one.ud), ("--conll17", conll17)):
            given += [name, str(Path(folder).resolve())] if folder else []
        grids.append(Grid(bank, one.systems, one.seeds, given, home))
    return grids, left_out


def _pages(grids: Sequence[Grid], results: Path, command: str) -> None:
    """Writes all pages, from the existing records, and first the record of the ensemble of all seeds."""
    for grid in grids:  # the shared task's columns of Tables 5 and 6
        shared_task.score_available(grid.bank, results)
        if set(ensembles.MEMBERS) <= set(grid.systems):
            ensembles.record_all_seeds(grid.bank, grid.records, ensembles.MEMBERS, command, grid.seeds)
        grid.records.name_outdated()
    try:
        _coverage(grids, results)
    except InputError as error:  # perhaps in a treebank that was not asked for
        say("Table 3 is not measured: %s" % error, err=True)
    recorded = records.names(results)
    report_written(report.write_all([grid.bank.name for grid in grids if grid.bank.name in recorded], results))


def _coverage(grids: Sequence[Grid], results: Path) -> None:
    """Writes Table 3 again if all training sets that it has are here, and one more of the paper's."""
    of_paper = [grid.bank for grid in grids if grid.bank.release == published.RELEASE and grid.bank.lang in published.coverage()]
    folders = {bank.paths["train"].parent for bank in of_paper}
    kept = set(coverage.recorded(results))
    for folder in folders:
        here = {lang for lang in published.coverage() if (folder / ("%s-ud-train.conllu" % lang)).is_file()}
        if here > kept:
            coverage.write(coverage.measure(folder), results, make_command("coverage", UD=str(folder)))
