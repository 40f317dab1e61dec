"""CoNLL-U in and out: sentences that remember every byte of the file they came from.

Reading keeps the raw lines beside the columns the parser needs, because a parsed file must equal its input in all that the
parser does not predict (comments, multiword tokens, empty nodes, even line ends), and because an error must name its line.
https://universaldependencies.org/format.html
"""

import os
import sys
from dataclasses import dataclass
from typing import Callable, Iterator, List, Optional, Sequence

import numpy as np

from mh4.errors import InputError
from mh4.files import write_text

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)


@dataclass
class Sentence:
    """A sentence of n words.

    words, upos, xpos, feats, deprels: lists of n strings (deprels as in the file, with subtypes).
    heads: int32 array (n+1,), heads[0] = -1, heads[m] in 0..n; None where the file's HEAD column was not read.
    name: where the sentence stands, for messages ("FILE, line 12, sentence 3 (sent_id)").
    rows: for each word its line in the document, counted from 0; None for a sentence that came from no file.
    """

    words: List[str]
    upos: Optional[List[str]] = None
    xpos: Optional[List[str]] = None
    feats: Optional[List[str]] = None
    deprels: Optional[List[str]] = None
    heads: Optional[np.ndarray] = None
    name: str = ""
    rows: Optional[List[int]] = None

    def __len__(self) -> int:
        return len(self.words)


@dataclass
class Document:
    """A CoNLL-U file: its lines, with their line ends, and its sentences."""

    lines: List[str]
    sentences: List[Sentence]

    def text(self, columns: Callable[[int], dict]) -> str:
        """The file again, where `columns(k)` gives sentence k's new columns: {column: n strings}. All else is kept."""
        lines = list(self.lines)
        for k, sentence in enumerate(self.sentences):
            for column, values in columns(k).items():
                for row, value in zip(sentence.rows, values):
                    cells = lines[row].split("\t")
                    end = _line_end(cells[-1]) if column == MISC else ""
                    cells[column] = value + end
                    lines[row] = "\t".join(cells)
        return "".join(lines)


def read(path: str, *, trees: bool = True) -> List[Sentence]:
    """The sentences of CoNLL-U file `path`; see read_document."""
    return read_document(path, trees=trees).sentences


def read_document(path: str, *, trees: bool = True) -> Document:
    """Read CoNLL-U file `path` ("-" is standard input).

    With `trees`, columns HEAD and DEPREL must hold a tree for every sentence; without, they are not looked at.
    Raises InputError naming file, line and sentence for what is not CoNLL-U, is no tree, or is not UTF-8.
    """
    shown = "standard input" if path == "-" else path
    lines = _decode(_bytes(path), shown)
    sentences = []
    for k, (start, stop) in enumerate(_blocks(lines), start=1):
        sentences.append(_sentence(lines, start, stop, _Place(shown, k, _sent_id(lines[start:stop])), trees))
    if not sentences:
        raise InputError("%s: no sentence in it, expected CoNLL-U" % shown)
    return Document(lines, sentences)


def write(path: str, text: str) -> None:
    """Write `text` to `path`, whole or not at all ("-" is standard output)."""
    if path == "-":
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()
        return
    write_text(path, text)


@dataclass(frozen=True)
class _Place:
    """Where in which file: what every message begins with."""

    file: str
    sentence: int
    sent_id: str

    def __call__(self, line: int, message: str) -> InputError:
        return InputError("%s: %s" % (self.at(line), message))

    def at(self, line: int) -> str:
        sent_id = " (%s)" % self.sent_id if self.sent_id else ""
        return "%s, line %d, sentence %d%s" % (self.file, line + 1, self.sentence, sent_id)


def _bytes(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError("%s: cannot be read: %s" % (path, os.strerror(error.errno))) from None


def _decode(data: bytes, shown: str) -> List[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("%s, line %d: not UTF-8 (byte 0x%02x)" % (shown, line, data[error.start])) from None
    # Only \n ends a line: str.splitlines would also cut at characters such as U+2028, which occur inside words.
    return [line + "\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _blocks(lines: Sequence[str]) -> Iterator:
    """(first line, line after the last) of every sentence: lines between blank lines."""
    start = None
    for k, line in enumerate(lines):
        if not line.strip():
            if start is not None:
                yield start, k
            start = None
        elif start is None:
            start = k
    if start is not None:
        yield start, len(lines)


def _sent_id(block: Sequence[str]) -> str:
    for line in block:
        key, equals, value = line.partition("=")
        if equals and key.replace(" ", "") in ("#sent_id", "#sentid"):
            return value.strip()
    return ""


def _sentence(lines: Sequence[str], start: int, stop: int, place: _Place, trees: bool) -> Sentence:
    rows, cells = [], []
    for row in range(start, stop):
        if lines[row].startswith("#"):
            continue
        columns = lines[row].rstrip("\r\n").split("\t")
        if len(columns) != 10:
            raise place(row, "%d columns, expected 10 separated by tabs" % len(columns))
        if "-" in columns[ID] or "." in columns[ID]:  # multiword tokens and empty nodes are no nodes of the tree
            if not columns[ID].replace("-", "").replace(".", "").isdigit():
                raise place(row, "ID is %r, expected a number, a range such as 1-2 or an empty node such as 1.1" % columns[ID])
            continue
        if columns[ID] != str(len(rows) + 1):
            raise place(row, "ID is %r, expected %d" % (columns[ID], len(rows) + 1))
        if not columns[FORM]:
            raise place(row, "FORM is empty, expected a word")
        rows.append(row)
        cells.append(columns)
    if not rows:
        raise place(start, "a sentence without words")
    sentence = Sentence(
        words=[c[FORM] for c in cells],
        upos=[c[UPOS] for c in cells],
        xpos=[c[XPOS] for c in cells],
        feats=[c[FEATS] for c in cells],
        name=place.at(start),
        rows=rows,
    )
    if trees:
        sentence.heads = _heads([c[HEAD] for c in cells], rows, place)
        sentence.deprels = [c[DEPREL] for c in cells]
    return sentence


def _heads(column: Sequence[str], rows: Sequence[int], place: _Place) -> np.ndarray:
    n = len(column)
    heads = np.full(n + 1, -1, dtype=np.int32)
    for m, (value, row) in enumerate(zip(column, rows), start=1):
        if value in ("_", ""):
            raise place(row, "no HEAD, expected a number from 0 to %d" % n)
        if not (value.isascii() and value.isdigit()):
            raise place(row, "HEAD is %r, expected one number from 0 to %d" % (value, n))
        if int(value) > n:
            raise place(row, "HEAD is %s, but the last word is %d" % (value, n))
        if int(value) == m:
            raise place(row, "word %d is its own head" % m)
        heads[m] = int(value)
    for m in range(1, n + 1):
        seen, node = {m}, int(heads[m])
        while node > 0:
            if node in seen:
                raise place(rows[node - 1], "word %d is part of a cycle of heads, expected a tree" % node)
            seen.add(node)
            node = int(heads[node])
    return heads
