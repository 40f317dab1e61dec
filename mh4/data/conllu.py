"""Reading and writing CoNLL-U: sentences that remember every byte of the file they came from.

Reading keeps the raw lines along with the columns the parser needs, because a parsed file must equal its input in everything
the parser does not predict (comments, multiword tokens, empty nodes, even line ends), and because error messages give line
numbers.
https://universaldependencies.org/format.html
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from encodings.utf_8 import StreamWriter
from itertools import chain, zip_longest
from typing import Any, BinaryIO, NamedTuple, TextIO

import numpy as np

from mh4.errors import InputError, check_flags, counted, normal_forms, on_line, one_line, reason, shown, unreadable, warn
from mh4.util import compression, files, reading
from mh4.util.reading import named

COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC".split()
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
# Attributes of MISC, the probabilities of the arc to a word and of its label, and the fields of a Sentence that have them.
PROBABILITIES = {"ArcProb": "probabilities", "LabelProb": "label_probabilities"}

_EMPTY_NODE, _MULTIWORD_TOKEN = (re.compile("\ufeff?[0-9]+[%s]" % sign) for sign in ".-")  # how their lines begin
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)  # the ID of a multiword token
_SPACE = re.compile("[^\\S\t]|\ufeff")  # which only FORM, LEMMA and MISC may have
_UNWRITABLE = re.compile("[\0\t\n\r\ud800-\udfff]")  # NUL, the ends of columns and lines, and what is not in UTF-8
SURROGATE = re.compile("[\ud800-\udfff]")
_NO_TEXT = re.compile("[\0\udc80-\udcff]")  # NUL, and what errors="surrogateescape" makes of a byte that is not UTF-8
# How files begin that are something else: byte order marks, and compressed files without the extension.
_OTHER = {b"\xff\xfe\0\0": "UTF-32, expected UTF-8", **dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "UTF-16, expected UTF-8")}
_OTHER.update((start, "compressed, but the name does not end in " + end) for end, start in compression.STARTS.items())
_BYTE_ORDER_MARK = "\ufeff"
# NUL, and white space other than spaces, which no word has: many programs end a word or a line there.
_WHITE_SPACE = {
    "\0": "a NUL",
    "\t": "a tab",
    "\n": "a line feed",
    "\v": "a vertical tab",
    "\f": "a form feed",
    "\r": "a carriage return",
    **dict.fromkeys("\x1c\x1d\x1e\x1f", "a separator"),
    "\x85": "a next line",
    "\u2028": "a line separator",
    "\u2029": "a paragraph separator",
    _BYTE_ORDER_MARK: "a byte order mark",
}
WHITE_SPACE = re.compile("[%s]" % "".join(_WHITE_SPACE))
NO_PLUS = "CoNLL-U Plus is not supported, expected the 10 columns of CoNLL-U"
ROOT = "root"  # in UD, the label of words headed by the root, and only of those
NOTE = "mh4"  # the name of the comment that says how a sentence was parsed
_BLANK_LINES = re.compile(r"\A(?:[ \r]*\n)+")
_NOTE = "# %s = " % NOTE
SKIPPED = "skipped"  # how the note begins of a sentence that has no new tree

# Takes the lines of a block that is not CoNLL-U, and why it is not; None: such a block is an error.
Rejected = Callable[[list[str], InputError], None] | None

# Files are parsed in portions of at least this many bytes, which end between sentences. Where they end depends on nothing but the bytes of
# the file, so that whoever begins with one of them, as the shards of mh4.corpus do, parses it as it is parsed within the file.
PORTION = 1 << 20
MOST_LINES = 1 << 20  # of a sentence: short lines take far more memory than their characters


class NoSentences(InputError):
    """The file has no sentences."""


class Word(NamedTuple):
    """A word of a sentence. id: from 1; head: the id of its head, 0 for the root; probability: that of the arc from its head.

    label_probability: that of its label, given the arc. What the sentence does not have is None.
    """

    id: int
    form: str
    upos: str | None
    xpos: str | None
    feats: str | None
    head: int | None
    deprel: str | None
    probability: float | None
    label_probability: float | None = None


@dataclass(eq=False)
class Sentence:
    """A sentence of n words.

    words, upos, xpos, feats, deprels: lists of n strings (deprels as in the file, with subtypes; "" where a partly annotated tree has
    none).
    heads: int32 array (n+1,), heads[0] = -1, heads[m] in 0..n, -1 where a partly annotated tree has none; None
    where the file's HEAD column was not read.
    name: the sentence's location, for messages ("FILE, line 12, sentence 3 (sent_id)").
    rows: the line of each word in its block, counted from 0; None for a sentence that was not read from a file.
    probabilities: of the arcs to the words, as predicted: float64 (n+1,), probabilities[0] = 1; None if not asked for.
    label_probabilities: of the labels of these arcs, likewise.
    transitions: of the derivation of a predicted tree, as in mh4.decoders.Derivation; None if not asked for, or if there are none.
    note: how it was parsed, if not as all others (see mh4.parser.long_sentences); None if it was kept, as its tree was complete.
    alternatives: the next best trees after this one, in order; None if not asked for.
    """

    words: list[str]
    # None until read or predicted; typed as what they will then be.
    upos: list[str] = None  # type: ignore[assignment]
    xpos: list[str] = None  # type: ignore[assignment]
    feats: list[str] = None  # type: ignore[assignment]
    deprels: list[str] = None  # type: ignore[assignment]
    heads: np.ndarray = None  # type: ignore[assignment]
    name: str = ""
    rows: list[int] = None  # type: ignore[assignment]
    probabilities: np.ndarray = None  # type: ignore[assignment]
    transitions: np.ndarray = None  # type: ignore[assignment]
    note: str | None = ""
    alternatives: "list[Sentence]" = None  # type: ignore[assignment]
    label_probabilities: np.ndarray = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, arrays element by element."""
        if type(other) is not type(self):
            return NotImplemented
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return all(
            np.array_equal(*pair) if any(isinstance(one, np.ndarray) for one in pair) else pair[0] == pair[1] for pair in pairs
        )

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        """Iterate over the words. Raises InputError for a column without a string for each word, or heads out of range."""
        absent = [None] * len(self)
        *words_and_tags, deprels = [self._strings(field) for field in ("words", "upos", "xpos", "feats", "deprels")]
        name = self.name or "the sentence"
        heads = absent if self.heads is None else [None if head < 0 else head for head in checked_heads(self, name)[1:].tolist()]
        probabilities = [self._of_words(field) or absent for field in PROBABILITIES.values()]
        columns = zip(range(1, len(self) + 1), *words_and_tags, heads, deprels, *probabilities, strict=True)
        return (Word(*row) for row in columns)

    def columns(self, tags: bool = False, keep_deps: bool = False) -> dict[int, list[str]]:
        """Return the columns to write of a parse: HEAD, DEPREL, an empty DEPS unless it is kept, with `tags` UPOS, XPOS and FEATS."""
        columns = {HEAD: [str(head) for head in self.heads[1:]], DEPREL: self.deprels}
        if not keep_deps:
            columns[DEPS] = ["_"] * len(self)
        if tags:
            columns.update({UPOS: self.upos, XPOS: self.xpos, FEATS: self.feats})
        return columns

    def probable(self) -> dict[str, list[str]]:
        """Return the probabilities, if there are any, as attributes of MISC: for each name, n strings."""
        given = {name: self._of_words(field) for name, field in PROBABILITIES.items()}
        return {name: ["%.4f" % p for p in values] for name, values in given.items() if values is not None}

    def _of_words(self, field: str) -> list[float] | None:
        """Return the probabilities in a field without that at 0, or None. Raises InputError unless they are n+1 numbers."""
        try:
            found = np.asarray(given := getattr(self, field), dtype=float)
        except (TypeError, ValueError):
            found = np.empty(0)
        if given is not None and found.shape != (len(self) + 1,):
            raise self._wrong(field, counted(len(self) + 1, "number"))
        return None if given is None else found[1:].tolist()

    def _strings(self, field: str) -> list[str | None]:
        """Return a column, None for what is absent. Raises InputError unless it has a string for each word or, but for words, None."""
        given = getattr(self, field)
        if given is None:
            return [None] * len(self)
        found = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
        if len(found) != len(self) or not all(isinstance(one, str) or one is None and field != "words" for one in found):
            raise self._wrong(field, counted(len(self), "string"))
        return found

    def _wrong(self, field: str, expected: str) -> InputError:
        return InputError(
            "%s: its %s are %s, expected %s" % (self.name or "the sentence", field, shown(getattr(self, field)), expected)
        )

    def to_conllu(self) -> str:
        """Return the words as CoNLL-U, with a blank line at the end; probabilities are in MISC, as those of `mh4 parse`.

        Raises InputError, naming the word, for what CoNLL-U cannot have: forms that are no words (`check_word`), tabs, line breaks and lone
        surrogates in any column; also for a sentence without words. mh4.conversions has the objects of other libraries.
        """
        where = self.name or "the sentence"
        if not len(self):
            raise InputError("%s: cannot be written as CoNLL-U: it has no words" % where)
        lines, probable = [], self.probable()
        for word in self:
            misc = "|".join("%s=%s" % (name, values[word.id - 1]) for name, values in probable.items())
            cells = [word.id, word.form, None, word.upos, word.xpos, word.feats, word.head, word.deprel, None, misc]
            row = ["_" if cell is None or cell == "" else str(cell) for cell in cells]
            place = "%s: word %d cannot be written as CoNLL-U" % (where, word.id)
            check_word(word.form, place)
            check_columns(dict(zip(COLUMNS, row, strict=True)), place)
            lines.append("\t".join(row) + "\n")
        return "".join(lines) + "\n"

    def _repr_html_(self) -> str | None:
        """Draw the tree, if there is one, for a notebook. Raises InputError as iteration does."""
        from mh4.drawing.svg import picture

        labels = [word.deprel or "" for word in self]
        if self.heads is None or not labels:
            return None
        try:
            drawing = picture(self.words, checked_heads(self, ""), labels, self.probabilities)
        except ValueError:  # a word without a head, or a cycle
            return None
        return '<div style="overflow-x: auto">%s</div>' % drawing  # which scrolls if the tree is wide


@dataclass
class Block:
    """A sentence with its lines in the file, including line ends and surrounding blank lines: a file is its blocks in order.

    portion: the number of the portion that it is in, among those of the file, or of the part of the file that is read.
    """

    lines: list[str]
    sentence: Sentence
    portion: int = 0

    def text(self, columns: dict[int, list[str]], note: str | None = None) -> str:
        """Return the lines with new columns {column: n strings}; everything else is kept.

        A new column DEPS also leaves out the empty nodes, which are part of the enhanced graph only, and the DEPS of multiword tokens. An
        empty string is written as "_".
        note: the text of the comment "# mh4 = ", which replaces that of an earlier parse; "" only removes the latter, and None keeps it.
        """
        lines = list(self.lines)
        for k, row in enumerate(self.sentence.rows):
            cells = lines[row].split("\t")
            for column, values in columns.items():
                cells[column] = (values[k] or "_") + (_line_end(cells[-1]) if column == MISC else "")
            lines[row] = "\t".join(cells)
        if DEPS in columns:
            lines = [_without_deps(line) for line in lines if not _EMPTY_NODE.match(line)]
        return "".join(lines if note is None else _noted(lines, note))

    def alone(self, columns: dict[int, list[str]], note: str | None = None) -> str:
        """Return the text of a sentence that others follow: no byte order mark or blank lines before it, and a blank line after it."""
        text = _BLANK_LINES.sub("", self.text(columns, note).removeprefix(_BYTE_ORDER_MARK))
        return text.rstrip("\r\n") + 2 * (_line_end(self.lines[self.sentence.rows[0]]) or "\n")

    def parsed_columns(self, parsed: Sentence, tags: bool = False, keep_deps: bool = False) -> dict[int, list[str]]:
        """Return the columns that a parse replaces: those of Sentence.columns, and MISC with the new probabilities, without old ones.

        Unless it is kept, DEPS is empty in all sentences: a parse without a tree replaces nothing else, and a complete tree that was kept
        only MISC, if it has probabilities.
        """
        columns = {} if keep_deps else {DEPS: ["_"] * len(parsed)}
        if parsed.heads is None:
            return columns
        if parsed.note is not None:
            columns |= parsed.columns(tags, keep_deps=True)
        probable, words = parsed.probable(), [self.lines[row] for row in self.sentence.rows]
        if probable or parsed.note is not None and any(name in line for name in PROBABILITIES for line in words):
            columns[MISC] = self.misc(probable)
        return columns

    def column(self, number: int) -> list[str]:
        """Return the value of a column for each word."""
        return [self.lines[row].rstrip("\r\n").split("\t")[number] for row in self.sentence.rows]

    def comment(self, name: str) -> str:
        """Return the value of the comment "# name = value", or an empty string."""
        return _comment(self.lines, name)

    @property
    def sent_id(self) -> str:
        """The sent_id, or an empty string."""
        return _sent_id(self.lines)

    @property
    def skipped(self) -> bool:
        """Return whether a parse left the sentence as it was; a tree in it is then not the parser's."""
        return any(line.startswith(_NOTE + SKIPPED) for line in self.lines)

    def misc(self, probable: Mapping[str, Sequence[str]]) -> list[str]:
        """Return MISC of each word with these attributes, as Sentence.probable returns them, in place of those of an earlier parse."""
        column = []
        for k, cell in enumerate(self.column(MISC)):
            kept = [a for a in cell.split("|") if a.split("=")[0] not in PROBABILITIES]
            if probable:
                kept = [a for a in kept if a not in ("_", "")]
                kept += ["%s=%s" % (name, values[k]) for name, values in probable.items()]
            column.append("|".join(kept) or "_")
        return column


def _without_deps(line: str) -> str:
    """Return the line without DEPS if it is that of a multiword token."""
    if not _MULTIWORD_TOKEN.match(line):
        return line
    cells = line.split("\t")
    cells[DEPS] = "_"
    return "\t".join(cells)


def checked_heads(sentence: Sentence, name: str) -> np.ndarray:
    """Return the heads of a sentence, which the user may have made: int32 (n+1,), -1 for None.

    Raises InputError, which begins with `name`, unless they are -1 and, for each word, 0 to n or, where it has none, -1 or None.
    """
    try:
        heads = np.asarray([-1 if head is None else head for head in sentence.heads])
    except (TypeError, ValueError):  # not a sequence, or of sequences
        heads = np.empty(0)
    n = len(sentence)
    if heads.shape != (n + 1,) or heads.dtype.kind not in "iu" or heads[0] != -1 or (heads < -1).any() or (heads > n).any():
        expected = "-1 and then one of 0 to %d for each word, or -1 where it has none" % n
        raise InputError("%s: its heads are %s, expected %s" % (name, shown(sentence.heads), expected))
    return heads.astype(np.int32)


def without_subtype(deprel: str) -> str:
    """Return a dependency label without its language-specific subtype: ``nmod:poss`` is ``nmod``."""
    return deprel.partition(":")[0]


def read(path: reading.Path, *, trees: bool = True) -> list[Sentence]:
    """Read the sentences of CoNLL-U file `path`, or of those in a folder; see blocks."""
    return [block.sentence for block in blocks(path, trees=trees)]


def blocks(
    path: reading.Path, *, trees: bool = True, rejected: Rejected = None, at_once: bool = False, partial: bool = False
) -> Iterator[Block]:
    """Read CoNLL-U file `path` ("-" is standard input), or the .conllu files of a folder one after another, a sentence at a time.

    Files called .gz, .bz2, .xz and .zst are compressed.

    With `trees`, columns HEAD and DEPREL must hold a tree for every sentence; otherwise they are ignored. With `partial`, HEAD and DEPREL
    may be "_", which is read as -1 and "", and whether the others can be those of a tree is left to mh4.parser.kept_heads.
    A byte order mark at the start of the file is accepted and, like everything else, kept; one at the start of a later sentence, as where
    files were joined, is left out.
    rejected: called with each block that is not CoNLL-U, and reading goes on; bytes in it that are not UTF-8 are decoded by Python's
    "surrogateescape".
    at_once: yield each sentence once the blank line after it has been read, not only when the next one begins; further blank lines
    belong to the next sentence, and those at the end of the file to none.
    Raises InputError, naming file, line and sentence, for anything that is not CoNLL-U, not a tree, or not UTF-8.
    """
    check_flags(trees=trees, at_once=at_once, partial=partial)
    given = reading.path_of(path, "sentences cannot be read from %s, expected the path of a CoNLL-U file or folder")
    by_file = each_file([given], trees=trees, rejected=rejected, at_once=at_once, partial=partial)
    return chain.from_iterable(of_file for _, of_file in by_file)


def each_file(paths: Sequence[str], omitted: Sequence[str] = (), **options: Any) -> Iterator[tuple[str, Iterator[Block]]]:
    """Yield each file of `paths`, which may be folders, with its blocks, to be read before the next file; see blocks and files_of.

    Some files may be empty, with a RuntimeWarning at the end. Raises NoSentences, naming the first, if all are.
    """
    empty: list[NoSentences] = []
    files = files_of(paths, omitted).values()
    for file in files:
        yield file, even_none(_of_file(file, **options), empty.append)
    if len(empty) == len(files):
        raise empty[0]
    for error in empty:
        warn(str(error), stacklevel=2)


def files_of(paths: Sequence[str], omitted: Sequence[str] = ()) -> dict[str, str]:
    """Return files, and the .conllu files of folders, each once, by the names that their parses have in a folder of parses.

    They are in the order of `paths`, and those of a folder in that of the names.
    omitted: folders from which nothing is taken, such as that of parses in the folder of gold.
    """
    order = {path: k for k, path in enumerate(paths)}
    found = sorted(named(paths, omitted=omitted), key=lambda one: (order[one[2] or one[0]], one[1]))
    return {name: file for file, name, _ in found}


def _of_file(file: str, rejected: Rejected = None, **options: Any) -> Iterator[Block]:
    name = name_of(file)
    return parsed(lines(file, name, "strict" if rejected is None else "surrogateescape"), name, rejected=rejected, **options)


def even_none(blocks: Iterable[Block], empty: Callable[[NoSentences], object] = lambda error: None) -> Iterator[Block]:
    """Yield the blocks; if there are none, call `empty` with the error: one of many files may be empty, and then so is its parse."""
    try:
        yield from blocks
    except NoSentences as error:
        empty(error)


def to_parse(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks of a file; if there are none, warn that its parse is empty."""
    return even_none(blocks, lambda error: warn("%s; its parse is empty" % error, stacklevel=2))


class Start(NamedTuple):
    """The beginning of a part of a file: after how many lines and sentences it comes."""

    line: int = 0
    sentence: int = 0


TOP = Start()  # of a file


def parsed(
    text: Iterable[str],
    name: str,
    *,
    trees: bool = True,
    rejected: Rejected = None,
    at_once: bool = False,
    start: Start = TOP,
    partial: bool = False,
) -> Iterator[Block]:
    """Read CoNLL-U from lines, which messages say are from file `name`; see blocks. Raises NoSentences if there are none.

    start: where in the file the lines begin. Warns if it reads trees of sentences that a parser has skipped.
    """
    number, skipped = start.sentence, 0
    for number, run in enumerate(runs(text, name, start.line, at_once), start=start.sentence + 1):
        try:
            block = _block(run, name, number, trees, partial)
        except InputError as error:
            if rejected is None:
                raise
            rejected(run.lines, error)
        else:
            skipped += trees and block.skipped
            yield block
    if number == start.sentence:
        raise NoSentences("%s: no sentences in it, expected CoNLL-U" % name)
    if skipped:
        were, have = ("was", "has") if skipped == 1 else ("were", "have")
        said = "%s: %s %s skipped by a parser, as the comment # %s = %s says, and %s the tree of its input"
        warn(said % (name, counted(skipped, "sentence"), were, NOTE, SKIPPED, have), stacklevel=2)


class Run(NamedTuple):
    """The lines of a sentence, or of a paragraph of text, with blank ones around it.

    first: the number of the first of them in the file, from 0; portion: that of the portion that they are in, as in Block.
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


def in_parallel(first: Iterable[Block], files: Sequence[str]) -> Iterator[tuple[Block, list[Block]]]:
    """Yield each block of `first`, with those of the same sentence in these CoNLL-U files.

    Raises InputError where a file has no tree, or where its sentences or words differ from those of `first`.
    """
    last = "the input"
    for block, *same in zip_longest(first, *map(even_none, map(blocks, files))):
        if block is None:
            more = next(filter(None, same))
            raise InputError("%s: expected the end of the file, as after %s" % (more.sentence.name, last))
        last = block.sentence.name
        for file, found in zip(files, same, strict=True):
            if found is None:
                raise InputError("%s: ends before %s, expected the same sentences" % (file, last))
            _check_words(found.sentence, block.sentence)
        yield block, same


def name_of(path: str) -> str:
    """Return the name of the file in messages."""
    return "standard input" if path == "-" else path


@contextmanager
def open_output(path: str, errors: str = "strict") -> Iterator[TextIO]:
    """Open a text file for writing: `path`, which is compressed if its extension says so, or "-" for standard output.

    A regular file is written whole or not at all; standard output, devices and FIFOs receive the text as it is written. On a terminal,
    characters that would control it are made visible. errors: what is done about text that is not in UTF-8.
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


class Rejects:
    """A file of blocks that are not CoNLL-U, as they are, each after a comment that says why: `rejected` of `blocks`.

    count: how many there are; kept: how many of them stay. new: a temporary file, where those are that have not been kept; without it,
    all are at once.
    """

    def __init__(self, file: TextIO, new: Any = None) -> None:
        self._file, self._new, self.count, self.kept = file, new or file, 0, 0

    def __call__(self, lines: list[str], error: InputError) -> None:
        text = "".join(lines).removeprefix(_BYTE_ORDER_MARK)  # which would follow the comment
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
def rejects(path: str, written: Callable[[int], None] = lambda number: None) -> Iterator[Rejects]:
    """Open a file of rejected blocks, which is written as by `open_output`; it is empty if there are none.

    If the block fails, those that it has kept are written, if any. written: called with their number once the file is there.
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
        with suppress(OSError):  # of what could not be written
            new.close()


@contextmanager
def _temporary() -> Iterator[None]:
    """Raise InputError if the block fails to write to a temporary file; an output would otherwise be named as what is full."""
    try:
        yield
    except OSError as error:
        message = "%s: no temporary file can be written there: %s" % (tempfile.tempdir or "TMPDIR", reason(error))
        raise InputError(message) from None


class _OnTerminal(StreamWriter):
    def write(self, text: str) -> None:
        super().write(one_line(text.replace("\r\n", "\n"), kept="\t\n"))


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
            _check_text(text, name, k)
        yield text


def _check_text(line: str, name: str, k: int) -> None:
    """Raise InputError for a line, decoded with "surrogateescape", that is not UTF-8, or has NUL."""
    found = _NO_TEXT.search(line) if "\0" in line or not line.isascii() else None
    if found:
        wrong = "not UTF-8 (byte 0x%02x)" % (ord(found[0]) & 0xFF)
        wrong = "a character NUL, expected text in UTF-8" if found[0] == "\0" else wrong
        start = line[:10].encode("utf-8", "surrogateescape") if k == 0 else b""
        wrong = next((kind for mark, kind in _OTHER.items() if start.startswith(mark)), wrong)
        raise InputError("%s: %s" % (on_line(name, k + 1), wrong))


def _noted(lines: list[str], note: str) -> list[str]:
    """Return the lines of a sentence with this note, or none, in place of any other."""
    start = lines[0].removeprefix(_BYTE_ORDER_MARK)
    mark, rest = lines[0][: len(lines[0]) - len(start)], [start, *lines[1:]]
    first = next(row for row, line in enumerate(rest) if not (is_blank(line) or line.startswith("#")))
    new = [_NOTE + note + (_line_end(rest[first]) or "\n")] if note else []
    found = [*(line for line in rest[:first] if not line.startswith(_NOTE)), *new, *rest[first:]]
    return [mark + found[0], *found[1:]]


def is_blank(line: str) -> bool:
    """Return whether the line ends a sentence. A line with a tab does not: it may be a word whose columns were lost."""
    return not line.strip(" \r\n" + _BYTE_ORDER_MARK)


def check_word(form: str, where: str) -> None:
    """Raise InputError, which begins with `where`, if a word is empty, only spaces, or has white space that is no space, or no text."""
    if found := WHITE_SPACE.search(form):
        wrong = "%s in the word %s, which may have no white space but spaces" % (_named(found[0]), shown(form))
        raise InputError("%s: %s" % (where, wrong))
    if SURROGATE.search(form):
        raise InputError("%s: half a surrogate pair in the word %s, which is no character" % (where, shown(form)))
    if not form.strip():
        raise InputError("%s: FORM is %s, expected a word" % (where, shown(form) if form else "empty"))


def check_columns(columns: Mapping[str, str], where: str) -> None:
    """Raise InputError, which begins with `where`, if a column, by name, is empty, or cannot be written."""
    for name, cell in columns.items():
        if not cell.strip():
            wrong = "%s is %s, expected a value, or _ if there is none" % (name, shown(cell) if cell else "empty")
            raise InputError("%s: %s" % (where, wrong))
        if _UNWRITABLE.search(cell):
            raise InputError("%s: %s is %s, which no column can hold" % (where, name, shown(cell)))
        if name in COLUMNS[UPOS:MISC] and _SPACE.search(cell):
            raise InputError("%s: %s is %s, which may have no white space" % (where, name, shown(cell)))


def _named(character: str) -> str:
    """Return the name of white space in messages."""
    return "%s (U+%04X)" % (_WHITE_SPACE[character], ord(character))


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _comment(lines: Sequence[str], name: str) -> str:
    for line in lines:
        key, equals, value = line.removeprefix(_BYTE_ORDER_MARK).partition("=")
        if equals and key.replace(" ", "") == "#" + name:
            return value.partition("\r")[0].strip()
    return ""


def _sent_id(lines: Sequence[str]) -> str:
    return _comment(lines, "sent_id") or _comment(lines, "sentid")  # "sentid" in UD 1


def _check_words(sentence: Sentence, expected: Sentence) -> None:
    for k, (word, other) in enumerate(zip(sentence.words, expected.words, strict=False), start=1):
        if word != other:
            difference = sentence.name, k, shown(word), shown(other), expected.name, normal_forms(word, other, 1000)
            raise InputError("%s: word %d is %s, but %s in %s%s" % difference)
    if len(sentence) != len(expected):
        raise InputError("%s: %s, but %d in %s" % (sentence.name, counted(len(sentence), "word"), len(expected), expected.name))


def _block(run: Run, name: str, number: int, trees: bool, partial: bool) -> Block:
    first, lines, portion = run
    for row, line in enumerate(lines):
        _check_text(line, name, first + row)
    start = next((row for row, line in enumerate(lines) if not is_blank(line)), 0)
    # The marks of joined files go, those in blank lines and before the first line that is none.
    text = [
        line.replace(_BYTE_ORDER_MARK, "") if is_blank(line) else line.removeprefix(_BYTE_ORDER_MARK) if row == start else line
        for row, line in enumerate(lines)
    ]
    sent_id = _sent_id(text)[:100]

    def at(row: int) -> str:
        return "%s, sentence %d%s" % (on_line(name, first + row + 1), number, " (%s)" % sent_id if sent_id else "")

    return Block([lines[0], *text[1:]] if first == 0 else text, _sentence(text, start, at, trees, partial), portion)


def _sentence(lines: Sequence[str], start: int, at: Callable[[int], str], trees: bool, partial: bool) -> Sentence:
    """start: the first line that is not blank; at: the place of a line, given its number in the block, with which messages begin."""
    rows: list[int] = []
    cells: list[list[str]] = []
    covered = empty = 0  # the last word of the last multiword token, and the empty nodes since the last word
    for row, line in enumerate(lines):
        if "\r" in line and "\r" in line.removesuffix("\n").removesuffix("\r"):
            raise InputError("%s: CR without LF: lines have to end in LF or CRLF" % at(row))
        if is_blank(line):
            continue
        if line.startswith("#"):
            if _comment([line], "global.columns").split() not in ([], COLUMNS):
                raise InputError("%s: %s" % (at(row), NO_PLUS))
            continue
        if not line.startswith("\t") and (found := WHITE_SPACE.match(line)):
            raise InputError("%s: begins with %s, expected the ID of a word" % (at(row), _named(found[0])))
        number = line.count("\t") + 1
        if number != 10:
            hint = "; CoNLL-U Plus, which has more, is not supported" if number > 10 else ""
            hint = "; for running text, mh4 parse has --text, and a server input=text" if number == 1 else hint
            raise InputError("%s: %s, expected 10 separated by tabs%s" % (at(row), counted(number, "column"), hint))
        columns = line.rstrip("\r\n").split("\t")
        if columns[ID] == str(len(rows) + 1):
            rows.append(row)
            cells.append(columns)
            empty = 0
        elif columns[ID] == "%d.%d" % (len(rows), empty + 1):
            empty += 1
        else:
            covered = _end_of_range(columns[ID], len(rows) + 1, covered, empty + 1, at(row))
        if not all(map(str.strip, columns[LEMMA:])) or _SPACE.search("\t".join(columns[UPOS:MISC])):
            check_columns(dict(zip(COLUMNS[LEMMA:], columns[LEMMA:], strict=True)), at(row))
        check_word(columns[FORM], at(row))
    if not rows:
        raise InputError("%s: the sentence has no words" % at(start))
    if covered > len(rows):
        raise InputError("%s: a multiword token ends with word %d, but the last word is %d" % (at(start), covered, len(rows)))

    def column(number: int) -> list[str]:
        return [of_word[number] for of_word in cells]

    sentence = Sentence(column(FORM), column(UPOS), column(XPOS), column(FEATS), name=at(start), rows=rows)
    if trees:
        sentence.heads, sentence.deprels = _heads(column(HEAD), rows, at, partial), column(DEPREL)
        if partial:
            sentence.deprels = ["" if label == "_" else label for label in sentence.deprels]
        else:
            _check_tree(sentence.heads, rows, at)
    return sentence


def _end_of_range(given: str, word: int, covered: int, empty: int, place: str) -> int:
    """Return the last word of a multiword token with this ID, such as 2-3, which comes before its first word.

    word, empty: the numbers of the next word and the next empty node (which is 2.1 after word 2). covered: the last word of the multiword
    token before. Raises InputError, which begins with `place`, for any other ID.
    """
    span = _RANGE.fullmatch(given)
    if not span:
        expected = "%d" % word
        if "-" in given:
            expected = "a range such as %d-%d" % (word, word + 1)
        elif "." in given:
            expected = "%d.%d for an empty node" % (word - 1, empty)
        raise InputError("%s: ID is %s, expected %s" % (place, shown(given), expected))
    first, last = map(int, span.groups())
    if last < first:
        raise InputError("%s: ID is %s, a range whose end comes before its start" % (place, given))
    if first != word:
        raise InputError("%s: ID is %s, but the next word is %d, and a range comes before its first word" % (place, given, word))
    if first <= covered:
        raise InputError("%s: ID is %s, but word %d is part of another multiword token" % (place, given, first))
    return last


def _heads(column: Sequence[str], rows: Sequence[int], at: Callable[[int], str], partial: bool) -> np.ndarray:
    n = len(column)
    heads = np.full(n + 1, -1, dtype=np.int32)
    for m, (value, row) in enumerate(zip(column, rows, strict=True), start=1):
        if value == "_":
            if partial:
                continue
            way = "partly annotated trees are for `mh4 parse --keep-heads` and `mh4 train --partial`"
            raise InputError("%s: no HEAD, expected a number from 0 to %d; %s" % (at(row), n, way))
        if not (value.isascii() and value.isdigit()):
            raise InputError("%s: HEAD is %s, expected one number from 0 to %d" % (at(row), shown(value), n))
        digits = value.lstrip("0") or "0"
        if len(digits) > 9 or int(digits) > n:
            raise InputError("%s: HEAD is %s, but the last word is %d" % (at(row), shown(value).strip("'"), n))
        if int(digits) == m and not partial:
            raise InputError("%s: word %d is its own head" % (at(row), m))
        heads[m] = int(digits)
    return heads


def _check_tree(heads: np.ndarray, rows: Sequence[int], at: Callable[[int], str]) -> None:
    above = np.maximum(heads, 0)  # for each node, the one that twice as many steps towards the root lead to each time
    for _ in range(len(rows).bit_length()):
        above = above[above]
    for node in above[above > 0][:1]:  # the others are the root by now
        raise InputError("%s: word %d is part of a cycle of heads, expected a tree" % (at(rows[node - 1]), node))
