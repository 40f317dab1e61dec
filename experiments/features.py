"""``make features LANG=hu``: trains the systems of the paper's Tables 1 and 2 on one treebank, and writes their rows for it.

Runs recorded in ``experiments/results/`` are not repeated; the others are trained as by ``make reproduce``.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS
from rich.console import Console
from tables import table1_2, treebank_pages, writer
from training.experiment import Experiment
from training.progress import failures
from training.records import load
from training.run import TRAINER
from training.treebank import located, with_test

DEFAULT_SEEDS = "1 2"
USAGE = 'usage: make features LANG=hu [SEEDS="1 2"] [UD=folder] [JOBS=2]'


def usage() -> str:
    """The usage line and the meaning of its variables."""
    seeds = "positive whole numbers; by default %s" % DEFAULT_SEEDS
    return options.usage(USAGE, SEEDS=seeds, UD=options.UD, JOBS=options.JOBS)


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS) -> int:
    """The command; exit codes, `trainer` and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "seeds", "ud", "jobs"))

    def work() -> int:
        systems = " ".join(system for _, _, system in table1_2.ROWS)
        return _features(options.request(typed.lang, systems, typed.seeds or DEFAULT_SEEDS, typed.ud, typed.jobs), trainer, home)

    return options.answered("features", usage, typed.help, work)


def _features(asked: options.Request, trainer: Sequence[str], home: Path) -> int:
    console, bank = Console(highlight=False), with_test(located(asked.lang, asked.ud), asked.ud)
    experiment = Experiment(bank, asked.systems, asked.seeds, asked.command(), trainer, home)
    experiment.train(asked.jobs, console, lambda: treebank_pages.write(bank.name, experiment.results), records_count=True)
    runs = load(bank.name, experiment.results)
    if table1_2.rows(runs):
        pages = table1_2.write(bank.name, runs, experiment.results)
        writer.show(console, table1_2.table(runs), table1_2.note(runs), pages)
    return failures(experiment.runs, console)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
