"""``make likelihood LANG=hu``: systems trained on likelihood compared with the same systems trained with the paper's hinge.

An experiment that is not in the paper. Runs of both are trained as by ``make reproduce``; then every model decodes half of the
development set exactly and by minimum Bayes risk, with probabilities calibrated on the other half, and the models of each seed vote
as an ensemble, by arcs and by marginals.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import likelihood as table
from tables import treebank_pages
from tables.writer import write_pages
from training.calibrating import measure
from training.ensembles import members
from training.experiment import Experiment
from training.progress import failures
from training.run import LIKELIHOOD, TRAINER, requested_systems, system_and_loss
from training.treebank import located, with_test
from training.voting import uas_by_way

from mh4.data import conllu
from mh4.parser.config import LOSSES
from mh4.parser.systems import with_marginals

DEFAULT_SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "mh4-arcs")
DEFAULT_SEEDS = "1 2"

USAGE = 'usage: make likelihood LANG=hu [SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]'


def usage() -> str:
    """The usage line and the meaning of its variables."""
    return options.usage(
        USAGE,
        SYSTEMS="that have marginals; by default %s" % " ".join(DEFAULT_SYSTEMS),
        SEEDS="positive whole numbers; by default %s" % DEFAULT_SEEDS,
        UD=options.UD,
        CONLL17="as for make reproduce",
        JOBS=options.JOBS,
    )


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS) -> int:
    """The command; exit codes, `trainer` and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud", "conll17", "jobs"))
    return options.answered("likelihood", usage, typed.help, lambda: _likelihood(typed, trainer, home))


def _likelihood(typed, trainer: Sequence[str], home: Path) -> int:
    systems = requested_systems(typed.systems, with_marginals(), DEFAULT_SYSTEMS)
    both = " ".join(name for system in systems for name in (system, system + LIKELIHOOD))
    asked = options.request(typed.lang, both, typed.seeds or DEFAULT_SEEDS, typed.ud, typed.jobs, typed.conll17)
    console = Console(highlight=False)
    bank = with_test(located(asked.lang, asked.ud), asked.ud, asked.conll17)
    experiment = Experiment(bank, asked.systems, asked.seeds, asked.command(), trainer, home)
    experiment.train(asked.jobs, console, lambda: treebank_pages.write(bank.name, experiment.results))
    failed = failures(experiment.runs, console)
    if failed:
        return failed
    gold, measured = conllu.read(str(bank.paths["dev"])), []
    for run in experiment.runs:
        console.print("decoding with %s" % run.name, soft_wrap=True)
        measured.append(measure(run.folder, gold))
    ensembles = {}
    for loss in LOSSES if len(systems) > 1 else ():
        named = [system for system in asked.systems if system_and_loss(system)[1] == loss]
        by_seed = members(home / "runs" / bank.name, named, asked.seeds)
        ensembles[loss] = uas_by_way(by_seed, gold, table.VOTES, "voting: " + loss, console)
    repeat = make_command(
        "likelihood",
        LANG=asked.lang,
        SYSTEMS=typed.systems.split(),
        SEEDS=list(map(str, asked.seeds)),
        UD=asked.ud,
        CONLL17=asked.conll17,
    )
    rows = table.rows(experiment.recorded(), experiment.runs, measured)
    page = table.markdown(bank, experiment.runs, rows, ensembles, repeat)
    written = write_pages(experiment.results, bank.name + "-likelihood", page, table.as_csv(bank, rows))
    table.table(rows).print(console)
    report_written(written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
