"""Calibration: one temperature per model, fitted on dev, so that probabilities of arcs can be taken at their word.

Scores are divided by the temperature before marginals are computed (Guo, Pleiss, Sun & Weinberger, ICML 2017). A parser trained
with a margin has no reason to give good probabilities otherwise. The temperature with the lowest negative log-likelihood of the
gold arcs is kept in calibration.json, in the model folder.
"""

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Optional

import numpy as np

from mh4 import reading
from mh4.conllu import Sentence
from mh4.errors import InputError
from mh4.files import write_text
from mh4.parsing import Parser, at_temperature, longest, naming, of_arcs

FILE = "calibration.json"
_LOWEST, _HIGHEST = 0.02, 50.0  # temperatures to choose from
_SENTENCES = 500  # to fit the temperature on, at most: enough for one number
# A lower bound on probabilities: without it, a few gold arcs that the system finds all but impossible, such as those of trees outside
# its class, would decide on the temperature, to the detriment of all others (on Hungarian, mh3's calibration error would triple).
_LOWEST_PROBABILITY = 1e-3


@dataclass(frozen=True)
class Calibration:
    """temperature: the best. nll, uncalibrated_nll: -log of the probability of a gold arc, on average, with it and without it."""

    temperature: float
    nll: float
    uncalibrated_nll: float

    def save(self, folder: str) -> None:
        write_text(os.path.join(folder, FILE), json.dumps(asdict(self), indent=2) + "\n")


def load(folder: str) -> Optional[Calibration]:
    """The calibration of the model in `folder`; None if it has none. Raises InputError if it is damaged."""
    path = os.path.join(folder, FILE)
    if not os.path.lexists(path):
        return None
    try:
        found = Calibration(**json.loads(reading.text(path)))
        if not all(type(number) in (int, float) for number in astuple(found)) or not 1e-6 < found.temperature < 1e6:
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise InputError("%s: damaged, expected the calibration of a model" % path) from None
    return found


def calibrate(parser: Parser, sentences: Sequence[Sentence]) -> Optional[Calibration]:
    """The best temperature for the gold arcs of these sentences (at most 500 of them); None if the system has no marginals."""
    model = parser.model
    marginalize, single_root = model.system.marginals, model.config.scorer.single_root
    if marginalize is None:
        return None
    chosen = sentences[:: -(-len(sentences) // _SENTENCES)]
    scored: list[tuple[dict[str, np.ndarray], Sentence]] = []
    with model.lock, naming(longest(chosen), "calibrate on"):
        for batch, scores in model.score(chosen):
            scored += zip(scores.trees.arrays(), (chosen[k] for k in batch))

    def nll(temperature: float) -> float:
        probabilities = []
        for tensors, sentence in scored:
            with naming(sentence, "calibrate on"):
                found = marginalize(**at_temperature(tensors, temperature), single_root=single_root)
            probabilities.append(of_arcs(found.arcs, sentence.heads)[1:])
        return negative_log_likelihood(np.concatenate(probabilities))

    best = math.exp(golden_section(lambda x: nll(math.exp(x)), math.log(_LOWEST), math.log(_HIGHEST)))
    return Calibration(best, nll(best), nll(1.0))


def of_gold(parser: Parser, gold: Sequence[Sentence]) -> np.ndarray:
    """The probabilities that a parser gives to gold arcs, float64 (words,), of sentences of similar length together."""
    found = []
    with parser.model.lock, naming(longest(gold), "parse"):
        for batch, scores in parser.model.score(gold):
            found += [
                of_arcs(each.arcs, gold[k].heads)[1:]
                for k, each in zip(batch, parser.marginals([gold[k] for k in batch], scores))
            ]
    return np.concatenate(found)


def negative_log_likelihood(probabilities: np.ndarray) -> float:
    """-log of the probabilities of gold arcs, on average. Each counts as at least 0.001."""
    return float(-np.log(np.maximum(probabilities, _LOWEST_PROBABILITY)).mean())


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


# How well probabilities hold


@dataclass(frozen=True)
class Bin:
    """Arcs of similar probability: their number, the mean of their probabilities, and the share of them that is correct."""

    low: float
    high: float
    arcs: int
    confidence: float
    accuracy: float


def reliability(probabilities: np.ndarray, correct: np.ndarray, bins: int = 10) -> list[Bin]:
    """Predicted arcs by probability, in bins of equal width; empty ones are omitted. probabilities, correct: (arcs,)."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    return [
        Bin(k / bins, (k + 1) / bins, int(chosen.sum()), float(probabilities[chosen].mean()), float(correct[chosen].mean()))
        for k in range(bins)
        for chosen in [which == k]
        if chosen.any()
    ]


def expected_calibration_error(probabilities: np.ndarray, correct: np.ndarray, bins: int = 10) -> float:
    """The mean over predicted arcs of |confidence - accuracy| of their bin (Naeini, Cooper & Hauskrecht, AAAI 2015)."""
    found = reliability(probabilities, correct, bins)
    return sum(b.arcs * abs(b.confidence - b.accuracy) for b in found) / len(probabilities)


def accuracy_at_coverage(probabilities: np.ndarray, correct: np.ndarray, coverage: float) -> float:
    """The share that is correct of the given share of predicted arcs, those of the highest probability."""
    kept = max(1, round(coverage * len(probabilities)))
    return float(correct[np.argsort(-probabilities, kind="stable")[:kept]].mean())


def predictions(parser: Parser, gold: Sequence[Sentence]) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities of the arcs that a parser predicts, and which of them are correct: float64 and bool (words,)."""
    parsed = parser.parse(gold, confidence=True)
    probabilities = np.concatenate([sentence.probabilities[1:] for sentence in parsed])
    return probabilities, np.concatenate([a.heads[1:] == b.heads[1:] for a, b in zip(gold, parsed)])
