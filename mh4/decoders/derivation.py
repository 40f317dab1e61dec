"""What every decoder returns, and the error for a tree it cannot derive."""

from dataclasses import dataclass
from typing import Dict, Optional

import numpy as np

SHIFT = 0  # transition codes: 0 SH, 1 LA, 2 RA, 3 LA', 4 RA', 5 LA2, 6 RA2


class NotInClass(ValueError):
    """The tree given as ``heads`` has no derivation in the decoder's class of trees."""


@dataclass(eq=False)
class Derivation:
    """The best derivation of a sentence of n words.

    score: sum, in float64, of the scores it uses and of the cost of its arcs.
    heads: int32 array (n+1,); ``heads[0] == -1``.
    parts: for every score tensor, the index rows it uses, an integer array (rows, number of dimensions):
        the score without the cost is the sum over tensors of ``tensor[tuple(rows.T)].sum()``.
    transitions: for transition systems, integer array (2n+1, 4) of rows (code, s1, s0, b0) in the order they are
        executed, with the stack and buffer before the transition and -1 for an empty position; otherwise None.
    """

    score: float
    heads: np.ndarray
    parts: Dict[str, np.ndarray]
    transitions: Optional[np.ndarray] = None


def from_transitions(transitions, heads, tensors, cost):
    """Collect the parts of a transition sequence.

    tensors: shift (n+2, n+2), reduce_s0b0 and perhaps reduce_s1s0 (reduces, n+2, n+2), by name. The first
    transition, the shift of the root, is not scored.
    """
    is_shift = transitions[:, 0] == SHIFT
    is_shift[0] = False
    reduces = transitions[transitions[:, 0] != SHIFT]
    reduces[:, 0] -= 1  # tensors of reduces count from LA
    parts = {"shift": transitions[is_shift][:, 2:], "reduce_s0b0": reduces[:, [0, 2, 3]]}
    if "reduce_s1s0" in tensors:
        parts["reduce_s1s0"] = reduces[:, :3]
    return Derivation(total(tensors, parts, cost, heads), heads, parts, transitions)


def from_heads(heads, arcs, cost):
    """The Derivation of a tree whose only parts are its arcs, scored by ``arcs[head, dependent]``."""
    dependents = np.arange(1, len(heads))
    parts = {"arcs": np.stack([heads[1:], dependents], axis=1).astype(np.intp)}
    return Derivation(total({"arcs": arcs}, parts, cost, heads), heads, parts)


def total(tensors, parts, cost, heads):
    score = sum(tensors[name][tuple(rows.T)].sum(dtype=np.float64) for name, rows in parts.items())
    if cost is not None:
        score += cost[heads[1:], np.arange(1, len(heads))].sum(dtype=np.float64)
    return float(score)
