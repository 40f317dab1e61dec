"""Layers over the vectors of a whole minibatch, the columns of one matrix: linear maps, MLPs, biaffine scores of pairs."""

from collections.abc import Sequence

import numpy as np

from mh4.parser.network.graph import affine, dy, product
from mh4.util import memory

Columns = tuple[int, int]  # [start, stop) of the vectors of a sentence in its minibatch
Pair = tuple["dy.Expression", "dy.Expression"]  # [x; 1] and [y; 1] of every node of a minibatch, as columns


def glorot(rows: int, columns: int) -> "dy.UniformInitializer":
    """Return an initializer for a matrix of this size (Glorot & Bengio 2010).

    The parameter that it initializes may consist of several such matrices, or be a part of one.
    """
    return dy.UniformInitializer(float(np.sqrt(6.0 / (rows + columns))))


class Linear:
    """An affine map of every column, (inputs, N) to (outputs, N)."""

    def __init__(self, inputs: int, outputs: int, parameters: "dy.ParameterCollection") -> None:
        self.weights = parameters.add_parameters((outputs, inputs))
        self.bias = parameters.add_parameters(outputs, init=0)

    def __call__(self, vectors: "dy.Expression") -> "dy.Expression":
        return affine(self.weights, vectors, self.bias)


class MLP:
    """One tanh layer with dropout, from (units, N) to (outputs, N)."""

    def __init__(self, inputs: int, outputs: int, dropout: float, parameters: "dy.ParameterCollection") -> None:
        self.map = Linear(inputs, outputs, parameters)
        self.dropout = dropout

    def __call__(self, vectors: "dy.Expression", training: bool) -> "dy.Expression":
        hidden = dy.tanh(self.map(vectors))
        return dy.dropout(hidden, self.dropout) if training else hidden


class Biaffine:
    """Biaffine scores of pairs of nodes (Dozat & Manning 2017), in `matrices` ways: s_t(x, y) = [x; 1]' U_t [y; 1].

    matrices: None for a single matrix, whose scores have no axis t. rows: the number of rows of each matrix; fewer than
    units + 1 if only the first elements of [x; 1] are used.
    """

    def __init__(self, matrices: int | None, units: int, parameters: "dy.ParameterCollection", rows: int | None = None) -> None:
        self.single, self.matrices = matrices is None, matrices or 1
        self.rows, self.side = rows or units + 1, units + 1
        # Each U_t has its own Glorot initialisation, rather than the block they are stored in.
        self.weights = parameters.add_parameters((self.matrices * self.rows, self.side), init=glorot(self.side, self.side))

    def __call__(self, pair: Pair, xs: Sequence[Columns], ys: Sequence[Columns]) -> list["dy.Expression"]:
        """Score all pairs of i columns of x and j of y, for each sentence: an (i, matrices * j) expression; see `values`."""
        x, y = pair
        transformed = product(self.weights, y)
        tensors = []
        for (x_start, x_stop), (y_start, y_stop) in zip(xs, ys, strict=True):
            right = dy.pick_range(transformed, y_start, y_stop, 1)
            right = dy.reshape(right, (self.rows, self.matrices * (y_stop - y_start)))
            tensors.append(product(dy.transpose(dy.pick_range(x, x_start, x_stop, 1)), right))
        return tensors

    def values(self, tensor: "dy.Expression") -> np.ndarray:
        """Return the scores [[t,] x, y] as a C-contiguous float32 array ([matrices,] i, j).

        Raises MemoryError if there is too little memory.
        """
        flat = tensor.npview()
        memory.require(flat.nbytes, "the network")
        # Each column of the product is one (t, y), t running fastest.
        scores = flat.reshape((flat.shape[0], self.matrices, -1), order="F").transpose(1, 0, 2)
        return np.array(scores[0] if self.single else scores, order="C")

    def weighted(self, tensor: "dy.Expression", weights: np.ndarray) -> "dy.Expression":
        """Return the weighted sum of all scores of a sentence. weights: an array of the shape that `values` returns."""
        rows, columns = weights.shape[-2:]
        flat = weights.reshape((-1, rows, columns)).transpose(1, 0, 2).reshape((rows, -1), order="F")
        return dy.sum_elems(dy.cmult(tensor, dy.inputTensor(flat)))

    def picked(self, pair: Pair, rows: np.ndarray, coefficients: np.ndarray) -> "dy.Expression":
        """Return the sum of coefficients times scores of a few pairs, given as rows (t, column of x, column of y).

        These scores are recomputed: backpropagation through all pairs, whose gradient is almost all zeros, takes much longer.
        """
        x, y = pair
        by_matrix = np.argsort(rows[:, 0], kind="stable")
        (matrices, xs, ys), coefficients = rows[by_matrix].T, coefficients[by_matrix]
        right = []
        for t in np.unique(matrices):
            weights = dy.pick_range(self.weights, int(t) * self.rows, int(t + 1) * self.rows, 0)
            right.append(product(weights, dy.select_cols(y, ys[matrices == t].tolist())))
        pairs = dy.cmult(dy.select_cols(x, xs.tolist()), dy.concatenate_cols(right))
        return dy.dot_product(dy.sum_dim(pairs, [0]), dy.inputTensor(coefficients))
