"""What decoding and summing a batch return: the derivations or marginals of all sentences, as arrays."""

from dataclasses import dataclass

import numpy as np

from mh4.decoders.shared.derivation import Derivation, Marginals


@dataclass(eq=False)
class Derivations:
    """The best derivation of each of B sentences, of up to N words.

    lengths: intp array (B,), the number of words of each.
    heads: int32 array (B, N+1); -1 at 0 and beyond the sentence.
    scores: float64 array (B,): the sums of the scores that the derivations use and of the costs of their arcs.
    parts: for every score tensor, the index rows (intp) used by the derivations, the sentence first, in the order of the sentences:
        without a cost, ``tensor[tuple(rows.T)].sum()`` over all tensors is ``scores.sum()``.
    transitions: for transition systems, an intp array (rows, 5): the sentence, and a row of `Derivation.transitions`;
        otherwise None.
    """

    lengths: np.ndarray
    heads: np.ndarray
    scores: np.ndarray
    parts: dict[str, np.ndarray]
    transitions: np.ndarray | None = None

    def derivation(self, b: int) -> Derivation:
        """The derivation of a sentence, as its decoder returns it. Raises IndexError if there is no such sentence."""
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
    """The distribution over the derivations of each of B sentences, of up to N words, of probabilities proportional to exp(score).

    lengths: intp array (B,), the number of words of each.
    log_partition: float64 array (B,): the logarithm of the sum of exp(score) over the derivations of each.
    arcs: the probability of each arc, float64 (B, N+1, N+1) by sentence, head and dependent; 0 beyond the sentence.
    parts: for every score tensor, how often the derivations of a sentence use each score, on average: float64 arrays of the
        tensors' shapes, 0 beyond the sentence. They are the gradient of ``log_partition.sum()``.
    """

    lengths: np.ndarray
    log_partition: np.ndarray
    arcs: np.ndarray
    parts: dict[str, np.ndarray]

    def marginals(self, b: int) -> Marginals:
        """The marginals of a sentence, in the shapes of the padding. Raises IndexError if there is no such sentence."""
        if not 0 <= b < len(self.lengths):
            raise IndexError("sentence %d of a batch of %d" % (b, len(self.lengths)))
        return Marginals(float(self.log_partition[b]), self.arcs[b], {name: array[b] for name, array in self.parts.items()})
