"""Define what decoders return (derivations and marginals), and the error for trees that they cannot derive."""

from dataclasses import dataclass

import numpy as np


class NotInClass(ValueError):
    """Raised if no tree of the decoder's class has the given ``heads`` (and a single root, if required)."""


@dataclass(eq=False)
class Derivation:
    """The best derivation of a sentence of n words.

    score: the sum, in float64, of the scores that the derivation uses and of the cost of its arcs, after any rounding
        by the decoder.
    heads: int32 array (n+1,); ``heads[0] == -1``.
    parts: for every score tensor, the index rows that the derivation uses, an intp array (rows, number of dimensions).
        The score without the cost is the sum over tensors of ``tensor[tuple(rows.T)].sum()``.
    transitions: for transition systems, an intp array (2n+1, 4) of rows (code, s1, s0, b0) in order of execution, with
        the stack and buffer before the transition and -1 for an empty position; otherwise None.
        Codes: see ``mh4.transitions``.
    """

    score: float
    heads: np.ndarray
    parts: dict[str, np.ndarray]
    transitions: np.ndarray | None = None


def from_heads(heads: np.ndarray, arcs: np.ndarray, cost: np.ndarray | None = None) -> Derivation:
    """Return the Derivation of a tree whose only parts are its arcs, scored by ``arcs[head, dependent]``."""
    rows = np.stack([heads[1:], np.arange(1, len(heads))], axis=1).astype(np.intp)
    score = 0.0
    for scores in (arcs,) if cost is None else (arcs, cost):
        score += float(np.add.accumulate([0, *scores[tuple(rows.T)]], dtype=np.float64)[-1])  # in the order of the rows
    return Derivation(score, heads, {"arcs": rows})


@dataclass(eq=False)
class Marginals:
    """The distribution over the derivations of a sentence of n words, with probabilities proportional to exp(score).

    log_partition: the logarithm of the sum of exp(score) over all derivations.
    arcs: the probability of each arc, float64 (n+1, n+1) by head and dependent; columns 1 to n sum to 1, column 0 to 0.
    parts: for every score tensor, the expected number of times that a derivation uses each score: float64 arrays of
        the tensors' shapes. They are the gradient of log_partition.
    """

    log_partition: float
    arcs: np.ndarray
    parts: dict[str, np.ndarray]


@dataclass(eq=False)
class Derivations:
    """The best derivation of each of B sentences, of up to N words.

    lengths: intp array (B,), the number of words of each sentence.
    heads: int32 array (B, N+1); -1 at 0 and beyond the sentence.
    scores: float64 array (B,): the sums of the scores that the derivations use and of the costs of their arcs.
    parts: for every score tensor, the index rows (intp) that the derivations use, in the order of the sentences; the
        first column is the sentence. Without a cost, the sum over tensors of ``tensor[tuple(rows.T)].sum()`` is
        ``scores.sum()``.
    transitions: for transition systems, an intp array (rows, 5): the sentence, and a row of `Derivation.transitions`;
        otherwise None.
    """

    lengths: np.ndarray
    heads: np.ndarray
    scores: np.ndarray
    parts: dict[str, np.ndarray]
    transitions: np.ndarray | None = None

    def derivation(self, b: int) -> Derivation:
        """Return the derivation of sentence b, as its decoder returns it. Raises IndexError for unknown sentences."""
        if not 0 <= b < len(self.lengths):
            raise IndexError("sentence %d of a batch of %d" % (b, len(self.lengths)))
        heads = self.heads[b, : self.lengths[b] + 1].copy()
        parts = {name: _of_sentence(rows, b) for name, rows in self.parts.items()}
        transitions = None if self.transitions is None else _of_sentence(self.transitions, b)
        return Derivation(float(self.scores[b]), heads, parts, transitions)


def _of_sentence(rows: np.ndarray, b: int) -> np.ndarray:
    first, last = np.searchsorted(rows[:, 0], [b, b + 1])
    return np.ascontiguousarray(rows[first:last, 1:])


@dataclass(eq=False)
class BatchMarginals:
    """The distributions over the derivations of B sentences of up to N words, with probabilities proportional to exp(score).

    lengths: intp array (B,), the number of words of each sentence.
    log_partition: float64 array (B,): the logarithm of the sum of exp(score) over the derivations of each sentence.
    arcs: the probability of each arc, float64 (B, N+1, N+1) by sentence, head and dependent; 0 beyond the sentence.
    parts: for every score tensor, the expected number of times that a derivation of the sentence uses each score:
        float64 arrays of the tensors' shapes, 0 beyond the sentence. They are the gradient of ``log_partition.sum()``.
    """

    lengths: np.ndarray
    log_partition: np.ndarray
    arcs: np.ndarray
    parts: dict[str, np.ndarray]

    def marginals(self, b: int) -> Marginals:
        """Return the marginals of sentence b, in padded shapes. Raises IndexError for unknown sentences."""
        if not 0 <= b < len(self.lengths):
            raise IndexError("sentence %d of a batch of %d" % (b, len(self.lengths)))
        return Marginals(float(self.log_partition[b]), self.arcs[b], {name: array[b] for name, array in self.parts.items()})
