"""The fields of a record, so that a damaged one is named before anything is made of it."""

import math
from collections.abc import Callable
from typing import Any, Optional

Check = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _object(**fields: Check) -> Check:
    """An object with these fields, and perhaps others."""
    return lambda value: isinstance(value, dict) and all(name in value and check(value[name]) for name, check in fields.items())


def _list(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


_FILE = _object(path=_text, git_blob=_text)
_MACHINES = _list(_object(processor=_text, python=_text))

REQUIRED: dict[str, Check] = {
    "system": _text,
    "seed": _whole,
    "lang": _text,
    "release": _text,
    "train": _FILE,
    "dev": _FILE,
    "dev_uas": _number,  # percent, as all scores
}
OPTIONAL: dict[str, Check] = {
    **dict.fromkeys(("dev_las", "test_uas", "test_las"), _number),
    **dict.fromkeys(("epochs", "seconds", "cpu_seconds", "tokens_per_second"), _number),
    **dict.fromkeys(("updates", "evaluations", "best_evaluation"), _whole),
    **dict.fromkeys(("commit", "date", "command", "reproduce", "settings_of"), _text),
    "seconds_to_paper": lambda value: value is None or _number(value),  # None: never reached
    "test": _FILE,
    "segmentation": _FILE,
    "settings": _object(),
    "machines": _MACHINES,
    "members": _list(_object(system=_text, seed=_whole)),  # of an ensemble
    "differs_from": lambda value: _object(dev_uas=_number)(value) and _MACHINES(value.get("machines", [])),
}


def _scored(value: Any) -> bool:
    return _FILE(value) and (_text(value.get("rejected")) or _number(value.get("las")))


# The scores of the shared task's systems for a language: either scores or the reason why the official scorer gave none.
SHARED_TASK = _object(test=_FILE, systems=lambda value: isinstance(value, dict) and all(map(_scored, value.values())))
EVALUATION = _object(updates=_whole, dev_uas=_number)  # a line of the evaluations of a run


def complaint(record: Any) -> Optional[str]:
    """What is wrong with a record; None if nothing is."""
    if not isinstance(record, dict):
        return "expected an object"
    missing = [name for name in REQUIRED if name not in record]
    if missing:
        return "no %s" % ", ".join(missing)
    for name, check in {**REQUIRED, **OPTIONAL}.items():
        if name in record and not check(record[name]):
            return "%s is %.60r" % (name, record[name])
    return None
