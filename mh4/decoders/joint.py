"""Greedy search in MH4 where one layer scores all transitions on all positions together, which rules out a chart.

The scores in a configuration are output tanh(s2 + s1 + s0 + b0) + bias, with a vector of the layer for the node at each position
that is looked at. The authors' greedy MH4 parsers are of this kind; the others are sums over pairs of positions (see beam).
"""

import numpy as np

from mh4 import transitions
from mh4.decoders.derivation import Derivation

_POSITIONS = ("s2", "s1", "s0", "b0")


def decode(*, output: np.ndarray, bias: np.ndarray, single_root: bool = False, **vectors: np.ndarray) -> Derivation:
    """The sequence of the best legal transition in each configuration.

    output: (7, units), one row for each transition, by code; bias: (7,). vectors: for some of the positions s2, s1, s0 and b0, by name,
    those of the nodes that can be there, (n+2, units), with row n+1 for the end of the sentence and for an empty stack position.
    single_root: exactly one dependent of node 0.

    Returns a Derivation without parts. The first transition, the shift of the root, is not scored. Raises ValueError if a score is not a
    number, or if a single root is required of a sentence without words.
    """
    n = len(next(iter(vectors.values()))) - 2
    if single_root and n == 0:
        raise ValueError("a sentence without words cannot have a single root")
    looked_at = [(k, vectors[name]) for k, name in enumerate(_POSITIONS) if name in vectors]
    stack, b0, score, rows = [-1, -1, -1, 0], 1, 0.0, [(int(transitions.SH), -1, -1, 0)]
    heads = np.full(n + 1, -1, dtype=np.int32)
    for _ in range(2 * n):
        positions = (*stack[-3:], b0)
        hidden = np.tanh(sum(array[positions[k]] if positions[k] >= 0 else array[n + 1] for k, array in looked_at))
        scores = output @ hidden + bias
        if np.isnan(scores).any():
            raise ValueError("scores must be numbers, got nan")
        allowed = np.flatnonzero(transitions.legal(np.array([positions]), n, single_root))
        code = transitions.MH4[allowed[scores[allowed].argmax()]]
        score += float(scores[code])
        s2, s1, s0 = stack[-3:]
        rows.append((int(code), s1, s0, b0))
        if code == transitions.SH:
            stack.append(b0)
            b0 += 1
        else:
            at = dict(zip(_POSITIONS, positions, strict=True))
            head, dependent = (at[position] for position in transitions.ARC[code])
            heads[dependent] = head
            stack.remove(dependent)
    return Derivation(score, heads, {}, np.array(rows, dtype=np.intp))
