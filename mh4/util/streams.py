"""Make standard input and output reliable: every byte arrives, or there is an error.

A full disk or a non-blocking pipe may accept only part of a write, and a non-blocking pipe may have nothing to read
yet. Python's own streams handle neither. With PYTHONUNBUFFERED, which is usual in containers, the rest of a write is
lost. On a non-blocking descriptor, a pause counts as the end of the input. So commands use buffered streams on blocking
descriptors.
"""

import atexit
import io
import os
import stat
import sys
from contextlib import suppress
from typing import Any


def open_standard() -> None:
    """Make standard input, output and error reliable streams, and all text printable.

    The descriptors of closed streams are opened as /dev/null; otherwise our files would get these descriptors, to which
    libraries write. If they were closed, sys.stdin and sys.stdout remain None.
    """
    atexit.register(_drop_messages)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # it was closed when Python started
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)  # otherwise it would be closed in child processes
            if number == 2:  # messages are dropped, while commands that need another closed stream end with an error
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
    """Standard output or error. As with files, its errors have a file name: the name of the stream."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            error.filename = "standard output" if self.fileno() == 1 else "standard error"
            raise


def tell(text: str) -> None:
    """Write a line to standard error. A failure, such as a closed pipe or a full disk, is ignored."""
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
    """Drop what standard error does not accept. Otherwise, Python would exit with code 120."""
    try:
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr, 2)


def _is_standard(stream: object, number: int) -> bool:
    """Return whether `stream` is the process's stream on this descriptor, and not a replacement."""
    with suppress(OSError, ValueError):
        return isinstance(stream, io.TextIOWrapper) and stream.fileno() == number
    return False
