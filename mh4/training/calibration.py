"""Calibration: the temperature at which the probabilities of a model's arcs are most reliable, fitted on dev.

Training with a margin does not by itself make a parser's probabilities reliable. The temperature with the lowest negative
log-likelihood of the gold arcs is kept (see mh4.parser.temperature).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from mh4.analysis.reliability import negative_log_likelihood
from mh4.data.conllu import Sentence
from mh4.parser.parsing import Parser, arc_probabilities, longest, naming
from mh4.parser.temperature import Calibration, at_temperature

_LOWEST, _HIGHEST = 0.02, 50.0  # temperatures to choose from
_SENTENCES = 500  # to fit the temperature on, at most: enough for one number


def calibrate(parser: Parser, sentences: Sequence[Sentence]) -> Calibration | None:
    """The best temperature for the gold arcs of these sentences (at most 500 of them), 1 if none is better; None if the system has no
    marginals."""
    model = parser.model
    marginalize, single_root = model.system.marginals, model.config.scorer.single_root
    if marginalize is None:
        return None
    chosen = sentences[:: -(-len(sentences) // _SENTENCES)]
    scored: list[tuple[dict[str, np.ndarray], Sentence]] = []
    with model.lock, naming(longest(chosen), "calibrate on"):
        for batch, scores in model.score(chosen):
            scored += zip(scores.trees.arrays(), (chosen[k] for k in batch), strict=True)

    def nll(temperature: float) -> float:
        probabilities = []
        for tensors, sentence in scored:
            with naming(sentence, "calibrate on"):
                found = marginalize(**at_temperature(tensors, temperature), single_root=single_root)
            probabilities.append(arc_probabilities(found.arcs, sentence.heads)[1:])
        return negative_log_likelihood(np.concatenate(probabilities))

    best = math.exp(golden_section(lambda x: nll(math.exp(x)), math.log(_LOWEST), math.log(_HIGHEST)))
    found, uncalibrated = nll(best), nll(1.0)
    # Of sentences of one word, which have one tree, all temperatures are as good; of very few, there may be several minima.
    return Calibration(best, found, uncalibrated) if found < uncalibrated else Calibration(1.0, uncalibrated, uncalibrated)


def golden_section(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with a single minimum between low and high has it, up to 0.005 (Kiefer 1953)."""
    ratio = (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = function(a), function(b)
    while high - low > 0.005:
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = function(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = function(b)
    return (low + high) / 2
