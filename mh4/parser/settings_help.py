"""The list of all settings that `mh4 settings` prints: defaults, allowed values and meanings, those of the authors' runs apart."""

import dataclasses
import textwrap
from typing import Any, NamedTuple

from mh4.parser import config

_WIDTH = 79  # of the text, in columns
THEIRS = "What only the authors' runs set otherwise (experiments/settings/authors.toml)."


class Setting(NamedTuple):
    """A setting: its name, its default as TOML, the values that it may have and what it means, in words; authors: whether it is theirs."""

    name: str
    default: str
    allowed: str
    meaning: str
    authors: bool


class Section(NamedTuple):
    """A section of the settings, and what it is about; those of the authors' runs are the last."""

    name: str
    about: str
    settings: list[Setting]


def sections() -> list[Section]:
    """All settings."""
    found = []
    for part in dataclasses.fields(config.Config):
        kind: Any = part.default_factory
        allowed = config.allowed(kind)
        settings = [
            Setting(one.name, config.as_toml(getattr(kind, one.name)), str(allowed[one.name]), **one.metadata)
            for one in dataclasses.fields(kind)
        ]
        found.append(Section(part.name, kind.__doc__, settings))
    return found


def as_text() -> str:
    """The settings to be read, those of the authors' runs last."""
    ours, theirs = [], [*_wrapped(THEIRS), ""]
    for name, about, settings in sections():
        ours += [*_wrapped(about), ""]
        for one in settings:
            lines = theirs if one.authors else ours
            lines.append("%s.%s = %s  (%s)" % (name, one.name, one.default, one.allowed))
            lines += _wrapped(one.meaning, "    ")
        ours.append("")
    return "\n".join(ours + theirs)


def as_toml() -> str:
    """The settings as a file for ``mh4 train --config``, with comments."""
    lines = []
    for name, about, settings in sections():
        lines += [*_wrapped(about, "# "), "[%s]" % name]
        for setting in settings:
            whose = "; only for the authors' runs" if setting.authors else ""
            lines += ["", *_wrapped("%s (%s)%s" % (setting.meaning, setting.allowed, whose), "# ")]
            lines.append("%s = %s" % (setting.name, setting.default))
        lines.append("")
    return "\n".join(lines[:-1])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
