"""Read the file that `mh4 serve FILE` opens to correct, and save the corrected trees to a new file."""

import io
import os
import threading
from collections.abc import Iterable
from contextlib import suppress

from mh4.data import conllu, text_lines
from mh4.errors import InputError
from mh4.util.output import open_output


class Changed(InputError):
    """The text to save is not based on the last saved version, or something else has changed the new file."""


class Correction:
    """A CoNLL-U file to correct, whose words stay as they are, and the new file for the corrected trees.

    path: the file to correct; HEAD may be "_" in it. output: the new file. An existing file is replaced only with
    `replaces`, or if this object wrote it last. Raises InputError if `path` is not CoNLL-U, and if `output` exists and
    may not be replaced.
    """

    def __init__(self, path: str, output: str, replaces: bool = False) -> None:
        self.path, self.output = path, output
        self.text, self._words = _read(text_lines.lines(path, path), path)
        self._saved, self._lock = 0, threading.Lock()
        self._ours = _state(output) if replaces and os.path.isfile(output) else None  # this state may be replaced
        if not self._may_write():
            raise InputError("%s exists: name a new file" % output)

    def read(self) -> tuple[str, str]:
        """Return the text as it was last saved (at first, as it is in the file), and its version, as an ETag."""
        with self._lock:
            return self.text, self._version

    def save(self, text: str, version: str) -> str:
        """Write a text that is based on `version` to the new file, whole or not at all. Return the version of the text.

        Raises Changed if there is another version by now, or if something else has written the new file since. Raises
        InputError if the text is not CoNLL-U with the words of the file, and if the new file cannot be written.
        """
        with self._lock:
            if version != self._version:
                raise Changed("%s was saved from another page meanwhile: download this, and load the page again" % self.output)
            text, words = _read(io.StringIO(text, newline="\n"), "the sentences to save")
            if words != self._words:
                raise InputError("the sentences to save have other words than %s" % self.path)
            if not self._may_write():
                message = "%s was created or changed outside of this page: move it away and save again, or download this"
                raise Changed(message % self.output)
            with open_output(self.output) as file:
                file.write(text)
            self.text, self._saved, self._ours = text, self._saved + 1, _state(self.output)
            return self._version

    @property
    def _version(self) -> str:
        return '"%d"' % self._saved

    def _may_write(self) -> bool:
        return _state(self.output) in (None, self._ours)


def _state(path: str) -> tuple[int, ...] | None:
    """Return properties of a file that change when it is written; None if there is no file."""
    with suppress(OSError):
        found = os.stat(path)
        return found.st_ino, found.st_size, found.st_mtime_ns
    return None


def _read(lines: Iterable[str], name: str) -> tuple[str, list[list[str]]]:
    """Return the text, and the words of each sentence. Raises InputError if it is not CoNLL-U."""
    blocks = list(conllu.parsed(lines, name, partial=True))
    return "".join(block.text({}) for block in blocks), [block.sentence.words for block in blocks]
