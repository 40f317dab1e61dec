"""The file of blocks that are not CoNLL-U, which `--rejects` leaves out of a parse."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from mh4.data.block import is_blank
from mh4.data.cells import BYTE_ORDER_MARK
from mh4.errors import InputError, one_line, reason
from mh4.util.output import open_output


class Rejects:
    """A file of blocks that are not CoNLL-U, unchanged, each after a comment with the reason.

    An instance can be the argument `rejected` of conllu.blocks. count: the number of blocks rejected. kept: how many of
    these `keep` has confirmed. new: a temporary file for blocks until `keep` copies them to `file`; without it, blocks
    are written to `file` at once.
    """

    def __init__(self, file: TextIO, new: Any = None) -> None:
        self._file, self._new, self.count, self.kept = file, new or file, 0, 0

    def __call__(self, lines: list[str], error: InputError) -> None:
        text = "".join(lines).removeprefix(BYTE_ORDER_MARK)  # which must not come after the comment
        end = "" if is_blank(lines[-1]) and text.endswith("\n") else "\n" if text.endswith("\n") else "\n\n"
        with _temporary():
            self._new.write("# rejected = %s\n%s%s" % (one_line(str(error)), text, end))
        self.count += 1

    def keep(self) -> None:
        """Keep the blocks rejected until now, even if the next file fails."""
        if self._new is not self._file:
            with _temporary():
                self._new.seek(0)
            shutil.copyfileobj(self._new, self._file)
            self._new.seek(0)
            self._new.truncate()
        self.kept = self.count


@contextmanager
def open_rejects(path: str, written: Callable[[int], None] = lambda number: None) -> Iterator[Rejects]:
    """Open a file of rejected blocks, which is written as by `open_output`; it is empty if no blocks are rejected.

    If the `with` block fails, the blocks kept until then are written; if there are none, no file is. written: called
    with the number of blocks in the file once it is in place.
    """
    failed = None
    with open_output(path, errors="surrogateescape") as file, _temporary_file() as new:
        found = Rejects(file, new)
        try:
            yield found
            found.keep()
        except BaseException as error:
            if not found.kept:
                raise
            failed = error
    written(found.kept)
    if failed:
        raise failed


@contextmanager
def _temporary_file() -> Iterator[Any]:
    new = tempfile.SpooledTemporaryFile(1 << 20, "w+", encoding="utf-8", errors="surrogateescape", newline="")
    try:
        yield new
    finally:
        with suppress(OSError):  # closing repeats a write that has failed
            new.close()


@contextmanager
def _temporary() -> Iterator[None]:
    """Raise InputError if the block fails to write to a temporary file.

    Otherwise, the message would report a failure to write the output.
    """
    try:
        yield
    except OSError as error:
        message = "%s: no temporary file can be written there: %s" % (tempfile.tempdir or "TMPDIR", reason(error))
        raise InputError(message) from None
