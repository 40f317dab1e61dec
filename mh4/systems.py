"""The systems of the paper: a system is a name, the tensors a scorer fills, and a decoder that reads them.

Tensors are named as the decoder's parameters. Adding a system is adding an entry here.
"""

from dataclasses import dataclass
from typing import Callable, Optional, Tuple

from mh4.decoders import Derivation, mh3, mh4, mst, oneec
from mh4.errors import InputError


@dataclass(frozen=True)
class Tensor:
    """One tensor of scores of pairs of nodes.

    pair: which two positions are scored; tensors of one pair share the MLPs of its two positions.
    kinds: how many matrices (transitions) the tensor has, or None for a plain matrix.
    ends: whether the end-of-sentence sentinel n+1 is among the first nodes, and among the second.
    """

    name: str
    pair: str
    kinds: Optional[int] = None
    ends: Tuple[bool, bool] = (True, True)


@dataclass(frozen=True)
class System:
    """A parser of the paper.

    tree_class: the trees it can produce, a name mh4.trees knows; None where it can produce all.
    decode: takes the tensors by name, and cost, heads and single_root.
    """

    name: str
    tree_class: Optional[str]
    tensors: Tuple[Tensor, ...]
    decode: Callable[..., Derivation]


SYSTEMS = {
    system.name: system
    for system in (
        # The projective arc-hybrid parser on {s0, b0} (Shi, Huang & Lee 2017).
        System("mh3", "projective", (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 2)), mh3.decode),
        # Edge-factored maximum spanning trees on {h, m}.
        System("mst", None, (Tensor("arcs", "h m", ends=(False, False)),), mst.decode),
        # MH4 with everything scored on {s0, b0}.
        System("mh4-two", "mh4", (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 6)), mh4.decode),
        # MH4 with shifts scored on {s0, b0} and reduces on {s1, s0, b0}, as {s1, s0} + {s0, b0} (Section 4.2).
        System(
            "mh4-hybrid",
            "mh4",
            (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 6), Tensor("reduce_s1s0", "s1 s0", 6)),
            mh4.decode,
        ),
        # Third-order 1-Endpoint-Crossing trees (Pitler, TACL 2014) on {h, m}, {si, m} and {g, m}, and on {h, m} once more with
        # scores of their own for crossed arcs. The end of the sentence stands for a sibling or grandparent that is not there.
        System(
            "1ec",
            "1ec",
            (
                Tensor("arc", "h m", ends=(False, False)),
                Tensor("crossed_arc", "h m, crossed", ends=(False, False)),
                Tensor("grandparent", "g m", ends=(True, False)),
                Tensor("sibling", "si m", ends=(True, False)),
            ),
            oneec.decode,
        ),
    )
}


def get(name: str) -> System:
    """The system called `name`; InputError if there is none."""
    if name not in SYSTEMS:
        raise InputError("no system %r; there are %s" % (name, ", ".join(SYSTEMS)))
    return SYSTEMS[name]
