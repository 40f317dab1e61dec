"""Calibration of the probabilities of arcs: expected calibration error, reliability, and accuracy by coverage.

This table is not in the paper. It is written to ``results/NAME-calibration.md``, ``.csv`` and ``.png``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from training.calibrating import Measured
from training.run import Run
from training.treebank import Treebank

from mh4.analysis.reliability import accuracy_at_coverage, expected_calibration_error, reliability
from mh4.util.plots import save
from tables.writer import Table, comma_separated, models_section, origin

COVERAGES = (0.5, 0.8, 0.9, 0.95, 1.0)


def summary(models: Sequence[Run], measured: Sequence[Measured]) -> Table:
    """A row for each model."""
    header = ["system", "seed", "temp.", "ECE, 1", "ECE", "NLL, 1", "NLL", "UAS", "mbr"]
    body = []
    for model, found in zip(models, measured):
        errors = ["%.2f" % (100 * expected_calibration_error(*predicted[:2])) for predicted in (found.before, found.after)]
        likelihoods = ["%.4f" % predicted[2] for predicted in (found.before, found.after)]
        accuracy = ["%.2f" % found.exact["uas"], "%.2f" % found.mbr["uas"]]
        body.append([model.system, str(model.seed), "%.3f" % found.temperature, *errors, *likelihoods, *accuracy])
    return Table(header, body, right=1)


def by_coverage(models: Sequence[Run], measured: Sequence[Measured]) -> Table:
    """The accuracy of the most probable arcs, by their share of all."""
    body = [
        [model.system, str(model.seed)] + ["%.2f" % (100 * accuracy_at_coverage(*found.after[:2], share)) for share in COVERAGES]
        for model, found in zip(models, measured)
    ]
    return Table(["system", "seed", *("%g %%" % (100 * share) for share in COVERAGES)], body, right=1)


def bins(found: Measured) -> Table:
    """Arcs by probability, calibrated."""
    body = [
        ["%.1f to %.1f" % (b.low, b.high), "%d" % b.arcs, "%.1f" % (100 * b.confidence), "%.1f" % (100 * b.accuracy)]
        for b in reliability(*found.after[:2])
    ]
    return Table(["probability", "arcs", "mean probability, %", "correct, %"], body, right=1)


def markdown(bank: Treebank, models: Sequence[Run], measured: Sequence[Measured], command: str) -> list[str]:
    """The lines of the page."""
    lines = [
        "# %s (%s): calibration of the probabilities of arcs" % (bank.lang, bank.release),
        "",
        "![the share of correct arcs by probability, and by coverage](%s-calibration.png)" % bank.name,
        "",
        summary(models, measured).markdown(),
        "",
        "ECE: expected calibration error of the predicted arcs in percent, in ten bins, at temperature 1 and at the temperature given.",
        "NLL: the negative log-likelihood of a gold arc (whose probability counts as at least 0.001), also at both. The temperature, at",
        "which NLL is lowest, is fitted on every other sentence of the development set, and everything is measured on the rest",
        "(%d words). UAS is that of the system's default decoder, mbr that of minimum-Bayes-risk decoding at this temperature."
        % len(measured[0].after[0]),
        "The accuracy of the most probable arcs, in percent, by their share of all:",
        "",
        by_coverage(models, measured).markdown(),
        "",
    ]
    for model, found in zip(models, measured):
        lines += ["## %s, seed %d" % (model.system, model.seed), "", bins(found).markdown(), ""]
    return [
        *lines,
        *models_section(map(origin, models), bank, command),
    ]


def as_csv(bank: Treebank, models: Sequence[Run], measured: Sequence[Measured]) -> str:
    """The summary and the accuracies by coverage as csv."""
    header = ["lang", "data", "system", "seed", "temperature", "ece", "ece_calibrated", "nll", "nll_calibrated", "uas", "uas_mbr"]
    header += ["accuracy_at_%g" % share for share in COVERAGES]
    body = []
    for model, found in zip(models, measured):
        before, after = found.before, found.after
        errors = [100 * expected_calibration_error(*predicted[:2]) for predicted in (before, after)]
        shares = [100 * accuracy_at_coverage(*after[:2], share) for share in COVERAGES]
        uas = [found.exact["uas"], found.mbr["uas"]]
        body.append(
            [bank.lang, bank.release, model.system, model.seed, found.temperature, *errors, before[2], after[2], *uas] + shares
        )
    return comma_separated(header, body)


def plot(path: Path, title: str, models: Sequence[Run], measured: Sequence[Measured]) -> None:
    """Plot reliability, and accuracy against coverage, as a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    figure.suptitle(title, fontsize=11)
    left.plot([0, 100], [0, 100], color="grey", linewidth=0.8)
    for model, found in zip(models, measured):
        name = "%s, seed %d" % (model.system, model.seed)
        for predicted, style in ((found.before, "o:"), (found.after, "o-")):
            shown = reliability(*predicted[:2])
            (line,) = left.plot(
                [100 * b.confidence for b in shown],
                [100 * b.accuracy for b in shown],
                style,
                markersize=3,
                color=None if style == "o:" else line.get_color(),  # noqa: F821  the dotted line comes first
                label=name + (", temperature 1" if style == "o:" else ""),
            )
        shares = np.linspace(0.05, 1, 96)
        right.plot(100 * shares, [100 * accuracy_at_coverage(*found.after[:2], share) for share in shares], label=name)
    left.set_xlabel("probability (%)")
    left.set_ylabel("correct arcs (%)")
    right.set_xlabel("most probable arcs kept (%)")
    right.set_ylabel("correct arcs among them (%)")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    save(figure, str(path))
