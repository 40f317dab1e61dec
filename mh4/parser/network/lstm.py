"""Bi-LSTMs with coupled gates over many sequences at once.

The sequences are packed: sorted by length, so that those still running at step t are the first columns of one matrix. Each step
of a whole minibatch is then one matrix product, and the inputs of all steps are another, whereas DyNet's own builders make a
dozen nodes for each step of each sequence. Dropout is variational (Gal & Ghahramani 2016): one mask per sequence, shared by all
its steps, on the inputs and on the recurrent connections.

Our build of DyNet has a layer as a single node, in C++ (mh4/dynet_build/dynet/nodes-bilstm.cc), which is several times as fast as the
definition in DyNet's own operations here, `Layer.by_steps`. That is what readers should read, and what tests compare the node with.
"""

from collections.abc import Sequence

import numpy as np

from mh4.parser.network.graph import affine, dy
from mh4.parser.network.layers import glorot


class Packing:
    """The mapping of sequence elements from their natural order, one sequence after another, to packed steps and back.

    sizes: the number of sequences in each step; sequence: for each packed column, the rank of its sequence, by length; columns: for
    each direction, ahead and behind, the natural column of each packed column; natural: the inverses.
    """

    def __init__(self, lengths: Sequence[int]) -> None:
        natural = np.asarray(lengths)
        by_length = np.argsort(-natural, kind="stable")
        starts = (np.cumsum(natural) - natural)[by_length]
        falling = natural[by_length]
        takes_part = np.arange(falling[0])[:, None] < falling  # [step, rank]
        step, self.sequence = np.nonzero(takes_part)
        self.sizes = takes_part.sum(axis=1).tolist()
        first, last = starts[self.sequence], (starts + falling - 1)[self.sequence]
        self.columns = first + step, last - step
        self.natural = tuple(np.argsort(columns) for columns in self.columns)


class LSTM:
    """Parameters of an LSTM: the forget gate is coupled, 1 - input gate, and the gates see the cell (peepholes)."""

    def __init__(self, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        # Rows: input gate, output gate, candidate. Each of the three has its own Glorot initialisation.
        self.from_input = parameters.add_parameters((3 * units, inputs), init=glorot(units, inputs))
        self.from_state = parameters.add_parameters((3 * units, units), init=glorot(units, units))
        self.cell_to_input_gate = parameters.add_parameters((units, units), init=glorot(units, units))
        self.cell_to_output_gate = parameters.add_parameters((units, units), init=glorot(units, units))
        self.bias = parameters.add_parameters(3 * units, init=0)

    @property
    def weights(self) -> list["dy.Parameters"]:
        """The parameters, in the order of the arguments of DyNet's node."""
        return [self.from_input, self.from_state, self.cell_to_input_gate, self.cell_to_output_gate, self.bias]


class Layer:
    """Two LSTMs, one from each end of the sequences."""

    def __init__(self, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.inputs, self.units = inputs, units
        self.directions = LSTM(inputs, units, parameters), LSTM(inputs, units, parameters)

    def __call__(self, vectors: "dy.Expression", lengths: Sequence[int], dropout: float) -> "dy.Expression":
        """From (inputs, N), sequences of these lengths one after another, to (2 * units, N)."""
        masks = _masks(self.inputs + 2 * self.units, len(lengths), dropout) if dropout else None
        return self.as_node(vectors, lengths, masks)

    def as_node(self, vectors: "dy.Expression", lengths: Sequence[int], masks: "dy.Expression | None") -> "dy.Expression":
        """The same as `by_steps`, as a single node."""
        weights = [weights for lstm in self.directions for weights in lstm.weights]
        return dy.bilstm([vectors, *weights] + ([] if masks is None else [masks]), lengths)

    def by_steps(self, vectors: "dy.Expression", lengths: Sequence[int], masks: "dy.Expression | None") -> "dy.Expression":
        """Both directions take each step together, as a DyNet batch of two.

        masks: factors of the input, the state and the cell as the gates see them, (inputs + 2 * units, number of sequences) from the
        longest to the shortest, as a batch of two.
        """
        packing = Packing(lengths)
        projected = []
        for direction, lstm in enumerate(self.directions):
            inputs = dy.select_cols(vectors, packing.columns[direction].tolist())
            if masks is not None:
                mask = dy.pick_range(dy.pick_batch_elem(masks, direction), 0, self.inputs, 0)
                inputs = dy.cmult(inputs, dy.select_cols(mask, packing.sequence.tolist()))
            projected.append(affine(lstm.from_input, inputs, lstm.bias))
        rows = (self.inputs, self.inputs + self.units)
        of_state_and_cell = [None if masks is None else dy.pick_range(masks, row, row + self.units, 0) for row in rows]
        states = self._run(dy.concatenate_to_batch(projected), packing.sizes, of_state_and_cell)
        return dy.concatenate(
            [dy.select_cols(dy.pick_batch_elem(states, k), natural.tolist()) for k, natural in enumerate(packing.natural)]
        )

    def _run(self, projected: "dy.Expression", sizes: Sequence[int], masks: Sequence["dy.Expression | None"]) -> "dy.Expression":
        """The states after each step, side by side, from projected inputs of the gates, and masks of state and cell: batches of two."""
        state_mask, cell_mask = masks
        units = self.units
        from_state, cell_to_input_gate, cell_to_output_gate = (
            dy.concatenate_to_batch([getattr(lstm, name) for lstm in self.directions])
            for name in ("from_state", "cell_to_input_gate", "cell_to_output_gate")
        )
        outputs: list[dy.Expression] = []
        # Passed from each step to the next. The gates see state and cell through their masks; `cell` itself is not masked.
        state = cell = seen_cell = None
        start = width = 0
        for size in sizes:
            gates = dy.pick_range(projected, start, start + size, 1)
            start += size
            if size < width:  # the shortest sequences have ended
                state, cell, seen_cell, state_mask, cell_mask = (
                    None if matrix is None else dy.pick_range(matrix, 0, size, 1)
                    for matrix in (state, cell, seen_cell, state_mask, cell_mask)
                )
            width = size
            if state is not None:
                gates = dy.affine_transform([gates, from_state, _masked(state, state_mask)])
            input_gate, output_gate, candidate = (dy.pick_range(gates, row, row + units, 0) for row in range(0, 3 * units, units))
            candidate = dy.tanh(candidate)
            if cell is None:
                cell = dy.cmult(dy.logistic(input_gate), candidate)
            else:
                input_gate = dy.affine_transform([input_gate, cell_to_input_gate, seen_cell])
                # (1 - gate) * cell + gate * candidate
                cell = cell + dy.cmult(dy.logistic(input_gate), candidate - cell)
            seen_cell = _masked(cell, cell_mask)
            output_gate = dy.affine_transform([output_gate, cell_to_output_gate, seen_cell])
            state = dy.cmult(dy.logistic(output_gate), dy.tanh(cell))
            outputs.append(state)
        return dy.concatenate_cols(outputs)


class BiLSTM:
    """Layers of two LSTMs each, one from each end; `units` counts both directions."""

    def __init__(self, layers: int, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.layers = []
        for _ in range(layers):
            self.layers.append(Layer(inputs, units // 2, parameters))
            inputs = units

    def __call__(self, vectors: "dy.Expression", lengths: Sequence[int], dropout: float = 0.0) -> list["dy.Expression"]:
        """From (inputs, N), sequences of these lengths one after another, to (units, N) for each layer."""
        outputs = []
        for layer in self.layers:
            vectors = layer(vectors, lengths, dropout)
            outputs.append(vectors)
        return outputs


def _masks(rows: int, columns: int, dropout: float) -> "dy.Expression":
    return dy.random_bernoulli((rows, columns), 1.0 - dropout, 1.0 / (1.0 - dropout), 2)


def _masked(vectors: "dy.Expression", mask: "dy.Expression | None") -> "dy.Expression":
    return vectors if mask is None else dy.cmult(vectors, mask)
