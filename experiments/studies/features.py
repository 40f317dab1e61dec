"""``make features LANG=hu [SEEDS="1 2"] [UD=folder] [JOBS=2] [SLURM=options] [SETTINGS=authors]``: the rows of Tables 1 and 2,
accuracy by feature set

Trains the systems of the two tables. Runs recorded in ``experiments/results/`` are not repeated; the others are trained as by
``make reproduce``.
"""

from experiments.engine import options
from experiments.engine.command import study
from experiments.engine.experiment import Experiment
from experiments.engine.records import load_any
from experiments.engine.workplace import Bench
from experiments.pages import writer
from experiments.tables import table1_2, treebank

DEFAULT_SEEDS = "1 2"


@study
@options.lang()
@options.variable("seeds", "positive whole numbers; by default %s" % DEFAULT_SEEDS)
@options.UD
@options.JOBS
@options.SETTINGS
def features(bench: Bench, lang: str, seeds: str, ud: str, jobs: str, slurm: str, settings: str) -> int:
    systems = " ".join(system for _, _, system in table1_2.ROWS)
    asked = options.request(lang, systems, seeds or DEFAULT_SEEDS, ud, jobs, settings=settings, slurm=slurm)
    bank = asked.treebank()
    experiment = Experiment(bank, asked.systems, asked.seeds, options.repeat(SEEDS=list(map(str, asked.seeds))), bench)
    experiment.train(asked.jobs, lambda: treebank.write(bank.name, bench.results), records_count=True)
    runs = load_any(bank.name, bench.results)
    if runs and table1_2.rows(runs):
        pages = table1_2.write(bank.name, runs, bench.results)
        writer.show(bench.console, table1_2.table(runs), table1_2.note(runs), pages)
    return experiment.exit_code()
