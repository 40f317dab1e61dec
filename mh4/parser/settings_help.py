"""All settings with their defaults, allowed values and meanings, as `mh4 settings` and the documentation list them."""

import dataclasses
import textwrap
from typing import Any, NamedTuple

from mh4.parser import config

THEIRS = "Only the authors' runs change these (experiments/settings/authors.toml)."


class Setting(NamedTuple):
    """A setting: its name, its default as TOML, and in words, its allowed values and meaning.

    authors: whether only the authors' runs change it.
    """

    name: str
    default: str
    allowed: str
    meaning: str
    authors: bool


class Section(NamedTuple):
    """A section of the settings, with a description (about). The settings of the authors' runs come last."""

    name: str
    about: str
    settings: list[Setting]


def sections() -> list[Section]:
    """Return all settings, by section."""
    found = []
    for part in dataclasses.fields(config.Config):
        kind: Any = part.default_factory
        allowed = config.allowed(kind)
        settings = [
            Setting(one.name, config.as_toml(getattr(kind, one.name)), allowed[one.name].described, **one.metadata)
            for one in dataclasses.fields(kind)
        ]
        found.append(Section(part.name, kind.__doc__, settings))
    return found


def as_toml() -> str:
    """Return the settings as a file for ``mh4 train --config``, with comments.

    The settings of the authors' runs come last in each section.
    """
    lines = []
    for name, about, settings in sections():
        lines += [*_comment(about), "[%s]" % name]
        for authors in (False, True):
            chosen = [one for one in settings if one.authors is authors]
            lines += ["", *_comment(THEIRS)] if authors and chosen else []
            for one in chosen:
                lines += ["", *_comment("%s (%s)" % (one.meaning, one.allowed)), "%s = %s" % (one.name, one.default)]
        lines += ["", ""]
    return "\n".join(lines).rstrip("\n")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 79, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
