"""Bi-LSTMs with coupled gates and peepholes over many sequences at once.

From input x, state h and cell c, a step computes, with the weights W, U, P and b,

    i = σ(W_i x + U_i h + P_i c + b_i)
    c' = (1 - i) c + i tanh(W_g x + U_g h + b_g)
    o = σ(W_o x + U_o h + P_o c' + b_o)
    h' = o tanh(c')

Dropout is variational (Gal & Ghahramani 2016): one mask per sequence and direction, shared by all its steps, on x, on h, and on c and c' as
the gates see them through P. A layer is a single node of our build of DyNet (mh4/dynet_build/dynet/nodes-bilstm.cc).
"""

from collections.abc import Sequence

from mh4.parser.network.graph import dy
from mh4.parser.network.layers import glorot


class Layer:
    """Two LSTMs, one from each end of the sequences.

    weights: W, U, P_i, P_o and b of the first LSTM, then of the second. The rows of W, U and b are for i, o and g.
    """

    def __init__(self, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.rows = inputs + 2 * units  # of masks
        self.weights: list[dy.Parameters] = []
        for _ in range(2):
            for rows, columns in ((3 * units, inputs), (3 * units, units), (units, units), (units, units)):
                # W and U consist of three matrices, each with its own Glorot initialisation.
                self.weights.append(parameters.add_parameters((rows, columns), init=glorot(units, columns)))
            self.weights.append(parameters.add_parameters(3 * units, init=0))

    def __call__(self, vectors: "dy.Expression", lengths: Sequence[int], dropout: float) -> "dy.Expression":
        """Map (inputs, N), sequences of these lengths one after another, to (2 * units, N)."""
        return self.masked(vectors, lengths, _masks(self.rows, len(lengths), dropout) if dropout else None)

    def masked(self, vectors: "dy.Expression", lengths: Sequence[int], masks: "dy.Expression | None") -> "dy.Expression":
        """Apply the layer with given masks, if any.

        masks: dropout factors of x, h and c, (inputs + 2 * units, sequences), the longest sequence first, as a batch of
        two directions.
        """
        return dy.bilstm([vectors, *self.weights] + ([] if masks is None else [masks]), lengths)


class BiLSTM:
    """Layers of two LSTMs each, one from each end; `units` counts both directions."""

    def __init__(self, layers: int, inputs: int, units: int, parameters: "dy.ParameterCollection") -> None:
        self.layers = []
        for _ in range(layers):
            self.layers.append(Layer(inputs, units // 2, parameters))
            inputs = units

    def __call__(self, vectors: "dy.Expression", lengths: Sequence[int], dropout: float = 0.0) -> list["dy.Expression"]:
        """Map (inputs, N), sequences of these lengths one after another, to (units, N) for each layer."""
        outputs = []
        for layer in self.layers:
            vectors = layer(vectors, lengths, dropout)
            outputs.append(vectors)
        return outputs


def _masks(rows: int, columns: int, dropout: float) -> "dy.Expression":
    return dy.random_bernoulli((rows, columns), 1.0 - dropout, 1.0 / (1.0 - dropout), 2)
