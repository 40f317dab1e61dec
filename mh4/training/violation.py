"""Margin violations: by how much a model prefers a wrong analysis to gold (Section 4.3), as a linear function of its scores.

Once the preferred analysis is known, the violation of the margin is linear in the scores: the sum of the scores it uses minus
the sum of those that gold uses, plus a constant. Both kinds of parser are trained on it: global ones on whole derivations,
greedy ones on single transitions. Nothing here needs DyNet; mh4.training.loss turns it into part of a graph.
"""

from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple

import numpy as np

from mh4 import oracle, transitions
from mh4.decoders import Derivation
from mh4.decoders.beam import local_parts
from mh4.transitions import Transition

Parts = dict[str, np.ndarray]  # for each tensor, the index rows of the scores used


class Violation(NamedTuple):
    """The sum of the scores that the preferred analysis uses, minus the sum of those that gold uses, plus a constant.

    The constant is the cost of the preferred analysis. The whole is never negative. `preferred` and `gold` are index rows into the
    score tensors.
    """

    preferred: Parts
    gold: Parts
    constant: float


def hamming_cost(heads: np.ndarray) -> np.ndarray:
    """cost[h, m] = 1 for every arc that is not in the gold tree `heads`: float32 (n+1, n+1)."""
    cost = np.ones((len(heads), len(heads)), dtype=np.float32)
    cost[heads[1:], np.arange(1, len(heads))] = 0.0
    return cost


def structured(
    decode: Callable[..., Derivation], tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool
) -> Violation:
    """Structured hinge: max over derivations of score + Hamming cost (wrong heads), minus the best gold derivation's score.

    heads: the gold tree.
    """
    predicted = decode(**tensors, cost=hamming_cost(heads), single_root=single_root)
    gold = decode(**tensors, heads=heads, single_root=single_root)
    return Violation(predicted.parts, gold.parts, float((predicted.heads != heads).sum()))


def stepwise(codes: Sequence[Transition], tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Violation:
    """Hinge of a greedy parser, summed over the configurations of the canonical sequence of the gold tree `heads`.

    For each configuration: max over legal transitions of score + 1 (+ 0 for the canonical one), minus the canonical one's score.
    tensors: as for `beam.decode_local`; they score the transitions `codes`.
    """
    n = len(heads) - 1
    gold = oracle.canonical(heads, codes)
    assert gold is not None, "greedy parsers are only trained on trees that they can produce"
    parts = local_parts(gold, n)
    each = [tensor[:, parts[name][:, 1], parts[name][:, 2]] for name, tensor in tensors.items()]
    scores = sum(each[1:], each[0])  # (codes, 2n)
    steps, right = np.arange(2 * n), gold[1:, 0]
    augmented = np.where(transitions.legal(gold[1:, 1:], n, single_root)[: len(codes)], scores + 1, -np.inf)
    augmented[right, steps] = scores[right, steps]
    preferred = augmented.argmax(axis=0)
    wrong = np.flatnonzero(preferred != right)
    predicted = gold[1:][wrong]
    predicted[:, 0] = preferred[wrong]
    used = local_parts(np.concatenate([gold[:1], predicted]), n)
    return Violation({name: used[name] for name in tensors}, {name: parts[name][wrong] for name in tensors}, float(len(wrong)))


def preferred_classes(scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """For each of N decisions, the class with the highest score + 1 (+ 0 for the gold class): scores (classes, N), gold (N,)."""
    augmented = scores + 1.0
    augmented[gold, np.arange(len(gold))] -= 1.0
    return augmented.argmax(axis=0)


def difference(preferred: np.ndarray, gold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often `preferred` uses each score minus how often `gold` does, both given as index rows of a tensor.

    Returns distinct index rows and their coefficients, omitting zero coefficients.
    """
    rows = np.concatenate([preferred, gold])
    signs = np.repeat([1.0, -1.0], [len(preferred), len(gold)])
    # Encode each row as one number, which sorts much faster.
    shape = rows.max(axis=0, initial=0) + 1
    numbers, positions = np.unique(np.ravel_multi_index(rows.T, shape), return_inverse=True)
    coefficients = np.bincount(positions, weights=signs, minlength=len(numbers))
    used = coefficients != 0
    return np.stack(np.unravel_index(numbers[used], shape), axis=1), coefficients[used]
