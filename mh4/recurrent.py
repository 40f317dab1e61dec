"""Bi-LSTMs with coupled gates over many sequences at once.

The sequences run packed: sorted by length, so that those still going at step t are the first columns of one matrix. Each step
of a whole minibatch is then one matrix product, and the inputs of all steps are another, where DyNet's own builders make a dozen
nodes for every step of every sequence. Dropout is variational (Gal & Ghahramani 2016): one mask for each sequence, kept over
its steps, on the inputs and on the recurrent connections.
"""

from typing import List, Optional, Sequence

import numpy as np

from mh4.graph import dy


class Packing:
    """Where every element of some sequences goes: from their natural order, one after the other, to steps and back.

    sizes: how many sequences take part in each step; sequence: of each packed column, the rank (by length) of its sequence;
    packed: for each packed column its natural column; natural: the inverse; reversed: for each packed column the packed
    column that mirrors it in its sequence (its own inverse).
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        lengths = np.asarray(lengths)
        by_length = np.argsort(-lengths, kind="stable")
        starts = (np.cumsum(lengths) - lengths)[by_length]
        lengths = lengths[by_length]
        self.sizes = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
        self.sequence = np.concatenate([np.arange(size) for size in self.sizes])
        step = np.repeat(np.arange(len(self.sizes)), self.sizes)
        step_starts = np.cumsum(self.sizes) - self.sizes
        self.packed = starts[self.sequence] + step
        self.natural = np.argsort(self.packed)
        self.reversed = step_starts[lengths[self.sequence] - 1 - step] + self.sequence


class LSTM:
    """One direction of one layer: the forget gate is coupled, 1 - input gate, and the gates see the cell (peepholes)."""

    def __init__(self, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.units = units
        # Rows: input gate, output gate, candidate. Glorot initialisation of each of the three on its own.
        self.from_input = parameters.add_parameters((3 * units, inputs), init=_glorot(units, inputs))
        self.from_state = parameters.add_parameters((3 * units, units), init=_glorot(units, units))
        self.cell_to_input_gate = parameters.add_parameters((units, units), init=_glorot(units, units))
        self.cell_to_output_gate = parameters.add_parameters((units, units), init=_glorot(units, units))
        self.bias = parameters.add_parameters(3 * units, init=0)

    def __call__(self, vectors: "dy.Expression", packing: Packing, dropout: float) -> "dy.Expression":
        """(inputs, N) packed columns to (units, N) packed columns."""
        units, sizes = self.units, packing.sizes
        state_mask = cell_mask = None
        if dropout:
            input_mask = _mask(vectors.dim()[0][0], sizes[0], dropout)
            vectors = dy.cmult(vectors, dy.select_cols(input_mask, packing.sequence.tolist()))
            state_mask, cell_mask = _mask(units, sizes[0], dropout), _mask(units, sizes[0], dropout)
        projected = dy.colwise_add(self.from_input * vectors, self.bias)
        outputs: List["dy.Expression"] = []
        cell = state = None
        start = width = 0
        for size in sizes:
            gates = dy.pick_range(projected, start, start + size, 1)
            start += size
            if size < width:  # the shortest sequences have ended
                cell, state, cell_mask, state_mask = (
                    None if matrix is None else dy.pick_range(matrix, 0, size, 1) for matrix in (cell, state, cell_mask, state_mask)
                )
            width = size
            if state is not None:
                gates = dy.affine_transform([gates, self.from_state, _masked(state, state_mask)])
            input_gate, output_gate, candidate = (
                dy.pick_range(gates, row, row + units, 0) for row in range(0, 3 * units, units)
            )
            candidate = dy.tanh(candidate)
            if cell is None:
                cell = dy.cmult(dy.logistic(input_gate), candidate)
            else:
                input_gate = dy.affine_transform([input_gate, self.cell_to_input_gate, _masked(cell, cell_mask)])
                # (1 - gate) * cell + gate * candidate
                cell = cell + dy.cmult(dy.logistic(input_gate), candidate - cell)
            output_gate = dy.affine_transform([output_gate, self.cell_to_output_gate, _masked(cell, cell_mask)])
            state = dy.cmult(dy.logistic(output_gate), dy.tanh(cell))
            outputs.append(state)
        return dy.concatenate_cols(outputs)


class BiLSTM:
    """Layers of two LSTMs each, one from either end; `units` counts both directions."""

    def __init__(self, layers: int, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.layers = []
        for _ in range(layers):
            self.layers.append((LSTM(inputs, units // 2, parameters), LSTM(inputs, units // 2, parameters)))
            inputs = units

    def __call__(
        self, vectors: "dy.Expression", lengths: Sequence[int], dropout: float = 0.0
    ) -> List["dy.Expression"]:
        """(inputs, N) to a (units, N) for each layer, the elements of all sequences in their natural order."""
        packing = Packing(lengths)
        natural, backwards = packing.natural.tolist(), packing.reversed.tolist()
        vectors = dy.select_cols(vectors, packing.packed.tolist())
        outputs = []
        for forward, backward in self.layers:
            ahead = forward(vectors, packing, dropout)
            behind = backward(dy.select_cols(vectors, backwards), packing, dropout)
            vectors = dy.concatenate([ahead, dy.select_cols(behind, backwards)])
            outputs.append(dy.select_cols(vectors, natural))
        return outputs


def _glorot(rows: int, columns: int) -> "dy.UniformInitializer":
    return dy.UniformInitializer(float(np.sqrt(6.0 / (rows + columns))))


def _mask(rows: int, columns: int, dropout: float) -> "dy.Expression":
    return dy.random_bernoulli((rows, columns), 1.0 - dropout, 1.0 / (1.0 - dropout))


def _masked(vectors: "dy.Expression", mask: Optional["dy.Expression"]) -> "dy.Expression":
    return vectors if mask is None else dy.cmult(vectors, mask)
