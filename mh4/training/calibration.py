"""Fit, on dev, the temperatures at which the probabilities of a model's arcs and labels are most reliable.

Training with a margin does not by itself make a parser's probabilities reliable. The model stores the temperatures with
the lowest negative log-likelihood of the gold arcs, and of their labels (mh4.parser.temperatures).
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

import numpy as np

from mh4.analysis.reliability import negative_log_likelihood
from mh4.data.sentence import Sentence
from mh4.parser.columns import arc_probabilities, softmax
from mh4.parser.kept_heads import annotated_labels, has_heads
from mh4.parser.parsing import Parser, longest, naming
from mh4.parser.temperatures import Temperatures, at_temperature

_LOWEST, _HIGHEST = 0.02, 50.0  # temperatures to choose from
_LOWEST_OF_LABELS = 0.002  # after short trainings, scores of labels differ little
_SENTENCES = 500  # the most sentences to fit a temperature on: enough for one number


def calibrate(parser: Parser, sentences: Sequence[Sentence]) -> Temperatures | None:
    """Return the best temperatures for the gold arcs and labels of at most 500 of these sentences.

    A temperature is 1 if no other is better. Returns None if the system has no marginals, or if no sentence has a head.
    """
    model = parser.model
    marginalize, single_root = model.system.marginals, model.config.scorer.single_root
    sentences = list(filter(has_heads, sentences))
    if marginalize is None or not sentences:
        return None
    chosen = sentences[:: -(-len(sentences) // _SENTENCES)]
    scored: list[tuple[dict[str, np.ndarray], Sentence]] = []
    labels = []
    with model.lock, naming(longest(chosen), "calibrate on"):
        for batch, scores in model.score(chosen):
            gold = [chosen[k] for k in batch]
            scored += zip(scores.trees.arrays(), gold, strict=True)
            labels.append(scores.labels([np.maximum(sentence.heads, 0) for sentence in gold]).npvalue())

    def nll(temperature: float) -> float:
        probabilities = []
        for tensors, sentence in scored:
            with naming(sentence, "calibrate on"):
                found = marginalize(**at_temperature(tensors, temperature), single_root=single_root)
            probabilities.append(arc_probabilities(found.arcs, sentence.heads)[sentence.heads >= 0])
        return negative_log_likelihood(np.concatenate(probabilities))

    table, sentences = model.vocabulary.labels, [sentence for _, sentence in scored]
    rows = model.vocabulary.known_labels(chain.from_iterable(sentence.deprels for sentence in sentences))
    judged = np.flatnonzero(np.concatenate(list(map(annotated_labels, sentences))) & (rows > 0))
    of_labels = np.hstack([each.reshape((len(table), -1)) for each in labels])
    roots = parser.root_labels([sentence.heads for sentence in sentences])

    def nll_of_labels(temperature: float) -> float:
        probabilities = softmax(of_labels / temperature, table, roots)
        return negative_log_likelihood(probabilities[rows[judged], judged])

    best, found, before = _best(nll, _LOWEST)
    return Temperatures(best, found, before, _best(nll_of_labels, _LOWEST_OF_LABELS)[0] if len(judged) else 1.0)


def _best(nll: Callable[[float], float], lowest: float) -> tuple[float, float, float]:
    """Return the temperature with the lowest negative log-likelihood (1 if as low there), and `nll` at it and at 1."""
    nll = cache(nll)
    best = math.exp(minimum(lambda x: nll(math.exp(x)), 0.0, math.log(lowest), math.log(_HIGHEST)))
    best = best if nll(best) < nll(1.0) else 1.0  # all are equally good if all sentences have one word, so one tree
    return best, nll(best), nll(1.0)


def minimum(function: Callable[[float], float], start: float, low: float, high: float) -> float:
    """Return the place of a function's only minimum between low and high, up to 0.005, by Brent's method (1973) from `start`.

    Each step goes to the vertex of the parabola through the three lowest points. If the vertex lies outside the
    interval, or is at least half as far away as the step before last was long, the step divides the larger part of the
    interval by the golden section instead.
    """
    least = 0.0025  # the length of the shortest step; the interval ends within two of them from the lowest point
    points = [(function(start), start)]
    before = last = 0.0
    while max(points[0][1] - low, high - points[0][1]) > 2 * least:
        best = points[0][1]
        step = _to_vertex(*points) if len(points) == 3 else math.inf
        if abs(step) < before / 2 and low < best + step < high:
            before, last = last, abs(step)
        else:
            part = high - best if high - best > best - low else low - best
            step = (3 - math.sqrt(5)) / 2 * part
            before, last = abs(part), abs(step)
        new = best + math.copysign(max(abs(step), least), step)
        points = sorted([*points, (function(new), new)])[:3]
        if points[0][1] == best:
            low, high = (low, new) if new > best else (new, high)
        else:
            low, high = (best, high) if new > best else (low, best)
    return points[0][1]


def _to_vertex(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Return the distance from the first of three points (y, x) to the vertex of their parabola; infinity if they lie on a line."""
    (at_a, a_x), (at_b, b_x), (at_c, c_x) = a, b, c
    p, q = (b_x - a_x) * (at_c - at_a), (c_x - a_x) * (at_b - at_a)
    return ((b_x - a_x) * p - (c_x - a_x) * q) / (2 * (p - q)) if p != q else math.inf
