"""The list of all settings that `mh4 settings` prints: defaults, allowed values, and the comments in config.py, which defines them."""

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

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
    kinds = [(part.name, type(getattr(config.Config(), part.name))) for part in dataclasses.fields(config.Config)]
    return [Section(name, inspect.cleandoc(kind.__doc__ or ""), _settings(name, kind)) for name, kind in kinds]


def as_text() -> str:
    """The settings to be read."""
    lines = []
    for name, about, settings in sections():
        lines += [*_wrapped(about), ""]
        for setting in settings:
            lines += [
                "%s.%s = %s  (%s)" % (name, setting.name, setting.default, setting.allowed),
                *_wrapped(setting.meaning, "    "),
            ]
        lines.append("")
    return "\n".join(lines[:-1])


def as_toml() -> str:
    """The settings as a file for ``mh4 train --config``, with comments."""
    lines = []
    for name, about, settings in sections():
        lines += [*_wrapped(about, "# "), "[%s]" % name]
        for setting in settings:
            lines += [
                "",
                *_wrapped("%s (%s)" % (setting.meaning, setting.allowed), "# "),
                "%s = %s" % (setting.name, setting.default),
            ]
        lines.append("")
    return "\n".join(lines[:-1])


def _settings(section: str, kind: type) -> list[Setting]:
    meanings = dict(re.findall(r"^    (\w+): .*?  # (.*)$", inspect.getsource(kind), re.MULTILINE))
    defaults = dataclasses.asdict(kind())
    return [
        Setting(name, config.as_toml(default), str(config.allowed(section, name, type(default))), meanings[name])
        for name, default in defaults.items()
    ]


def _wrapped(text: str, indent: str = "") -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
