"""Makes one record of ``make paper``: trains a system with one seed, or combines the models of a seed (``--system ensemble``).

Many of these run side by side, on one machine or many that share the folder, and may be killed and started again at any time: a
training resumes, and of two for the same record the second waits for the first. Pages are not written.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from experiments.engine import ensembles
from experiments.engine.command import Command
from experiments.engine.experiment import Experiment
from experiments.engine.options import request
from experiments.engine.run import DONE, RECORDED, Run, alone
from experiments.engine.workplace import Bench
from mh4.errors import InputError


@click.command(cls=Command)
@click.option("--lang", default="")
@click.option("--system", default="")
@click.option("--seed", default="")
@click.option("--ud", default="")
@click.option("--conll17", default="")
@click.option("--settings", default="")
@click.option("--command", default="", help="The command that repeats it, for the record; by default this run's own.")
@click.pass_obj
def single(bench: Bench, lang: str, system: str, seed: str, ud: str, conll17: str, settings: str, command: str) -> int:
    """Make one record of `make paper`."""
    for name, value in (("system", system), ("seed", seed)):
        if len(value.split()) != 1:
            raise InputError("--%s: expected one" % name)
    combined = system == ensembles.NAME
    asked = request(lang, " ".join(ensembles.MEMBERS) if combined else system, seed, ud, "1", conll17, settings)
    bank = asked.treebank()
    experiment = Experiment(bank, asked.systems, asked.seeds, command or asked.command(), bench)
    [number] = asked.seeds
    if not combined:
        [run] = experiment.runs
        with _alone(run):
            experiment.train(1, lambda: None)
            if experiment.unparsed:  # why has been said; without a record, the next attempt parses again
                experiment.records.forget(run)
            elif run.state == DONE:
                (run.folder / RECORDED).touch()
        return experiment.exit_code()
    whole = Run.at(bench.models(bank.name), ensembles.NAME, number)
    with _alone(whole):
        members = ensembles.members(bench, bank, asked.systems, [number])[number]
        ensembles.Combiner(bank, bench).record(experiment.records, number, members, experiment.command)
        (whole.folder / RECORDED).touch()
    return 0


@contextmanager
def _alone(run: Run) -> Iterator[None]:
    """Waits until no other process makes the record of this run, or is training for it, even if the process that started that is gone."""
    with alone(run.folder / "single.lock"):
        with alone(run.log):
            pass
        yield
