"""The lines of text files, CoNLL-U or not, and the runs of lines that are a sentence or a paragraph."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import BinaryIO, NamedTuple

from mh4.data.block import is_blank
from mh4.errors import InputError, counted, on_line, unreadable
from mh4.util import compression, reading

# Files are parsed in portions of at least this many bytes, which end between sentences. Where they end depends on nothing but the bytes of
# the file, so that whoever begins with one of them, as the shards of mh4.corpus do, parses it as it is parsed within the file.
PORTION = 1 << 20
MOST_LINES = 1 << 20  # of a sentence: short lines take far more memory than their characters

_NO_TEXT = re.compile("[\0\udc80-\udcff]")  # NUL, and what errors="surrogateescape" makes of a byte that is not UTF-8
# How files begin that are something else: byte order marks, and compressed files without the extension.
_OTHER = {b"\xff\xfe\0\0": "UTF-32, expected UTF-8", **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16, expected UTF-8")}
_OTHER.update((start, "compressed, but the name does not end in " + end) for end, start in compression.STARTS.items())


def lines(path: str, name: str, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a text file in UTF-8 ("-" is standard input), with their ends; `name` is what messages call it.

    Only \\n ends a line: U+2028 and similar characters occur inside words. errors: what is done about bytes that are not UTF-8.
    Raises InputError if the file cannot be read, or a compressed one is damaged.
    """
    if path == "-" and sys.stdin is None:
        raise InputError("standard input is closed")
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else compression.opened(path) as file:
            yield from decoded(file, name, errors)
    except OSError as error:
        raise unreadable(name, error) from None


def decoded(file: BinaryIO, name: str, errors: str = "strict", before: int = 0) -> Iterator[str]:
    """Yield the lines of an open file; see lines. before: how many lines there are before them, for messages."""
    for k, line in enumerate(reading.lines(file, name, before=before), start=before):
        text = line.decode("utf-8", "surrogateescape")
        if errors == "strict":
            check_text(text, name, k)
        yield text


def check_text(line: str, name: str, k: int) -> None:
    """Raise InputError for a line, decoded with "surrogateescape", that is not UTF-8, or has NUL."""
    found = _NO_TEXT.search(line) if "\0" in line or not line.isascii() else None
    if found:
        wrong = "not UTF-8 (byte 0x%02x)" % (ord(found[0]) & 0xFF)
        wrong = "a character NUL, expected text in UTF-8" if found[0] == "\0" else wrong
        start = line[:10].encode("utf-8", "surrogateescape") if k == 0 else b""
        wrong = next((kind for mark, kind in _OTHER.items() if start.startswith(mark)), wrong)
        raise InputError("%s: %s" % (on_line(name, k + 1), wrong))


class Start(NamedTuple):
    """The beginning of a part of a file: after how many lines and sentences it comes."""

    line: int = 0
    sentence: int = 0


TOP = Start()  # of a file


class Run(NamedTuple):
    """The lines of a sentence, or of a paragraph of text, with blank ones around it.

    first: the number of the first of them in the file, from 0; portion: the number of the portion that they are in, as in Block.
    """

    first: int
    lines: list[str]
    portion: int


def runs(text: Iterable[str], name: str, first: int = 0, at_once: bool = False, by_line: bool = False) -> Iterator[Run]:
    """Yield the sentences or paragraphs of lines of file `name`, the first of which has the number `first`. at_once: see blocks.

    by_line: whether each line is a sentence, as in mh4.corpus.cutting. Raises InputError for one that is longer than any can be.
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
    """Raise InputError for more lines, from line `first` of a file, than a sentence or paragraph can have."""
    if number > MOST_LINES:
        wrong = "more than %s before the next sentence, which begins after a blank line"
        raise InputError("%s: %s" % (on_line(name, first), wrong % counted(MOST_LINES, "line", ",")))
