"""Scores of transitions and arcs, tags and labels, from the encoder's vectors (Section 4.1 and the supplement).

Every scorer processes a whole minibatch at once, so that its large products are single nodes of the graph.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mh4.parser.config import Config
from mh4.parser.network.graph import dy
from mh4.parser.network.layers import MLP, Biaffine, Columns, Linear
from mh4.parser.objectives import Violation, coefficients, predicted_classes
from mh4.parser.systems import System, Tensor


class TensorScorer:
    """The score tensors of a system: a layer for each tensor, by default a deep biaffine map, and an MLP for each position."""

    def __init__(self, system: System, config: Config, parameters: "dy.ParameterCollection") -> None:
        units, mlp_units = config.encoder.units, config.scorer.mlp_units
        self.tensors = system.tensors
        self.mlps = {position: MLP(units, mlp_units, config.dropout.mlp, parameters) for position in system.positions}
        self.layers = {tensor.name: (tensor.layer or self.biaffine)(tensor, config, parameters) for tensor in system.tensors}

    def __call__(self, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "TensorScores":
        """Return the scores of a minibatch; `columns` are each sentence's nodes among the columns of `vectors` (units, N)."""
        return TensorScores(self, vectors, columns, training)

    def biaffine(self, tensor: Tensor, config: Config, parameters: "dy.ParameterCollection") -> Biaffine:
        """Return the map that scores a tensor."""
        return Biaffine(tensor.matrices, config.scorer.mlp_units, parameters)

    def hidden(self, position: str, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "dy.Expression":
        """Return (mlp_units, N): the MLP's vector of every node of the minibatch for a position."""
        return self.mlps[position](vectors, training)


class TensorScores:
    """The score tensors of a minibatch in the graph."""

    def __init__(self, scorer: TensorScorer, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> None:
        self.scorer, self.columns = scorer, columns
        ones = dy.inputTensor(np.ones((1, vectors.dim()[0][1])))
        # [x; 1] of every node of the minibatch, as columns
        self.positions = {
            position: dy.concatenate([scorer.hidden(position, vectors, columns, training), ones]) for position in scorer.mlps
        }
        self.expressions = {}  # for each tensor, the scores of each sentence
        for tensor in scorer.tensors:
            nodes = [[(start, stop if sentinel else stop - 1) for start, stop in columns] for sentinel in tensor.sentinel]
            self.expressions[tensor.name] = scorer.layers[tensor.name](self._pair(tensor), *nodes)

    def _pair(self, tensor: Tensor) -> tuple["dy.Expression", "dy.Expression"]:
        first, second = tensor.positions
        return self.positions[first], self.positions[second]

    def arrays(self) -> list[dict[str, np.ndarray]]:
        """Return the arguments of the decoder for each sentence, by name; the graph must have been evaluated."""
        return [
            {name: self.scorer.layers[name].values(by_sentence[k]) for name, by_sentence in self.expressions.items()}
            for k in range(len(self.columns))
        ]

    def loss(self, violations: Mapping[int, Violation]) -> "dy.Expression | None":
        """Return the sum of violations, given by sentence number; None if predictions and targets use the same scores."""
        if not violations:
            return None
        terms = []
        for tensor in self.scorer.tensors:
            predicted, target = [], []
            for k, violation in violations.items():
                start, _ = self.columns[k]
                predicted.append(_in_minibatch(violation.predicted[tensor.name], start))
                target.append(_in_minibatch(violation.target[tensor.name], start))
            rows, counts = coefficients(np.concatenate(predicted), np.concatenate(target))
            if len(rows):
                terms.append(self.scorer.layers[tensor.name].picked(self._pair(tensor), rows, counts))
        return dy.esum(terms) + sum(violation.cost for violation in violations.values()) if terms else None

    def weighted(self, weights: Mapping[int, Mapping[str, np.ndarray]]) -> "dy.Expression":
        """Return the weighted sum of all scores. weights: for each sentence number, arrays as from `arrays`."""
        return dy.esum(
            [
                self.scorer.layers[name].weighted(expressions[k], arrays[name])
                for name, expressions in self.expressions.items()
                for k, arrays in weights.items()
            ]
        )


def _in_minibatch(rows: np.ndarray, start: int) -> np.ndarray:
    """Return index rows ([t,] x, y) of a sentence as rows (t, column of x, column of y) of a minibatch."""
    matrices = rows[:, :-2] if rows.shape[1] == 3 else np.zeros((len(rows), 1), dtype=int)
    return np.concatenate([matrices, rows[:, -2:] + start], axis=1)


class Classifier:
    """Scores of the tags of words (the auxiliary task of stack propagation) or of the labels of arcs, from one tanh layer.

    All classifiers share the encoder. The labeller is trained on gold arcs and applied to the decoder's tree.
    """

    def __init__(self, inputs: int, classes: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        self.mlp = MLP(inputs, config.scorer.mlp_units, config.dropout.mlp, parameters)
        self.output = Linear(config.scorer.mlp_units, classes, parameters)

    def __call__(self, vectors: "dy.Expression", training: bool) -> "dy.Expression":
        """Return the scores (classes, N) of N words, given their vectors, or of N arcs, given heads' vectors above dependents'."""
        return self.output(self.mlp(vectors, training))


def hinge(scores: "dy.Expression", gold: np.ndarray, rivals: np.ndarray | None = None) -> "dy.Expression | None":
    """Return the sum over columns of max(0, 1 + best wrong class - gold class); scores (classes, N), evaluated; None if it is 0.

    rivals: which classes compete with the gold one, bool (classes, N); by default all.
    """
    values = scores.npvalue().reshape((-1, len(gold)), order="F")
    predicted = predicted_classes(values, gold, rivals)
    (wrong,) = np.nonzero(predicted != gold)
    if not len(wrong):
        return None
    columns = dy.reshape(dy.select_cols(scores, wrong.tolist()), (len(values),), batch_size=len(wrong))
    margins = dy.pick_batch(columns, predicted[wrong].tolist()) - dy.pick_batch(columns, gold[wrong].tolist())
    return dy.sum_batches(margins) + float(len(wrong))
