"""``make likelihood LANG=hu [SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]
[SLURM=options]``: training on likelihood and with the paper's hinge, compared: accuracy, calibration, and minimum-Bayes-risk decoding

Runs of both are trained as by ``make reproduce``; then every model decodes half of the development set exactly and by minimum Bayes
risk, with probabilities calibrated on the other half, and the models of each seed vote as an ensemble, by arcs and by marginals. This
is not in the paper.
"""

import statistics
from collections.abc import Mapping, Sequence

import numpy as np

from experiments import pages
from experiments.engine.command import repeat, request, requested_systems, study
from experiments.engine.ensemble_runs import members
from experiments.engine.experiment import Experiment, exit_code
from experiments.engine.progress import failures
from experiments.engine.record_fields import Record
from experiments.engine.run import LIKELIHOOD, system_and_loss
from experiments.engine.workplace import Bench, report_written
from experiments.pages import average, averages, print_table
from experiments.studies.calibration import COLUMNS, Measured, measure
from experiments.tables import paper_tables
from mh4 import trees
from mh4.data import conllu
from mh4.parser.config import LOSSES
from mh4.parser.ensemble import vote
from mh4.parser.model import score_with
from mh4.parser.parsing import Parser
from mh4.parser.systems import with_marginals
from mh4.util.text_tables import Table

DEFAULT_SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "mh4-arcs")
DEFAULT_SEEDS = "1 2"
SCORES = [*COLUMNS, "las", "las_mbr"]  # of `Measured.scores`
VOTES = ["one vote for each arc, ties to the first member", "marginal probabilities of arcs"]
Ensembles = Mapping[str, Sequence[Sequence[float]]]  # for each loss and seed, their dev UAS by each of VOTES


@study(
    systems="that have marginals; by default %s" % " ".join(DEFAULT_SYSTEMS),
    seeds="positive whole numbers; by default %s" % DEFAULT_SEEDS,
)
def likelihood(bench: Bench, systems: str, seeds: str, **variables: str) -> int:
    wanted = requested_systems(systems, with_marginals(), DEFAULT_SYSTEMS)
    both = " ".join(name for system in wanted for name in (system, system + LIKELIHOOD))
    asked = request(systems=both, seeds=seeds or DEFAULT_SEEDS, **variables)
    bank, command = asked.treebank(), repeat(SEEDS=asked.seeds)
    experiment = Experiment(bank, asked.systems, asked.seeds, command, bench)
    experiment.train(asked.jobs, lambda: paper_tables.write(bank.name, bench.results))
    failed = failures(experiment.runs, bench.console)
    if failed:
        return failed
    gold, measured = conllu.read(str(bank.paths["dev"])), []
    for run in experiment.runs:
        bench.console.print("decoding with %s" % run.name, soft_wrap=True)
        measured.append(measure(run, gold))
    ensembles = {}
    for loss in LOSSES if len(wanted) > 1 else ():
        named = [system for system in asked.systems if system_and_loss(system)[1] == loss]
        by_seed = members(bench, bank, named, asked.seeds)
        bench.console.print("voting: " + loss)
        ensembles[loss] = [voted([Parser.load(str(run.folder)) for run in runs], gold) for runs in by_seed.values()]
    table = compared(experiment.recorded(), measured)
    title, parts = bank.title + ": training on likelihood and with the hinge", list[pages.Part]((table, NOTE))
    if ensembles:
        parts += ["## Ensembles", voting(ensembles), OF_ENSEMBLES % ", ".join(dict.fromkeys(row[0] for row in table.body))]
    parts += pages.models(map(pages.origin, experiment.runs), bank, command)
    written = pages.write(bench.results, bank.name + "-likelihood", title, parts)
    print_table(table, bench.console)
    report_written(written)
    return exit_code([experiment])


def compared(records: Sequence[Record], measured: Sequence[Measured]) -> Table:
    """Return a row for each system and loss: scores on the whole development set, and means over the models that are measured."""
    header = ["system", "loss", "seeds", "dev UAS", "dev LAS", "temp.", "ECE, 1", "ECE", "NLL, 1", "NLL"]
    body, uas, las = [], averages(records, "dev_uas"), averages(records, "dev_las")
    forms = {score: "%.3f" if "nll" in score or score == "temperature" else "%.2f" for score in SCORES}
    for name in dict.fromkeys(each.model.system for each in measured):
        mine = [each.scores for each in measured if each.model.system == name]
        means = [form % statistics.mean(scores[score] for scores in mine) for score, form in forms.items()]
        body.append([*system_and_loss(name), uas[name].seeds_listed, str(uas[name]), str(las[name]), *means])
    return Table([*header, "UAS", "mbr", "LAS", "mbr"], body, right=3)


def voted(parsers: Sequence[Parser], gold: Sequence[conllu.Sentence]) -> list[float]:
    """Return the UAS of an ensemble by each of VOTES, in percent; with marginals, the tree has the highest sum of them, calibrated."""
    right = [0, 0]
    for batch, scores in score_with([parser.model for parser in parsers], gold):
        sentences = [gold[k] for k in batch]
        members = list(zip(parsers, scores, strict=True))
        heads = zip(*(parser.trees(sentences, mine) for parser, mine in members), strict=True)
        marginals = zip(*(parser.marginals(sentences, mine) for parser, mine in members), strict=True)
        for sentence, votes, found in zip(sentences, heads, marginals, strict=True):
            total = np.sum([each.arcs.astype(np.float32) for each in found], axis=0)
            for k, tree in enumerate((vote(votes), trees.best(total, "any", single_root=True))):
                right[k] += int((tree[1:] == sentence.heads[1:]).sum())
    return [100.0 * number / sum(map(len, gold)) for number in right]


def voting(ensembles: Ensembles) -> Table:
    """Return the dev UAS of ensembles, by loss and way of voting."""
    body = [[loss, *map(str, map(average, zip(*by_seed, strict=True)))] for loss, by_seed in ensembles.items()]
    return Table(["loss", *VOTES], body, right=1)


OF_ENSEMBLES = "Dev UAS of %s together, those of one seed and loss; mean and standard deviation over seeds."
NOTE = """\
dev UAS, dev LAS: on the development set, in percent; mean and standard deviation (n - 1) over seeds, as in Table 4 of [the
report](report.md). The other columns are means over seeds, measured on every other sentence of the development set, with the
temperature fitted on the rest. ECE: expected calibration error of the predicted arcs in percent; NLL: negative log-likelihood
of a gold arc (whose probability counts as at least 0.001); both at temperature 1 and at the temperature given. UAS and LAS are
those of exact decoding, mbr those of minimum-Bayes-risk decoding at this temperature. The speed of training with either loss is
in [benchmarks/results/training.md](../../benchmarks/results/training.md)."""
