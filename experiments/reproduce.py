"""``make reproduce LANG=hu``: trains systems and seeds on one treebank and puts scores beside the paper's.

UAS on the development set stands beside Table 4, LAS on the test set, where that can be had, beside Table 5 or 6.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS
from rich.console import Console
from tables import table4, table5_6, treebank_pages, writer
from training import shared_task
from training.experiment import Experiment
from training.progress import failures
from training.run import TRAINER
from training.treebank import located, with_test

from mh4.conll17 import SYSTEMS as SYSTEMS_OF_TASK
from mh4.conll17 import file_name
from mh4.systems import SYSTEMS

USAGE = 'usage: make reproduce LANG=hu [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]'
SEEDS = "whole numbers from 1 on; %s if not given (%s for toy; the paper ran five)"
CONLL17 = """\
a folder with what the shared task gave and got: the segmentation of the test set, %s,
which models parse for Tables 5 and 6, and its systems' outputs, %s;
otherwise data/conll17 is taken, to which they are downloaded when the treebank is"""


def usage() -> str:
    """The usage line and what can stand there."""
    segmentation, *others = (file_name("LANG", system) for system in SYSTEMS_OF_TASK)
    return options.usage(
        USAGE,
        toy_takes=" and takes about two minutes",
        SYSTEMS="of %s; %s if not given" % (" ".join(SYSTEMS), " ".join(options.DEFAULT_SYSTEMS)),
        SEEDS=SEEDS % (options.DEFAULT_SEEDS, options.TOY_SEEDS),
        UD=options.UD,
        CONLL17=CONLL17 % (segmentation, " and ".join(others)),
        JOBS=options.JOBS,
    )


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS) -> int:
    """The command; returns its exit code: 0, 1 if a run failed, 2 for bad input, 130 if interrupted.

    `trainer` is the command line that ``train ...`` is added to, `home` the folder of runs and results.
    """
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud", "conll17", "jobs"))

    def work() -> int:
        asked = options.request(typed.lang, typed.systems, typed.seeds, typed.ud, typed.jobs, typed.conll17)
        return _reproduce(asked, trainer, home)

    return options.answered("reproduce", usage, typed.help, work)


def _reproduce(asked: options.Request, trainer: Sequence[str], home: Path) -> int:
    console = Console(highlight=False)
    bank = with_test(located(asked.lang, asked.ud), asked.ud, asked.conll17)
    experiment = Experiment(bank, asked.systems, asked.seeds, asked.command(), trainer, home)
    shared_task.score_at_hand(bank, experiment.results)
    experiment.train(asked.jobs, console, lambda: treebank_pages.write(bank.name, experiment.results))
    runs = experiment.recorded()
    if runs:
        writer.show(console, table4.table(runs), table4.note(runs), writer.pages(experiment.results, bank.name))
        tested = table5_6.tested(bank.name, runs, experiment.results)
        if tested:
            writer.show(
                console, table5_6.table(tested), table5_6.note(tested), table5_6.page_paths(bank.name, experiment.results)
            )
    return failures(experiment.runs, console)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
