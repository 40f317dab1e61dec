"""Training on likelihood compared with training with the hinge: accuracy, calibration, and minimum-Bayes-risk decoding.

This table is not in the paper. It is written to ``results/NAME-likelihood.md`` and ``.csv``.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.calibrating import Measured
from training.run import Run, system_and_loss
from training.treebank import Treebank
from training.voting import WAYS, by_marginals, in_order

from mh4.analysis.reliability import expected_calibration_error
from tables.writer import Average, Table, average, comma_separated, models_section, origin

VOTES = [name for name, way in WAYS.items() if way in (in_order, by_marginals)]


@dataclass(frozen=True)
class Row:
    """One system trained with one loss, over its seeds.

    uas, las: on the whole development set; scores: averages over models of what `Measured` has, by name, in percent except for
    the temperature and the negative log-likelihoods.
    """

    system: str
    loss: str
    uas: Average
    las: Average
    scores: Mapping[str, float]


def rows(records: Sequence[dict], runs: Sequence[Run], measured: Sequence[Measured]) -> list[Row]:
    """A row for each system and loss; records, measured: of the runs."""
    found = []
    for name in dict.fromkeys(run.system for run in runs):
        mine = [record for record in records if record["system"] == name]
        scores = [_scores(each) for run, each in zip(runs, measured) if run.system == name]
        means = {what: statistics.mean(score[what] for score in scores) for what in scores[0]}
        seeds = [record["seed"] for record in mine]
        uas, las = (average([record["dev_" + score] for record in mine], seeds) for score in ("uas", "las"))
        found.append(Row(*system_and_loss(name), uas, las, means))
    return found


def _scores(found: Measured) -> dict[str, float]:
    ece, calibrated = (100 * expected_calibration_error(*predicted[:2]) for predicted in (found.before, found.after))
    return {
        "temperature": found.temperature,
        "ece": ece,
        "ece_calibrated": calibrated,
        "nll": found.before[2],
        "nll_calibrated": found.after[2],
        "uas": found.exact["uas"],
        "uas_mbr": found.mbr["uas"],
        "las": found.exact["las"],
        "las_mbr": found.mbr["las"],
    }


def table(rows: Sequence[Row]) -> Table:
    """The table as shown."""
    header = ["system", "loss", "seeds", "dev UAS", "dev LAS", "temp.", "ECE, 1", "ECE", "NLL, 1", "NLL"]
    header += ["UAS", "mbr", "LAS", "mbr"]
    body = []
    for row in rows:
        scores = [
            "%.3f" % value if "nll" in name or name == "temperature" else "%.2f" % value for name, value in row.scores.items()
        ]
        body.append([row.system, row.loss, row.uas.seeds_listed, str(row.uas), str(row.las), *scores])
    return Table(header, body, right=3)


def voting(ensembles: Mapping[str, Mapping[str, Sequence[float]]]) -> Table:
    """The dev UAS of ensembles, by loss and way of voting."""
    body = [[loss, *(str(average(by_votes[name])) for name in VOTES)] for loss, by_votes in ensembles.items()]
    return Table(["loss", *VOTES], body, right=1)


def markdown(
    bank: Treebank,
    runs: Sequence[Run],
    rows: Sequence[Row],
    ensembles: Mapping[str, Mapping[str, Sequence[float]]],
    command: str,
) -> list[str]:
    """The lines of the page."""
    lines = [
        "# %s (%s): training on likelihood and with the hinge" % (bank.lang, bank.release),
        "",
        table(rows).markdown(),
        "",
        "dev UAS, dev LAS: on the development set, in percent; mean and standard deviation (n - 1) over seeds, as in [Table 4](%s.md)."
        % bank.name,
        "The other columns are means over seeds, measured on every other sentence of the development set, with the temperature fitted on",
        "the rest. ECE: expected calibration error of the predicted arcs in percent; NLL: negative log-likelihood of a gold arc (whose",
        "probability counts as at least 0.001); both at temperature 1 and at the temperature given. UAS and LAS are those of exact",
        "decoding, mbr those of minimum-Bayes-risk decoding at this temperature. The speed of training with either loss is in",
        "[benchmarks/results/training.md](../../benchmarks/results/training.md).",
        "",
    ]
    if ensembles:
        members = ", ".join(dict.fromkeys(row.system for row in rows))
        lines += ["## Ensembles", "", voting(ensembles).markdown(), ""]
        lines += ["Dev UAS of %s together, those of one seed and loss; mean and standard deviation over seeds." % members, ""]
    return [
        *lines,
        *models_section(map(origin, runs), bank, command),
    ]


def as_csv(bank: Treebank, rows: Sequence[Row]) -> str:
    """The table as csv."""
    header = ["lang", "data", "system", "loss", "seeds", "dev_uas", "dev_uas_std", "dev_las", "dev_las_std", *rows[0].scores]
    body = [
        [bank.lang, bank.release, row.system, row.loss, row.uas.seeds_listed]
        + [row.uas.mean, row.uas.std, row.las.mean, row.las.std, *row.scores.values()]
        for row in rows
    ]
    return comma_separated(header, body)
