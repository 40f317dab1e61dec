"""Open text outputs: files, which are written whole or not at all, standard output, and terminals."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from encodings.utf_8 import StreamWriter
from typing import TextIO

from mh4.errors import InputError, one_line
from mh4.util import compression, files


@contextmanager
def open_output(path: str, errors: str = "strict") -> Iterator[TextIO]:
    """Open a text file for writing: `path`, compressed if its extension requires it, or "-" for standard output.

    A regular file is written whole or not at all; standard output, devices and FIFOs receive the text as it is written.
    On a terminal, characters that would control it are made visible. errors: the error handler of the UTF-8 encoder,
    for a file.
    """
    if path != "-":
        with files.atomic_path(path) as temporary, open(temporary, "ab") as raw, compression.compressed(raw, path) as binary:
            yield (_OnTerminal if raw.isatty() else StreamWriter)(binary, errors)  # type: ignore[misc]
        return
    if sys.stdout is None:
        raise InputError("standard output is closed")
    with files.explained("standard output"):
        yield (_OnTerminal if sys.stdout.isatty() else StreamWriter)(sys.stdout.buffer)  # type: ignore[misc]
        sys.stdout.buffer.flush()


class _OnTerminal(StreamWriter):
    def write(self, text: str) -> None:
        super().write(one_line(text.replace("\r\n", "\n"), kept="\t\n"))
