"""Atomic writing of files, relative paths, and git blob ids, which identify files by content."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, Union

from mh4.errors import InputError, reason


@contextmanager
def atomic_path(path: str) -> Iterator[str]:
    """Yield the path of a temporary file next to `path`, which it replaces when the block succeeds.

    If the block raises, `path` is left as it was. Raises InputError if the folder is not writable.
    """
    folder, name = os.path.split(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=".%s." % name, suffix=".part", dir=folder)
        os.close(handle)
    except OSError as error:
        raise InputError("%s: cannot be written: %s" % (path, reason(error))) from None
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp creates private files
        if os.path.isdir(path):
            raise InputError("%s: cannot be written: it is a folder" % path)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def atomic_file(path: str) -> Iterator[TextIO]:
    """Yield a text file, in UTF-8 with line ends unchanged, that replaces `path` when the block succeeds."""
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        yield file


def write_text(path: str, text: str) -> None:
    """Write `text` to `path` in UTF-8, with line ends unchanged, whole or not at all."""
    with atomic_file(path) as file:
        file.write(text)


def relative_if_inside(path: Path, folder: Path) -> str:
    """The path relative to the folder if it is inside it, otherwise as it is."""
    try:
        return str(path.relative_to(folder))
    except ValueError:
        return str(path)


def git_blob_id(path: Union[str, Path]) -> str:
    """The git blob id of a file: the SHA-1 of "blob", its size and its bytes."""
    return blob_id(Path(path).read_bytes())


def blob_id(content: bytes) -> str:
    """The git blob id of a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
