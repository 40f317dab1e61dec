"""Read CoNLL-U files and folders into sentences, with every byte of their lines.

Raw lines are kept along with the columns that the parser needs. A parsed file must equal its input in everything that
the parser does not predict (comments, multiword tokens, empty nodes, even line ends), and error messages give line
numbers.
https://universaldependencies.org/format.html
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from mh4.data.block import NOTE, SKIPPED, Block, comment_in, is_blank, sent_id_of
from mh4.data.cells import (
    BYTE_ORDER_MARK,
    COLUMNS,
    DEPREL,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    SPACE,
    UPOS,
    WHITE_SPACE,
    XPOS,
    check_columns,
    check_word,
    space_named,
)
from mh4.data.sentence import Sentence
from mh4.data.text_lines import TOP, Run, Start, check_text, lines, runs
from mh4.errors import InputError, check_flags, counted, normal_forms, on_line, shown, warn
from mh4.util import reading
from mh4.util.reading import named

_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)  # the ID of a multiword token
NO_PLUS = "CoNLL-U Plus is not supported, expected the 10 columns of CoNLL-U"

# A function that is called with the lines of a block that is not CoNLL-U, and the error; None: raise the error.
Rejected = Callable[[list[str], InputError], None] | None


class NoSentences(InputError):
    """The file has no sentences."""


def read(path: reading.Path, *, trees: bool = True) -> list[Sentence]:
    """Read the sentences of the CoNLL-U file `path`, or of the files in the folder `path`; see blocks."""
    return [block.sentence for block in blocks(path, trees=trees)]


def blocks(
    path: reading.Path, *, trees: bool = True, rejected: Rejected = None, at_once: bool = False, partial: bool = False
) -> Iterator[Block]:
    """Yield the sentences of the CoNLL-U file `path` ("-" is standard input), or of the .conllu files of a folder.

    Files called .gz, .bz2, .xz and .zst are compressed.

    With `trees`, columns HEAD and DEPREL must hold a tree for every sentence; otherwise they are ignored. With
    `partial` besides, HEAD and DEPREL may be "_", which is read as -1 and "". Whether the given heads can be part of a
    tree is then not checked here but by mh4.parser.kept_heads.
    A byte order mark at the start of the file is accepted and, like everything else, kept. A byte order mark at the
    start of a later sentence, as in joined files, is removed.
    rejected: called with the lines of each block that is not CoNLL-U, and the error; reading goes on. Bytes in these
    lines that are not UTF-8 are decoded by Python's "surrogateescape".
    at_once: yield each sentence as soon as the blank line after it has been read, not only when the next sentence
    begins. Further blank lines then belong to the next sentence, and are dropped at the end of the file.
    Raises InputError, naming file, line and sentence, for anything that is not CoNLL-U, not a tree, or not UTF-8.
    """
    check_flags(trees=trees, at_once=at_once, partial=partial)
    given = reading.path_of(path, "sentences cannot be read from %s, expected the path of a CoNLL-U file or folder")
    by_file = each_file([given], trees=trees, rejected=rejected, at_once=at_once, partial=partial)
    return chain.from_iterable(of_file for _, of_file in by_file)


def each_file(paths: Sequence[str], omitted: Sequence[str] = (), **options: Any) -> Iterator[tuple[str, Iterator[Block]]]:
    """Yield each file of `paths`, which may be folders, with its blocks; see blocks and files_of.

    The blocks of a file must be read before the next file. Files without sentences cause a RuntimeWarning at the end;
    if all files are empty, NoSentences is raised, naming the first.
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
    """Return {name: path} of the files in `paths` and of the .conllu files in its folders, each file once.

    The name is that of the file's parse in a folder of parses. Files are in the order of `paths`, in a folder by name.
    omitted: folders to leave out, such as a folder of parses within the gold folder.
    """
    order = {path: k for k, path in enumerate(paths)}
    found = sorted(named(paths, omitted=omitted), key=lambda file: (order[file.folder or file.path], file.name))
    return {file.name: file.path for file in found}


def _of_file(file: str, rejected: Rejected = None, **options: Any) -> Iterator[Block]:
    name = reading.name_of(file)
    return parsed(lines(file, name, "strict" if rejected is None else "surrogateescape"), name, rejected=rejected, **options)


def even_none(blocks: Iterable[Block], empty: Callable[[NoSentences], object] = lambda error: None) -> Iterator[Block]:
    """Yield the blocks; if there are none, call `empty` with the NoSentences error instead of raising it."""
    try:
        yield from blocks
    except NoSentences as error:
        empty(error)


def to_parse(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks of a file to be parsed; if there are none, warn that its parse is empty."""
    return even_none(blocks, lambda error: warn("%s; its parse is empty" % error, stacklevel=2))


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
    """Yield the blocks in lines of CoNLL-U; see blocks. Raises NoSentences if there are none.

    name: what messages call the file. start: where in the file the lines begin. Warns at the end if trees were read of
    sentences that a parser had skipped.
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


def in_parallel(first: Iterable[Block], files: Sequence[str]) -> Iterator[tuple[Block, list[Block]]]:
    """Yield each block of `first`, with the blocks of the same sentence in the CoNLL-U files `files`.

    Raises InputError for a sentence without a tree in a file, or if the sentences or words of a file differ from those
    of `first`.
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
        check_text(line, name, first + row)
    start = next((row for row, line in enumerate(lines) if not is_blank(line)), 0)
    # Joined files have byte order marks in blank lines and before the first line that is not blank: remove these.
    text = [
        line.replace(BYTE_ORDER_MARK, "") if is_blank(line) else line.removeprefix(BYTE_ORDER_MARK) if row == start else line
        for row, line in enumerate(lines)
    ]
    sent_id = sent_id_of(text)[:100]

    def at(row: int) -> str:
        return "%s, sentence %d%s" % (on_line(name, first + row + 1), number, " (%s)" % sent_id if sent_id else "")

    return Block([lines[0], *text[1:]] if first == 0 else text, _sentence(text, start, at, trees, partial), portion)


def _sentence(lines: Sequence[str], start: int, at: Callable[[int], str], trees: bool, partial: bool) -> Sentence:
    """Return the sentence in the lines of a block.

    start: the index of the first line that is not blank. at: returns the place of a line, by its index, for messages.
    """
    rows: list[int] = []
    cells: list[list[str]] = []
    covered = empty = 0  # the last word of the last multiword token; the number of empty nodes since the last word
    for row, line in enumerate(lines):
        if "\r" in line and "\r" in line.removesuffix("\n").removesuffix("\r"):
            raise InputError("%s: CR without LF: lines have to end in LF or CRLF" % at(row))
        if is_blank(line):
            continue
        if line.startswith("#"):
            if comment_in([line], "global.columns").split() not in ([], COLUMNS):
                raise InputError("%s: %s" % (at(row), NO_PLUS))
            continue
        if not line.startswith("\t") and (found := WHITE_SPACE.match(line)):
            raise InputError("%s: begins with %s, expected the ID of a word" % (at(row), space_named(found[0])))
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
        if not all(map(str.strip, columns[LEMMA:])) or SPACE.search("\t".join(columns[UPOS:MISC])):
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
    """Return the last word of the multiword token whose ID is `given`, such as 2-3.

    The line of a multiword token comes before the line of its first word.
    word: the number of the next word. empty: the number of the next empty node after the last word (1 for node 2.1).
    covered: the last word of the previous multiword token.
    Raises InputError, which begins with `place`, for any other ID.
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
    above = np.maximum(heads, 0)  # for each node, the ancestor 1 step above it, then 2, 4, ... steps
    for _ in range(len(rows).bit_length()):
        above = above[above]
    for node in above[above > 0][:1]:  # after n or more steps, only cycles are left
        raise InputError("%s: word %d is part of a cycle of heads, expected a tree" % (at(rows[node - 1]), node))
