"""Every setting of a parser in one place.

A configuration is read from TOML (``mh4 train --config FILE.toml``), changed one value at a time (``--set section.name=value``)
and written to the model folder in full, so that a model documents how it was made. The network sizes, the dropout of 0.3 and
the task weights are the paper's; where the paper gives no value, the defaults are those of the authors' runs, except where our
own measurements suggest another: averaged weights at a constant rate, patience, and
word_embedding.
"""

import dataclasses
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable

from mh4.errors import InputError, reason

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


LOSSES = ("hinge", "likelihood")


@dataclass(frozen=True)
class Encoder:
    """From the characters of a word to a vector for every word of a sentence (supplement, Implementation Details)."""

    char_dim: int = 64
    char_layers: int = 2
    char_units: int = 128  # both directions together
    word_dim: int = 128
    word_min_count: int = 5  # rarer words have no embedding, only their characters
    layers: int = 2
    units: int = 192  # both directions together


@dataclass(frozen=True)
class Scorer:
    """Deep biaffine scores of transitions and arcs; MLPs of one tanh layer for tags and labels."""

    mlp_units: int = 192
    single_root: bool = True  # exactly one dependent of the root, as in UD


@dataclass(frozen=True)
class Dropout:
    """Dropout in training. Rates are probabilities of dropping (the paper keeps units with probability 0.7)."""

    char_lstm: float = 0.3
    lstm: float = 0.3
    mlp: float = 0.3
    word: float = 0.1  # the whole input vector of a word
    word_embedding: float = 10.0  # a word seen c times keeps its embedding with probability c / (c + this); the authors used 2.5
    char: float = 0.25  # a character seen c times is kept with probability c / (c + this)


@dataclass(frozen=True)
class Training:
    """Training with Adam until the dev-set performance converges.

    The learning rate is constant: with averaged weights, decay gains nothing further.
    """

    loss: str = "hinge"  # of trees: "hinge", the paper's large margin (Section 4.3), or "likelihood", negative log-likelihood
    batch_tokens: int = 100  # a minibatch has at least this many words
    loss_scale: float = 100.0  # the summed loss of a minibatch is divided by this
    upos_weight: float = 0.2
    xpos_weight: float = 0.2
    feats_weight: float = 0.2
    label_weight: float = 1.0
    learning_rate: float = 0.002
    clip: float = 5.0  # gradient norm
    averaged_updates: int = 1000  # the model's weights are a moving average over about this many updates
    evaluate_updates: int = 500  # evaluate every max(this, a quarter epoch) updates
    patience: int = 10  # training stops after this many evaluations without improvement
    max_updates: int = 1_000_000


@dataclass(frozen=True)
class Config:
    """The settings of one parser, in four sections."""

    encoder: Encoder = field(default_factory=Encoder)
    scorer: Scorer = field(default_factory=Scorer)
    dropout: Dropout = field(default_factory=Dropout)
    training: Training = field(default_factory=Training)

    def to_toml(self) -> str:
        """The whole configuration as TOML text; ``tables`` and ``override`` read it back."""
        lines = []
        for section in dataclasses.fields(self):
            lines.append("[%s]" % section.name)
            values = getattr(self, section.name)
            for setting in dataclasses.fields(values):
                value = getattr(values, setting.name)
                lines.append("%s = %s" % (setting.name, str(value).lower() if isinstance(value, bool) else repr(value)))
            lines.append("")
        return "\n".join(lines)


def read(path: str) -> Config:
    """The configuration in TOML file `path`; settings it omits keep their defaults."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise InputError("%s: cannot be read: %s" % (path, reason(error))) from None
    except UnicodeDecodeError:
        raise InputError("%s: not UTF-8" % path) from None
    return override(Config(), tables(text, path), path)


def tables(text: str, source: str) -> dict[str, Any]:
    """TOML `text` as a dictionary; InputError, naming `source`, if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError("%s: not TOML: %s" % (source, error)) from None


def with_settings(config: Config, assignments: Iterable[str]) -> Config:
    """`config` changed by assignments such as ``"training.learning_rate=0.001"``."""
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        section, dot, setting = name.strip().partition(".")
        if not (equals and dot):
            raise InputError("--set %s: expected section.name=value, such as training.learning_rate=0.001" % assignment)
        try:
            parsed = tomllib.loads("value = %s" % value)["value"]
        except tomllib.TOMLDecodeError:
            if not isinstance(getattr(getattr(config, section, None), setting, None), str):
                raise InputError("--set %s: %r is not a number, true or false" % (assignment, value)) from None
            parsed = value
        config = override(config, {section: {setting: parsed}}, "--set %s" % assignment)
    return config


def override(config: Config, sections: Mapping[str, Any], source: str) -> Config:
    """`config` with the settings in `sections`; InputError, naming `source`, for unknown settings and bad values."""
    for section, values in sections.items():
        current = getattr(config, section, None)
        if not dataclasses.is_dataclass(current) or not isinstance(values, dict):
            known = ", ".join(f.name for f in dataclasses.fields(config))
            raise InputError("%s: no section %r; the sections are %s" % (source, section, known))
        config = dataclasses.replace(config, **{section: _override_section(section, current, values, source)})
    return config


def _override_section(section: str, current: Any, values: Mapping[str, Any], source: str) -> Any:
    types = {f.name: type(getattr(current, f.name)) for f in dataclasses.fields(current)}
    changes = {}
    for name, value in values.items():
        if name not in types:
            raise InputError("%s: no setting %s.%s; there are %s" % (source, section, name, ", ".join(types)))
        if types[name] is float and type(value) is int:
            value = float(value)
        if type(value) is not types[name]:
            raise InputError("%s: %s.%s is %r, expected %s" % (source, section, name, value, _NAMES[types[name]]))
        if not _LIMITS.get("%s.%s" % (section, name), _LIMITS.get(section, _positive))(value):
            raise InputError("%s: %s.%s cannot be %r" % (source, section, name, value))
        changes[name] = value
    return dataclasses.replace(current, **changes)


def _positive(value: Any) -> bool:
    return isinstance(value, bool) or value > 0


def _even(value: int) -> bool:
    return value > 0 and value % 2 == 0


def _not_negative(value: float) -> bool:
    return value >= 0


def _rate(value: float) -> bool:
    return 0 <= value < 1


def _loss(value: str) -> bool:
    return value in LOSSES


_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "a name"}

# Constraints on values, by section or by setting; the default is positive.
_LIMITS: dict[str, Callable[[Any], bool]] = {
    "encoder.char_units": _even,
    "encoder.units": _even,
    "dropout": _rate,
    "dropout.word_embedding": _not_negative,
    "dropout.char": _not_negative,
    "training.loss": _loss,
    "training.upos_weight": _not_negative,
    "training.xpos_weight": _not_negative,
    "training.feats_weight": _not_negative,
    "training.label_weight": _not_negative,
}
