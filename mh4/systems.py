"""The systems of the paper: a system is a name, the tensors a scorer fills, and a decoder that reads them.

Tensors are named as the decoders' parameters. Adding a system is adding an entry here.
"""

from dataclasses import dataclass
from functools import partial
from typing import Callable, Mapping, Optional, Tuple

import numpy as np

from mh4 import margin, oracle, trees
from mh4.decoders import Derivation, mh3, mh4, mst, oneec, search
from mh4.errors import InputError
from mh4.margin import Margin
from mh4.transitions import MH3, MH4, Transition

DECODINGS = ("exact", "greedy", "beam")
BEAM = 8  # the width of a beam if none is given
WIDEST = 10_000  # with which any sentence fits into memory


@dataclass(frozen=True)
class Tensor:
    """One tensor of scores of pairs of nodes.

    pair: which two positions are scored; all tensors of a system share the MLP of a position.
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

    tree_class: the trees it can produce, a name mh4.trees knows; None where it can produce all. Greedy MH4 parsers produce
        some more (Section 3.2).
    exact: the exact decoder of a global model: takes the tensors by name, and cost, heads and single_root.
    search: greedy and beam search: takes the tensors by name, and beam and single_root. None where there are no transitions.
    greedy: the transitions of a greedy parser, which has no exact decoder.
    """

    name: str
    tree_class: Optional[str]
    tensors: Tuple[Tensor, ...]
    exact: Optional[Callable[..., Derivation]] = None
    search: Optional[Callable[..., Derivation]] = None
    greedy: Optional[Tuple[Transition, ...]] = None

    @property
    def default(self) -> str:
        """How it decodes if nothing else is asked for: "exact" or "greedy"."""
        return "greedy" if self.greedy else "exact"

    def decoder(self, how: Optional[str] = None, beam: int = BEAM) -> Callable[..., Derivation]:
        """The function from the tensors by name, and single_root, to a Derivation.

        how: "exact", "greedy", "beam" (of width `beam`), or None for the default. Raises InputError where the system has none.
        """
        how = how or self.default
        if how == "exact":
            if self.exact is None:
                raise InputError("%s has no exact decoder: it is a greedy parser, decoded by greedy or beam search" % self.name)
            return self.exact
        if how not in ("greedy", "beam"):
            raise InputError("no decoding %r; there are %s" % (how, ", ".join(DECODINGS)))
        if self.search is None:
            raise InputError("%s has no transitions to search: it is decoded exactly" % self.name)
        if not 1 <= beam <= WIDEST:
            raise InputError("a beam of width %d: expected 1 to %d" % (beam, WIDEST))
        return partial(self.search, beam=beam if how == "beam" else 1)

    def learnable(self, heads: np.ndarray, single_root: bool) -> np.ndarray:
        """The tree to learn: the tree itself if the system can produce it, otherwise the nearest one of its class."""
        if self.tree_class is None or (self.greedy and oracle.canonical(heads, self.greedy) is not None):
            return heads
        return trees.nearest(heads, self.tree_class, single_root=single_root)

    def margin(self, values: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Margin:
        """By how much the model prefers another analysis to the tree `heads`: what training makes small."""
        if self.greedy:
            return margin.stepwise(self.greedy, values, heads, single_root)
        return margin.structured(self.exact, values, heads, single_root)


def _greedy(name: str, tree_class: str, transitions: Tuple[Transition, ...], *pairs: str) -> System:
    """A greedy parser that scores all its transitions on all the pairs of positions, such as "s0 b0"."""
    tensors = tuple(Tensor(pair.replace(" ", ""), pair, len(transitions)) for pair in pairs)
    return System(name, tree_class, tensors, search=search.decode_local, greedy=transitions)


SYSTEMS = {
    system.name: system
    for system in (
        # The projective arc-hybrid parser on {s0, b0} (Shi, Huang & Lee 2017).
        System("mh3", "projective", (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 2)), mh3.decode, search.decode),
        # Edge-factored maximum spanning trees on {h, m}.
        System("mst", None, (Tensor("arcs", "h m", ends=(False, False)),), mst.decode),
        # MH4 with everything scored on {s0, b0}.
        System("mh4-two", "mh4", (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 6)), mh4.decode, search.decode),
        # MH4 with shifts scored on {s0, b0} and reduces on {s1, s0, b0}, as {s1, s0} + {s0, b0} (Section 4.2).
        System(
            "mh4-hybrid",
            "mh4",
            (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 6), Tensor("reduce_s1s0", "s1 s0", 6)),
            mh4.decode,
            search.decode,
        ),
        # MH3 and MH4-hybrid with the scores of mst on {h, m} beside them, decoded exactly (beyond the paper).
        System(
            "mh3-arcs",
            "projective",
            (Tensor("shift", "s0 b0"), Tensor("reduce_s0b0", "s0 b0", 2), Tensor("arcs", "h m", ends=(False, False))),
            mh3.decode,
            search.decode,
        ),
        System(
            "mh4-arcs",
            "mh4",
            (
                Tensor("shift", "s0 b0"),
                Tensor("reduce_s0b0", "s0 b0", 6),
                Tensor("reduce_s1s0", "s1 s0", 6),
                Tensor("arcs", "h m", ends=(False, False)),
            ),
            mh4.decode,
            search.decode,
        ),
        # Third-order 1-Endpoint-Crossing trees (Pitler, TACL 2014) on {h, m}, {si, m} and {g, m}, and on {h, m} once more with
        # scores of their own for crossed arcs. The end of the sentence stands for a sibling or grandparent that is not there.
        System(
            "1ec",
            "1ec",
            (
                Tensor("arc", "h m", ends=(False, False)),
                Tensor("crossed_arc", "h m", ends=(False, False)),
                Tensor("grandparent", "g m", ends=(True, False)),
                Tensor("sibling", "si m", ends=(True, False)),
            ),
            oneec.decode,
        ),
        # The greedy parsers of Table 4, and of Table 1: sums of the scores of neighbouring positions.
        _greedy("greedy-mh3", "projective", MH3, "s0 b0"),
        _greedy("greedy-mh4-two", "mh4", MH4, "s0 b0"),
        _greedy("greedy-mh4-three", "mh4", MH4, "s0 b0", "s1 s0"),
        _greedy("greedy-mh4", "mh4", MH4, "s0 b0", "s1 s0", "s2 s1"),
    )
}


def get(name: str) -> System:
    """The system called `name`; InputError if there is none."""
    if name not in SYSTEMS:
        raise InputError("no system %r; there are %s" % (name, ", ".join(SYSTEMS)))
    return SYSTEMS[name]
