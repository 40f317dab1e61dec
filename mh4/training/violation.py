"""Margin violations (Section 4.3): by how much the score plus cost of what a model predicts exceeds the score of the target.

The *target* is the tree to learn, gold or the nearest that the system can produce; the *prediction* is what has the highest score
plus cost. Once it is known, the violation is linear in the scores: the sum of those that the prediction uses minus the sum of those
that the target uses, plus the cost, which is a constant. Global parsers predict whole derivations, greedy ones single transitions.
Global parsers can also be trained on the likelihood of the target. Nothing here needs DyNet; mh4.training.loss makes it a part of
the graph.
"""

from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple

import numpy as np

from mh4 import oracle, transitions
from mh4.decoders import Derivation, Marginals
from mh4.decoders.beam import local_parts
from mh4.transitions import Transition

Parts = dict[str, np.ndarray]  # for each tensor, the index rows of the scores used


class Violation(NamedTuple):
    """The sum of the scores that the prediction uses, minus the sum of those that the target uses, plus the prediction's cost.

    The whole is never negative, as the target competes for the prediction at no cost. `predicted` and `target` are index rows into the
    score tensors.
    """

    predicted: Parts
    target: Parts
    cost: float


def hamming_cost(heads: np.ndarray) -> np.ndarray:
    """cost[h, m] = 1 for every arc that is not in the target tree `heads`: float32 (n+1, n+1)."""
    cost = np.ones((len(heads), len(heads)), dtype=np.float32)
    cost[heads[1:], np.arange(1, len(heads))] = 0.0
    return cost


def structured(
    decode: Callable[..., Derivation], tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool
) -> Violation:
    """Structured hinge: max over derivations of score + Hamming cost (wrong heads), minus the same over those of the target.

    heads: the target tree, whose derivations cost nothing. It may have several; where the paper has one
    gold sequence, here the one counts that the model scores highest.
    """
    predicted = decode(**tensors, cost=hamming_cost(heads), single_root=single_root)
    target = decode(**tensors, heads=heads, single_root=single_root)
    return Violation(predicted.parts, target.parts, float((predicted.heads != heads).sum()))


class Likelihood(NamedTuple):
    """The negative log-likelihood of the target, `value`, and for each tensor its derivatives by the scores."""

    derivatives: dict[str, np.ndarray]
    value: float


def likelihood(
    marginalize: Callable[..., Marginals], tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool
) -> Likelihood:
    """-log of the probability of the target `heads`, that of all its derivations together.

    The derivatives are differences between expected counts: over all derivations, minus over those of the target.
    """
    arcs = np.full((len(heads), len(heads)), -np.inf)
    of_target = heads[1:], np.arange(1, len(heads))
    arcs[of_target] = tensors["arcs"][of_target] if "arcs" in tensors else 0
    everything = marginalize(**tensors, single_root=single_root)
    target = marginalize(**{**tensors, "arcs": arcs}, single_root=single_root)
    derivatives = {name: everything.parts[name] - target.parts[name] for name in tensors}
    return Likelihood(derivatives, everything.log_partition - target.log_partition)


def stepwise(codes: Sequence[Transition], tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Violation:
    """Hinge of a greedy parser, summed over the configurations of the canonical sequence of the target tree `heads`.

    For each configuration: max over legal transitions of score + 1 (+ 0 for the canonical one), minus the canonical one's score.
    tensors: as for `beam.decode_local`; they score the transitions `codes`.
    """
    n = len(heads) - 1
    target = oracle.canonical(heads, codes)
    assert target is not None, "greedy parsers are only trained on trees that they can produce"
    parts = local_parts(target, n)
    each = [tensor[:, parts[name][:, 1], parts[name][:, 2]] for name, tensor in tensors.items()]
    scores = sum(each[1:], each[0])  # (codes, 2n)
    steps, right = np.arange(2 * n), target[1:, 0]
    augmented = np.where(transitions.legal(target[1:, 1:], n, single_root)[: len(codes)], scores + 1, -np.inf)
    augmented[right, steps] = scores[right, steps]
    choices = augmented.argmax(axis=0)
    wrong = np.flatnonzero(choices != right)
    predicted = target[1:][wrong]
    predicted[:, 0] = choices[wrong]
    used = local_parts(np.concatenate([target[:1], predicted]), n)
    return Violation({name: used[name] for name in tensors}, {name: parts[name][wrong] for name in tensors}, float(len(wrong)))


def predicted_classes(scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """For each of N decisions, the class with the highest score + 1 (+ 0 for the gold class): scores (classes, N), gold (N,)."""
    augmented = scores + 1.0
    augmented[gold, np.arange(len(gold))] -= 1.0
    return augmented.argmax(axis=0)


def coefficients(predicted: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of a tensor's scores in a violation: how often the prediction uses each minus how often the target does.

    Both are given as index rows. Returns distinct index rows and their coefficients, omitting zero coefficients.
    """
    rows = np.concatenate([predicted, target])
    signs = np.repeat([1.0, -1.0], [len(predicted), len(target)])
    # Encode each row as one number, which sorts much faster.
    shape = rows.max(axis=0, initial=0) + 1
    numbers, positions = np.unique(np.ravel_multi_index(rows.T, shape), return_inverse=True)
    counts = np.bincount(positions, weights=signs, minlength=len(numbers))
    used = counts != 0
    return np.stack(np.unravel_index(numbers[used], shape), axis=1), counts[used]
