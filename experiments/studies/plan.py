"""``make plan [LANGS="hu got"] [SYSTEMS="mh3 mst"] [SEEDS="1 2"] [SETTINGS=authors] [UD=folder] [CORES=16]``: what the paper would take

Processor time, memory and disk of the trainings of ``make paper`` on each treebank, and wall-clock time on some cores. Nothing is
trained or downloaded, except for a short calibration, which measures the speed of each system on this machine. A training lasts until
its score stops improving, which cannot be known before: it is taken to last as many evaluations as the recorded trainings of its system
did (the median); an evaluation comes every 500 updates or quarter of an epoch.
"""

import heapq
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

from experiments import published
from experiments.engine import records
from experiments.engine.command import requests, study, whole_number
from experiments.engine.experiment import Experiment
from experiments.engine.provenance import machine
from experiments.engine.run import duration, read_json, system_and_loss, write_json
from experiments.engine.treebank import absent, identified
from experiments.engine.workplace import RESULTS, Bench
from experiments.pages import print_table
from mh4.cli.group import say
from mh4.data import conllu, treebanks
from mh4.errors import InputError, counted
from mh4.parser import config, systems
from mh4.util import cpu, memory
from mh4.util.processes import temporary_child
from mh4.util.text_tables import Table

CORES = "16"
WARM_UP, MINIBATCHES, PARSED = 5, 40, 100  # minibatches, and sentences of dev
START_UP = 20  # seconds: loading, fitting the temperature, parsing, scoring
USUAL_EVALUATIONS = 45  # where no training is recorded
# On disk: a trained model, and one in training (with the optimizer's state, of which there are two while it is being replaced).
MODEL_MB, TRAINING_MB = 15, 80
HOW = "fetch one, with `mh4 data hu`, or name a folder with UD=folder"


@dataclass(frozen=True)
class Speed:
    """The speed of a system, in words per second of processor time in training and parsing, and its peak memory in MB."""

    training: float
    parsing: float
    memory: int


@dataclass(frozen=True)
class Size:
    """The size of a treebank: sentences and words of train, words of dev. known: False if it is a guess."""

    sentences: int
    words: int
    dev_words: int
    known: bool = True


@study(
    langs="by default those of make paper",
    systems="as for make paper",
    seeds="as for make paper",
    ud="the folder of treebanks; by default data/ud-2.0",
    cores="the number of cores to compute the time for; by default %s" % CORES,
)
def plan(bench: Bench, langs: str, systems: str, seeds: str, settings: str, ud: str, cores: str) -> None:
    asked = requests(langs, systems, seeds, ud=ud, settings=settings)
    on_cores = whole_number("CORES", cores or CORES)
    experiments, sizes = [], {}
    for one in asked:
        folder = Path(one.ud) if one.ud else treebanks.default_folder()
        files = {split: folder / ("%s-ud-%s.conllu" % (one.lang, split)) for split in ("train", "dev")}
        files = treebanks.locate(one.lang) if one.lang == treebanks.TOY else files
        sizes[one.lang] = size_of(one.lang, files)
        here = {split: files[split] for split in ("train", "dev") if files[split].is_file()}
        bank = identified(one.lang, here) if len(here) == 2 else absent(one.lang)
        experiments.append(Experiment(bank.with_settings(one.settings), one.systems, one.seeds, "", bench))
    measurable = [experiment for experiment in experiments if experiment.bank.paths]
    if {one.lang == treebanks.TOY for one in asked} != {experiment.bank.lang == treebanks.TOY for experiment in measurable}:
        raise InputError("no training set is here to measure speed on: " + HOW)
    wanted = tuple(dict.fromkeys(system for one in asked for system in one.systems))
    speeds, lasting = measured_speeds(measurable, bench.home, wanted), evaluations(RESULTS, asked[0].settings)
    sizes, body, trainings, left = completed(sizes), [], list[float](), list[float]()
    for one, experiment in zip(asked, experiments, strict=True):
        lang, size, toml_files = one.lang, sizes[one.lang], experiment.bank.settings_files
        measured = {system: speeds[key(lang, one.settings, system)] for system in one.systems}
        mine = {system: seconds(system, size, speed, lasting, toml_files) for system, speed in measured.items()}
        lasts = [mine[system] for system in one.systems for _ in one.seeds], [mine[run.system] for run in experiment.missing()]
        trainings, left = trainings + lasts[0], left + lasts[1]
        words = [("" if size.known else "~") + "%d" % number for number in (size.words, size.dev_words)]
        times = [cell for each in lasts for cell in ("%d" % len(each), "%.1f" % (sum(each) / 3600))]
        body.append([lang, *words, *times, "%d" % max(speed.memory for speed in measured.values())])
    header = ["treebank", "train words", "dev words", "runs", "core-hours", "left", "core-hours", "MB"]
    print_table(Table(header, body, right=1), bench.console)
    guessed = [lang for lang, size in sizes.items() if not size.known]
    for line in notes(trainings, left, guessed, on_cores, speeds):
        bench.console.print(line, soft_wrap=True)


def notes(
    trainings: Sequence[float], left: Sequence[float], guessed: Sequence[str], cores: int, speeds: Mapping[str, Speed]
) -> Iterator[str]:
    """The totals of the table, and the measurements behind it."""
    hours, wall, gigabytes = (sum(trainings) / 3600, wall_clock(trainings, cores) / 3600, disk(len(trainings), cores) / 1000)
    numbers = len(trainings), hours, counted(cores, "core"), wall, duration(max(trainings))
    said = "%d trainings: %.1f core-hours, on %s %.1f hours; the longest takes %s." % numbers
    yield said + " Disk: %.1f GB, memory (MB) for each at a time." % gigabytes
    yield "Not yet recorded: %d of these, %.1f core-hours." % (len(left), sum(left) / 3600)
    listed = ", ".join("%s %d" % (name, speed.training) for name, speed in speeds.items())
    here = "%s, %s" % (cpu.name(), counted(os.cpu_count() or 1, "core"))
    yield "Measured here (%s), words per second of one core in training: %s." % (here, listed)
    yield "Trainings are taken to last as many evaluations as those recorded did (the median); they may take half or twice as long."
    if guessed:
        yield "Sizes that are not known (~), since the files are not here, are taken to be typical: %s." % ", ".join(guessed)


def measure(system: str, settings: config.Config, train: str, dev: str) -> Speed:
    """Train on some minibatches and parse some sentences, in this process, which should do nothing else before or after."""
    import numpy as np

    from mh4.parser.parsing import Parser
    from mh4.training.trainer import Trainer, evaluate
    from mh4.util.batching import shuffled_minibatches

    sentences, held_out = conllu.read(train), conllu.read(dev)[:PARSED]
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(system, settings, sentences, held_out, folder)
        lengths = [len(sentence) for sentence in sentences]
        batches = shuffled_minibatches(lengths, settings.training.batch_tokens, np.random.default_rng(1))
        for batch in batches[:WARM_UP]:
            trainer.learn(batch)
        words, start = trainer.progress.words, time.process_time()
        for batch in batches[WARM_UP : WARM_UP + MINIBATCHES] or batches:
            trainer.learn(batch)
        trained, middle = trainer.progress.words - words, time.process_time()
        evaluate(Parser(trainer.model), held_out)
        end = time.process_time()
    return Speed(trained / (middle - start), sum(map(len, held_out)) / (end - middle), memory.peak_mb())


def measured_speeds(experiments: Sequence[Experiment], home: Path, systems: Sequence[str] = ()) -> dict[str, Speed]:
    """Return the speed of each system on this machine, by `key`. experiments: all with the same settings.

    systems: those to measure in addition to their own. What was measured on this machine before, with the same software, is read from
    ``speeds.json``.
    """
    path = home / "speeds.json"
    known = _kept(path)
    for toy in (False, True):
        mine = [one for one in experiments if (one.bank.lang == treebanks.TOY) is toy]
        if not mine:
            continue
        # Of usual length: the treebank of median sentence length.
        bank = sorted((one.bank for one in mine), key=lambda bank: _length(bank.paths))[len(mine) // 2]
        for system in sorted({system for one in mine for system in (*one.systems, *systems)}, key=published.place):
            name = key(bank.lang, bank.settings, system)
            if name in known:
                continue
            say("measuring the speed of %s on %s" % (system, bank.name), err=True)
            with temporary_child("measuring the speed of %s" % system) as child:  # as its memory is measured
                files = [str(bank.paths[split]) for split in ("train", "dev")]
                known[name] = child.call(measure, system_and_loss(system)[0], bank.config(system), *files)
            write_json(path, {"machine": machine(), "speeds": {name: asdict(speed) for name, speed in known.items()}})
    return known


def _kept(path: Path) -> dict[str, Speed]:
    """Return the speeds in a file; none if it is damaged, or from another machine."""
    kept = read_json(path)
    try:
        known = {name: Speed(**speed) for name, speed in kept["speeds"].items()} if kept.get("machine") == machine() else {}
        return known if all(min(vars(speed).values()) > 0 for speed in known.values()) else {}
    except (AttributeError, KeyError, TypeError):
        return {}


def key(lang: str, settings: str, system: str) -> str:
    """The name of a system's speed: "mst", "authors/mst" with other settings, or "toy/mst" for the small network of the toy treebank."""
    return "/".join(filter(None, ["toy" if lang == treebanks.TOY else "", settings, system]))


def _length(paths: dict[str, Path]) -> float:
    sentences = conllu.read(str(paths["train"]))
    return sum(map(len, sentences)) / len(sentences)


def size_of(lang: str, paths: dict[str, Path]) -> Size:
    """The size of a treebank, counted where the files are there, otherwise from the paper's Table 3; 0 where that does not list it."""
    counted = {split: conllu.read(str(path)) for split, path in paths.items() if path.is_file()}
    words = {split: sum(map(len, sentences)) for split, sentences in counted.items()}
    paper = published.coverage().get(lang, {"sentences": "0", "words": "0"})
    sentences = len(counted["train"]) if "train" in counted else int(paper["sentences"])
    return Size(sentences, words.get("train", int(paper["words"])), words.get("dev", 0))


def completed(sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the sizes with the median of the known ones in place of those that are 0, marked as a guess."""
    counts = {name: [getattr(one, name) for one in sizes.values()] for name in ("sentences", "words", "dev_words")}
    typical = {name: int(statistics.median(list(filter(None, known)) or [1])) for name, known in counts.items()}
    guessed = {}
    for lang, one in sizes.items():
        missing = {name: number for name, number in typical.items() if not getattr(one, name)}
        guessed[lang] = replace(one, **missing, known=False) if missing else one
    return guessed


def evaluations(results: Path, settings: str = "") -> dict[str, float]:
    """Return the median number of evaluations of the recorded trainings of each system with these settings; under "", of all."""
    found: dict[str, list[int]] = {}
    for record in chain.from_iterable(records.load_all(results).values()):
        if "evaluations" in record and record.get("settings_of", "") == settings:
            for system in ("", record["system"]):
                found.setdefault(system, []).append(record["evaluations"])
    return {system: statistics.median(numbers) for system, numbers in found.items()}


def seconds(system: str, treebank: Size, speed: Speed, lasting: dict[str, float], files: Sequence[Path] = ()) -> float:
    """Return the processor time of a training, with parsing and scoring. files: of settings, if not the defaults."""
    settings = systems.settings(map(str, files), system).training
    # A minibatch ends with the sentence in which it reaches its number of words.
    minibatch = settings.batch_tokens + treebank.words / treebank.sentences / 2
    every = max(settings.evaluate_updates, treebank.words / minibatch / 4)
    once = every * minibatch / speed.training + treebank.dev_words / speed.parsing
    return START_UP + lasting.get(system, lasting.get("", USUAL_EVALUATIONS)) * once + 3 * treebank.dev_words / speed.parsing


def wall_clock(jobs: Sequence[float], cores: int) -> float:
    """Return the time that jobs of these lengths take on this number of cores, if a free core always takes the longest job that is left."""
    free = [0.0] * cores
    for job in sorted(jobs, reverse=True):
        heapq.heapreplace(free, free[0] + job)
    return max(free)


def disk(trainings: int, at_once: int) -> int:
    """Return the MB that trained models take, and those in training."""
    return trainings * MODEL_MB + min(at_once, trainings) * TRAINING_MB
