"""``make reproduce LANG=hu or TREEBANK=folder [NAME=mine] [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder]
[CONLL17=folder] [JOBS=2] [SLURM=options] [SETTINGS=authors] [FORMAT=latex]``:
trains parsers on a treebank with several seeds, and tabulates their scores

For a treebank of the paper, UAS on the development set is shown beside Table 4 and, if the test set is available, LAS on it beside Table
5 or 6. A record of the same run that came with the repository is compared with the new one.
"""

from experiments.engine import options, shared_task
from experiments.engine.command import study
from experiments.engine.experiment import Experiment
from experiments.engine.options import DEFAULT_SEEDS, DEFAULT_SYSTEMS, TOY_SEEDS
from experiments.engine.workplace import Bench
from experiments.pages import writer
from experiments.tables import table4, table5_6, treebank
from mh4.data.conll17 import SYSTEMS as OF_TASK
from mh4.data.conll17 import file_name
from mh4.parser.systems import SYSTEMS

SYSTEMS_KNOWN = "from %s; by default %s; with -likelihood appended, trained on likelihood"
CONLL17 = """\
a folder with files of the shared task: the segmentation of the test set, %s,
which models parse for Tables 5 and 6, and its systems' outputs, %s and %s;
by default data/conll17, to which they are downloaded if the treebank is downloaded"""


@study
@options.lang(" and takes about two minutes")
@options.TREEBANK
@options.variable("systems", SYSTEMS_KNOWN % (" ".join(SYSTEMS), " ".join(DEFAULT_SYSTEMS)))
@options.variable("seeds", "positive whole numbers; by default %s (%s for toy; the paper ran five)" % (DEFAULT_SEEDS, TOY_SEEDS))
@options.UD
@options.variable("conll17", CONLL17 % tuple(file_name("LANG", system) for system in OF_TASK))
@options.JOBS
@options.SETTINGS
@options.FORMAT
def reproduce(bench: Bench, **variables: str) -> int:
    form = options.form(variables.pop("format"))
    asked = options.request(**variables)
    results, bank = bench.results, asked.treebank()
    experiment = Experiment(bank, asked.systems, asked.seeds, options.repeat(SEEDS=list(map(str, asked.seeds))), bench)
    shared_task.score_available(bank, results)
    experiment.train(asked.jobs, lambda: treebank.write(bank.name, results))
    runs = experiment.recorded()
    if runs:
        writer.show(bench.console, table4.table(runs), table4.note(runs), [results / (bank.name + ".md")])
        tested = table5_6.tested(bank.name, runs, results)
        if tested:
            pages = [results / (bank.name + "-test.md")]
            writer.show(bench.console, table5_6.table(tested), table5_6.note(tested), pages)
        if form != "text":
            writer.show_for_paper(bench.console, results / bank.name, [writer.all_scores(runs)], form)
    return experiment.exit_code()
