"""``make reproduce LANG=hu``: trains systems and seeds on one treebank and puts the dev UAS beside the paper's Table 4.

Models are kept in ``experiments/runs/NAME/SYSTEM/seedN``, small text files about finished ones and the table in
``experiments/results/``. NAME is the treebank's code, with the release when the files are not those of UD 2.0, so that different
data never mix. What is finished is not trained again; what was cut off resumes from where it was.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from rich import box
from rich.console import Console
from rich.table import Table

import grid
import predictions
import report
from mh4 import treebanks
from mh4.errors import InputError
from mh4.evaluation import official
from mh4.files import write_text
from mh4.systems import SYSTEMS

EXPERIMENTS = Path(__file__).resolve().parent
DEFAULT_SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")
DEFAULT_SEEDS = "1 2 3"
TOY_SEEDS = "1 2"
MOST_JOBS = 4
SEGMENTATION = "%s-udpipe.conllu"
TRAINER = (sys.executable, "-m", "mh4")

USAGE = 'usage: make reproduce LANG=hu [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]'
OPTIONS = """\
  LANG     {languages},
           or toy: a small invented language, needs no network and takes about two minutes
  SYSTEMS  of {systems}; {default} if not given
  SEEDS    whole numbers from 1 on; {seeds} if not given ({toy_seeds} for toy; the paper ran five)
  UD       a folder that has the treebank's files already; otherwise they are downloaded
  CONLL17  a folder with the shared task's segmentation of the test set, {segmentation} (data/conll17 if not given);
           models parse it when they are trained, and without it the record of a run has no test scores
  JOBS     trainings at a time, each on one core; if not given, as many as there are cores, at most {jobs}"""


class UsageError(InputError):
    """LANG is not a treebank: the usage is what the user needs to see."""


@dataclass(frozen=True)
class Request:
    """What the user asked for, checked."""

    lang: str
    systems: Tuple[str, ...]
    seeds: Tuple[int, ...]
    jobs: int
    ud: Optional[str]
    conll17: Optional[str] = None

    def command(self) -> str:
        """The command to repeat it, without what only this machine has (JOBS, and a folder's absolute path)."""
        parts = ["make reproduce", "LANG=" + self.lang]
        if self.systems != DEFAULT_SYSTEMS:
            parts.append('SYSTEMS="%s"' % " ".join(self.systems))
        parts.append('SEEDS="%s"' % " ".join(map(str, self.seeds)))
        for name, folder in (("UD", self.ud), ("CONLL17", self.conll17)):
            if folder:
                parts.append("%s=%s" % (name, Path(folder).name if os.path.isabs(folder) else folder))
        return " ".join(parts)


@dataclass(frozen=True)
class Treebank:
    """The files to train and evaluate on, and what they are: a release of UD if their git blob ids say so.

    paths, blobs: of train and dev. test: the test set, and the file with its words that is parsed; None where one is missing.
    """

    lang: str
    name: str  # of the folders and files of results
    release: str
    paths: Dict[str, Path]
    blobs: Dict[str, str]
    test: Optional[Tuple[Path, Path]] = None


def request(lang: str, systems: str, seeds: str, ud: str, jobs: str, conll17: str = "") -> Request:
    """Checks what was typed; empty means default. Raises UsageError for LANG and InputError for the others."""
    if not lang.strip():
        raise UsageError("LANG is not given")
    if lang not in languages():
        locale = re.match(r"^([A-Za-z]{2,3}_[A-Za-z]{2}|C|POSIX)([.@].*)?$", lang)
        why = "is the locale of your shell; give the treebank's code after make reproduce" if locale else "is not the code of a treebank"
        raise UsageError("LANG=%s %s" % (lang, why))
    chosen = tuple(dict.fromkeys(systems.split())) or DEFAULT_SYSTEMS
    for system in chosen:
        if system not in SYSTEMS:
            raise InputError("SYSTEMS: no system %s; there are %s" % (system, ", ".join(SYSTEMS)))
    numbers = tuple(dict.fromkeys(seeds.split() or (TOY_SEEDS if lang == treebanks.TOY else DEFAULT_SEEDS).split()))
    for number in numbers:
        if not re.match(r"^[1-9][0-9]{0,8}$", number):
            raise InputError('SEEDS: %s is not a whole number from 1 on; expected something like SEEDS="1 2 3"' % number)
    at_a_time = number_of_jobs(jobs)
    ud, conll17 = os.path.expanduser(ud), os.path.expanduser(conll17)
    for name, folder in (("UD", ud), ("CONLL17", conll17)):
        if folder and not os.path.isdir(folder):
            raise InputError("%s: %s is not a folder" % (name, folder))
    return Request(
        lang=lang,
        systems=chosen,
        seeds=tuple(map(int, numbers)),
        jobs=at_a_time,
        ud=None if lang == treebanks.TOY else ud or None,  # the toy treebank is always our own
        conll17=None if lang == treebanks.TOY else conll17 or None,
    )


def number_of_jobs(jobs: str) -> int:
    """How many trainings at a time; empty means as many as there are cores, at most MOST_JOBS."""
    if not jobs.strip():
        return min(_cores(), MOST_JOBS)
    if not re.match(r"^[1-9][0-9]{0,3}$", jobs.strip()):
        raise InputError("JOBS: %s is not a whole number from 1 on" % jobs)
    return int(jobs)


def languages() -> List[str]:
    """The codes that LANG can be."""
    return [*treebanks.languages(), treebanks.TOY]


def usage() -> str:
    """The usage line and what can stand there."""
    options = OPTIONS.format(
        languages=" ".join(treebanks.languages()),
        systems=" ".join(SYSTEMS),
        default="all" if set(DEFAULT_SYSTEMS) == set(SYSTEMS) else " ".join(DEFAULT_SYSTEMS),
        seeds=DEFAULT_SEEDS,
        toy_seeds=TOY_SEEDS,
        jobs=MOST_JOBS,
        segmentation=SEGMENTATION % "LANG",
    )
    return USAGE + "\n" + options


def treebank(lang: str, paths: Dict[str, Path]) -> Treebank:
    """Says what the files are: "UD 2.0" only if train and dev both are those of that release for this language."""
    blobs = {split: treebanks.git_blob_id(path) for split, path in paths.items()}
    rows = {split: treebanks.identify(path) for split, path in paths.items()}
    releases = {row.release if row and (row.lang, row.split) == (lang, split) else None for split, row in rows.items()}
    if lang == treebanks.TOY:
        name, release = treebanks.TOY, "toy treebank"
    elif len(releases) == 1 and None not in releases:
        number = releases.pop()
        name, release = (lang if "UD " + number == report.PAPER_RELEASE else "%s-ud%s" % (lang, number)), "UD " + number
    else:
        name, release = "%s-files-%s" % (lang, hashlib.sha1("".join(sorted(blobs.values())).encode()).hexdigest()[:8]), "unidentified files"
    return Treebank(lang=lang, name=name, release=release, paths=paths, blobs=blobs)


class Experiment:
    """A treebank's runs: where they are, what is finished, and what is kept of them."""

    def __init__(self, asked: Request, bank: Treebank, trainer: Sequence[str], home: Path, cwd: Path) -> None:
        self.asked, self.bank, self.home, self.cwd = asked, bank, home, cwd
        self.results = home / "results"
        self.parser = trainer
        self.settings = EXPERIMENTS / "toy.toml" if asked.lang == treebanks.TOY else None
        self.runs = [self._run(system, seed, trainer) for seed in asked.seeds for system in asked.systems]

    def _run(self, system: str, seed: int, trainer: Sequence[str]) -> grid.Run:
        folder = self.home / "runs" / self.bank.name / system / ("seed%d" % seed)
        command = [*trainer, "train", "--system", system, "--train", str(self.bank.paths["train"]), "--dev", str(self.bank.paths["dev"])]
        command += ["--model", self._path(folder), "--seed", str(seed)]
        if self.settings:
            command += ["--config", self._path(self.settings)]
        return grid.Run(system=system, seed=seed, folder=folder, command=command)

    def _path(self, path: Path) -> str:
        relative = os.path.relpath(path, self.cwd)
        return str(path) if relative.startswith(os.pardir) else relative

    def is_recorded(self, run: grid.Run) -> bool:
        """True if results have it, trained on these files, whoever trained it."""
        record = grid.read_json(self.results / self.bank.name / ("%s-seed%d.json" % (run.system, run.seed)))
        return all(record.get(split, {}).get("git_blob") == blob for split, blob in self.bank.blobs.items())

    def is_done(self, run: grid.Run) -> bool:
        """True if it was finished here on these files and settings; when in doubt, `mh4 train` is the judge."""
        origin = _origin(run)
        return run.summary() is not None and origin.get("finished") is not None and origin.get("inputs") == self._inputs()

    def started(self, run: grid.Run) -> None:
        """Notes what a training starts from, and each commit that has a part in it."""
        run.folder.mkdir(parents=True, exist_ok=True)
        origin = _origin(run)
        if not origin and (run.folder / "metrics.jsonl").exists():
            origin["commits"] = ["unknown"]  # begun without us
        commits = origin.get("commits", [])
        if run.summary() is None:
            commits = list(dict.fromkeys([*commits, commit(EXPERIMENTS)]))
        origin = {"inputs": self._inputs(), "commits": commits, "command": origin.get("command", self.asked.command())}
        write_text(str(run.folder / "origin.json"), json.dumps(origin, indent=1) + "\n")

    def finished(self, run: grid.Run) -> None:
        """Keeps the summary and the evaluations of a finished run, and makes the table anew."""
        origin = _origin(run)
        if "finished" not in origin:
            ended = time.localtime((run.folder / "summary.json").stat().st_mtime)
            origin["finished"] = time.strftime("%Y-%m-%d", ended)
            write_text(str(run.folder / "origin.json"), json.dumps(origin, indent=1) + "\n")
        self._forget_other_data(self.results / self.bank.name)
        self.predict(run)
        self.keep(run)
        report.write(self.bank.name, self.results)

    def predict(self, run: grid.Run) -> None:
        """Has the finished model parse dev and test, once, keeps its trees, and scores those of test."""
        done = run.folder / "predicted.json"
        if done.exists() and self._stem(run, ".trees.gz").exists() and (not self.bank.test or "test" in grid.read_json(done)):
            return
        files = {"dev": self.bank.paths["dev"], **({"test": self.bank.test[1]} if self.bank.test else {})}
        try:
            parsed = predictions.parse(self.parser, run.folder, files, {**self.environment(), **grid.ONE_THREAD})
            scores = official(str(self.bank.test[0]), str(parsed["test"])) if self.bank.test else {}
            self._stem(run, "").parent.mkdir(parents=True, exist_ok=True)
            predictions.keep(self._stem(run, ".trees.gz"), files, parsed)
        except InputError as error:  # the training is done, and other runs go on
            print("%s: %s" % (run.name, error), file=sys.stderr)
            self._stem(run, ".trees.gz").unlink(missing_ok=True)  # it may be another model's
            return
        found = {"test_" + name.lower(): scores[name].f1 for name in ("UAS", "LAS") if scores}
        if self.bank.test:
            for name, path in zip(("test", "segmentation"), self.bank.test):
                found[name] = {"path": path.name, "git_blob": treebanks.git_blob_id(path)}
        write_text(str(done), json.dumps(found, indent=1) + "\n")

    def environment(self) -> Dict[str, str]:
        """That of the commands that train and parse."""
        environment = dict(os.environ, PYTHONUTF8="1")
        if environment.get("LANG") == self.asked.lang:  # the treebank here, the locale to everyone else
            del environment["LANG"]
        return environment

    def _stem(self, run: grid.Run, ending: str) -> Path:
        return self.results / self.bank.name / ("%s-seed%d%s" % (run.system, run.seed, ending))

    def keep(self, run: grid.Run) -> None:
        """Copies what the table is made from to results, without the paths of this machine."""
        origin = _origin(run)
        record = {
            **run.summary(),
            "system": run.system,
            "seed": run.seed,
            "lang": self.bank.lang,
            "release": self.bank.release,
            "commit": ", ".join(origin["commits"]),
            "date": origin["finished"],
            "command": without_machine(" ".join(["mh4", *run.command[run.command.index("train") :]])),
            "reproduce": origin["command"],
        }
        for split, path in self.bank.paths.items():
            record[split] = {"path": path.name, "git_blob": self.bank.blobs[split]}
        record.pop("sources", None)  # the same
        record.update(grid.read_json(run.folder / "predicted.json"))
        record.update(self._against_the_paper(run))
        metrics = self._stem(run, ".jsonl")
        metrics.parent.mkdir(parents=True, exist_ok=True)
        write_text(str(metrics), (run.folder / "metrics.jsonl").read_text(encoding="utf-8"))
        write_text(str(self._stem(run, ".json")), json.dumps(record, indent=1, sort_keys=True) + "\n")

    def _against_the_paper(self, run: grid.Run) -> dict:
        """After how many seconds on one core dev UAS was first at the paper's mean; null if never, nothing if there is none."""
        mean, _ = report.published_dev_uas(self.bank.lang, self.bank.release, run.system)
        if mean is None:
            return {}
        reached = (metrics["seconds"] for metrics in run.evaluations() if metrics["dev_uas"] >= mean)
        return {"seconds_to_paper": next(reached, None)}

    def _forget_other_data(self, folder: Path) -> None:
        """Removes records of an older toy treebank; all other names stand for one content."""
        for path in folder.glob("*.json"):
            try:
                kept = json.loads(path.read_text(encoding="utf-8"))
                other = any(kept[split]["git_blob"] != blob for split, blob in self.bank.blobs.items())
            except (ValueError, KeyError, TypeError):
                continue  # the report will name it
            if other:
                path.unlink()
                for ending in (".jsonl", ".trees.gz"):
                    path.with_suffix(ending).unlink(missing_ok=True)

    def _inputs(self) -> Dict[str, str]:
        settings = self.settings.read_text(encoding="utf-8") if self.settings else ""
        return {**self.bank.blobs, "settings": hashlib.sha1(settings.encode("utf-8")).hexdigest() if settings else ""}


def without_machine(command: str) -> str:
    """A command line with each absolute path cut to its last name."""
    return re.sub(r"(^|[\s='\"])/(?:[^\s/]+/)*", r"\1", command)


def commit(folder: Path) -> str:
    """The commit that the code is at, with "+changes" if the work tree differs (results, which runs write, aside)."""
    git = ["git", "-C", str(folder)]
    changed = ["status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)experiments/results"]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        status = subprocess.run([*git, *changed], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.decode().strip()[:12] + ("+changes" if status.strip() else "")


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS) -> int:
    """The command; returns its exit code: 0, 1 if a run failed, 2 for bad input, 130 if interrupted.

    `trainer` is the command line that ``train ...`` is added to, `home` the folder of runs and results.
    """
    typed = options(arguments, USAGE, ("lang", "systems", "seeds", "ud", "conll17", "jobs"))
    return answered(
        "reproduce",
        usage,
        typed.help,
        lambda: _reproduce(request(typed.lang, typed.systems, typed.seeds, typed.ud, typed.jobs, typed.conll17), trainer, home),
    )


def options(arguments: Sequence[str], usage_line: str, names: Sequence[str]) -> argparse.Namespace:
    """What was typed, as text, empty where it was not."""
    parser = argparse.ArgumentParser(usage=usage_line[len("usage: ") :], add_help=False)
    for name in names:
        parser.add_argument("--" + name, default="")
    parser.add_argument("-h", "--help", action="store_true")
    return parser.parse_args(arguments)


def answered(program: str, usage: Callable[[], str], help_wanted: bool, work: Callable[[], int]) -> int:
    """The exit code of `work`; what goes wrong is one sentence."""
    if help_wanted:
        print(usage())
        return 0
    try:
        return work()
    except (grid.Stopped, KeyboardInterrupt):
        print("stopped; the same command resumes from there")
        return 130
    except UsageError as error:
        print("%s\n%s" % (error, usage()), file=sys.stderr)
    except InputError as error:
        print("%s: %s" % (program, error), file=sys.stderr)
    except OSError as error:  # a full disk, a folder of someone else
        print("%s: %s: %s" % (program, error.filename or "files", error.strerror or error), file=sys.stderr)
    return 2


def located(lang: str, ud: Optional[str], conll17: Optional[str] = None) -> Treebank:
    """The treebank's files, downloaded if need be; those to test on where the folder `conll17` (or data/conll17) has them."""
    found = treebanks.locate(lang, ud=ud, splits=("train", "dev"))
    bank = treebank(lang, {split: found[split] for split in ("train", "dev")})
    if lang == treebanks.TOY:
        return replace(bank, test=(found["test"], found["test"]))
    segmentation = Path(conll17 or treebanks.DATA / "conll17") / (SEGMENTATION % lang)
    if segmentation.is_file():
        return replace(bank, test=(treebanks.locate(lang, ud=ud, splits=("test",))["test"], segmentation))
    if conll17:
        raise InputError("CONLL17: %s has no %s" % (conll17, segmentation.name))
    return bank


def _reproduce(asked: Request, trainer: Sequence[str], home: Path) -> int:
    console = Console(highlight=False)
    experiment = Experiment(asked, located(asked.lang, asked.ud, asked.conll17), trainer, home, Path.cwd())
    for run in experiment.runs:
        if experiment.is_done(run):
            run.state = grid.DONE
            run.read_metrics()
            experiment.finished(run)
    train(experiment, console)
    done = [run for run in experiment.runs if run.state == grid.DONE]
    if done:
        _print_table(experiment, done, console)
    return failures(experiment, console)


def train(experiment: Experiment, console: Console) -> None:
    """Trains the runs that wait."""
    asked, bank = experiment.asked, experiment.bank
    waiting = [run for run in experiment.runs if run.state == grid.WAITING]
    console.print(
        "%s (%s): %d to train, %d finished before; models in %s"
        % (asked.lang, bank.release, len(waiting), len(experiment.runs) - len(waiting), report.shown(experiment.home / "runs" / bank.name)),
        soft_wrap=True,
    )
    if waiting:
        environment = experiment.environment()
        grid.train_all(experiment.runs, asked.jobs, experiment.started, experiment.finished, console, experiment.cwd, environment)


def failures(experiment: Experiment, console: Console) -> int:
    """Tells of the runs that failed; returns 1 if there are any, otherwise 0."""
    failed = [run for run in experiment.runs if run.state == grid.FAILED]
    for run in failed:
        console.print("%s failed: %s (%s)" % (run.name, run.failure, report.shown(run.log)), style="red", soft_wrap=True)
        for line in grid.log_tail(run):
            console.print("    " + line, markup=False, soft_wrap=True)
        if run.process and run.process.returncode == 2:
            console.print("    (if it cannot resume as it is, delete %s to train it again)" % report.shown(run.folder), soft_wrap=True)
    return 1 if failed else 0


def _print_table(experiment: Experiment, done: Sequence[grid.Run], console: Console) -> None:
    """The table of the runs that were asked for; the files also have those of other seeds and systems."""
    asked = {(run.system, run.seed) for run in done}
    runs = [run for run in report.load(experiment.bank.name, experiment.results) if (run["system"], run["seed"]) in asked]
    table = report.rows(runs)
    pages = [experiment.results / (experiment.bank.name + ending) for ending in (".md", ".csv")]
    print_table(console, *report.cells(table), 2)
    console.print(report.note(runs, table), soft_wrap=True)
    console.print("Written: %s" % " and ".join(report.shown(page) for page in pages), soft_wrap=True)


def print_table(console: Console, header: Sequence[str], body: Sequence[Sequence[str]], right: int) -> None:
    """A table whose columns from `right` on are numbers."""
    shown = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, header_style="bold")
    for number, name in enumerate(header):
        shown.add_column(name, justify="left" if number < right else "right", no_wrap=True)
    for line in body:
        shown.add_row(*line)
    console.print()
    console.print(shown)
    console.print()


def _origin(run: grid.Run) -> dict:
    """What is noted about where a run comes from."""
    return grid.read_json(run.folder / "origin.json")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
