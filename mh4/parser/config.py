"""Every setting of a parser, and its default.

A configuration is read from TOML (``mh4 train --config FILE.toml``), changed one value at a time (``--set section.name=value``)
and written to the model folder in full, so that a model documents how it was made. The paper's text fixes the kind of encoder and of
scorer, the sizes of both LSTMs, Adam's learning rate, the dropout of 0.3, the loss of trees and its cost. What it leaves open is set as
in the authors' runs or otherwise; ``experiments/settings/authors.toml`` has every setting that differs there.

A file may have settings for one system only, in tables such as ``[mh3.scorer]``.
"""

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mh4.errors import InputError, shown

LOSSES = ("hinge", "likelihood")
MOST, _LONGEST_LINE = 1 << 16, 4000  # of a file of settings: bytes, and characters


@dataclass(frozen=True)
class Encoder:
    """From the characters of a word to a vector for every word of a sentence (supplement, Implementation Details)."""

    char_dim: int = 64  # the vector of a character
    char_layers: int = 2  # of the bi-LSTM over the characters of a word
    char_units: int = 128  # of each of its layers, both directions together
    word_dim: int = 128  # the vector of a word
    word_min_count: int = 5  # rarer words have no embedding, only their characters
    word_input: str = "sum"  # of a word that keeps its embedding: "sum" of embedding and spelling, or the "embedding" by itself
    embeddings: str = "table"  # begin in the range of Glorot's for their whole "table", or for a "row": √(3 / dimensions), wider
    word_boundaries: bool = False  # spellings are read between two learned symbols, as first and last characters
    vectors: str = "none"  # of words, read from a file: "none", "frozen", or "tuned" for the words of the training treebank
    vectors_most: int = 200_000  # words of that file kept with the model, the first ones, besides all words of its treebanks
    contextual: int = 0  # dimensions of vectors that come with each sentence, from files (see contextual_vectors.py); 0: none
    layers: int = 2  # of the bi-LSTM over the words of a sentence
    units: int = 192  # of each of its layers, both directions together


@dataclass(frozen=True)
class Scorer:
    """Deep biaffine scores of transitions and arcs, and scores of tags and labels, all from MLPs of one tanh layer."""

    mlp_units: int = 192  # of each MLP between the bi-LSTM and the scores
    single_root: bool = True  # exactly one dependent of the root, as in UD
    end: str = "encoded"  # of the sentence, or what is missing: a node of the sentence LSTM, or a vector "learned" by the scorer
    arcs: str = "biaffine"  # scores of arcs in mst, -arcs: "biaffine" [h;1]'U[m;1], or "bilinear" h'Um + w'h
    orthogonal: bool = False  # biaffine matrices are initialised as random orthogonal ones, otherwise as Glorot's
    greedy: str = "biaffine"  # scores of greedy-mh4: sums of "biaffine" ones, or "joint" ones, of one layer over all positions
    tags_from: str = "first"  # the layer of the sentence LSTM that tags are predicted from: "first" or "last"
    xpos_with_upos: bool = False  # what is predicted as XPOS is the pair of UPOS and XPOS
    label_subtypes: bool = True  # labels are learned with their subtypes, as in nmod:poss
    root_label: bool = True  # a label root is that of the root's dependents, and of no other words; otherwise as the scores say


@dataclass(frozen=True)
class Dropout:
    """Dropout in training. Rates are probabilities of dropping (the paper keeps units with probability 0.7)."""

    char_lstm: float = 0.3  # inputs and states of the bi-LSTM over characters, the same ones throughout a word
    lstm: float = 0.3  # inputs and states of the bi-LSTM over words, the same ones throughout a sentence
    mlp: float = 0.3  # outputs of the MLPs
    word: float = 0.1  # the whole input vector of a word
    word_scaled: bool = False  # the vectors of the other words are divided by 1 - word
    word_embedding: float = 10.0  # a word seen c times keeps its embedding with probability c / (c + this)
    char: float = 0.25  # a character seen c times is kept with probability c / (c + this)


@dataclass(frozen=True)
class Training:
    """Training with Adam until the dev-set performance converges."""

    loss: str = "hinge"  # of trees: "hinge", the paper's large margin (Section 4.3), or "likelihood", negative log-likelihood
    batch_tokens: int = 100  # a minibatch has at least this many words
    batches: str = "similar"  # minibatches of sentences of "similar" length, or of "any" length
    longest: int = 1_000_000  # the trees of longer sentences are not learned, only their tags and labels
    nearest: str = "fewest-roots"  # of the trees nearest to one outside the class, one of "fewest-roots" or the "first" found
    sequences: str = "early"  # greedy parsers, and mh3 if "late", learn this sequence of a tree; see mh4/parser/oracle.py
    illegal_rivals: bool = False  # greedy parsers learn to score gold transitions above illegal ones as well
    loss_scale: float = 100.0  # the summed loss of a minibatch is divided by this
    upos_weight: float = 0.2  # of the loss of UPOS, beside that of trees
    xpos_weight: float = 0.2  # of the loss of XPOS
    feats_weight: float = 0.2  # of the loss of FEATS
    label_weight: float = 1.0  # of the loss of labels
    learning_rate: float = 0.002  # of Adam
    clip: float = 5.0  # the largest norm of the gradient; a larger one is scaled down
    sparse_updates: bool = True  # an update changes only the embeddings that the minibatch uses
    averaged_updates: int = 1000  # the model's weights are a moving average over about this many updates; 1: the last weights
    evaluate_updates: int = 500  # evaluate every max(this, a quarter epoch) updates
    best_by: str = "uas"  # the score on dev that has to improve: "uas" or "las"
    keep_last: bool = False  # of evaluations with the same score, the last is the best, not the first
    patience: int = 10  # after this many evaluations without improvement, the rate falls, or training stops
    rate_falls: int = 0  # how often the rate is divided by 4, with Adam's moments reset, before training stops
    max_updates: int = 100_000  # training stops after this many, even if it has not converged


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
        for section, values in dataclasses.asdict(self).items():
            lines += ["[%s]" % section, *("%s = %s" % (name, as_toml(value)) for name, value in values.items()), ""]
        return "\n".join(lines)


def differences(one: Config, other: Config) -> dict[str, tuple[Any, Any]]:
    """The settings in which two configurations differ, by name ("training.patience"), with their values in both."""
    theirs = dataclasses.asdict(other)
    return {
        "%s.%s" % (section, name): (value, theirs[section][name])
        for section, values in dataclasses.asdict(one).items()
        for name, value in values.items()
        if value != theirs[section][name]
    }


def listed(differing: Mapping[str, tuple[Any, Any]]) -> str:
    """Differences for a message: "training.patience is 10 there, 5 here", and so on, _LISTED at most."""
    shown_ones = ["%s is %s there, %s here" % (name, *map(as_toml, values)) for name, values in differing.items()]
    more = len(shown_ones) - _LISTED
    return "; ".join(shown_ones[:_LISTED] + ["and %d more" % more] * (more > 0))


def as_toml(value: bool | int | float | str) -> str:
    """The value of a setting as TOML."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def tables(text: str, source: str) -> dict[str, Any]:
    """TOML `text` as a dictionary; InputError, naming `source`, if it is not TOML."""
    try:
        return _toml(text)
    except (ValueError, RecursionError) as error:  # the parent class of its own errors: some numbers and dates raise others
        raise InputError("%s: not TOML: %s" % (source, error)) from None


def _toml(text: str) -> dict[str, Any]:
    """TOML as a dictionary. Raises ValueError and RecursionError."""
    longest = max(map(len, text.split("\n")))
    if longest > _LONGEST_LINE:  # a key of that many parts would take minutes
        raise ValueError("a line of %d characters" % longest)
    return tomllib.loads(text)


def with_settings(config: Config, assignments: Iterable[str]) -> Config:
    """`config` changed by assignments such as ``"training.learning_rate=0.001"``."""
    for assignment in assignments:
        source = "--set %s" % (assignment if assignment.isprintable() and len(assignment) <= 80 else shown(assignment))
        name, equals, value = assignment.partition("=")
        section, dot, setting = name.strip().partition(".")
        if not (equals and dot):
            raise InputError(
                "%s: expected section.name=value, such as training.learning_rate=0.001 (`mh4 settings` lists them)" % source
            )
        try:
            parsed = _toml("value = %s" % value)
        except (ValueError, RecursionError):
            parsed = {"value": value} if isinstance(_ALLOWED.get("%s.%s" % (section, setting)), _OneOf) else {}
        if list(parsed) != ["value"]:
            raise InputError("%s: %s is not a number, true or false" % (source, shown(value)))
        config = override(config, {section: {setting: parsed["value"]}}, source)
    return config


def override(config: Config, sections: Mapping[str, Any], source: str) -> Config:
    """`config` with the settings in `sections`; InputError, naming `source`, for unknown settings and bad values."""
    known = [field.name for field in dataclasses.fields(config)]
    for section, values in sections.items():
        if section not in known or not isinstance(values, dict):
            raise InputError("%s: no section %s; the sections are %s" % (source, shown(section), ", ".join(known)))
        changed = _override_section(section, getattr(config, section), values, source)
        config = dataclasses.replace(config, **{section: changed})
    return config


def _override_section(section: str, current: Any, values: Mapping[str, Any], source: str) -> Any:
    types = {f.name: type(getattr(current, f.name)) for f in dataclasses.fields(current)}
    changes = {}
    for name, value in values.items():
        if name not in types:
            raise InputError("%s: no setting %s.%s; there are %s" % (source, section, name[:40], ", ".join(types)))
        value = value.item() if getattr(value, "ndim", None) == 0 else value  # a number of numpy
        expected = allowed(section, name, types[name])
        number = type(value) is types[name] or types[name] is float and type(value) is int
        if not number or not expected.allows(value):
            raise InputError("%s: %s.%s cannot be %s, expected %s" % (source, section, name, shown(value), expected))
        changes[name] = types[name](value)
    return dataclasses.replace(current, **changes)


def allowed(section: str, name: str, kind: type) -> "_Allowed | _OneOf":
    """The values that a setting of this type can have; in words as a string."""
    return _ALLOWED.get("%s.%s" % (section, name)) or _ALLOWED.get(section) or _DEFAULT[kind]


class _Allowed(NamedTuple):
    """The values that a setting can have."""

    least: float
    most: float
    kind: str = "a whole number"
    even: bool = False

    def allows(self, value: Any) -> bool:
        return self.least <= value <= self.most and not (self.even and value % 2)

    def __str__(self) -> str:
        return self.kind if self.kind == "true or false" else "%s from %s to %s" % (self.kind, self.least, self.most)


class _OneOf(NamedTuple):
    """The names that a setting can have."""

    names: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return value in self.names

    def __str__(self) -> str:
        return " or ".join(self.names)


_SIZE, _EVEN_SIZE = _Allowed(1, 10_000), _Allowed(2, 10_000, "an even number", even=True)
_LAYERS = _Allowed(1, 20)
_FROM_0 = _Allowed(0, 1e30, "a number")  # the network computes with numbers below 3e38
_LISTED = 8  # differences between settings in a message
# By type, then by section or by setting.
_DEFAULT = {int: _Allowed(1, 10**9), float: _Allowed(1e-30, 1e30, "a number"), bool: _Allowed(False, True, "true or false")}
_ALLOWED: dict[str, _Allowed | _OneOf] = {
    "encoder": _SIZE,
    "encoder.char_layers": _LAYERS,
    "encoder.char_units": _EVEN_SIZE,
    "encoder.word_min_count": _DEFAULT[int],
    "encoder.word_input": _OneOf(("sum", "embedding")),
    "encoder.embeddings": _OneOf(("table", "row")),
    "encoder.word_boundaries": _DEFAULT[bool],
    "encoder.vectors": _OneOf(("none", "frozen", "tuned")),
    "encoder.contextual": _Allowed(0, 10_000),
    "encoder.vectors_most": _Allowed(1, 10_000_000),
    "encoder.layers": _LAYERS,
    "encoder.units": _EVEN_SIZE,
    "scorer.mlp_units": _SIZE,
    "scorer.end": _OneOf(("encoded", "learned")),
    "scorer.arcs": _OneOf(("biaffine", "bilinear")),
    "scorer.greedy": _OneOf(("biaffine", "joint")),
    "scorer.tags_from": _OneOf(("first", "last")),
    "dropout": _Allowed(0, 0.999, "a number"),
    "dropout.word_scaled": _DEFAULT[bool],
    "dropout.word_embedding": _FROM_0,
    "dropout.char": _FROM_0,
    "training.loss": _OneOf(LOSSES),
    "training.batch_tokens": _SIZE,
    "training.averaged_updates": _Allowed(1, 10**7),  # of one update, float32 must be able to tell an average over more from 0
    "training.batches": _OneOf(("similar", "any")),
    "training.nearest": _OneOf(("fewest-roots", "first")),
    "training.sequences": _OneOf(("early", "late")),
    "training.best_by": _OneOf(("uas", "las")),
    "training.rate_falls": _Allowed(0, 100),
    "training.upos_weight": _FROM_0,
    "training.xpos_weight": _FROM_0,
    "training.feats_weight": _FROM_0,
    "training.label_weight": _FROM_0,
}
