"""``make ablations``: what each difference between the authors' runs and ours changes by itself.

By default short runs of equal length, with our settings except for those of one row of ``experiments/ablations.toml``, which are the
authors'. With LENGTH=full, the rows with the largest effects at full length: the authors' settings within ours, and ours within the
authors'; the runs they are compared with are those of ``make reproduce``. Runs already recorded are not repeated.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import ablations as table
from tables import differences
from training.ablations import OURS, PLAN, SHORT, THEIRS, Plan, variant, wanted
from training.experiment import Experiment, train_together
from training.progress import failures
from training.run import TRAINER, alone, requested_systems
from training.treebank import located

from mh4.data import treebanks
from mh4.errors import InputError

USAGE = """\
usage: make ablations [LANGS="hu got"] [ROWS="word-boundaries labels"] [SYSTEMS="mh4-hybrid"] [SEEDS="1 2"] [LENGTH=full]
       [UD=folder] [JOBS=2]"""


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS, plan: Path = PLAN) -> int:
    """The command; exit codes, `trainer` and `home` as in reproduce.main. plan: the file of rows."""
    typed = options.options(arguments, USAGE, ("langs", "rows", "systems", "seeds", "length", "ud", "jobs"))
    return options.answered("ablations", lambda: USAGE, typed.help, lambda: _ablations(typed, Plan.read(plan), trainer, home))


def _ablations(typed, plan: Plan, trainer: Sequence[str], home: Path) -> int:
    if typed.length not in ("", "full"):
        raise InputError("LENGTH: %s is not full; leave it out for short runs" % typed.length)
    full = typed.length == "full"
    known = {row.name: row for row in plan.rows if full or row.short}
    names = typed.rows.split() or (plan.full if full else list(known))
    for name in names:
        if name not in known:
            raise InputError("ROWS: no row %s in %s runs; there are %s" % (name, "full" if full else "short", " ".join(known)))
    rows = [known[name] for name in dict.fromkeys(names)]
    tried = list(dict.fromkeys(system for row in rows for system in row.systems))
    systems = requested_systems(typed.systems, tried, tried)
    langs = options.languages(typed.langs, plan.langs)
    seeds = typed.seeds or " ".join(map(str, plan.seeds))
    asked = [options.request(lang, " ".join(systems), seeds, typed.ud, typed.jobs) for lang in langs]
    command = make_command(
        "ablations",
        LANGS=langs,
        ROWS=typed.rows.split(),
        SYSTEMS=typed.systems.split(),
        SEEDS=seeds.split(),
        LENGTH=typed.length,
        UD=asked[0].ud,
    )
    experiments = []
    for one in asked:
        bank = located(one.lang, one.ud)
        for within in (OURS, THEIRS) if full else (SHORT,):
            for row, system in wanted(rows, systems, within):
                changed = variant(plan, bank, within, row, system)
                experiment = Experiment(changed, [system], one.seeds, command, trainer, home, trees=False)
                for run in experiment.runs:
                    run.prefix = changed.name[len("ablations/") :] + " "
                experiments.append(experiment)
    console, models, toy = Console(highlight=False), home / "runs" / "ablations", langs == [treebanks.TOY]

    def write() -> list[Path]:
        with alone(models / "pages.lock"):  # others may be writing theirs
            everything, documented = table.measured(plan, home / "results", toy), home.parent / "docs" / "differences.md"
            written = table.write(plan, everything, home / "results", toy)
            if documented.exists() and not toy:
                differences.update(documented, plan, everything)
                written.append(documented)
        return written

    train_together(experiments, "ablations", models, asked[0].jobs, console, write, records_count=True)
    report_written(write())
    return failures([run for experiment in experiments for run in experiment.runs], console)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
