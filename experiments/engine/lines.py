"""Files of JSON lines that several processes may change. Each line is checked, and a change is made whole or not at all.

A change locks the file by ``.lock`` beside it and reads it again under the lock, so that nothing that another process has
added is lost.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiments.engine.run import alone
from experiments.engine.workplace import shown
from mh4.errors import InputError
from mh4.util.files import make_folder, write_text


def read(path: Path, key: Callable[[Any], Any], complaint: Callable[[Any], str | None]) -> dict[Any, Any]:
    """Return the objects in a file by their key; none if there is no file.

    complaint: from an object to its error, or None. Raises InputError, naming file and line, for anything but whole
    objects with different keys.
    """
    found: dict[Any, Any] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), start=1):
        try:
            content = json.loads(line)
            wrong = complaint(content)
        except ValueError as error:  # also of bytes that are not UTF-8
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
