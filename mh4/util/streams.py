"""Standard input and output that lose nothing: every byte arrives, or there is an error.

The system may take only part of what is written, as a full disk does or a pipe that does not block, and may have nothing to read yet.
Python's own streams miss both: with PYTHONUNBUFFERED, which is usual in containers, the rest of a write is lost, and where a
descriptor does not block, a pause is taken for the end of the input. So all commands read and write through these.
"""

import io
import os
import select
import stat
import sys
from typing import Any, TextIO


class Descriptor(io.RawIOBase):
    """An open file descriptor whose reads and writes wait until they can proceed.

    What is written to it after an error, or after `drop`, is dropped.
    """

    def __init__(self, number: int) -> None:
        self._number, self._dropping = number, False
        self.error: OSError | None = None  # of the write that failed

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def readable(self) -> bool:
        return self._number == 0

    def writable(self) -> bool:
        return self._number != 0

    def readinto(self, buffer: Any) -> int:
        """Wait for bytes; 0 only at the end."""
        while True:
            try:
                return os.readv(self._number, [buffer])
            except BlockingIOError:
                select.select([self._number], [], [])

    def write(self, data: Any) -> int:
        """Wait until some of the bytes are taken; the buffer on top continues with the rest."""
        while not self._dropping:
            try:
                return os.write(self._number, data)
            except BlockingIOError:
                select.select([], [self._number], [])
            except OSError as error:
                self.error, self._dropping = error, True
                raise
        return len(data)

    def drop(self) -> None:
        """Accept everything from now on, and write nothing."""
        self._dropping = True


def open_standard() -> None:
    """Make standard input, output and error such streams, and all text printable. Those that were closed are opened as /dev/null.

    Otherwise files that we open would get their descriptors, to which libraries write. sys.stdin and sys.stdout remain None then.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # it was closed when Python started
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)  # or those of our children would be closed
            if number == 2:  # messages go nowhere; without the others, commands stop
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        elif isinstance(stream, io.TextIOWrapper):
            if _number(stream) == number and _descriptor(stream) is None:
                stream = _reopened(stream, number)
                setattr(sys, name, stream)
            if number:
                stream.reconfigure(errors="backslashreplace")


def is_fed() -> bool:
    """Whether standard input is a pipe, a socket or a file: something to be read, not a terminal or /dev/null."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:  # closed
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_ISREG(kind)


def finish() -> None:
    """Write what is left of standard output. Raises the OSError of the first write to it that failed."""
    if sys.stdout is not None:
        sys.stdout.flush()
        descriptor = _descriptor(sys.stdout)
        if descriptor is not None and descriptor.error:
            raise descriptor.error


def drop() -> None:
    """Drop what is left of standard output."""
    descriptor = _descriptor(sys.stdout)
    if descriptor is not None:
        descriptor.drop()


def _reopened(stream: io.TextIOWrapper, number: int) -> io.TextIOWrapper:
    raw = Descriptor(number)
    if number == 0:
        return io.TextIOWrapper(io.BufferedReader(raw), encoding=stream.encoding, errors=stream.errors)
    stream.flush()
    at_once = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, newline="\n", line_buffering=at_once)


def _number(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


def _descriptor(stream: Any) -> Descriptor | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, Descriptor) else None
