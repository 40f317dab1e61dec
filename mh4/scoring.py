"""Scores of transitions and arcs, tags and labels, from the encoder's vectors (Section 4.1 and the supplement).

Every scorer takes a whole minibatch at once, so that its large products are single nodes of the graph.
"""

from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from mh4.config import Config
from mh4.graph import affine, dy
from mh4.margin import Margin, difference
from mh4.systems import System, Tensor

Span = Tuple[int, int]


class MLP:
    """One tanh layer with dropout, from (units, N) to (outputs, N)."""

    def __init__(self, inputs: int, outputs: int, dropout: float, parameters: "dy.ParameterCollection") -> None:
        self.map = Linear(inputs, outputs, parameters)
        self.dropout = dropout

    def __call__(self, vectors: "dy.Expression", training: bool) -> "dy.Expression":
        hidden = dy.tanh(self.map(vectors))
        return dy.dropout(hidden, self.dropout) if training else hidden


class Linear:
    """An affine map of every column, (inputs, N) to (outputs, N)."""

    def __init__(self, inputs: int, outputs: int, parameters: "dy.ParameterCollection") -> None:
        self.weights = parameters.add_parameters((outputs, inputs))
        self.bias = parameters.add_parameters(outputs, init=0)

    def __call__(self, vectors: "dy.Expression") -> "dy.Expression":
        return affine(self.weights, vectors, self.bias)


class Biaffine:
    """Biaffine scores of pairs of nodes, for `kinds` kinds of pair: s_t(x, y) = [x; 1]' U_t [y; 1]."""

    def __init__(self, kinds: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.kinds = kinds
        self.side = units + 1
        # Glorot initialisation of each U_t on its own, not of the block they are stored in.
        glorot = dy.UniformInitializer(float(np.sqrt(6.0 / (2 * self.side))))
        self.weights = parameters.add_parameters((kinds * self.side, self.side), init=glorot)

    def __call__(self, ends: "Ends", x_spans: Sequence[Span], y_spans: Sequence[Span]) -> List["dy.Expression"]:
        """All pairs of each sentence, i columns of x and j of y: an (i, kinds * j) expression; see `values`."""
        x, y = ends
        transformed = self.weights * y
        tensors = []
        for (x_start, x_stop), (y_start, y_stop) in zip(x_spans, y_spans):
            right = dy.pick_range(transformed, y_start, y_stop, 1)
            right = dy.reshape(right, (self.side, self.kinds * (y_stop - y_start)))
            tensors.append(dy.transpose(dy.pick_range(x, x_start, x_stop, 1)) * right)
        return tensors

    def values(self, tensor: "dy.Expression") -> np.ndarray:
        """The scores as float32 array (kinds, i, j), C-contiguous: [t, x, y]."""
        flat = tensor.npvalue()
        # Each column of the product is one (t, y), t running fastest.
        scores = flat.reshape((flat.shape[0], self.kinds, -1), order="F").transpose(1, 0, 2)
        return np.ascontiguousarray(scores, dtype=np.float32)

    def picked(self, ends: "Ends", rows: np.ndarray, coefficients: np.ndarray) -> "dy.Expression":
        """Sum of coefficients times scores of a few pairs, given as rows (t, column of x, column of y).

        They are computed anew: a gradient that flows back through all pairs, nearly all of it zeros, takes much longer.
        """
        x, y = ends
        by_kind = np.argsort(rows[:, 0], kind="stable")
        (kinds, xs, ys), coefficients = rows[by_kind].T, coefficients[by_kind]
        right = []
        for kind in np.unique(kinds):
            weights = dy.pick_range(self.weights, int(kind) * self.side, int(kind + 1) * self.side, 0)
            right.append(weights * dy.select_cols(y, ys[kinds == kind].tolist()))
        pairs = dy.cmult(dy.select_cols(x, xs.tolist()), dy.concatenate_cols(right))
        return dy.dot_product(dy.sum_dim(pairs, [0]), dy.inputTensor(coefficients))


Ends = Tuple["dy.Expression", "dy.Expression"]  # [x; 1] and [y; 1] of every node of a minibatch, as columns: a tensor's pair


class TensorScores(NamedTuple):
    """The scores of a minibatch: by sentence and by the tensor's name, and by position what they are made of."""

    tensors: List[Dict[str, "dy.Expression"]]
    positions: Dict[str, "dy.Expression"]  # [x; 1] of every node of the minibatch, as columns

    def ends(self, tensor: Tensor) -> Ends:
        first, second = tensor.pair.split()
        return self.positions[first], self.positions[second]


class TensorScorer:
    """The score tensors of a system: a deep biaffine map for each, and an MLP for each position that they look at."""

    def __init__(self, system: System, config: Config, parameters: "dy.ParameterCollection") -> None:
        units, mlp_units = config.encoder.units, config.scorer.mlp_units
        self.tensors = system.tensors
        positions = dict.fromkeys(position for tensor in system.tensors for position in tensor.pair.split())
        self.mlps = {position: MLP(units, mlp_units, config.dropout.mlp, parameters) for position in positions}
        self.biaffines = {t.name: Biaffine(t.kinds or 1, mlp_units, parameters) for t in system.tensors}

    def __call__(self, vectors: "dy.Expression", spans: Sequence[Span], training: bool) -> TensorScores:
        """Expressions of the scores; `spans` are each sentence's columns of `vectors` (units, N)."""
        ones = dy.inputTensor(np.ones((1, vectors.dim()[0][1])))
        positions = {position: dy.concatenate([mlp(vectors, training), ones]) for position, mlp in self.mlps.items()}
        scores = TensorScores([{} for _ in spans], positions)
        for tensor in self.tensors:
            nodes = [[(start, stop if end else stop - 1) for start, stop in spans] for end in tensor.ends]
            expressions = self.biaffines[tensor.name](scores.ends(tensor), *nodes)
            for sentence, expression in zip(scores.tensors, expressions):
                sentence[tensor.name] = expression
        return scores

    def values(self, expressions: Mapping[str, "dy.Expression"]) -> Dict[str, np.ndarray]:
        """The arrays of a sentence that a decoder takes, once the graph has been run forward."""
        arrays = {t.name: self.biaffines[t.name].values(expressions[t.name]) for t in self.tensors}
        return {t.name: arrays[t.name][0] if t.kinds is None else arrays[t.name] for t in self.tensors}

    def difference(self, scores: TensorScores, spans: Sequence[Span], margins: Sequence[Margin]) -> List["dy.Expression"]:
        """For each tensor, the scores that the sentences' preferred analyses use minus those that gold uses; where any differ."""
        starts = [start for start, _ in spans]
        terms = []
        for tensor in self.tensors:
            preferred, gold = (
                np.concatenate([_columns(parts[tensor.name], start) for parts, start in zip(analyses, starts)])
                for analyses in ([margin.preferred for margin in margins], [margin.gold for margin in margins])
            )
            rows, coefficients = difference(preferred, gold)
            if len(rows):
                terms.append(self.biaffines[tensor.name].picked(scores.ends(tensor), rows, coefficients))
        return terms


def _columns(rows: np.ndarray, start: int) -> np.ndarray:
    """Index rows ([t,] x, y) of a sentence as rows (t, column of x, column of y) of a minibatch."""
    kinds = rows[:, :-2] if rows.shape[1] == 3 else np.zeros((len(rows), 1), dtype=int)
    return np.concatenate([kinds, rows[:, -2:] + start], axis=1)


class Tagger:
    """Scores of the tags of every word, from one tanh layer (stack propagation's secondary task)."""

    def __init__(self, tags: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        self.mlp = MLP(config.encoder.units, config.scorer.mlp_units, config.dropout.mlp, parameters)
        self.output = Linear(config.scorer.mlp_units, tags, parameters)

    def __call__(self, vectors: "dy.Expression", words: Sequence[int], training: bool) -> "dy.Expression":
        """(tags, len(words)) scores of the words in columns `words` of `vectors`."""
        return self.output(self.mlp(dy.select_cols(vectors, words), training))


class Labeller:
    """Scores of the labels of given arcs, from one tanh layer over the vectors of head and dependent.

    A module of its own: trained on gold arcs, and applied to the tree that the decoder has found.
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
