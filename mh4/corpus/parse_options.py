"""Describe how a corpus is parsed.

Parses depend on these settings, so parses with different settings are never mixed.
"""

import os
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mh4 import version
from mh4.parser import checksums
from mh4.parser.choices import Beyond, Decoding
from mh4.util import reading


def _is(what: str) -> Any:
    """Return a field for a setting on which the parses depend. what: its name in messages."""
    return field(metadata={"what": what})


@dataclass(frozen=True)
class Settings:
    """How a corpus is parsed: the options of `mh4 parse`, and checksums of everything else on which the parses depend.

    model, segmenter: paths, which may change as long as the checksums do not.
    """

    model: str
    segmenter: str | None
    mh4: str = _is("mh4")
    program_checksum: str = _is("the source files of mh4 with checksum")
    model_checksum: str = _is("the model with checksum")
    segmenter_checksum: str | None = _is("the segmenter with checksum")
    input: str = _is("--input")
    decode: Decoding | None = _is("--decode")
    beam: int | None = _is("--beam")
    confidence: bool = _is("--confidence")
    tags: bool = _is("--tags")
    keep_deps: bool = _is("--keep-deps")
    longest: int | None = _is("--longest")
    beyond: Beyond | None = _is("--beyond")
    rejects: bool = _is("--rejects")

    @classmethod
    def of(cls, model: str, segmenter: str | None, **options: Any) -> "Settings":
        """Return the settings with the present model and segmenter at these paths, and this version of mh4."""
        return cls(
            os.path.abspath(model),
            segmenter and os.path.abspath(segmenter),
            version.__version__,
            checksums.of_program(),
            checksums.of_model(model),
            segmenter and reading.sha256(segmenter),
            **options,
        )

    @classmethod
    def read(cls, found: dict[str, Any]) -> "Settings":
        """Return the settings in an object from JSON. Raises TypeError for other names or types."""
        settings = cls(**found)
        if not all(_is_a(getattr(settings, name), kind) for name, kind in get_type_hints(cls).items()):
            raise TypeError
        return settings

    @property
    def by_line(self) -> bool:
        """Return whether each line of the input is a sentence, so that it may be cut there."""
        return self.input == "horizontal"

    def options(self) -> dict[str, Any]:
        """Return the settings on which parses depend, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.metadata}

    def differences(self, other: "Settings") -> list[tuple[str, Any, Any]]:
        """Return the settings that differ and affect parses: the name in messages, our value and the other's value."""
        pairs = [(one.metadata.get("what"), getattr(self, one.name), getattr(other, one.name)) for one in fields(self)]
        return [(what, ours, theirs) for what, ours, theirs in pairs if what and ours != theirs]


def _is_a(value: Any, kind: Any) -> bool:
    """Return whether a value has the type `kind`, which may be a union or a Literal."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    return any(_is_a(value, one) for one in get_args(kind)) or type(value) is kind
