"""The list of all settings that `mh4 settings` prints: defaults, allowed values, and the comments in config.py, which defines them."""

import dataclasses
import inspect
import re
import textwrap
from typing import Any, NamedTuple

from mh4.parser import config

_WIDTH = 79  # of the text, in columns


class Setting(NamedTuple):
    """A setting: its name, its default as TOML, the values that it may have and what it means, in words."""

    name: str
    default: str
    allowed: str
    meaning: str


class Section(NamedTuple):
    """A section of the settings, and what it is about."""

    name: str
    about: str
    settings: list[Setting]


def sections() -> list[Section]:
    """All settings."""
    found = []
    for part in dataclasses.fields(config.Config):
        kind: Any = part.default_factory
        meanings = dict(re.findall(r"^    (\w+): .*?  # (.*)$", inspect.getsource(kind), re.MULTILINE))
        settings = [
            Setting(name, config.as_toml(getattr(kind, name)), str(allowed), meanings[name])
            for name, allowed in config.allowed(kind).items()
        ]
        found.append(Section(part.name, kind.__doc__, settings))
    return found


def as_text() -> str:
    """The settings to be read."""
    lines = []
    for name, about, settings in sections():
        lines += [*_wrapped(about), ""]
        for setting in settings:
            lines.append("%s.%s = %s  (%s)" % (name, setting.name, setting.default, setting.allowed))
            lines += _wrapped(setting.meaning, "    ")
        lines.append("")
    return "\n".join(lines[:-1])


def as_toml() -> str:
    """The settings as a file for ``mh4 train --config``, with comments."""
    lines = []
    for name, about, settings in sections():
        lines += [*_wrapped(about, "# "), "[%s]" % name]
        for setting in settings:
            lines += ["", *_wrapped("%s (%s)" % (setting.meaning, setting.allowed), "# ")]
            lines.append("%s = %s" % (setting.name, setting.default))
        lines.append("")
    return "\n".join(lines[:-1])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
