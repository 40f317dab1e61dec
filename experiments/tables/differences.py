"""The effects in the table of ``docs/differences.md``: the last cell of each line of settings, from the records of ablations."""

import re
from collections.abc import Sequence
from pathlib import Path

from training.ablations import OURS, SHORT, THEIRS, Plan, Row

from mh4.util.files import write_text
from tables.ablations import Measured
from tables.writer import plus_minus

USUAL = Row.systems  # those of a row that names none
SAID = {SHORT: "", OURS: "at full length ", THEIRS: "at full length in the authors' settings "}


def with_effects(page: str, plan: Plan, everything: Sequence[Measured]) -> str:
    """The page with the effects of rows that have a setting of the line; those with other settings, too, are named."""
    return "\n".join(_with_effect(line, plan, everything) for line in page.split("\n"))


def _with_effect(line: str, plan: Plan, everything: Sequence[Measured]) -> str:
    *cells, setting, _, end = line.split("|") if line.count("|") == 6 else ["", "", ""]
    names = set(re.findall(r"`(\w+\.\w+)`", setting))
    if not names:
        return line
    effects = [
        _effect(row, system, names, plan, everything) for row in plan.rows if names & set(row.settings) for system in row.systems
    ]
    return "|".join([*cells, setting, " %s " % ("; ".join(filter(None, effects)) or "not measured"), end])


def _effect(row: Row, system: str, names: set[str], plan: Plan, everything: Sequence[Measured]) -> str:
    """The effects of a row on UAS, the mean over the plan's treebanks; empty if there are none."""
    means = [(SAID[found.within], found.effect(row.name, system, plan.langs)) for found in everything]
    told = [said + plus_minus(*mean, "%+.2f") for said, mean in means if mean]
    whose = [name for name, other in ((row.name, not names >= set(row.settings)), (system, system not in USUAL)) if other]
    return " ".join([*whose, ", ".join(told)]) if told else ""


def update(page: Path, plan: Plan, everything: Sequence[Measured]) -> None:
    """Writes the effects into the page."""
    write_text(str(page), with_effects(page.read_text(encoding="utf-8"), plan, everything))
