"""``make plan``: what ``make paper`` would take: processor time, memory and disk of each treebank, and wall-clock time on some cores.

Nothing is trained or downloaded, except for a short calibration, which measures the speed of each system on this machine.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import options
import paper
from provenance import EXPERIMENTS, machine
from rich.console import Console
from tables import plan as table
from training import costs
from training.treebank import identified
from training.workflow import Grid, disk

from mh4.data import treebanks
from mh4.errors import InputError

USAGE = 'usage: make plan [LANGS="hu got"] [SYSTEMS="mh3 mst"] [SEEDS="1 2"] [UD=folder] [CORES=16]'
NAMES = ("langs", "systems", "seeds", "ud", "conll17", "jobs", "settings", "cores", "home")
CORES = "16"


def main(arguments: Sequence[str]) -> int:
    """The command; exit codes and --home as in workflow.main."""
    typed = options.options(arguments, USAGE, NAMES)
    return options.answered("plan", lambda: USAGE, typed.help, lambda: _plan(typed, Path(typed.home or EXPERIMENTS).resolve()))


def _plan(typed, home: Path) -> int:
    asked, cores = options.requests(typed), options.number_of_jobs(typed.cores or CORES, "CORES")
    grids, sizes = [], {}
    for one in asked:
        folder = Path(one.ud) if one.ud else treebanks.default_folder()
        files = {split: folder / ("%s-ud-%s.conllu" % (one.lang, split)) for split in ("train", "dev")}
        files = treebanks.locate(one.lang) if one.lang == treebanks.TOY else files
        sizes[one.lang] = costs.size(one.lang, files)
        if files["train"].is_file() and files["dev"].is_file():
            bank = identified(one.lang, {split: files[split] for split in ("train", "dev")})
            grids.append(Grid(bank, one.systems, one.seeds, (), home))
    if {one.lang == treebanks.TOY for one in asked} != {grid.bank.lang == treebanks.TOY for grid in grids}:
        raise InputError(
            "no training set is here to measure speed on: fetch one, with `mh4 data hu`, or name a folder with UD=folder"
        )
    wanted = tuple(dict.fromkeys(system for one in asked for system in one.systems))
    speeds, lasting = costs.speeds(grids, home, wanted), costs.evaluations(EXPERIMENTS / "results")
    sizes = costs.completed(sizes)
    missing = {grid.bank.lang: grid.missing for grid in grids}
    rows, jobs = [], []
    for one in asked:
        toy, size = one.lang == treebanks.TOY, sizes[one.lang]
        times = {system: costs.seconds(system, size, speeds[costs.key(toy, system)], lasting, toy) for system in one.systems}
        trainings = [times[system] for system in one.systems for _ in one.seeds]
        left = (
            [times[run.system] for run in missing.get(one.lang, ()) if run.system in times] if one.lang in missing else trainings
        )
        memory = max(speeds[costs.key(toy, system)].memory for system in one.systems)
        rows.append(table.Row(one.lang, size, len(trainings), sum(trainings), len(left), sum(left), memory))
        jobs += trainings
    console = Console(highlight=False)
    table.table(rows).print(console)
    total = table.Total(sum(jobs), costs.wall_clock(jobs, cores), cores, max(jobs), disk(len(jobs), cores))
    for line in table.notes(rows, total, speeds, machine()["processor"], os.cpu_count() or 1):
        console.print(line, soft_wrap=True, markup=False)
    if not typed.langs and not typed.systems and not typed.seeds:
        grid = _of_table_4(asked, sizes, speeds, lasting)
        console.print(table.goal(len(grid), sum(grid), costs.wall_clock(grid, cores), cores), soft_wrap=True)
    return 0


def _of_table_4(asked, sizes, speeds, lasting) -> list[float]:
    """The seconds of each training of the paper's grid: Table 4's systems on all treebanks."""
    return [
        costs.seconds(system, sizes[one.lang], speeds[system], lasting)
        for one in asked
        for system in paper.systems("")
        for _ in one.seeds
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
