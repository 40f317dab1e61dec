"""``make reproduce LANG=hu or TREEBANK=folder [NAME=mine] [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder]
[CONLL17=folder] [JOBS=2] [SLURM=options] [SETTINGS=authors] [FORMAT=latex]``:
trains parsers on a treebank with several seeds, and tabulates their scores

For a treebank of the paper, UAS on the development set is shown beside Table 4 and, if the test set is available, LAS
on it beside Table 5 or 6. If the repository has a record of the same run, the new record is compared with it.
"""

from experiments.engine import shared_task
from experiments.engine.command import DEFAULT_SEEDS, DEFAULT_SYSTEMS, LANG, TOY_SEEDS, form_of, repeat, request, study
from experiments.engine.experiment import Experiment, exit_code
from experiments.engine.records import load
from experiments.engine.run import DONE
from experiments.engine.treebank import warn_of_overlap
from experiments.engine.workplace import Bench, report_written
from experiments.pages import all_scores, show, show_for_paper
from experiments.tables import paper_tables
from mh4.data.conll17 import SYSTEMS as OF_TASK
from mh4.data.conll17 import file_name
from mh4.parser.systems import SYSTEMS

CONLL17 = """\
a folder with files of the shared task: the segmentation of the test set, %s,
which models parse for Tables 5 and 6, and its systems' outputs, %s and %s;
by default data/conll17, to which they are downloaded if the treebank is downloaded"""


@study(
    lang=LANG + " and takes a minute or two",
    systems="from %s; by default %s; with -likelihood appended, trained on likelihood"
    % (" ".join(SYSTEMS), " ".join(DEFAULT_SYSTEMS)),
    seeds="positive whole numbers; by default %s (%s for toy; the paper ran five)" % (DEFAULT_SEEDS, TOY_SEEDS),
    conll17=CONLL17 % tuple(file_name("LANG", system) for system in OF_TASK),
)
def reproduce(bench: Bench, **variables: str) -> int:
    form = form_of(variables.pop("format"))
    asked = request(**variables)
    results, bank = bench.results, asked.treebank()
    if asked.own:
        warn_of_overlap(bank)
    experiment = Experiment(bank, asked.systems, asked.seeds, repeat(SEEDS=asked.seeds), bench)
    shared_task.score_available(bank, results)
    experiment.train(asked.jobs, lambda: paper_tables.write(bank.name, results))
    if any(run.state == DONE for run in experiment.runs):
        runs = load(bank.name, results)
        for one in paper_tables.sections(runs, results):
            show(bench.console, one.table(), one.note())
        report_written([results / (bank.name + ".md")])
        show_for_paper(bench.console, results / bank.name, paper_tables.caption(runs), all_scores(runs), form)
    return exit_code([experiment])
