"""Scores of transitions and arcs, tags and labels, from the encoder's vectors (Section 4.1 and the supplement).

Every scorer takes a whole minibatch at once, so that its large products are single nodes of the graph.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mh4.parser.config import Config
from mh4.parser.network.graph import dy, product
from mh4.parser.network.layers import MLP, Biaffine, Columns, Linear, glorot
from mh4.parser.objectives import Violation, coefficients
from mh4.parser.systems import GreedySystem, System, Tensor


def scorer_of(system: System, config: Config, parameters: "dy.ParameterCollection") -> "TensorScorer | JointScorer":
    """The scorer of a system's trees."""
    if isinstance(system, GreedySystem) and system.joint:
        return JointScorer(system, config, parameters)
    return TensorScorer(system, config, parameters)


class EndVectors:
    """Learned vectors that stand for the end of the sentence, or what is missing, one for each of several positions.

    They replace the last column of each sentence; if scorer.end is "encoded", there are none, and the column stays as it is.
    """

    def __init__(self, positions: Sequence[str], units: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        names = positions if config.scorer.end == "learned" else ()
        self.vectors = {position: parameters.add_parameters((units, 1), init=glorot(units, units)) for position in names}

    def __call__(self, position: str, vectors: "dy.Expression", columns: Sequence[Columns]) -> "dy.Expression":
        if position not in self.vectors:
            return vectors
        count = vectors.dim()[0][1]
        order = np.arange(count)
        order[[stop - 1 for _, stop in columns]] = count
        return dy.select_cols(dy.concatenate_cols([vectors, self.vectors[position]]), order.tolist())


POSITIONS = ("s2", "s1", "s0", "b0")  # as in the rows of mh4.parser.oracle


class TensorScorer:
    """The score tensors of a system: a deep biaffine map for each tensor, and an MLP for each position that they use.

    A learned vector of the end of the sentence takes the place of the MLPs' output or, as in the authors' mh3, of their input.
    """

    def __init__(self, system: System, config: Config, parameters: "dy.ParameterCollection") -> None:
        units, mlp_units = config.encoder.units, config.scorer.mlp_units
        self.tensors = system.tensors
        self.mlps = {position: MLP(units, mlp_units, config.dropout.mlp, parameters) for position in system.positions}
        self.biaffines = {
            t.name: Biaffine(t.matrices, mlp_units, parameters, t.name == "arcs" and config.scorer.arcs == "bilinear")
            for t in system.tensors
        }
        can_end = [
            p for p in system.positions if any((p, True) in zip(t.positions, t.sentinel, strict=True) for t in system.tensors)
        ]
        before, after = (can_end, []) if system.tree_class == "projective" else ([], can_end)
        self.before = EndVectors(before, units, config, parameters)
        self.after = EndVectors(after, mlp_units, config, parameters)

    def __call__(self, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "TensorScores":
        """The scores of a minibatch; `columns` are each sentence's nodes among the columns of `vectors` (units, N)."""
        return TensorScores(self, vectors, columns, training)


class TensorScores:
    """The score tensors of a minibatch in the graph."""

    def __init__(self, scorer: TensorScorer, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> None:
        self.scorer, self.columns = scorer, columns
        ones = dy.inputTensor(np.ones((1, vectors.dim()[0][1])))
        # [x; 1] of every node of the minibatch, as columns
        self.positions = {}
        for position, mlp in scorer.mlps.items():
            hidden = mlp(scorer.before(position, vectors, columns), training)
            self.positions[position] = dy.concatenate([scorer.after(position, hidden, columns), ones])
        self.expressions = {}  # for each tensor, the scores of each sentence
        for tensor in scorer.tensors:
            nodes = [[(start, stop if sentinel else stop - 1) for start, stop in columns] for sentinel in tensor.sentinel]
            self.expressions[tensor.name] = scorer.biaffines[tensor.name](self._pair(tensor), *nodes)

    def _pair(self, tensor: Tensor) -> tuple["dy.Expression", "dy.Expression"]:
        first, second = tensor.positions
        return self.positions[first], self.positions[second]

    def arrays(self) -> list[dict[str, np.ndarray]]:
        """For each sentence, the arrays that a decoder takes, by name; the graph must have been evaluated."""
        return [
            {name: self.scorer.biaffines[name].values(of_sentences[k]) for name, of_sentences in self.expressions.items()}
            for k in range(len(self.columns))
        ]

    def differences(self, violations: Mapping[int, Violation]) -> list["dy.Expression"]:
        """For each tensor, the scores that predictions use minus those that targets use, if any differ; by numbers of sentences."""
        terms = []
        for tensor in self.scorer.tensors if violations else ():
            predicted, target = (
                np.concatenate([_in_minibatch(getattr(v, used)[tensor.name], self.columns[k][0]) for k, v in violations.items()])
                for used in ("predicted", "target")
            )
            rows, counts = coefficients(predicted, target)
            if len(rows):
                terms.append(self.scorer.biaffines[tensor.name].picked(self._pair(tensor), rows, counts))
        return terms

    def weighted(self, weights: Mapping[int, Mapping[str, np.ndarray]]) -> "dy.Expression":
        """The sum of all scores of the sentences with these numbers, weighted by arrays like those of `arrays`."""
        return dy.esum(
            [
                self.scorer.biaffines[name].weighted(expressions[k], arrays[name])
                for name, expressions in self.expressions.items()
                for k, arrays in weights.items()
            ]
        )


class JointScorer:
    """Scores of transitions by one tanh layer over the vectors at all positions of a configuration, as in the authors' greedy MH4.

    These are for training; to parse, joint.decode computes them itself. A configuration is a row of positions; empty ones and the end of
    the sentence have learned vectors, or that of the end.
    """

    def __init__(self, system: GreedySystem, config: Config, parameters: "dy.ParameterCollection") -> None:
        units, mlp_units = config.encoder.units, config.scorer.mlp_units
        self.positions = [position for position in POSITIONS if position in system.positions]
        initial = glorot(mlp_units, len(self.positions) * units)  # one matrix for all positions, in blocks
        self.weights = {position: parameters.add_parameters((mlp_units, units), init=initial) for position in self.positions}
        self.bias = parameters.add_parameters(mlp_units, init=0)
        self.output = Linear(mlp_units, len(system.transitions), parameters)
        self.dropout = config.dropout.mlp
        self.biaffines: dict[str, Biaffine] = {}
        self.end = EndVectors(self.positions, units, config, parameters)

    def __call__(self, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "JointScores":
        """The parts of the layer that belong to each position; `columns` as for TensorScorer."""
        return JointScores(self, vectors, columns, training)


class JointScores:
    """What is needed to score any configuration of the sentences of a minibatch."""

    def __init__(self, scorer: JointScorer, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> None:
        self.scorer, self.columns, self.training = scorer, columns, training
        self.projected = {
            position: product(weights, scorer.end(position, vectors, columns)) for position, weights in scorer.weights.items()
        }

    def arrays(self) -> list[dict[str, np.ndarray]]:
        """For each sentence, the arguments of joint.decode, by name; the graph must have been evaluated."""
        layer = {"output": self.scorer.output.weights.as_array(), "bias": self.scorer.output.bias.as_array()}
        projected = {position: expression.npvalue().T for position, expression in self.projected.items()}
        first = next(iter(projected))
        projected[first] = projected[first] + self.scorer.bias.as_array()
        return [
            {**{position: array[start:stop] for position, array in projected.items()}, **layer} for start, stop in self.columns
        ]

    def of_configurations(self, sequences: Mapping[int, np.ndarray]) -> "dy.Expression":
        """(transitions, N) scores in the configurations of sequences, one after another, each without its first configuration.

        sequences: by the number of a sentence, int (2n+1, 5) as from mh4.parser.oracle.
        """
        nodes = []
        for k, rows in sequences.items():
            start, stop = self.columns[k]
            nodes.append(np.where(rows[1:, 1:] < 0, stop - 1, rows[1:, 1:] + start))
        by_position = dict(zip(POSITIONS, np.concatenate(nodes).T.tolist(), strict=True))
        hidden = dy.esum([dy.select_cols(vectors, by_position[position]) for position, vectors in self.projected.items()])
        hidden = dy.tanh(dy.colwise_add(hidden, self.scorer.bias))
        return self.scorer.output(dy.dropout(hidden, self.scorer.dropout) if self.training else hidden)


def _in_minibatch(rows: np.ndarray, start: int) -> np.ndarray:
    """Index rows ([t,] x, y) of a sentence as rows (t, column of x, column of y) of a minibatch."""
    matrices = rows[:, :-2] if rows.shape[1] == 3 else np.zeros((len(rows), 1), dtype=int)
    return np.concatenate([matrices, rows[:, -2:] + start], axis=1)


class Classifier:
    """Scores of the tags of words (the auxiliary task of stack propagation) or of the labels of arcs, from one tanh layer.

    All share the encoder. That of labels is trained on gold arcs, and applied to the tree that the decoder finds.
    """

    def __init__(self, inputs: int, classes: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        self.mlp = MLP(inputs, config.scorer.mlp_units, config.dropout.mlp, parameters)
        self.output = Linear(config.scorer.mlp_units, classes, parameters)

    def __call__(self, vectors: "dy.Expression", training: bool) -> "dy.Expression":
        """(classes, N) scores of N words, given their vectors, or of N arcs, given those of heads above those of dependents."""
        return self.output(self.mlp(vectors, training))
