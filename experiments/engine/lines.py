"""Read and change files of JSON lines that several processes may change. Each line is checked, and changes are atomic.

A change locks ``.lock`` beside the file, and then reads the file again, so that additions by other processes are kept.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.engine.executor import alone
from experiments.engine.workplace import shown
from mh4.errors import InputError
from mh4.util.files import make_folder, write_text


def read(path: Path, key: Callable[[Any], Any], complaint: Callable[[Any], str | None]) -> dict[Any, Any]:
    """Return the objects in a file by their key; none if there is no file.

    complaint: returns the error in an object, or None. Raises InputError, naming file and line, if a line is not a
    valid object or repeats a key.
    """
    found: dict[Any, Any] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), start=1):
        try:
            content = json.loads(line)
            wrong = complaint(content)
        except ValueError as error:  # also if the line is not UTF-8
            wrong = "not JSON: %s" % error
        if not wrong and key(content) in found:
            wrong = "another line has the same key"
        if wrong:
            raise InputError("%s, line %d: %s: restore or delete this line" % (shown(path), number, wrong))
        found[key(content)] = content
    return found


@contextmanager
def changed(path: Path, key: Callable[[Any], Any], complaint: Callable[[Any], str | None]) -> Iterator[dict[Any, Any]]:
    """Yield the objects in a file, to be changed, and write them in the order of their keys if the block succeeds."""
    make_folder(path.parent)
    with alone(path.with_name(".lock")):
        found = read(path, key, complaint)
        yield found
        write_text(str(path), "".join(json.dumps(found[each]) + "\n" for each in sorted(found)))
