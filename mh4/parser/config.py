"""Every setting of a parser, and its default.

A configuration is read from TOML (``mh4 train --config FILE.toml``), changed one value at a time
(``--set section.name=value``) and written to the model folder in full, so that a model documents how it was made. A
file may also have settings for one system only, in tables such as ``[mh3.scorer]``.

The paper's text fixes the kind of encoder and of scorer, the sizes of both LSTMs, Adam's learning rate, the dropout of
0.3, the loss of trees and its cost. Some of the other defaults are those of the authors' runs.
``experiments/settings/authors.toml`` has every setting of their runs that differs from the defaults.
"""

import dataclasses
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_type_hints

from mh4.errors import InputError, shown, unknown

MOST, _LONGEST_LINE = 1 << 16, 4000  # limits of a settings file: bytes, and characters of a line
_LISTED = 8  # the most differences between settings in a message


class Values(NamedTuple):
    """The values that a setting can have: in words, and as a test."""

    described: str
    allow: Callable[[Any], bool]


def _from_to(kind: str, least: float, most: float, step: int = 0) -> Values:
    return Values("%s from %s to %s" % (kind, least, most), lambda value: least <= value <= most and not (step and value % step))


def _one_of(values: tuple[str | bool, ...]) -> Values:
    return Values(" or ".join(str(value).lower() for value in values), values.__contains__)


Count = Annotated[int, _from_to("a whole number", 1, 10**9)]
Many = Annotated[int, _from_to("a whole number", 1, 10**7)]  # in a longer average, an update has weight 0 in float32
Size = Annotated[int, _from_to("a whole number", 1, 10_000)]
SizeOr0 = Annotated[int, _from_to("a whole number", 0, 10_000)]
EvenSize = Annotated[int, _from_to("an even number", 2, 10_000, step=2)]
Layers = Annotated[int, _from_to("a whole number", 1, 20)]
Times = Annotated[int, _from_to("a whole number", 0, 100)]
Rate = Annotated[float, _from_to("a number", 0, 0.999)]
Positive = Annotated[float, _from_to("a number", 1e-30, 1e30)]  # the network computes with numbers below 3e38
FromZero = Annotated[float, _from_to("a number", 0, 1e30)]

Input = Literal["sum", "embedding"]
Part = Literal["table", "row"]
Vectors = Literal["none", "frozen", "tuned"]
End = Literal["encoded", "learned"]
Arcs = Literal["biaffine", "bilinear"]
Greedy = Literal["biaffine", "joint"]
TagsFrom = Literal["first", "last"]
Loss = Literal["hinge", "likelihood"]
Batches = Literal["similar", "any"]
Nearest = Literal["fewest-roots", "first"]
Sequences = Literal["early", "late"]
BestBy = Literal["uas", "las"]
LOSSES: tuple[str, ...] = get_args(Loss)


def _value(default: Any, meaning: str, authors: bool = False) -> Any:
    """Return a setting with its default and meaning. authors: whether only the authors' runs change it."""
    return field(default=default, metadata={"meaning": meaning, "authors": authors})


_authors = partial(_value, authors=True)


@dataclass(frozen=True)
class Encoder:
    """From the characters of a word to a vector for every word of a sentence (supplement, Implementation Details)."""

    char_dim: Size = _value(64, "the vector of a character")
    char_layers: Layers = _value(2, "layers of the bi-LSTM over the characters of a word")
    char_units: EvenSize = _value(128, "units of each of its layers, both directions together")
    word_dim: Size = _value(128, "the vector of a word")
    word_min_count: Count = _value(5, "rarer words have no embedding, only their characters")
    vectors: Vectors = _value(
        "none", 'word vectors, from a file: "none", "frozen", or "tuned" for words of the training treebank'
    )
    vectors_most: Many = _value(200_000, "how many first words of that file the model keeps, besides all words of its treebanks")
    contextual: SizeOr0 = _value(0, "dimensions of the vectors of each sentence, from files (see contextual_vectors.py); 0: none")
    layers: Layers = _value(2, "layers of the bi-LSTM over the words of a sentence")
    units: EvenSize = _value(192, "units of each of its layers, both directions together")

    word_input: Input = _authors(
        "sum", 'input of a word with an embedding: its "sum" with the spelling, or the "embedding" alone'
    )
    embeddings: Part = _authors("table", 'initial range: Glorot\'s for the "table" or, wider, for a "row": √(3 / dimensions)')
    word_boundaries: bool = _authors(False, "spellings are read between two learned symbols, as first and last characters")


@dataclass(frozen=True)
class Scorer:
    """Deep biaffine scores of transitions and arcs, and scores of tags and labels, all from MLPs of one tanh layer."""

    mlp_units: Size = _value(192, "units of each MLP between the bi-LSTM and the scores")
    single_root: bool = _value(True, "exactly one dependent of the root, as in UD")
    root_label: bool = _value(True, "exactly the root's dependents have the label root; otherwise, the scores decide")

    end: End = _authors("encoded", 'sentence end, or missing node: "encoded" by the sentence LSTM, or "learned" by the scorer')
    arcs: Arcs = _authors("biaffine", 'scores of arcs in mst, -arcs: "biaffine" [h;1]\'U[m;1], or "bilinear" h\'Um + w\'h')
    orthogonal: bool = _authors(False, "biaffine matrices are initialised as random orthogonal ones, otherwise as Glorot's")
    greedy: Greedy = _authors("biaffine", 'scores of greedy-mh4: sums of "biaffine" ones, or of one "joint" layer')
    tags_from: TagsFrom = _authors("first", 'the layer of the sentence LSTM that tags are predicted from: "first" or "last"')
    xpos_with_upos: bool = _authors(False, "what is predicted as XPOS is the pair of UPOS and XPOS")
    label_subtypes: bool = _authors(True, "labels are learned with their subtypes, as in nmod:poss")


@dataclass(frozen=True)
class Dropout:
    """Dropout in training. Rates are probabilities of dropping (the paper keeps units with probability 0.7)."""

    char_lstm: Rate = _value(0.3, "inputs and states of the bi-LSTM over characters, the same ones throughout a word")
    lstm: Rate = _value(0.3, "inputs and states of the bi-LSTM over words, the same ones throughout a sentence")
    mlp: Rate = _value(0.3, "outputs of the MLPs")
    word: Rate = _value(0.1, "the whole input vector of a word")
    word_embedding: FromZero = _value(10.0, "a word seen c times keeps its embedding with probability c / (c + this)")
    char: FromZero = _value(0.25, "a character seen c times is kept with probability c / (c + this)")

    word_scaled: bool = _authors(False, "the vectors of the other words are divided by 1 - word")


@dataclass(frozen=True)
class Training:
    """Training with Adam until the dev-set performance converges."""

    loss: Loss = _value("hinge", 'loss of trees: "hinge", large-margin (Section 4.3), or "likelihood", negative log-likelihood')
    batch_tokens: Size = _value(100, "a minibatch has at least this many words")
    longest: Count = _value(
        1_000_000,
        "longer sentences teach tags and labels only; 1000000, the default, means twice the length up to which parsing is exact by default",
    )
    loss_scale: Positive = _value(100.0, "the summed loss of a minibatch is divided by this")
    upos_weight: FromZero = _value(0.2, "the weight of the loss of UPOS; the weight of trees is 1")
    xpos_weight: FromZero = _value(0.2, "the weight of the loss of XPOS")
    feats_weight: FromZero = _value(0.2, "the weight of the loss of FEATS")
    label_weight: Positive = _value(1.0, "the weight of the loss of labels")
    learning_rate: Positive = _value(0.002, "Adam's learning rate")
    clip: Positive = _value(5.0, "the largest norm of the gradient; a larger one is scaled down")
    averaged_updates: Many = _value(1000, "weights are a moving average over about this many updates; 1: the last weights")
    evaluate_updates: Count = _value(500, "evaluate every max(this, a quarter epoch) updates")
    best_by: BestBy = _value("uas", 'the score on dev that has to improve: "uas" or "las"')
    patience: Count = _value(10, "after this many evaluations without improvement, the rate falls, or training stops")
    rate_falls: Times = _value(0, "how often the rate is divided by 4, with Adam's moments reset, before training stops")
    max_updates: Count = _value(100_000, "training stops after this many, even if it has not converged")

    batches: Batches = _authors("similar", 'minibatches of sentences of "similar" length, or of "any" length')
    nearest: Nearest = _authors("fewest-roots", 'for a tree outside the class, one with "fewest-roots" or the "first" found')
    sequences: Sequences = _authors("early", 'what greedy parsers, and mh3 if "late", learn of a tree (mh4/parser/authors.py)')
    illegal_rivals: bool = _authors(False, "greedy parsers learn to score gold transitions above illegal ones as well")
    sparse_updates: bool = _authors(True, "an update changes only the embeddings that the minibatch uses")
    keep_last: bool = _authors(False, "of evaluations with the same score, the last is the best, not the first")


@dataclass(frozen=True)
class Config:
    """The settings of one parser, in four sections."""

    encoder: Encoder = field(default_factory=Encoder)
    scorer: Scorer = field(default_factory=Scorer)
    dropout: Dropout = field(default_factory=Dropout)
    training: Training = field(default_factory=Training)

    def to_toml(self) -> str:
        """Return the whole configuration as TOML text; ``tables`` and ``override`` read it back."""
        lines = []
        for section, values in dataclasses.asdict(self).items():
            lines += ["[%s]" % section, *("%s = %s" % (name, as_toml(value)) for name, value in values.items()), ""]
        return "\n".join(lines)


AUTHORS = {
    "%s.%s" % (section.name, setting.name)
    for section in dataclasses.fields(Config)
    for setting in dataclasses.fields(getattr(Config(), section.name))
    if setting.metadata["authors"]
}


def differences(one: Config, other: Config) -> dict[str, tuple[Any, Any]]:
    """Return the settings in which two configurations differ, by name ("training.patience"), with their values in both."""
    theirs = dataclasses.asdict(other)
    return {
        "%s.%s" % (section, name): (value, theirs[section][name])
        for section, values in dataclasses.asdict(one).items()
        for name, value in values.items()
        if value != theirs[section][name]
    }


def listed(differing: Mapping[str, tuple[Any, Any]]) -> str:
    """Format differences for a message: "training.patience is 10 there, 5 here" and so on, at most _LISTED of them."""
    shown_ones = ["%s is %s there, %s here" % (name, *map(as_toml, values)) for name, values in differing.items()]
    more = len(shown_ones) - _LISTED
    return "; ".join(shown_ones[:_LISTED] + ["and %d more" % more] * (more > 0))


def as_toml(value: bool | int | float | str) -> str:
    """Return the value of a setting as TOML."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def tables(text: str, source: str) -> dict[str, Any]:
    """Return TOML `text` as a dictionary. Raises InputError, naming `source`, if it is not TOML."""
    try:
        return _toml(text)
    except (ValueError, RecursionError) as error:  # not just TOMLDecodeError: some numbers and dates raise a ValueError
        raise InputError("%s: not TOML: %s" % (source, error)) from None


def _toml(text: str) -> dict[str, Any]:
    """Return TOML as a dictionary. Raises ValueError and RecursionError."""
    longest = max(map(len, text.split("\n")))
    if longest > _LONGEST_LINE:  # a key of thousands of parts would take minutes
        raise ValueError("a line of %d characters" % longest)
    return tomllib.loads(text.removeprefix("\ufeff"))  # the byte order mark of some editors


def with_settings(config: Config, assignments: Iterable[str]) -> Config:
    """Return `config` changed by assignments such as ``"training.learning_rate=0.001"``."""
    for assignment in assignments:
        text = assignment if isinstance(assignment, str) else ""
        source = "--set %s" % (text if text.isprintable() and 0 < len(text) <= 80 else shown(assignment))
        name, equals, value = text.partition("=")
        section, dot, setting = name.strip().partition(".")
        if not (equals and dot):
            raise InputError(
                "%s: expected section.name=value, such as training.learning_rate=0.001 (`mh4 settings` lists them)" % source
            )
        try:
            parsed = _toml("value = %s" % value)
        except (ValueError, RecursionError):
            parsed = {"value": value} if isinstance(getattr(getattr(config, section, None), setting, None), str) else {}
        if list(parsed) != ["value"]:
            raise InputError("%s: %s is not a number, true or false" % (source, shown(value)))
        config = override(config, {section: {setting: parsed["value"]}}, source)
    return config


def override(config: Config, sections: Mapping[str, Any], source: str) -> Config:
    """Return `config` with the settings in `sections`. Raises InputError, naming `source`, for unknown settings and bad values."""
    known = [field.name for field in dataclasses.fields(config)]
    for section, values in sections.items():
        if section not in known:
            raise InputError("%s: %s" % (source, unknown("section", section, known)))
        if not isinstance(values, dict):
            raise InputError("%s: %s is %s, expected a section of settings" % (source, section, shown(values)))
        changed = _override_section(section, getattr(config, section), values, source)
        config = dataclasses.replace(config, **{section: changed})
    return config


def _override_section(section: str, current: Any, values: Mapping[str, Any], source: str) -> Any:
    known = allowed(type(current))
    changes = {}
    for name, value in values.items():
        if name not in known:
            raise InputError("%s: %s" % (source, unknown("setting", "%s.%s" % (section, name), known)))
        value = value.item() if getattr(value, "ndim", None) == 0 else value  # a numpy number
        kind = type(getattr(current, name))
        number = type(value) is kind or kind is float and type(value) is int
        if not number or not known[name].allow(value):
            raise InputError("%s: %s.%s cannot be %s, expected %s" % (source, section, name, shown(value), known[name].described))
        changes[name] = kind(value)
    return dataclasses.replace(current, **changes)


def allowed(section: type) -> dict[str, Values]:
    """Return the values that each setting of a section can have."""
    hints = get_type_hints(section, include_extras=True)
    return {
        name: hint.__metadata__[0] if hasattr(hint, "__metadata__") else _one_of(get_args(hint) or (True, False))
        for name, hint in hints.items()
    }
