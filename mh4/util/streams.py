"""Standard input and output that lose nothing: every byte arrives or there is an error.

A full disk or a pipe that does not block may accept only part of a write, and such a pipe may have nothing to read yet.
Python's own streams miss both: with PYTHONUNBUFFERED, which is usual in containers, the rest of a write is lost, and if a
descriptor does not block, a pause counts as the end of the input. So commands use buffered streams on descriptors that block.
"""

import atexit
import io
import os
import stat
import sys
from contextlib import suppress
from typing import Any


def open_standard() -> None:
    """Make standard input, output and error such streams, and all text printable. Closed ones are opened as /dev/null.

    Otherwise our files would get their descriptors, to which libraries write. sys.stdin and sys.stdout then remain None.
    """
    atexit.register(_drop_messages)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # it was closed when Python started
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)  # or our children's would be closed
            if number == 2:  # messages go nowhere; without the others, commands stop
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        elif isinstance(stream, io.TextIOWrapper):
            if _is_standard(stream, number):
                os.set_blocking(number, True)
                if number:
                    buffer = io.BufferedWriter(_Named(number, "w", closefd=False))
                    stream = io.TextIOWrapper(buffer, stream.encoding, newline="\n", line_buffering=True)
                    setattr(sys, name, stream)
            if number:
                stream.reconfigure(errors="backslashreplace")


class _Named(io.FileIO):
    """Standard output or error, whose errors name it, as files' errors do."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = "standard output" if self.fileno() == 1 else "standard error"
            raise


def tell(text: str) -> None:
    """Write a line to standard error. The work goes on if that fails, as nobody reads it, or its disk is full."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def is_fed() -> bool:
    """Return whether standard input is a pipe, a socket or a file, not a terminal or /dev/null."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:  # closed
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_ISREG(kind)


def finish() -> None:
    """Write the rest of standard output. If that fails, drop it and raise the OSError."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            drop()
            raise


def drop() -> None:
    """Drop the rest of standard output."""
    _drop(sys.stdout, 1)


def _drop(stream: object, number: int) -> None:
    if _is_standard(stream, number):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)


def _drop_messages() -> None:
    """Drop what standard error does not accept, or Python would exit with code 120."""
    try:
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr, 2)


def _is_standard(stream: object, number: int) -> bool:
    """Return whether this is the process's stream on this descriptor, not a replacement."""
    with suppress(OSError, ValueError):
        return isinstance(stream, io.TextIOWrapper) and stream.fileno() == number
    return False
