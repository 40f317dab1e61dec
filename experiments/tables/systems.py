"""Write the table of all systems in the registry into README and docs/reference/systems.md."""

from pathlib import Path

from experiments import pages
from experiments.engine.workplace import EXPERIMENTS
from mh4.parser.systems import SYSTEMS, GreedySystem, System
from mh4.util.text_tables import Table

README = EXPERIMENTS.parent / "README.md"
REFERENCE = EXPERIMENTS.parent / "docs" / "reference" / "systems.md"
# Descriptions of trees by class. Trees of MH_k are named after it.
TREES = {"any": "tree", "projective": "projective tree", "1ec": "1-Endpoint-Crossing tree"}


def table(full: bool) -> Table:
    """Return the table of systems: what each finds and scores. The full table adds decoders and probabilities."""
    header = ["system", "finds the best", "features scored", *(["decoding", "probabilities"] if full else [])]
    body = []
    for system in SYSTEMS.values():
        line = ["`%s`" % system.name, found(system) + ("" if system.in_paper else " (not in the paper)"), scored(system)]
        if full:
            line += [", ".join(system.decoders), "yes" if system.marginals else "no"]
        body.append(line)
    return Table(header, body, right=len(header))


def found(system: System) -> str:
    """Describe the structure that a system finds."""
    name = system.tree_class.upper()
    if isinstance(system, GreedySystem):
        return "greedily, a " + TREES.get(system.tree_class, "tree of the %s transitions" % name)
    shifts = any(tensor.name == "shift" for tensor in system.tensors)
    return TREES.get(system.tree_class, name + " tree") + (", by transitions" if shifts else "")


def scored(system: System) -> str:
    """Describe the features that a system scores."""
    of: dict[str, list[str]] = {}  # the positions of each kind of transition; none for other features
    for tensor in system.tensors:
        if tensor.positions[1] == "m":
            of[tensor.name.removesuffix("s").replace("_", " ") + "s"] = []
        else:
            kind = "shifts" if tensor.name == "shift" else "reduces" if tensor.name.startswith("reduce") else "transitions"
            of[kind] = sorted({*of.get(kind, []), *tensor.positions}, key=["s2", "s1", "s0", "b0"].index)
    if "shifts" in of and of["shifts"] == of["reduces"]:
        of = {"transitions": of.pop("shifts"), **{kind: positions for kind, positions in of.items() if kind != "reduces"}}
    transitions = ["%s on %s" % (kind, ", ".join(positions)) for kind, positions in of.items() if positions]
    others = ", ".join(kind for kind, positions in of.items() if not positions)
    return "; ".join(filter(None, [*transitions, others]))


def write() -> list[Path]:
    """Write the table into both pages, and return their paths."""
    return [pages.write_between(page, "systems", table(full)) for page, full in ((README, False), (REFERENCE, True))]
