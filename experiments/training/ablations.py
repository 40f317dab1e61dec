"""The runs of ``make ablations``: in each, the settings of ours or of the authors' runs, but those of one row from the other side.

``experiments/ablations.toml`` lists the rows. The values of their settings are those of the two sides.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Optional

from provenance import EXPERIMENTS

from mh4.parser.config import Config, as_toml, tables
from training.treebank import Treebank

PLAN = EXPERIMENTS / "ablations.toml"
AUTHORS = "authors"


@dataclass(frozen=True)
class Row:
    """Settings that change sides together, and the systems to try them with. short: whether short runs can tell the sides apart."""

    name: str
    what: str
    settings: tuple[str, ...]
    systems: tuple[str, ...] = ("mh4-hybrid",)
    short: bool = True


@dataclass(frozen=True)
class Plan:
    """The rows; treebanks and seeds to try them on; short runs' numbers of updates, and between evaluations; rows at full length."""

    langs: tuple[str, ...]
    seeds: tuple[int, ...]
    updates: int
    evaluate_updates: int
    full: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False)

    @classmethod
    def read(cls, path: Path = PLAN) -> "Plan":
        content = tables(path.read_text(encoding="utf-8"), str(path))
        return cls(rows=tuple(Row(**_tuples(row)) for row in content.pop("row")), **_tuples(content))


def _tuples(content: dict) -> dict:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}


class Within(NamedTuple):
    """What a row is tried within: the settings of all runs, by name, empty for ours, and whether these are of full length."""

    name: str
    settings: str
    full: bool


SHORT, OURS, THEIRS = Within("short", "", False), Within("full", "", True), Within("full-authors", AUTHORS, True)
WITHIN = (SHORT, OURS, THEIRS)


def variant(plan: Plan, bank: Treebank, within: Within, row: Optional[Row], system: str) -> Treebank:
    """The treebank with the settings of a run; None: without any of the other side, at full length those of ``make reproduce``."""
    settings = bank.with_settings(within.settings)
    if within.full and row is None:
        return settings
    other = bank.with_settings("" if within.settings else AUTHORS).config(system)
    assignments = [] if within.full else ["training.max_updates=%d" % plan.updates]
    assignments += [] if within.full else ["training.evaluate_updates=%d" % plan.evaluate_updates]
    assignments += ["%s=%s" % (name, as_toml(value(other, name))) for name in (row.settings if row else ())]
    name = "ablations/%s/%s/%s" % (bank.name, within.name, row.name if row else "unchanged")
    return Treebank(
        bank.lang, name, bank.release, bank.paths, bank.blobs, settings=within.settings, assignments=tuple(assignments)
    )


def value(config: Config, name: str) -> object:
    """The value of a setting such as "training.patience"."""
    section, _, setting = name.partition(".")
    return getattr(getattr(config, section), setting)


def wanted(rows: Sequence[Row], systems: Sequence[str], within: Within) -> Iterator[tuple[Optional[Row], str]]:
    """The rows to train, with a system each; in short runs also None, for the unchanged run that they are compared with."""
    pairs = [(row, system) for row in rows for system in row.systems if system in systems]
    if not within.full:
        yield from ((None, system) for system in dict.fromkeys(system for _, system in pairs))
    yield from pairs
