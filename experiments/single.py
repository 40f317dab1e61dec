"""Makes one record of ``make paper``: trains a system with one seed, or combines the models of a seed (``--system ensemble``).

Many of these run side by side, on one machine or many that share the folder, and may be killed and started again at any time: a
training resumes, and of two for the same record the second waits for the first. Pages are not written.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import options
from provenance import EXPERIMENTS
from rich.console import Console
from training import ensembles
from training.experiment import Experiment
from training.progress import failures
from training.run import TRAINER, Run, alone
from training.treebank import located, with_test

from mh4.errors import InputError

USAGE = """\
usage: .venv/bin/python experiments/single.py --lang hu --system mst --seed 1
       [--ud folder] [--conll17 folder] [--settings authors] [--command TEXT] [--home folder]"""


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER) -> int:
    """The command; exit codes and `trainer` as in reproduce.main.

    --command: the command that repeats it, for the record; by default this run's own. --home: the folder of runs and results.
    """
    typed = options.options(arguments, USAGE, ("lang", "system", "seed", "ud", "conll17", "settings", "command", "home"))
    home = Path(typed.home or EXPERIMENTS)

    def work() -> int:
        for name, value in (("system", typed.system), ("seed", typed.seed)):
            if len(value.split()) != 1:
                raise InputError("--%s: expected one" % name)
        combined = typed.system == ensembles.NAME
        systems = " ".join(ensembles.MEMBERS) if combined else typed.system
        asked = options.request(typed.lang, systems, typed.seed, typed.ud, "1", typed.conll17, typed.settings)
        bank = with_test(located(asked.lang, asked.ud, asked.settings), asked.ud, asked.conll17)
        experiment = Experiment(bank, asked.systems, asked.seeds, typed.command or asked.command(), trainer, home)
        [seed] = asked.seeds
        if not combined:
            [run] = experiment.runs
            with _alone(run):
                experiment.train(1, Console(highlight=False), lambda: None)
            return failures(experiment.runs, Console(highlight=False))
        models = home / "runs" / bank.name
        with _alone(Run.at(models, ensembles.NAME, seed)):
            combiner = ensembles.Combiner(bank, trainer, models / ensembles.NAME)
            combiner.record(experiment.records, seed, ensembles.members(models, asked.systems, [seed])[seed], experiment.command)
        return 0

    return options.answered("single", lambda: USAGE, typed.help, work)


@contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Waits until no other process makes the record of this run, or trains for it although the one that started it is gone."""
    with alone(run.folder / "single.lock"):
        with alone(run.log):
            pass
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
