"""The score tensors of a decoder, from vectors of the nodes of sentences: deep biaffine maps, as in Section 4.1 and the supplement."""

from __future__ import annotations  # the documentation is made without PyTorch

from collections.abc import Sequence
from math import sqrt

import torch
from torch import nn

from mh4.decoders.batch import DecoderName, Shape, decoder
from mh4.errors import counted
from mh4.torch.sentences import has_integers, require_tensor

# The two positions that each tensor scores, by its rows and its columns. All tensors of a decoder share the MLP of a position.
POSITIONS = {
    "shift": ("s0", "b0"),
    "reduce_s0b0": ("s0", "b0"),
    "reduce_s1s0": ("s1", "s0"),
    "arcs": ("h", "m"),
    "arc": ("h", "m"),
    "crossed_arc": ("h", "m"),
    "grandparent": ("g", "m"),
    "sibling": ("si", "m"),
}
# The positions where the end of the sentence can be: at the front of the buffer, or for a missing grandparent or sibling. The stack
# positions that a transition scores always exist, as the root is below.
ENDS = ("b0", "g", "si")
NODES = ("words", "all")


class Scores(nn.Module):
    """A module from vectors of words to scores for `TreeDistribution`.

    It has an MLP for each position, and a biaffine map for each tensor.

    name: the decoder, "mh3", "mh4", "mh5", "mst" or "1ec". The default tensors are those of the systems mh3,
        mh4-hybrid, mh5-hybrid, mst and 1ec.
    units: the dimension D of the vectors; mlp_units: the dimension of the MLPs, each a tanh layer; dropout: the rate
        after the MLPs.
    tensors: the names of the tensors to make, for example ("shift", "reduce_s0b0", "arcs") for mh4; they must include
        all that the decoder needs.
    nodes: which nodes have vectors. "words": only words. The root then has a learned vector, as if it were a word. The
        end of the sentence, which also stands for a missing grandparent or sibling, has a learned vector after the MLP
        in each position where it can be (`scorer.end = "learned"` in the settings of mh4). "all": also the root, before
        the words, and the end, right after the last word of each sentence (`scorer.end = "encoded"`).

    With weights U of a tensor and x, y the outputs of the MLPs of its two positions at nodes i and j, its score at
    [t, i, j] is [x; 1]' U[t] [y; 1]. Raises ValueError for a decoder, tensors or nodes that are unknown, and for
    tensors that are missing.
    """

    def __init__(
        self,
        name: DecoderName,
        units: int,
        mlp_units: int = 192,
        dropout: float = 0.3,
        *,
        tensors: Sequence[str] | None = None,
        nodes: str = "words",
    ) -> None:
        super().__init__()
        if nodes not in NODES:
            raise ValueError("nodes: expected %s, got %r" % (" or ".join(NODES), nodes))
        if min(units, mlp_units) < 1:
            raise ValueError("units, mlp_units: expected at least 1, got %d and %d" % (units, mlp_units))
        self.units, self.nodes, self.shapes = units, nodes, _chosen(name, tensors)
        positions = dict.fromkeys(position for tensor in self.shapes for position in POSITIONS[tensor])
        self.mlps = nn.ModuleDict({position: _mlp(units, mlp_units, dropout) for position in positions})
        side = mlp_units + 1
        self.weights = nn.ParameterDict(  # a matrix for each layer of a tensor, each with its own Glorot initialisation
            {tensor: _glorot(torch.empty(*(shape.layers or (1,)), side, side), side) for tensor, shape in self.shapes.items()}
        )
        if nodes == "words":
            self.root = _glorot(torch.empty(units), units)
            self.ends = nn.ParameterDict({p: _glorot(torch.empty(mlp_units), mlp_units) for p in positions if p in ENDS})

    def forward(self, hidden: torch.Tensor, lengths: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the score tensors of B sentences by name, for example shift (B, N+2, N+2); see `mh4.decoders.batch.decode`.

        hidden: (B, N, D), the vectors of words, or with nodes="all" (B, N+2, D). lengths: the number of words of each sentence, integers
        (B,). The padding of hidden has no effect, and gets gradients of 0; it may be NaN. Raises ValueError for other shapes,
        and for lengths beyond N.
        """
        vectors, end = self._nodes(hidden, lengths)
        sides = {}
        for position, mlp in self.mlps.items():
            side = mlp(vectors)
            if self.nodes == "words" and position in self.ends:
                side = torch.where(end, self.ends[position], side)
            sides[position] = torch.cat([side, side.new_ones(*side.shape[:-1], 1)], dim=-1)
        scores = {}
        for tensor, shape in self.shapes.items():
            x, y = (sides[position] for position in POSITIONS[tensor])
            nodes = x.shape[1] - 2
            x, y = x[:, : nodes + shape.rows], y[:, : nodes + shape.columns]
            found = torch.einsum("bxi,tij,byj->btxy", x, self.weights[tensor], y)
            scores[tensor] = found if shape.layers else found.squeeze(1)
        return scores

    def _nodes(self, hidden: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of the nodes, (B, N+2, D), and where the end is, (B, N+2, 1).

        The vectors of an end that is not given, and of the padding, are 0.
        """
        units = self.units
        given = 0 if self.nodes == "words" else 2  # nodes besides words
        require_tensor("hidden", hidden)
        require_tensor("lengths", lengths)
        if hidden.dim() != 3 or hidden.shape[1] < given or hidden.shape[2] != units:
            rows = "N" if self.nodes == "words" else "N+2"
            raise ValueError("hidden: expected the shape (B, %s, %d), got %s" % (rows, units, tuple(hidden.shape)))
        words = hidden.shape[1] - given
        if lengths.shape != hidden.shape[:1] or not has_integers(lengths) or ((lengths < 0) | (lengths > words)).any():
            raise ValueError("lengths: expected %s from 0 to %d, got %s" % (counted(len(hidden), "integer"), words, lengths))
        if self.nodes == "words":
            root = self.root.expand(len(hidden), 1, units)
            hidden = torch.cat([root, hidden, torch.zeros_like(root)], dim=1)
        node, end = torch.arange(words + 2, device=hidden.device), lengths.to(hidden.device, torch.long)[:, None] + 1
        vectors = torch.where((node < end + (given > 0))[..., None], hidden, 0)
        return vectors, (node == end)[..., None]


def _chosen(name: str, tensors: Sequence[str] | None) -> dict[str, Shape]:
    """Return the tensors to make, by name, in the order of the decoder."""
    known = decoder(name).tensors
    if tensors is None:  # as in the paper's systems: MH4 scores transitions, not arcs
        tensors = [tensor for tensor, shape in known.items() if not (tensor == "arcs" and shape.optional)]
    missing = [tensor for tensor, shape in known.items() if not shape.optional and tensor not in tensors]
    unknown = [tensor for tensor in tensors if tensor not in known]
    if missing or unknown:
        raise ValueError("tensors: %s has %s, got %s" % (name, ", ".join(known), ", ".join(tensors) or "none"))
    return {tensor: shape for tensor, shape in known.items() if tensor in tensors}


def _mlp(units: int, outputs: int, dropout: float) -> nn.Sequential:
    linear = nn.Linear(units, outputs)
    nn.init.xavier_uniform_(linear.weight)
    nn.init.zeros_(linear.bias)
    return nn.Sequential(linear, nn.Tanh(), nn.Dropout(dropout))


def _glorot(numbers: torch.Tensor, side: int) -> nn.Parameter:
    """Return a parameter of uniform random numbers of variance 1 / side."""
    return nn.Parameter(nn.init.uniform_(numbers, -sqrt(3 / side), sqrt(3 / side)))
