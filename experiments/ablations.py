"""What each change by itself is worth: short trainings of equal length, everything at random but the one change.

``experiments/ablations/plan.toml`` lists the changes: settings, a patch beside it, or another system; what does not help leaves no
trace in the code. Patches apply to one commit, the plan's `base`, whose code is taken from git and compiled for them. Each finished
run is a row of ``results/ablations.csv``, from which ``results/ablations.md`` is made.

    .venv/bin/python experiments/ablations.py --langs "hu got" --ud FOLDER

trains what the csv does not have; `--changes "NAME ..."` only these.
"""

import csv
import io
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from rich.console import Console

import grid
import report
import reproduce
from mh4.config import tables
from mh4.errors import InputError
from mh4.files import write_text

FOLDER = report.EXPERIMENTS / "ablations"
RUNS = report.EXPERIMENTS / "runs" / "ablations"
RESULTS = report.EXPERIMENTS / "results"
FIELDS = ("base", "lang", "system", "change", "seed", "updates", "uas", "las", "seconds")
LAST = 3  # evaluations that the score of a run is the mean of
USAGE = 'usage: .venv/bin/python experiments/ablations.py --langs "hu got" [--changes "NAME ..."] [--ud FOLDER] [--jobs 2]'


@dataclass(frozen=True)
class Change:
    """A change, and the systems that it is tried with; by its settings and, where there is one, its patch.

    against: the system that a changed one is compared with, itself if empty.
    """

    name: str
    what: str
    systems: Tuple[str, ...]
    settings: Tuple[str, ...] = ()
    against: str = ""

    @property
    def patch(self) -> Path:
        return FOLDER / (self.name + ".patch")


@dataclass(frozen=True)
class Plan:
    """The changes to `base`, a commit; the seeds, and after how many updates a training is evaluated and ends."""

    base: str
    seeds: Tuple[int, ...]
    updates: int
    evaluate_updates: int
    changes: Tuple[Change, ...] = field(repr=False)

    @classmethod
    def read(cls, path: Path = FOLDER / "plan.toml") -> "Plan":
        content = tables(path.read_text(encoding="utf-8"), str(path))
        return cls(changes=tuple(Change(**_tuples(change)) for change in content.pop("change")), **_tuples(content))

    def unchanged(self) -> Change:
        """What the changes are compared with: the base as it is, with all systems that a comparison needs."""
        systems = [change.against or system for change in self.changes for system in change.systems]
        return Change("unchanged", "", tuple(dict.fromkeys(systems)))


def _tuples(content: dict) -> dict:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}


# Training


def code(base: str, change: Change) -> Path:
    """The folder with the code of commit `base`, compiled, and changed by the patch; made where it is missing."""
    folder = RUNS / base / "code" / (change.name if change.patch.exists() else "unchanged")
    if folder.exists():
        return folder
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(str(making), ignore_errors=True)
    making.mkdir(parents=True)
    archive = _done(["git", "-C", str(report.EXPERIMENTS.parent), "archive", base, "."], stdout=subprocess.PIPE)
    _done(["tar", "-x", "-C", str(making)], input=archive.stdout)
    if change.patch.exists():
        with open(change.patch, "rb") as patch:
            _done(["patch", "--quiet", "--strip=1", "--fuzz=0"], cwd=str(making), stdin=patch)
        for library in (code(base, Change("unchanged", "", ())) / "mh4" / "decoders").glob("*.so"):
            shutil.copy(str(library), str(making / "mh4" / "decoders"))
    else:
        _done([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=str(making))
    making.rename(folder)
    return folder


def _done(command: Sequence[str], **how) -> subprocess.CompletedProcess:
    """Runs what makes the code of a change; InputError where it fails."""
    done = subprocess.run(command, **how)
    if done.returncode:
        raise InputError("%s: exit code %d" % (reproduce.without_machine(" ".join(command)), done.returncode))
    return done


def run_of(plan: Plan, bank: reproduce.Treebank, change: Change, system: str, seed: int) -> grid.Run:
    """The training of `system` with `change`."""
    folder = RUNS / plan.base / bank.name / change.name / system / ("seed%d" % seed)
    command = [*reproduce.TRAINER, "train", "--system", system, "--seed", str(seed), "--model", str(folder)]
    for split in ("train", "dev"):
        command += ["--" + split, str(bank.paths[split].resolve())]
    lengths = ("training.max_updates=%d" % plan.updates, "training.evaluate_updates=%d" % plan.evaluate_updates)
    for setting in (*lengths, *change.settings):
        command += ["--set", setting]
    # Where `python -m mh4` is started is where it takes the package from.
    return grid.Run(system=system, seed=seed, folder=folder, command=command, cwd=code(plan.base, change))


def train(plan: Plan, langs: Sequence[str], changes: Sequence[Change], ud: Optional[str], jobs: int, console: Console) -> List[grid.Run]:
    """Trains what the csv has no row of, the first seed of all changes first; returns the runs that failed."""
    rows = read()
    known = {_key(row) for row in rows}
    runs: Dict[Path, Tuple[grid.Run, Dict[str, str]]] = {}
    for seed in plan.seeds:
        for lang in langs:
            bank = reproduce.located(lang, ud)
            for change in changes:
                for system in change.systems:
                    row = {"base": plan.base, "lang": bank.name, "system": system, "change": change.name, "seed": str(seed)}
                    if _key(row) not in known:
                        run = run_of(plan, bank, change, system, seed)
                        runs[run.folder] = run, row

    def done(run: grid.Run) -> None:
        rows.append({**runs[run.folder][1], **score(run)})
        write(plan, rows)

    console.print("%d to train" % len(runs))
    waiting = [run for run, _ in runs.values()]
    grid.train_all(waiting, jobs, lambda run: None, done, console, Path.cwd(), dict(os.environ, PYTHONUTF8="1"))
    return [run for run in waiting if run.state == grid.FAILED]


def score(run: grid.Run) -> Dict[str, str]:
    """What the row of a finished run says: means over the last evaluations."""
    lines = run.evaluations()
    row = {name: "%.4f" % statistics.mean(line["dev_" + name] for line in lines[-LAST:]) for name in ("uas", "las")}
    return {**row, "updates": str(lines[-1]["updates"]), "seconds": "%.0f" % lines[-1]["seconds"]}


# The table


def read() -> List[Dict[str, str]]:
    """The rows of the csv."""
    path = RESULTS / "ablations.csv"
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _key(row: Dict[str, str]) -> Tuple[str, ...]:
    return tuple(row[name] for name in FIELDS[:5])


def write(plan: Plan, rows: Sequence[Dict[str, str]]) -> None:
    """The csv of all rows, and the page of those of the plan's base."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(rows, key=_key))
    write_text(str(RESULTS / "ablations.csv"), text.getvalue())
    write_text(str(RESULTS / "ablations.md"), page(plan, [row for row in rows if row["base"] == plan.base]))


def page(plan: Plan, rows: Sequence[Dict[str, str]]) -> str:
    """The differences that the changes make, and how sure they are."""
    scores: Dict[Tuple[str, str, str], List[float]] = {}
    for row in rows:
        scores.setdefault((row["change"], row["system"], row["lang"]), []).append(float(row["uas"]))
    langs = sorted({lang for _, _, lang in scores})
    # How much the seeds differ, assumed alike for all changes: three runs of each say too little about it.
    squares = [(value - statistics.mean(group)) ** 2 for group in scores.values() if len(group) > 1 for value in group]
    freedom = sum(len(group) - 1 for group in scores.values())
    deviation = (sum(squares) / freedom) ** 0.5 if freedom else float("nan")

    def error(*groups: Sequence[float]) -> float:
        return deviation * sum(1 / len(group) for group in groups) ** 0.5

    unchanged = [
        [system] + [report.score(statistics.mean(group), error(group)) if (group := scores.get(("unchanged", system, lang))) else "" for lang in langs]
        for system in plan.unchanged().systems
    ]
    body = []
    for change in plan.changes:
        for system in change.systems:
            line, pairs = [change.what, system], []
            for lang in langs:
                groups = scores.get((change.name, system, lang)), scores.get(("unchanged", change.against or system, lang))
                line.append("")
                if all(groups):
                    pairs.append(groups)
                    line[-1] = _difference([groups], error)
            body.append(line + [_difference(pairs, error) if len(pairs) == len(langs) else ""])
    return "\n".join(
        [
            "# What each change is worth",
            "",
            "Short trainings of equal length (%d updates, seeds %s), everything at random but the one change. UAS on the development set,"
            % (plan.updates, " ".join(map(str, plan.seeds))),
            "mean of the last %d evaluations, which are %d updates apart; the difference that the change makes ± its standard error, from a"
            % (LAST, plan.evaluate_updates),
            "standard deviation between seeds of %.2f, pooled over all groups." % deviation,
            "",
            report.markdown_table(["change", "system", *langs, "mean"], body, right=2),
            "",
            "Without any change (mean ± standard error):",
            "",
            report.markdown_table(["system", *langs], unchanged, right=1),
            "",
            "The changes are settings or patches to commit %s, in [ablations/](../ablations/plan.toml); every run is a row of" % plan.base,
            "[ablations.csv](ablations.csv). Made by",
            "",
            '    .venv/bin/python experiments/ablations.py --langs "%s" --ud FOLDER' % " ".join(langs),
            "",
        ]
    )


def _difference(pairs: Sequence[Tuple[Sequence[float], Sequence[float]]], error) -> str:
    """The mean over `pairs` (treebanks) of the difference between changed and unchanged, and its standard error."""
    mean = statistics.mean(statistics.mean(changed) - statistics.mean(unchanged) for changed, unchanged in pairs)
    return "%+.2f ± %.2f" % (mean, sum(error(*pair) ** 2 for pair in pairs) ** 0.5 / len(pairs))


def main(arguments: Sequence[str]) -> int:
    """The command; its exit code as that of `make reproduce`."""
    typed = reproduce.options(arguments, USAGE, ("langs", "changes", "ud", "jobs"))
    return reproduce.answered("ablations", lambda: USAGE, typed.help, lambda: _main(typed))


def _main(typed) -> int:
    plan = Plan.read()
    known = {change.name: change for change in (plan.unchanged(), *plan.changes)}
    for name in typed.changes.split():
        if name not in known:
            raise InputError("no change %r in the plan; there are %s" % (name, " ".join(known)))
    changes = [known[name] for name in typed.changes.split() or known]
    langs, jobs = typed.langs.split() or ["hu", "got"], reproduce.number_of_jobs(typed.jobs or "2")
    failed = train(plan, langs, changes, typed.ud or None, jobs, Console(highlight=False))
    for run in failed:
        print("%s failed: %s (%s)" % (run.name, run.failure, report.shown(run.log)), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
