"""Executes many runs with Snakemake, here or on a cluster with Slurm: which records are to be made, and how it is started.

What Snakemake is to make is in ``Snakefile``. It runs in an environment of its own (.venv-workflow) and only starts
``python -m experiments single``, so it needs neither mh4 nor its Python.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from experiments.engine.ensembles import MEMBERS, NAME
from experiments.engine.models import finished_runs
from experiments.engine.provenance import EXPERIMENTS, shown
from experiments.engine.records import Records
from experiments.engine.run import RECORDED, Run, write_json
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench
from mh4.errors import InputError
from mh4.util.files import lock, make_folder
from mh4.util.processes import with_parent

SNAKEMAKE = EXPERIMENTS.parent / ".venv-workflow" / "bin" / "snakemake"
POLL_SECONDS = 1.0
PROFILES = ("local", "slurm")
# On disk: a trained model, and one in training (with the optimizer's state, of which there are two while it is being replaced).
MODEL_MB, TRAINING_MB = 15, 80


@dataclass
class Grid:
    """The runs to be recorded of a treebank, and the options with which ``single`` finds its files.

    not_combined: the seeds without an ensemble, because a model has a record but is not on this machine.
    """

    bank: Treebank
    systems: Sequence[str]
    seeds: Sequence[int]
    options: Sequence[str]
    home: Path

    def __post_init__(self) -> None:
        bench = Bench(self.home)
        self.records, models = Records(bench.results, self.bank), bench.models(self.bank.name)
        self.runs = [Run.at(models, system, seed) for seed in self.seeds for system in self.systems]
        self.not_combined: list[int] = []
        if set(MEMBERS) <= set(self.systems):
            # An ensemble needs models: those that are here, and those that are to be trained.
            there = {(run.system, run.seed) for system in MEMBERS for run in finished_runs(bench, self.bank, system)}
            there |= {(run.system, run.seed) for run in self.unfinished()}
            for seed in self.seeds:
                run = Run.at(models, NAME, seed)
                if self.records.of(run) or all((system, seed) in there for system in MEMBERS):
                    self.runs.append(run)
                else:
                    self.not_combined.append(seed)
        self.missing = self.unfinished()

    def unfinished(self) -> list[Run]:
        """The runs that have no record."""
        return [run for run in self.runs if not self.records.of(run)]


@dataclass(frozen=True)
class Resources:
    """What a training asks a cluster for: memory in MB, and minutes."""

    memory: int = 1000
    minutes: int = 120


def folder_of(home: Path) -> Path:
    """The folder of the driver: its lock and configuration, logs, and measured speeds."""
    return home / "runs" / "workflow"


def disk(trainings: int, at_once: int) -> int:
    """The MB that trained models take, and those in training."""
    return trainings * MODEL_MB + min(at_once, trainings) * TRAINING_MB


def check(profile: str) -> None:
    """Raises InputError if this profile cannot be used here."""
    if profile not in PROFILES:
        raise InputError("PROFILE: %s is neither %s" % (profile, " nor ".join(PROFILES)))
    if profile == "slurm":
        lacking = [name for name in ("sbatch", "sinfo", "squeue", "scancel", "sacct") if not shutil.which(name)]
        if lacking:
            raise InputError(
                "PROFILE=slurm: there is no Slurm here (no %s); use PROFILE=local, or a machine of the cluster"
                % ", ".join(lacking)
            )
        asked = subprocess.run(["sinfo", "--noheader"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if asked.returncode:
            why = (asked.stderr.decode(errors="replace").strip().splitlines() or ["sinfo failed"])[-1]
            raise InputError("PROFILE=slurm: Slurm does not answer: %s" % why)


def check_folders(grids: Sequence[Grid], jobs: int) -> None:
    """Raises InputError if records cannot be written, or if the models that are still to be trained do not fit on the disk."""
    for grid in grids:
        make_folder(grid.records.results)
        if not os.access(grid.records.results, os.W_OK):
            raise InputError("%s: records cannot be written there" % shown(grid.records.results))
    missing, home = sum(len(grid.missing) for grid in grids), grids[0].home
    needed = disk(missing, jobs)
    make_folder(home)
    free = shutil.disk_usage(home).free // 1_000_000
    if free < needed:
        raise InputError(
            "the disk is too full: training needs about %d MB in %s, and %d MB are free" % (needed, shown(home), free)
        )


@contextmanager
def only_one(home: Path) -> Iterator[int]:
    """The file descriptor of a lock that is held until the end of the block, or as long as a process that inherited it exists.

    Raises InputError if another driver has it.
    """
    make_folder(folder_of(home))
    with open(folder_of(home) / "lock", "wb") as file:
        if not lock(file.fileno()):
            raise InputError("another make paper is running in %s: wait for it to finish, or stop it" % shown(home))
        yield file.fileno()


def execute(
    grids: Sequence[Grid], command: str, profile: str, jobs: int | None, resources: Resources, more: Sequence[str], locked: int
) -> None:
    """Has Snakemake make the missing records; afterwards `Grid.unfinished` tells what it did not make.

    command: the command that repeats all of it, for the records. jobs: at a time; None for all at once, so that a cluster always
    has the next one. more: further options of Snakemake. locked: the lock of `only_one`, which Snakemake inherits.

    On Slurm, trainings are separate jobs. In an array of snakemake-executor-plugin-slurm 2.8, each task deletes the record of the
    first one, if that has ended; and a group of jobs ends with the first of them that fails.

    Raises InputError for records of other settings. If it is interrupted, Snakemake stops its jobs first.
    """
    home = grids[0].home
    folder = folder_of(home)
    for grid in grids:
        grid.records.check_settings(grid.systems)
        for run in grid.missing:
            if run.system == NAME and grid.records.forget(run):
                again = "to be combined again, as members are no longer those that are recorded: %s %s"
                print(again % (grid.bank.name, run.name), flush=True)
        for run in grid.runs:  # a file for each record, which Snakemake needs
            (run.folder / RECORDED).unlink(missing_ok=True)
            if run not in grid.missing:
                make_folder(run.folder)
                (run.folder / RECORDED).touch()
    config = {
        "single": [sys.executable, "-m", "experiments", "--home", str(home), "single"],
        "cwd": str(EXPERIMENTS.parent),
        "command": command,
        "members": MEMBERS,
        "treebanks": {grid.bank.name: list(grid.options) for grid in grids},
        "records": [[grid.bank.name, run.system, run.seed] for grid in grids for run in grid.runs],
        "memory": resources.memory,
        "minutes": resources.minutes,
    }
    config_file = folder / "config.json"
    write_json(config_file, config)
    trainings = sum(len(grid.missing) for grid in grids)
    at_once = str(jobs or max(trainings, 1))
    words = [str(SNAKEMAKE), "--snakefile", str(Path(__file__).with_name("Snakefile")), "--configfile", str(config_file)]
    # The lock is ours, and so a driver that was killed leaves none behind. A record is made again only if it is missing, or was
    # being made when the driver was killed.
    words += ["--directory", str(folder), "--nolock", "--rerun-triggers", "mtime", "--rerun-incomplete", "--keep-going"]
    words += ["--quiet", "host", "progress", "reason", "rules", "--executor", profile, "--jobs", at_once]
    if profile == "slurm":
        prefix = "mh4-" + hashlib.sha1(str(home).encode()).hexdigest()[:8]
        _cancel(prefix)
        words += ["--slurm-requeue", "--slurm-logdir", str(folder / "slurm"), "--latency-wait", "60"]
        words += ["--slurm-jobname-prefix", prefix]
    else:
        words += ["--cores", at_once]
    stopped_with_us = with_parent(signal.SIGINT)

    def begin() -> None:
        """Let Snakemake be interrupted, which is how it is told to stop, even if Ctrl-C is ignored, as in a script after &."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stopped_with_us()

    with open(log(home), "wb") as said:
        process = subprocess.Popen([*words, *more], pass_fds=[locked], stdout=said, stderr=subprocess.STDOUT, preexec_fn=begin)
    try:
        _report(process, grids)
    except BaseException as error:
        if not isinstance(error, KeyboardInterrupt):  # which Snakemake got too
            process.send_signal(signal.SIGINT)
        process.wait()
        raise


def _cancel(prefix: str) -> None:
    """Cancels the jobs that a killed driver has left behind, for which no one waits any more; they resume as new ones."""
    listed = subprocess.run(["squeue", "--me", "--noheader", "--format=%A %j"], stdout=subprocess.PIPE).stdout.decode()
    left = {job for job, _, name in (line.partition(" ") for line in listed.splitlines()) if name.startswith(prefix)}
    if left:
        subprocess.run(["scancel", *sorted(left)])


def _report(process: subprocess.Popen, grids: Sequence[Grid]) -> None:
    """Prints a line for each new record until the process ends."""
    waiting = [(grid, run) for grid in grids for run in grid.missing]
    all_of_them, ended = len(waiting), False
    while not ended:
        ended = process.poll() is not None
        for grid, run in list(waiting):
            record = grid.records.of(run)
            if record:
                waiting.remove((grid, run))
                done = "%d of %d" % (all_of_them - len(waiting), all_of_them)
                print("%s  %s %s: dev UAS %.2f" % (done, grid.bank.name, run.name, record["dev_uas"]), flush=True)
        time.sleep(0 if ended else POLL_SECONDS)


def log(home: Path) -> Path:
    """The output of Snakemake since it was last started."""
    return folder_of(home) / "snakemake.log"


def failure(grid: Grid, run: Run) -> str:
    """What is known of a run that has no record: the path of the log of its job, with the last line of it, except for advice."""
    path, configured = run.folder / "job.log", folder_of(grid.home) / "config.json"
    said = "%s %s: no record; " % (grid.bank.name, run.name)
    if not path.exists() or path.stat().st_mtime < configured.stat().st_mtime:
        return said + "its job was not started"
    lines = map(str.strip, path.read_text(encoding="utf-8", errors="replace").splitlines())
    told = [line for line in lines if line and not line.startswith("(")]
    return said + "log in %s%s" % (shown(path), ": " + told[-1] if told else "")
