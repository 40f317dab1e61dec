"""``make features LANG=hu [SEEDS="1 2"] [UD=folder] [JOBS=2] [SLURM=options] [SETTINGS=authors]``: the rows of Tables 1 and 2,
accuracy by feature set

Trains the systems of the two tables as ``make reproduce`` does. Recorded runs are not repeated.
"""

from experiments.engine.command import repeat, request, study
from experiments.engine.experiment import Experiment, exit_code
from experiments.engine.records import load_any
from experiments.engine.workplace import Bench
from experiments.pages import show
from experiments.tables import paper_tables

DEFAULT_SEEDS = "1 2"


@study(seeds="positive whole numbers; by default %s" % DEFAULT_SEEDS)
def features(bench: Bench, seeds: str, **variables: str) -> int:
    asked = request(systems=" ".join(system for _, _, system in paper_tables.FEATURES), seeds=seeds or DEFAULT_SEEDS, **variables)
    bank = asked.treebank()
    experiment = Experiment(bank, asked.systems, asked.seeds, repeat(SEEDS=asked.seeds), bench)
    experiment.train(asked.jobs, lambda: paper_tables.write(bank.name, bench.results), records_count=True)
    scores = paper_tables.Features(load_any(bank.name, bench.results))
    if scores.runs and scores.rows():
        show(bench.console, scores.table(), scores.note(), [bench.results / (bank.name + ".md")])
    return exit_code([experiment])
