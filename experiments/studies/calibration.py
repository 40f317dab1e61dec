"""``make calibration LANG=hu [SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UD=folder]``: how far the probabilities of arcs can be trusted

The models are those trained by ``make reproduce``, with the hinge or on likelihood, of the systems that have marginals.
The temperature is fitted on every other sentence of the development set. On the rest, these are measured: expected
calibration error, reliability, accuracy by coverage, and minimum-Bayes-risk decoding. This is not in the paper.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments import pages
from experiments.engine.command import repeat, request, study
from experiments.engine.models import meanings, requested_models
from experiments.engine.run import LIKELIHOOD, Run
from experiments.engine.workplace import Bench, report_written
from experiments.pages import Plot, print_table
from mh4.analysis.attachment import attachment_scores
from mh4.analysis.reliability import accuracy_at_coverage, expected_calibration_error, negative_log_likelihood, reliability
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.parser.choices import Wanted
from mh4.parser.columns import arc_probabilities
from mh4.parser.parsing import Parser, longest, naming
from mh4.parser.systems import with_marginals
from mh4.util.plots import require_matplotlib
from mh4.util.text_tables import Table

DEFAULT_SYSTEMS = ("mh4-hybrid", "mst")
COLUMNS = {  # the measurements, by their names in `Measured.scores`, with their formats
    "temperature": "%.3f", "ece": "%.2f", "ece_calibrated": "%.2f", "nll": "%.4f", "nll_calibrated": "%.4f",
    "uas": "%.2f", "uas_mbr": "%.2f", "las": "%.2f", "las_mbr": "%.2f",
}  # fmt: skip
SYSTEMS = [*with_marginals(), *(name + LIKELIHOOD for name in with_marginals())]
COVERAGES = (0.5, 0.8, 0.9, 0.95, 1.0)


Predicted = tuple[np.ndarray, np.ndarray]  # the probabilities of predicted arcs, and which are correct: float64 and bool (words,)


@dataclass(frozen=True)
class Measured:
    """The probabilities of a model. before, after: at temperature 1 and at the fitted temperature.

    scores: by the names in COLUMNS; in percent, except for the temperature and the negative log-likelihoods of gold
    arcs. Those with "_mbr" are of minimum-Bayes-risk decoding at the fitted temperature, the others of the system's
    default decoder.
    """

    model: Run
    before: Predicted
    after: Predicted
    scores: dict[str, float]

    @property
    def name(self) -> str:
        return "%s, seed %d" % (self.model.system, self.model.seed)

    def accuracy(self, share: float) -> float:
        """Return the percentage of correct arcs among the most probable ones, this share of all, after calibration."""
        return 100 * accuracy_at_coverage(*self.after, share)


def predictions(parser: Parser, gold: Sequence[Sentence]) -> Predicted:
    parsed = parser.parse_as_usual(gold, wanted=Wanted(confidence=True))
    probabilities = np.concatenate([sentence.probabilities[1:] for sentence in parsed])
    return probabilities, np.concatenate([a.heads[1:] == b.heads[1:] for a, b in zip(gold, parsed, strict=True)])


def of_gold(parser: Parser, gold: Sequence[Sentence]) -> np.ndarray:
    """Return a parser's probabilities of gold arcs, float64 (words,), in the order in which it scores sentences."""
    found = []
    with parser.model.lock, naming(longest(gold), "parse"):
        for batch, scores in parser.model.score(gold):
            marginals = parser.marginals([gold[k] for k in batch], scores)
            found += [arc_probabilities(one.arcs, gold[k].heads)[1:] for k, one in zip(batch, marginals, strict=True)]
    return np.concatenate(found)


def measure(model: Run, sentences: Sequence[Sentence]) -> Measured:
    """Measure a finished model on every other sentence, calibrated on the sentences in between."""
    from mh4.training.calibration import calibrate

    parser, fitted, measured = Parser.load(str(model.folder)), sentences[1::2], sentences[::2]
    found = calibrate(parser, fitted)
    assert found is not None, "only systems with marginals are measured"
    predicted, scores = [], {"temperature": found.temperature}
    for temperature, suffix in ((1.0, ""), (found.temperature, "_calibrated")):
        parser.model.temperature = temperature
        predicted.append(predictions(parser, measured))
        scores["ece" + suffix] = 100 * expected_calibration_error(*predicted[-1])
        scores["nll" + suffix] = negative_log_likelihood(of_gold(parser, measured))
    for each, suffix in ((parser, ""), (Parser(parser.model, "mbr"), "_mbr")):
        scores.update({name + suffix: score for name, score in attachment_scores(measured, each.parse(measured)).items()})
    before, after = predicted
    return Measured(model, before, after, scores)


@study(**meanings(SYSTEMS, DEFAULT_SYSTEMS))
def calibration(bench: Bench, lang: str, systems: str, seeds: str, ud: str) -> None:
    asked = request(lang, seeds=seeds, ud=ud)
    require_matplotlib()
    bank = asked.treebank(test=False)
    models = requested_models(bench, bank, systems, seeds, SYSTEMS, DEFAULT_SYSTEMS)
    sentences = conllu.read(str(bank.paths["dev"]))
    measured = []
    for model in models:
        bench.console.print("calibrating %s, seed %d, on %s" % (model.system, model.seed, bank.paths["dev"].name), soft_wrap=True)
        measured.append(measure(model, sentences))
    shares = ["%g %%" % (100 * share) for share in COVERAGES]
    parts = [
        "![the share of correct arcs by probability, and by coverage](%s-calibration.png)" % bank.name,
        summary(measured),
        NOTE % len(measured[0].after[1]),
        by_model(measured, shares, lambda found: ["%.2f" % found.accuracy(share) for share in COVERAGES]),
        *(part for found in measured for part in ("## " + found.name, bins(found))),
        *pages.models((pages.origin(found.model) for found in measured), bank, repeat()),
    ]
    drawing = Plot(lambda figure: plot(figure, bank.title + ", development set", measured), 4.2)
    title = bank.title + ": calibration of the probabilities of arcs"
    written = pages.write(bench.results, bank.name + "-calibration", title, parts, plot=drawing)
    print_table(summary(measured), bench.console)
    report_written(written)


def by_model(measured: Sequence[Measured], header: Sequence[str], cells: Callable[[Measured], list[str]]) -> Table:
    """Return a table with a row for each model."""
    body = [[found.model.system, str(found.model.seed), *cells(found)] for found in measured]
    return Table(["system", "seed", *header], body, right=1)


def summary(measured: Sequence[Measured]) -> Table:
    header = ["temp.", "ECE, 1", "ECE", "NLL, 1", "NLL", "UAS", "mbr UAS", "LAS", "mbr LAS"]
    return by_model(measured, header, lambda found: [form % found.scores[name] for name, form in COLUMNS.items()])


def bins(found: Measured) -> Table:
    """Return a table of arcs by calibrated probability."""
    body = [
        ["%.1f to %.1f" % (b.low, b.high), "%d" % b.arcs, "%.1f" % (100 * b.confidence), "%.1f" % (100 * b.accuracy)]
        for b in reliability(*found.after)
    ]
    return Table(["probability", "arcs", "mean probability, %", "correct, %"], body, right=1)


NOTE = """\
ECE: expected calibration error of the predicted arcs in percent, in ten bins, at temperature 1 and at the temperature given.
NLL: the negative log-likelihood of a gold arc (whose probability counts as at least 0.001), also at both. The temperature, at
which NLL is lowest, is fitted on every other sentence of the development set, and everything is measured on the rest
(%d words). UAS and LAS are with the system's default decoder, mbr with minimum-Bayes-risk decoding at this temperature.
The accuracy of the most probable arcs, in percent, by their share of all:"""


def plot(figure: Any, title: str, measured: Sequence[Measured]) -> None:
    """Plot reliability, and accuracy against coverage, on a matplotlib figure."""
    left, right = figure.subplots(1, 2)
    figure.suptitle(title, fontsize=11)
    left.plot([0, 100], [0, 100], color="grey", linewidth=0.8)
    for found in measured:
        colour = None  # the second line has the colour of the first
        for predicted, style, label in ((found.before, "o:", found.name + ", temperature 1"), (found.after, "o-", found.name)):
            shown = reliability(*predicted)
            points = [100 * b.confidence for b in shown], [100 * b.accuracy for b in shown]
            (line,) = left.plot(*points, style, markersize=3, color=colour, label=label)
            colour = line.get_color()
        shares = np.linspace(0.05, 1, 96)
        right.plot(100 * shares, list(map(found.accuracy, shares)), label=found.name)
    left.set(xlabel="probability (%)", ylabel="correct arcs (%)")
    right.set(xlabel="most probable arcs kept (%)", ylabel="correct arcs among them (%)")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
