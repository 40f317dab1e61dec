"""Read the lines of text files, CoNLL-U or not, and group them into sentences or paragraphs."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import BinaryIO, NamedTuple

from mh4.data.block import is_blank
from mh4.errors import InputError, counted, on_line, unreadable
from mh4.util import compression, reading

# Files are parsed in portions of at least this many bytes, which end between sentences. The ends depend only on the
# bytes of the file, so that a portion is parsed in the same way within the file and in a shard of mh4.corpus that
# begins with it.
PORTION = 1 << 20
MOST_LINES = 1 << 20  # of a sentence; a limit of its own, as short lines take far more memory than their characters

_NO_TEXT = re.compile("[\0\udc80-\udcff]")  # NUL, and what errors="surrogateescape" makes of a byte that is not UTF-8
# The first bytes of other formats: byte order marks of UTF-16 and UTF-32, and compressed files without the extension.
_OTHER = {b"\xff\xfe\0\0": "UTF-32, expected UTF-8", **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16, expected UTF-8")}
_OTHER.update((start, "compressed, but the name does not end in " + end) for end, start in compression.STARTS.items())


def lines(path: str, name: str, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a text file in UTF-8 ("-" is standard input), with their ends. name: the file's, in messages.

    Only \\n ends a line: U+2028 and similar characters occur inside words. errors: "strict" raises InputError for bytes
    that are not UTF-8; with "surrogateescape" they are decoded as Python does. Raises InputError for a file that is
    unreadable or damaged.
    """
    if path == "-" and sys.stdin is None:
        raise InputError("standard input is closed")
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else compression.opened(path) as file:
            yield from decoded(file, name, errors)
    except OSError as error:
        raise unreadable(name, error) from None


def decoded(file: BinaryIO, name: str, errors: str = "strict", before: int = 0) -> Iterator[str]:
    """Yield the lines of an open file; see lines. before: the number of lines before these, for messages."""
    for k, line in enumerate(reading.lines(file, name, before=before), start=before):
        text = line.decode("utf-8", "surrogateescape")
        if errors == "strict":
            check_text(text, name, k)
        yield text


def check_text(line: str, name: str, k: int) -> None:
    """Raise InputError for line k (from 0), decoded with "surrogateescape", if it is not UTF-8 or contains NUL."""
    found = _NO_TEXT.search(line) if "\0" in line or not line.isascii() else None
    if found:
        wrong = "not UTF-8 (byte 0x%02x)" % (ord(found[0]) & 0xFF)
        wrong = "a character NUL, expected text in UTF-8" if found[0] == "\0" else wrong
        start = line[:10].encode("utf-8", "surrogateescape") if k == 0 else b""
        wrong = next((kind for mark, kind in _OTHER.items() if start.startswith(mark)), wrong)
        raise InputError("%s: %s" % (on_line(name, k + 1), wrong))


class Start(NamedTuple):
    """Where a part of a file begins: the numbers of lines and sentences before it."""

    line: int = 0
    sentence: int = 0


TOP = Start()  # of a file


class Run(NamedTuple):
    """The lines of a sentence, or of a paragraph of text, with surrounding blank lines.

    first: the number of the first line in the file, from 0. portion: as in Block.
    """

    first: int
    lines: list[str]
    portion: int


def runs(text: Iterable[str], name: str, first: int = 0, at_once: bool = False, by_line: bool = False) -> Iterator[Run]:
    """Yield the sentences or paragraphs in lines of file `name`.

    first: the number of the first line in the file, from 0. at_once: see conllu.blocks. by_line: each line is a
    sentence.
    Raises InputError for a sentence or paragraph that exceeds the limits of size (see reading.check_size) or lines.
    """
    portion = size = 0
    each_line = ((k, [line]) for k, line in enumerate(text, start=first))
    for start, lines in each_line if by_line else _between_blanks(text, name, first, at_once):
        if size >= PORTION:
            portion, size = portion + 1, 0
        size += sum(len(line) if line.isascii() else len(line.encode("utf-8", "surrogateescape")) for line in lines)
        yield Run(start, lines, portion)


def _between_blanks(text: Iterable[str], name: str, first: int, at_once: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of each sentence or paragraph, and the number of the first of these lines."""
    lines: list[str] = []
    begun = ended = False  # whether a line that is not blank has come, and a blank one after it
    size = 0
    for k, line in enumerate(text, start=first):
        blank = is_blank(line)
        if ended and not blank:
            yield first, lines
            first, lines, begun, ended, size = k, [], False, False, 0
        lines.append(line)
        size += len(line)
        reading.check_size(size, name, first + 1)
        check_lines(len(lines), name, first + 1)
        begun, ended = begun or not blank, begun and blank
        if ended and at_once:
            yield first, lines
            first, lines, begun, ended, size = k + 1, [], False, False, 0
    if begun:
        yield first, lines


def check_lines(number: int, name: str, first: int) -> None:
    """Raise InputError if a sentence or paragraph, from line `first` of a file, has more than MOST_LINES lines."""
    if number > MOST_LINES:
        wrong = "more than %s before the next sentence, which begins after a blank line"
        raise InputError("%s: %s" % (on_line(name, first), wrong % counted(MOST_LINES, "line", ",")))
