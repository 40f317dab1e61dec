"""Define the fields of records, which `Records.keep` writes, and check them, so that a damaged record is reported."""

import math
from functools import cache
from types import UnionType
from typing import Any, Literal, NotRequired, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

Score = Literal["dev_uas", "dev_las", "test_uas", "test_las"]
Found = dict[str, dict[str, float]]  # numbers that a study measures of a model


class File(TypedDict):
    """A file of a treebank."""

    path: str
    git_blob: str


class Machine(TypedDict):
    """The machine that trained a run; other fields are ignored."""

    processor: str
    python: str
    flags: NotRequired[str]


class Member(TypedDict):
    """A model of an ensemble."""

    system: str
    seed: int
    dev_uas: NotRequired[float]
    commit: NotRequired[str]


class Origin(TypedDict):
    """The results of a run, in percent, and its provenance.

    A record may also contain those of an earlier run on the same inputs.
    """

    dev_uas: float
    dev_las: NotRequired[float]
    test_uas: NotRequired[float]
    test_las: NotRequired[float]
    updates: NotRequired[int]
    commit: NotRequired[str]
    date: NotRequired[str]
    machines: NotRequired[list[Machine]]


class Evaluation(TypedDict):
    """An evaluation of a run in training."""

    updates: int
    dev_uas: float
    dev_las: NotRequired[float]
    seconds: NotRequired[float]


class Record(Origin):
    """The record of a finished run, or of an ensemble.

    settings_of: the name of the settings, if they are not the defaults. trees_git_blob: the git blob id of its file of
    trees. row: its row in a study. found: what the study measures of its model. curve: its evaluations.
    """

    system: str
    seed: int
    lang: str
    release: str
    train: File
    dev: File
    epochs: NotRequired[float]
    seconds: NotRequired[float]
    cpu_seconds: NotRequired[float]
    tokens_per_second: NotRequired[float]
    evaluations: NotRequired[int]
    best_evaluation: NotRequired[int]
    command: NotRequired[str]
    reproduce: NotRequired[str]
    settings_of: NotRequired[str]
    test: NotRequired[File]
    segmentation: NotRequired[File]
    settings: NotRequired[dict[str, dict[str, bool | int | float | str]]]
    trees_git_blob: NotRequired[str]
    members: NotRequired[list[Member]]
    differs_from: NotRequired[Origin]
    row: NotRequired[str]
    found: NotRequired[Found]
    curve: NotRequired[list[Evaluation]]


class Output(File):
    """The scores of a shared task's system for a language, or the reason why the scorer rejected its output."""

    uas: NotRequired[float]
    las: NotRequired[float]
    rejected: NotRequired[str]
    commit: NotRequired[str]
    scorer: NotRequired[str]


class SharedTask(TypedDict):
    """The scores of the shared task's systems for a language."""

    lang: str
    test: File
    systems: dict[str, Output]


_fields = cache(get_type_hints)


def matches(value: Any, kind: Any) -> bool:
    """Return whether a JSON value has a type; numbers have to be finite, and objects may have further fields."""
    origin, of = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        named = _fields(kind).items()
        whole = isinstance(value, dict) and kind.__required_keys__ <= value.keys()
        return whole and all(matches(value[name], each) for name, each in named if name in value)
    if origin is UnionType:
        return any(matches(value, each) for each in of)
    if origin is list:
        return isinstance(value, list) and all(matches(each, of[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(matches(each, of[1]) for each in value.values())
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, kind)


def complaint(record: Any) -> str | None:
    """Return the error in a record, or None."""
    if not isinstance(record, dict):
        return "expected an object"
    fields = _fields(Record)
    missing = [name for name in fields if name in Record.__required_keys__ and name not in record]
    if missing:
        return "no %s" % ", ".join(missing)
    for name, kind in fields.items():
        if name in record and not matches(record[name], kind):
            return "%s is %.60r" % (name, record[name])
    return None
