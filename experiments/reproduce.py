"""``make reproduce LANG=hu``: trains systems with several seeds on one treebank and compares their scores with the paper's.

UAS on the development set is compared with Table 4 and, if the test set is available, LAS on it with Table 5 or 6.
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

from mh4.data.conll17 import SYSTEMS as SYSTEMS_OF_TASK
from mh4.data.conll17 import file_name
from mh4.parser.systems import SYSTEMS

USAGE = """\
usage: make reproduce LANG=hu [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]
       [SETTINGS=authors]"""
SEEDS = "positive whole numbers; by default %s (%s for toy; the paper ran five)"
CONLL17 = """\
a folder with files of the shared task: the segmentation of the test set, %s,
which models parse for Tables 5 and 6, and its systems' outputs, %s;
by default data/conll17, to which they are downloaded if the treebank is downloaded"""


def usage() -> str:
    """The usage line and the meaning of its variables."""
    segmentation, *others = (file_name("LANG", system) for system in SYSTEMS_OF_TASK)
    return options.usage(
        USAGE,
        toy_takes=" and takes about two minutes",
        SYSTEMS="from %s; by default %s; with -likelihood appended, trained on likelihood"
        % (" ".join(SYSTEMS), " ".join(options.DEFAULT_SYSTEMS)),
        SEEDS=SEEDS % (options.DEFAULT_SEEDS, options.TOY_SEEDS),
        UD=options.UD,
        CONLL17=CONLL17 % (segmentation, " and ".join(others)),
        JOBS=options.JOBS,
        SETTINGS=options.SETTINGS,
    )


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS) -> int:
    """The command; returns its exit code: 0, 1 if a run failed, 2 for bad input, 130 if interrupted.

    `trainer` is the command line to which ``train ...`` is appended, `home` the folder of runs and results.
    """
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud", "conll17", "jobs", "settings"))

    def work() -> int:
        asked = options.request(typed.lang, typed.systems, typed.seeds, typed.ud, typed.jobs, typed.conll17, typed.settings)
        return _reproduce(asked, trainer, home)

    return options.answered("reproduce", usage, typed.help, work)


def _reproduce(asked: options.Request, trainer: Sequence[str], home: Path) -> int:
    console = Console(highlight=False)
    bank = with_test(located(asked.lang, asked.ud, asked.settings), asked.ud, asked.conll17)
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
