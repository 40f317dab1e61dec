"""``make plan [LANGS="hu got"] [SYSTEMS="mh3 mst"] [SEEDS="1 2"] [SETTINGS=authors] [UD=folder] [CORES=16]``: what the paper would take

Processor time, memory and disk of the trainings of ``make paper`` on each treebank, and wall-clock time on some cores. Nothing is
trained or downloaded, except for a short calibration, which measures the speed of each system on this machine.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.engine import costs, options
from experiments.engine.command import study
from experiments.engine.costs import Size, Speed
from experiments.engine.experiment import Experiment
from experiments.engine.provenance import RESULTS
from experiments.engine.run import duration
from experiments.engine.treebank import absent, identified, settings_files
from experiments.engine.workplace import Bench
from experiments.pages.writer import print_table
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util import cpu
from mh4.util.text_tables import Table

CORES = "16"
HOW = "fetch one, with `mh4 data hu`, or name a folder with UD=folder"


@dataclass(frozen=True)
class Row:
    """A treebank: its size, the processor time in seconds of each training, of each not yet recorded, and the memory of one in MB."""

    lang: str
    size: Size
    trainings: Sequence[float]
    left: Sequence[float]
    memory: int


@study
@options.variable("langs", "by default those of make paper")
@options.variable("systems", "as for make paper")
@options.variable("seeds", "as for make paper")
@options.SETTINGS
@options.variable("ud", "the folder of treebanks; by default data/ud-2.0")
@options.variable("cores", "the number of cores to compute the time for; by default %s" % CORES)
def plan(bench: Bench, langs: str, systems: str, seeds: str, settings: str, ud: str, cores: str) -> None:
    asked = options.requests(langs, systems, seeds, ud=ud, settings=settings)
    on_cores = options.number_of_jobs(cores or CORES, "CORES")
    experiments, sizes = [], {}
    for one in asked:
        folder = Path(one.ud) if one.ud else treebanks.default_folder()
        files = {split: folder / ("%s-ud-%s.conllu" % (one.lang, split)) for split in ("train", "dev")}
        files = treebanks.locate(one.lang) if one.lang == treebanks.TOY else files
        sizes[one.lang] = costs.size(one.lang, files)
        here = {split: files[split] for split in ("train", "dev") if files[split].is_file()}
        bank = identified(one.lang, here) if len(here) == 2 else absent(one.lang)
        experiments.append(Experiment(bank.with_settings(one.settings), one.systems, one.seeds, "", bench))
    measurable = [experiment for experiment in experiments if experiment.bank.paths]
    if {one.lang == treebanks.TOY for one in asked} != {experiment.bank.lang == treebanks.TOY for experiment in measurable}:
        raise InputError("no training set is here to measure speed on: " + HOW)
    wanted = tuple(dict.fromkeys(system for one in asked for system in one.systems))
    speeds, lasting = costs.speeds(measurable, bench.home, wanted), costs.evaluations(RESULTS, asked[0].settings)
    sizes = costs.completed(sizes)
    rows = []
    for one, experiment in zip(asked, experiments, strict=True):
        lang, size, of_settings = one.lang, sizes[one.lang], settings_files(one.lang, one.settings)
        measured = {system: speeds[costs.key(lang, one.settings, system)] for system in one.systems}
        mine = {system: costs.seconds(system, size, speed, lasting, of_settings) for system, speed in measured.items()}
        each = [mine[system] for system in one.systems for _ in one.seeds]
        left = [mine[run.system] for run in experiment.missing()]
        memory = max(speed.memory for speed in measured.values())
        rows.append(Row(lang, size, each, left, memory))
    print_table(table(rows), bench.console)
    for line in notes(rows, on_cores, speeds):
        bench.console.print(line, soft_wrap=True)


def table(rows: Sequence[Row]) -> Table:
    """A row for each treebank."""
    header = ["treebank", "train words", "dev words", "runs", "core-hours", "left", "core-hours", "MB"]
    body = []
    for row in rows:
        about = "" if row.size.known else "~"
        sizes = [about + "%d" % row.size.words, about + "%d" % row.size.dev_words]
        times = [cell for each in (row.trainings, row.left) for cell in ("%d" % len(each), "%.1f" % (sum(each) / 3600))]
        body.append([row.lang, *sizes, *times, "%d" % row.memory])
    return Table(header, body, right=1)


def notes(rows: Sequence[Row], cores: int, speeds: Mapping[str, Speed]) -> Iterator[str]:
    """What the table adds up to, and what it rests on."""
    trainings, left = [one for row in rows for one in row.trainings], [one for row in rows for one in row.left]
    hours, wall, gigabytes = (
        sum(trainings) / 3600,
        costs.wall_clock(trainings, cores) / 3600,
        costs.disk(len(trainings), cores) / 1000,
    )
    said = "%d trainings: %.1f core-hours, on %d cores %.1f hours; the longest takes %s. Disk: %.1f GB, memory (MB) for each at a time."
    yield said % (len(trainings), hours, cores, wall, duration(max(trainings)), gigabytes)
    yield "Not yet recorded: %d trainings, %.1f core-hours." % (len(left), sum(left) / 3600)
    listed = ", ".join("%s %d" % (name, speed.training) for name, speed in speeds.items())
    here = "%s, %d cores" % (cpu.name(), os.cpu_count() or 1)
    yield "Measured here (%s), words per second of one core in training: %s." % (here, listed)
    yield "Trainings are taken to last as many evaluations as those recorded did (the median); they may take half or twice as long."
    guessed = [row.lang for row in rows if not row.size.known]
    if guessed:
        yield "Sizes that are not known (~), since the files are not here, are taken to be typical: %s." % ", ".join(guessed)
