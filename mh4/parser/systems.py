"""The registry of systems: a system is a name, the score tensors that the network fills, and decoders that read them.

Tensors are named after the decoders' parameters. To add a system, add an entry to SYSTEMS, which the command line, the
messages and the reports read. Installed packages add systems by entry points (`plugged_in`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import numpy as np

from mh4 import transitions, trees
from mh4.decoders import Derivation, Marginals, arguments, beam, mh3, mh4, mh5, mst, oneec
from mh4.decoders.derivation import from_heads
from mh4.errors import InputError, shown, unknown
from mh4.parser import kept_heads, oracle
from mh4.parser.choices import BEAM, DECODING_METHODS, MAX_BEAM
from mh4.parser.config import MOST, Config, override, tables
from mh4.parser.objectives import Likelihood, Parts, Violation, hamming_cost, predicted_classes
from mh4.transitions import MH3, MH4, Transition
from mh4.util import reading

Decode = Callable[..., Derivation]  # takes the tensors by name, and single_root; exact decoders also take cost and heads
Marginalize = Callable[..., Marginals]  # takes the tensors by name, and single_root


@dataclass(frozen=True)
class Tensor:
    """One tensor of scores of pairs of nodes.

    positions: the two positions that are scored; all tensors of a system share the MLP of a position.
    matrices: the number of matrices (one per transition) in the tensor, or None for a single matrix.
    sentinel: whether node n+1, the end of the sentence, is among the first nodes, and whether it is among the second.
    layer: the class of the layer that scores it, called with (tensor, config, parameters); by default network.layers.Biaffine.
    """

    name: str
    positions: tuple[str, str]
    matrices: int | None = None
    sentinel: tuple[bool, bool] = (True, True)
    layer: Callable[..., Any] | None = None


@dataclass(frozen=True)
class System:
    """A parsing system.

    tree_class: the class of trees that it learns to produce, by its name in mh4.trees.
    decoders: by name (from DECODING_METHODS), the default first. The one called "beam" also takes the width.
    in_paper: whether it is one of the paper's systems.
    marginals: the function that computes marginals of its derivations; None if there is none.
    """

    name: str
    tree_class: str
    tensors: tuple[Tensor, ...]
    decoders: Mapping[str, Decode]
    in_paper: bool = True
    marginals: Marginalize | None = None

    @property
    def positions(self) -> tuple[str, ...]:
        """The positions that are scored."""
        return tuple(dict.fromkeys(position for tensor in self.tensors for position in tensor.positions))

    @property
    def default(self) -> str:
        """The name of the default decoder."""
        return next(iter(self.decoders))

    @property
    def decodings(self) -> list[str]:
        """The names of all decodings of the system, the default first."""
        return [*self.decoders, *(["mbr"] if self.marginals else [])]

    def decoder(self, decoding: str | None = None, width: int | None = None) -> Decode:
        """Return the function that decodes: it maps the tensors, by name, and single_root to a Derivation.

        decoding: one of DECODING_METHODS, or None for the default; width: of the beam, by default BEAM.
        Raises InputError if the system lacks this decoding, or if a width is given without a beam.
        """
        decoding = self.default if decoding is None else decoding
        if not isinstance(decoding, str) or decoding not in DECODING_METHODS:
            raise InputError(unknown("decoding", decoding, DECODING_METHODS))
        if decoding != "beam" and width is not None:
            raise InputError("a beam of width %s needs the decoding beam (--decode beam), not %s" % (shown(width), decoding))
        if decoding == "mbr" and self.marginals:
            return self.minimum_bayes_risk
        if decoding not in self.decoders:
            raise InputError("%s has no %s decoding, only %s" % (self.name, decoding, " or ".join(self.decodings)))
        if decoding != "beam":
            return self.decoders[decoding]
        if width is None:
            width = BEAM
        if not arguments.is_count(width) or width > MAX_BEAM:
            raise InputError("a beam of width %s: expected 1 to %d" % (shown(width), MAX_BEAM))
        return partial(self.decoders["beam"], beam=width)

    def minimum_bayes_risk(self, *, single_root: bool, heads: np.ndarray | None = None, **tensors: np.ndarray) -> Derivation:
        """Return the tree of the system's class with the highest expected number of correct arcs, which is its score.

        The marginals are the probabilities that arcs are correct (Goodman, ACL 1996). With `heads` (-1 where one is
        open), they are conditional on these heads, and the tree has them. The result has no transitions.
        """
        assert self.marginals is not None, "%s has no marginals" % self.name
        around = {} if heads is None else {"heads": heads}
        probabilities = self.marginals(**tensors, **around, single_root=single_root).arcs.astype(np.float32)
        possible = probabilities if heads is None else arguments.with_heads(probabilities, heads, probabilities.dtype)
        return from_heads(trees.best(possible, self.tree_class, single_root=single_root), probabilities)

    def training_tree(self, heads: np.ndarray, single_root: bool) -> np.ndarray:
        """Return the tree to learn: the gold tree, or the nearest tree that the system can produce.

        For a partly annotated tree, see kept_heads.learnable.
        """
        if not kept_heads.whole(heads):
            return kept_heads.learnable(heads, self.tree_class, single_root)
        return trees.nearest(heads, self.tree_class, single_root=single_root)

    def violation(self, tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Violation:
        """Return the violation of the margin of the tree `heads`, which training minimises."""
        raise NotImplementedError

    def likelihood(self, tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Likelihood:
        """Return -log of the probability of the tree `heads`, summed over its derivations; only for systems with marginals.

        With open heads (-1), it is the probability of all trees with the given heads. The derivatives are expected
        counts over all derivations minus those over the derivations of these trees.
        """
        assert self.marginals is not None, "%s has no marginals" % self.name
        everything = self.marginals(**tensors, single_root=single_root)
        target = self.marginals(**tensors, heads=heads, single_root=single_root)
        derivatives = {name: everything.parts[name] - target.parts[name] for name in tensors}
        return Likelihood(derivatives, everything.log_partition - target.log_partition)


@dataclass(frozen=True)
class GlobalSystem(System):
    """A system trained on whole derivations, through its exact decoder (Section 4)."""

    def violation(self, tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Violation:
        """Return the structured hinge: max of score + Hamming cost over all derivations, minus that over the target's.

        The cost is the number of wrong heads, 0 for the target's derivations. With open heads (-1), the target is the
        model's best completion.
        """
        predicted = self.decoders["exact"](**tensors, cost=hamming_cost(heads), single_root=single_root)
        target = self.target(tensors, heads, single_root)
        return Violation(
            predicted.parts, {name: target[name] for name in tensors}, float(((predicted.heads != heads) & (heads >= 0)).sum())
        )

    def target(self, tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Parts:
        """Return the index rows of the scores that the best derivation of the tree `heads` uses."""
        return self.decoders["exact"](**tensors, heads=heads, single_root=single_root).parts


@dataclass(frozen=True)
class GreedySystem(System):
    """A system trained on single transitions, following a static oracle (the greedy columns of Tables 1 and 4).

    transitions: MH3 or MH4.
    """

    transitions: tuple[Transition, ...] = ()

    def sequence(self, heads: np.ndarray) -> np.ndarray | None:
        """Return the sequence of a tree to learn, as from mh4.parser.oracle; None if there is none."""
        return oracle.canonical(heads, self.transitions)

    def rivals(self, rows: np.ndarray, single_root: bool) -> np.ndarray:
        """Return which transitions compete with the one in each row of a sequence, (m, 5): the legal ones, bool (codes, m)."""
        return transitions.legal(rows[:, 1:], len(rows) // 2, single_root)[: len(self.transitions)]

    def training_tree(self, heads: np.ndarray, single_root: bool) -> np.ndarray:
        # Greedy MH4 parsers produce some trees that no chart derives (Section 3.2).
        if self.sequence(heads) is not None:
            return heads
        return super().training_tree(heads, single_root)

    def violation(self, tensors: Mapping[str, np.ndarray], heads: np.ndarray, single_root: bool) -> Violation:
        """Return the hinge summed over the configurations of the sequence to learn.

        For each configuration: max over the rivals of score + 1 (+ 0 for the correct one), minus the correct one's score.
        """
        sequence, rivals = self.steps(heads, single_root)
        parts = beam.local_parts(sequence, len(heads) - 1)
        each = [tensor[:, parts[name][:, 1], parts[name][:, 2]] for name, tensor in tensors.items()]
        right = sequence[1:, 0]
        choices = predicted_classes(sum(each[1:], each[0]), right, rivals)  # scores (codes, 2n)
        wrong = np.flatnonzero(choices != right)
        target = {name: parts[name][wrong] for name in tensors}
        # The prediction is another transition at the same positions.
        predicted = {name: np.column_stack([choices[wrong], rows[:, 1:]]) for name, rows in target.items()}
        return Violation(predicted, target, float(len(wrong)))

    def steps(self, heads: np.ndarray, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the sequence of a tree to learn, and the transitions that compete with it in each configuration but the first.

        heads: a tree from training_tree. Returns int (2n+1, 5), rows (code, s2, s1, s0, b0), and bool (codes, 2n).
        """
        rows = self.sequence(heads)
        assert rows is not None, "greedy parsers are only trained on trees that they can produce"
        return rows, self.rivals(rows[1:], single_root)


def _search(decode: Decode) -> dict[str, Decode]:
    """Return the functions for greedy search, with a beam of width 1, and beam search."""
    return {"greedy": partial(decode, beam=1), "beam": decode}


def _transition_based(name: str, tree_class: str, chart: ModuleType, *tensors: Tensor, **options: Any) -> System:
    """Return a global system whose transitions are decoded exactly by a chart parser or approximately by search."""
    decoders, marginals = {"exact": chart.decode, **_search(beam.decode)}, getattr(chart, "marginals", None)
    return GlobalSystem(name, tree_class, tensors, decoders, marginals=marginals, **options)


def _greedy(name: str, tree_class: str, codes: tuple[Transition, ...], *pairs: tuple[str, str]) -> System:
    """Return a greedy parser that scores all its transitions on each of `pairs` of positions."""
    tensors = tuple(Tensor(first + second, (first, second), len(codes)) for first, second in pairs)
    return GreedySystem(name, tree_class, tensors, _search(beam.decode_local), transitions=codes)


# Transitions are scored on stack and buffer positions: the shift, then the reduces: two in MH3, six in MH4, twelve in MH5.
SHIFT = Tensor("shift", ("s0", "b0"))
MH3_ON_S0B0 = Tensor("reduce_s0b0", ("s0", "b0"), 2)
MH4_ON_S0B0 = Tensor("reduce_s0b0", ("s0", "b0"), 6)
MH4_ON_S1S0 = Tensor("reduce_s1s0", ("s1", "s0"), 6)
MH5_ON_S0B0 = Tensor("reduce_s0b0", ("s0", "b0"), 12)
MH5_ON_S1S0 = Tensor("reduce_s1s0", ("s1", "s0"), 12)
# Arcs are scored on head and dependent, where the end of the sentence is neither.
ARCS = Tensor("arcs", ("h", "m"), sentinel=(False, False))

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        # The projective arc-hybrid parser on {s0, b0} (Shi, Huang & Lee 2017).
        _transition_based("mh3", "projective", mh3, SHIFT, MH3_ON_S0B0),
        # Edge-factored maximum spanning trees on {h, m}.
        GlobalSystem("mst", "any", (ARCS,), {"exact": mst.decode}, marginals=mst.marginals),
        # MH4 with everything scored on {s0, b0}.
        _transition_based("mh4-two", "mh4", mh4, SHIFT, MH4_ON_S0B0),
        # MH4 with shifts scored on {s0, b0} and reduces on {s1, s0, b0}, as {s1, s0} + {s0, b0} (Section 4.2).
        _transition_based("mh4-hybrid", "mh4", mh4, SHIFT, MH4_ON_S0B0, MH4_ON_S1S0),
        # Third-order 1-Endpoint-Crossing trees (Pitler, TACL 2014) on {h, m}, {si, m} and {g, m}, and on {h, m} again with
        # separate scores for crossed arcs. The end of the sentence stands for a missing sibling or grandparent.
        GlobalSystem(
            "1ec",
            "1ec",
            (
                Tensor("arc", ("h", "m"), sentinel=(False, False)),
                Tensor("crossed_arc", ("h", "m"), sentinel=(False, False)),
                Tensor("grandparent", ("g", "m"), sentinel=(True, False)),
                Tensor("sibling", ("si", "m"), sentinel=(True, False)),
            ),
            {"exact": oneec.decode},
            marginals=oneec.marginals,
        ),
        # MH3 and MH4-hybrid plus the {h, m} scores of mst, decoded exactly.
        _transition_based("mh3-arcs", "projective", mh3, SHIFT, MH3_ON_S0B0, ARCS, in_paper=False),
        _transition_based("mh4-arcs", "mh4", mh4, SHIFT, MH4_ON_S0B0, MH4_ON_S1S0, ARCS, in_paper=False),
        # MH5 scored as MH4-hybrid, and the same plus the {h, m} scores of mst.
        _transition_based("mh5-hybrid", "mh5", mh5, SHIFT, MH5_ON_S0B0, MH5_ON_S1S0, in_paper=False),
        _transition_based("mh5-arcs", "mh5", mh5, SHIFT, MH5_ON_S0B0, MH5_ON_S1S0, ARCS, in_paper=False),
        # The greedy parsers of Tables 4 and 1, which sum the scores of adjacent positions.
        _greedy("greedy-mh3", "projective", MH3, ("s0", "b0")),
        _greedy("greedy-mh4", "mh4", MH4, ("s0", "b0"), ("s1", "s0"), ("s2", "s1")),
        _greedy("greedy-mh4-two", "mh4", MH4, ("s0", "b0")),
        _greedy("greedy-mh4-three", "mh4", MH4, ("s0", "b0"), ("s1", "s0")),
    )
}


def plugged_in(entries: Iterable[EntryPoint]) -> dict[str, System]:
    """Return the systems of installed packages, by name.

    Raises InputError for an entry point that cannot be loaded, is no system or has a name in use.
    """
    found: dict[str, System] = {}
    for entry in entries:
        message = "the plug-in %s (%s) is not a system of mh4: " % (entry.name, entry.value)
        try:
            system = entry.load()
        except Exception as error:  # the plug-in may raise any error
            raise InputError(message + "%s: %s" % (type(error).__name__, error)) from error
        if not isinstance(system, System):
            raise InputError(message + "it is of type %s" % type(system).__name__)
        if system.name in (*SYSTEMS, *found):
            raise InputError(message + "there is another system %s" % system.name)
        found[system.name] = system
    return found


SYSTEMS.update(plugged_in(entry_points(group="mh4.systems")))


def with_marginals() -> list[str]:
    """Return the names of the systems that have marginals."""
    return [name for name, system in SYSTEMS.items() if system.marginals]


def no_marginals(name: str) -> InputError:
    """Return the error for a system that gives no probabilities of arcs."""
    return InputError("%s gives no probabilities of arcs; the systems that do are %s" % (name, ", ".join(with_marginals())))


def get(name: str) -> System:
    """Return the system called `name`; InputError if there is none."""
    if not isinstance(name, str) or name not in SYSTEMS:
        raise InputError(unknown("system", name, SYSTEMS))
    return SYSTEMS[name]


def settings(files: Iterable[str], system: str, base: Config = Config()) -> Config:  # noqa: B008  (it is immutable)
    """Return the settings of a system: `base`, changed by TOML files in this order.

    Tables such as [mh3.scorer] are for one system, and override those for all systems in the same file. Raises
    InputError for a file that cannot be read, is not TOML, or has unknown settings or bad values, even in tables for
    other systems.
    """
    found = base
    for path in files:
        sections = tables(reading.text(path, MOST, pipe=True), path)
        sections.pop("model", None)  # the config.toml of a model has this table, too
        own_settings = {name: sections.pop(name) for name in SYSTEMS if isinstance(sections.get(name), dict)}
        for_all = override(found, sections, path)
        found = {name: override(for_all, own, path) for name, own in own_settings.items()}.get(system, for_all)
    return found
