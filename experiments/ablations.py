"""Ablations: the effect of each change by itself, in short training runs of equal length that differ in nothing else.

``experiments/ablations/plan.toml`` lists the changes: settings, a patch in the same folder, or another system; changes that do
not help leave no trace in the code. Each finished run is a row of ``results/ablations.csv``, from which ``results/ablations.md``
is made.

    .venv/bin/python experiments/ablations.py --langs "hu got" --ud FOLDER

trains the runs that are not in the csv; `--changes "NAME ..."` restricts it to these changes.
"""

import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import options
from provenance import EXPERIMENTS, shown
from rich.console import Console
from tables import ablations as table
from training import changes
from training.changes import Change, Plan
from training.grid import train_all
from training.run import FAILED, Run
from training.treebank import located

from mh4.errors import InputError

USAGE = 'usage: .venv/bin/python experiments/ablations.py --langs "hu got" [--changes "NAME ..."] [--ud FOLDER] [--jobs 2]'


def train(
    plan: Plan, langs: Sequence[str], wanted: Sequence[Change], ud: Optional[str], jobs: int, console: Console, home: Path
) -> list[Run]:
    """Trains the runs that have no row in the csv, the first seed of all changes first; returns the runs that failed."""
    models, results = home / "runs" / "ablations", home / "results"
    rows = table.read(results)
    known = {table.key(row) for row in rows}
    runs: dict[Path, tuple[Run, dict[str, str]]] = {}
    banks = [located(lang, ud) for lang in langs]
    for seed in plan.seeds:
        for bank in banks:
            for change in wanted:
                for system in change.systems:
                    row = {"base": plan.base, "lang": bank.name, "system": system, "change": change.name, "seed": str(seed)}
                    if table.key(row) not in known:
                        run = changes.run_of(plan, bank, change, system, seed, models)
                        runs[run.folder] = run, row

    def done(run: Run) -> None:
        rows.append({**runs[run.folder][1], **score(run)})
        table.write(plan, rows, results)

    console.print("%d to train" % len(runs))
    waiting = [run for run, _ in runs.values()]
    train_all(waiting, jobs, lambda run: None, done, console, Path.cwd(), dict(os.environ, PYTHONUTF8="1"))
    return [run for run in waiting if run.state == FAILED]


def score(run: Run) -> dict[str, str]:
    """The scores in the row of a finished run: means over the last evaluations."""
    lines = run.evaluations()
    row = {name: "%.4f" % statistics.mean(line["dev_" + name] for line in lines[-table.LAST :]) for name in ("uas", "las")}
    return {**row, "updates": str(lines[-1]["updates"]), "seconds": "%.0f" % lines[-1]["seconds"]}


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("langs", "changes", "ud", "jobs"))
    return options.answered("ablations", lambda: USAGE, typed.help, lambda: _ablations(typed, home))


def _ablations(typed, home: Path) -> int:
    plan = Plan.read()
    known = {change.name: change for change in (plan.unchanged(), *plan.changes)}
    for name in typed.changes.split():
        if name not in known:
            raise InputError("no change %r in the plan; there are %s" % (name, " ".join(known)))
    wanted = [known[name] for name in typed.changes.split() or known]
    langs, jobs = typed.langs.split() or ["hu", "got"], options.number_of_jobs(typed.jobs or "2")
    failed = train(plan, langs, wanted, typed.ud or None, jobs, Console(highlight=False), home)
    for run in failed:
        print("%s failed: %s (%s)" % (run.name, run.failure, shown(run.log)), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
