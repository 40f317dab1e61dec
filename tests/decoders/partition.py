"""The reference for marginals: sums over all sequences or trees, and by a chart that derives each sequence once.

Everything is in double precision and in log space, and slow. All that is shared with the decoders is Figure 2 in
mh4/decoders/reference.py. The scores of single sequences and trees are exact.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import brute
import numpy as np

from mh4.decoders.reference import deductions, log_sum


class Marginals(NamedTuple):
    """log_partition; arcs[h, m]: the probability of an arc; parts: by tensor, the expected uses of each score."""

    log_partition: float
    arcs: np.ndarray
    parts: dict


# ------------------------------------------------------------------------------------------------------------- all of them


def over(candidates, scores, single_root=False):
    """Return the Marginals over derivations or trees (brute.Candidates); log_partition is -inf if there are none."""
    log_partition, probability = distribution(candidates.used(scores), candidates.single_root | (not single_root))
    n = candidates.heads.shape[1] - 1
    counts = candidates.counts({"arcs": np.zeros((n + 1, n + 1)), **scores}, probability)
    return Marginals(log_partition, counts["arcs"], {name: counts[name] for name in scores})


def distribution(used, possible):
    """Return log_partition and the candidates' probabilities; used: its scores, arrays (candidates, any number)."""
    possible = possible & np.all([(scores > -np.inf).all(axis=1) for scores in used], axis=0)
    if not possible.any():
        return -np.inf, np.zeros(len(possible))
    used = [np.where(possible[:, None], scores, 0).astype(float) for scores in used]
    if max(np.abs(scores).max(initial=0) for scores in used) < 1e6:
        totals = sum(scores.sum(axis=1) for scores in used)
        largest = totals[possible].max()
        below = totals - largest
    else:  # float64 would round the sums
        totals = sum(np.frompyfunc(Fraction, 1, 1)(scores).sum(axis=1) for scores in used)
        largest = max(totals[possible])
        below = np.array([float(total - largest) for total in totals])
    below = np.where(possible, below, -np.inf)
    return float(largest) + log_sum(below), np.exp(below - log_sum(below))


# ------------------------------------------------------------------------------------------------------- longer sentences


def over_chart(n, k, scores, single_root=False):
    """Return the Marginals over the sequences of MH_k for any length, by a chart that derives each sequence once.

    A sequence can be cut where a node h_m of its item is shifted, if from there on nothing below h_m is touched. Both
    parts of a cut have derivations. To keep one derivation of each sequence, every sequence that can be cut is combined
    at its first cut: its left part cannot be cut. So an item has one value for the sequences without a cut (a shift, or
    a Link that removes every cut of its antecedent) and one for each place of the first cut. A Link removes all cuts if
    it removes the first: if its dependent is shifted there, or its head or dependent is below.
    """
    if single_root:
        one_root = [over_chart(n, k, only_root(n, scores, word)) for word in range(1, n + 1)]
        log_partition = log_sum([each.log_partition for each in one_root])
        weights = [np.exp(each.log_partition - log_partition) for each in one_root if each.log_partition > -np.inf]
        one_root = [each for each in one_root if each.log_partition > -np.inf]
        parts = {name: sum(w * each.parts[name] for w, each in zip(weights, one_root)) for name in scores}
        return Marginals(log_partition, sum(w * each.arcs for w, each in zip(weights, one_root)), parts)
    value = {}  # by (item, cut): the logarithm of a sum; the cut is a position in the item, or 0 if there is none
    ways = {}  # by (item, cut): the terms of that sum: the logarithm, the values multiplied, the scores used

    def steps(item, cut):
        for antecedents, arc in deductions(item, n, k):
            match antecedents:
                case () if cut == 0:
                    yield (), (), 0.0
                case (left, right) if cut == len(left) - 1:
                    cell = left[-2:]
                    for later in range(len(right) - 1):
                        yield ((left, 0), (right, later)), (("shift", cell),), float(scores["shift"][cell])
                case (antecedent,) if cut == 0:
                    head, dependent = arc
                    for spoilt, below in enumerate(antecedent[:-1]):
                        if spoilt == 0 or min(head, dependent) < below or dependent == below:
                            yield ((antecedent, spoilt),), *cells_of(antecedent, head, dependent, scores)

    def fill(item, cut):
        if (item, cut) not in value:
            terms = [(sum(fill(*each) for each in used) + score, used, cells) for used, cells, score in steps(item, cut)]
            ways[item, cut] = [term for term in terms if term[0] > -np.inf]
            value[item, cut] = log_sum([term for term, *_ in ways[item, cut]])
        return value[item, cut]

    fill((0, n + 1), 0)
    goal = ((0, n + 1), 0)
    expected = {goal: 1.0}  # by (item, cut): the expected number of uses
    arcs, parts = np.zeros((n + 1, n + 1)), {name: np.zeros(tensor.shape) for name, tensor in scores.items()}
    for conclusion in reversed(list(value)):
        for term, antecedents, cells in ways[conclusion]:
            uses = expected.get(conclusion, 0.0) * math.exp(term - value[conclusion])
            for antecedent in antecedents:
                expected[antecedent] = expected.get(antecedent, 0.0) + uses
            for name, cell in cells:
                if name in parts:
                    parts[name][cell] += uses
                if name == "arcs":
                    arcs[cell] += uses
    return Marginals(value[goal], arcs, parts)


def cells_of(item, head, dependent, scores):
    """Return the scores that a Link uses as (tensor, index), always with the arc, and their sum."""
    code, s1, s0, b0 = brute.transition(item, head, dependent)
    cells = (("reduce_s0b0", (code - 1, s0, b0)), ("reduce_s1s0", (code - 1, s1, s0)), ("arcs", (head, dependent)))
    return cells, sum(float(scores[name][cell]) for name, cell in cells if name in scores)


def only_root(n, scores, word):
    """Return the scores with all arcs from the root forbidden, except to `word`."""
    arcs = np.array(scores.get("arcs", np.zeros((n + 1, n + 1))), dtype=float)
    arcs[0, np.arange(n + 1) != word] = -np.inf
    return {**scores, "arcs": arcs}


def count(n, k, single_root=False):
    """Return the number of transition sequences that MH_k derives over n words."""
    reduces = brute.NUMBER_OF_REDUCES[k]
    zeros = {"shift": np.zeros((n + 2, n + 2)), "reduce_s0b0": np.zeros((reduces, n + 2, n + 2))}
    return round(np.exp(over_chart(n, k, zeros, single_root).log_partition))


def matrix_tree(arcs, single_root=False):
    """Return the log of the sum over all trees by the matrix-tree theorem (Koo et al. 2007; Smith & Smith 2007)."""
    n, arcs = len(arcs) - 1, arcs.astype(float)
    largest = arcs[:, 1:].max(axis=0, initial=-1e300)
    weights = np.exp(arcs[:, 1:] - largest)  # each tree has one arc per column: largest.sum() is added at the end
    among, from_root = weights[1:], weights[0]
    np.fill_diagonal(among, 0)
    laplacian = np.diag(among.sum(axis=0)) - among
    if not single_root:
        return log_determinant(laplacian + np.diag(from_root)) + largest.sum()
    each = []
    for root in np.flatnonzero(from_root):
        others = np.delete(np.arange(n), root)
        each.append(log_determinant(laplacian[np.ix_(others, others)]) + np.log(from_root[root]))
    return log_sum(each) + largest.sum()


def log_determinant(matrix):
    if not matrix.any(axis=0).all():  # a word without possible heads: no tree, without rounding
        return -np.inf
    sign, logarithm = np.linalg.slogdet(matrix)
    assert sign > 0, "too ill-conditioned for this reference"
    return logarithm
