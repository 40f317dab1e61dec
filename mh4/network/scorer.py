"""Scores of transitions and arcs, tags and labels, from the encoder's vectors (Section 4.1 and the supplement).

Every scorer takes a whole minibatch at once, so that its large products are single nodes of the graph.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mh4.config import Config
from mh4.network.graph import dy
from mh4.network.layers import MLP, Biaffine, Columns, Linear
from mh4.systems import System, Tensor
from mh4.training.violation import Violation, coefficients


class TensorScorer:
    """The score tensors of a system: a deep biaffine map for each tensor, and an MLP for each position that they use."""

    def __init__(self, system: System, config: Config, parameters: "dy.ParameterCollection") -> None:
        units, mlp_units = config.encoder.units, config.scorer.mlp_units
        self.tensors = system.tensors
        positions = dict.fromkeys(position for tensor in system.tensors for position in tensor.positions)
        self.mlps = {position: MLP(units, mlp_units, config.dropout.mlp, parameters) for position in positions}
        self.biaffines = {t.name: Biaffine(t.matrices or 1, mlp_units, parameters) for t in system.tensors}

    def __call__(self, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "TensorScores":
        """The scores of a minibatch; `columns` are each sentence's nodes among the columns of `vectors` (units, N)."""
        return TensorScores(self, vectors, columns, training)


class TensorScores:
    """The score tensors of a minibatch in the graph."""

    def __init__(self, scorer: TensorScorer, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> None:
        self.scorer, self.columns = scorer, columns
        ones = dy.inputTensor(np.ones((1, vectors.dim()[0][1])))
        # [x; 1] of every node of the minibatch, as columns
        self.positions = {position: dy.concatenate([mlp(vectors, training), ones]) for position, mlp in scorer.mlps.items()}
        self.expressions = {tensor.name: self._all_pairs(tensor) for tensor in scorer.tensors}

    def _all_pairs(self, tensor: Tensor) -> list["dy.Expression"]:
        """The scores of each sentence."""
        nodes = [[(start, stop if sentinel else stop - 1) for start, stop in self.columns] for sentinel in tensor.sentinel]
        return self.scorer.biaffines[tensor.name](self._pair(tensor), *nodes)

    def _pair(self, tensor: Tensor) -> tuple["dy.Expression", "dy.Expression"]:
        first, second = tensor.positions
        return self.positions[first], self.positions[second]

    def arrays(self) -> list[dict[str, np.ndarray]]:
        """For each sentence, the arrays that a decoder takes, by name; the graph must have been evaluated."""
        return [
            {t.name: self._array(t, self.expressions[t.name][k]) for t in self.scorer.tensors} for k in range(len(self.columns))
        ]

    def _array(self, tensor: Tensor, expression: "dy.Expression") -> np.ndarray:
        matrices = self.scorer.biaffines[tensor.name].values(expression)
        return matrices[0] if tensor.matrices is None else matrices

    def differences(self, violations: Sequence[Violation]) -> list["dy.Expression"]:
        """For each tensor, the scores that predictions use minus those that targets use, if any differ."""
        terms = []
        for tensor in self.scorer.tensors:
            predicted, target = (
                np.concatenate([_in_minibatch(parts[tensor.name], start) for parts, (start, _) in zip(used, self.columns)])
                for used in ([each.predicted for each in violations], [each.target for each in violations])
            )
            rows, counts = coefficients(predicted, target)
            if len(rows):
                terms.append(self.scorer.biaffines[tensor.name].picked(self._pair(tensor), rows, counts))
        return terms

    def weighted(self, weights: Sequence[Mapping[str, np.ndarray]]) -> "dy.Expression":
        """The sum of all scores, weighted by arrays like those of `arrays`."""
        terms = []
        for tensor in self.scorer.tensors:
            biaffine = self.scorer.biaffines[tensor.name]
            for expression, of_sentence in zip(self.expressions[tensor.name], weights):
                terms.append(biaffine.weighted(expression, of_sentence[tensor.name]))
        return dy.esum(terms)


def _in_minibatch(rows: np.ndarray, start: int) -> np.ndarray:
    """Index rows ([t,] x, y) of a sentence as rows (t, column of x, column of y) of a minibatch."""
    matrices = rows[:, :-2] if rows.shape[1] == 3 else np.zeros((len(rows), 1), dtype=int)
    return np.concatenate([matrices, rows[:, -2:] + start], axis=1)


class Tagger:
    """Scores of the tags of every word, from one tanh layer (the auxiliary task of stack propagation)."""

    def __init__(self, tags: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        self.mlp = MLP(config.encoder.units, config.scorer.mlp_units, config.dropout.mlp, parameters)
        self.output = Linear(config.scorer.mlp_units, tags, parameters)

    def __call__(self, vectors: "dy.Expression", words: Sequence[int], training: bool) -> "dy.Expression":
        """(tags, len(words)) scores of the words in columns `words` of `vectors`."""
        return self.output(self.mlp(dy.select_cols(vectors, words), training))


class Labeller:
    """Scores of the labels of given arcs, from one tanh layer over the vectors of head and dependent.

    A separate module: trained on gold arcs, and applied to the tree that the decoder finds.
    """

    def __init__(self, labels: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        self.mlp = MLP(2 * config.encoder.units, config.scorer.mlp_units, config.dropout.mlp, parameters)
        self.output = Linear(config.scorer.mlp_units, labels, parameters)

    def __call__(
        self, vectors: "dy.Expression", heads: Sequence[int], dependents: Sequence[int], training: bool
    ) -> "dy.Expression":
        """(labels, number of arcs) scores; heads and dependents are columns of `vectors`."""
        ends = dy.concatenate([dy.select_cols(vectors, heads), dy.select_cols(vectors, dependents)])
        return self.output(self.mlp(ends, training))
