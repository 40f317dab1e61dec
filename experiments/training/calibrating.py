"""The probabilities that a trained model gives to arcs, measured on half of the development set and calibrated on the other half."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mh4.data import conllu

# The probabilities of predicted arcs, which of them are correct, and the negative log-likelihood of gold's
Predicted = tuple[np.ndarray, np.ndarray, float]


@dataclass(frozen=True)
class Measured:
    """One model. before, after: at temperature 1 and at the one fitted.

    exact, mbr: "uas" and "las" in percent of the system's default decoder and of minimum-Bayes-risk decoding at this temperature.
    """

    temperature: float
    before: Predicted
    after: Predicted
    exact: dict[str, float]
    mbr: dict[str, float]


def measure(folder: Path, sentences: Sequence[conllu.Sentence]) -> Measured:
    """The arcs predicted by the model in `folder` for every other sentence, calibrated on those in between."""
    from mh4.analysis.evaluation import attachment_scores
    from mh4.analysis.reliability import negative_log_likelihood, of_gold, predictions
    from mh4.parser.parsing import Parser
    from mh4.training.calibration import calibrate

    parser, fitted, measured = Parser.load(str(folder)), sentences[1::2], sentences[::2]
    by_temperature = []
    found = calibrate(parser, fitted)
    assert found is not None, "only systems with marginals are measured"
    for temperature in (1.0, found.temperature):
        parser.model.temperature = temperature
        nll = negative_log_likelihood(of_gold(parser, measured))
        by_temperature.append((*predictions(parser, measured), nll))
    exact, mbr = (attachment_scores(measured, each.parse(measured)) for each in (parser, Parser(parser.model, "mbr")))
    return Measured(found.temperature, *by_temperature, exact, mbr)
