"""A sentence with its lines in a CoNLL-U file. A parse replaces the predicted columns and keeps everything else."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mh4.data.cells import BYTE_ORDER_MARK, DEPS, MISC
from mh4.data.sentence import PROBABILITIES, Sentence

NOTE = "mh4"  # the name of the comment that says how a sentence was parsed
SKIPPED = "skipped"  # the beginning of the note if the parser left the sentence without a new tree

_NOTE = "# %s = " % NOTE
_BLANK_LINES = re.compile(r"\A(?:[ \r]*\n)+")
_EMPTY_NODE, _MULTIWORD_TOKEN = (re.compile("\ufeff?[0-9]+[%s]" % sign) for sign in ".-")  # how their lines begin


@dataclass
class Block:
    """A sentence with its lines in the file, including line ends and surrounding blank lines: a file is its blocks in order.

    portion: the number of the portion (see text_lines.PORTION) that contains the sentence, counted from the start of
    the file or of the part of it that is read.
    """

    lines: list[str]
    sentence: Sentence
    portion: int = 0

    def text(self, columns: dict[int, list[str]], note: str | None = None) -> str:
        """Return the lines with new columns {column: n strings}; everything else is kept.

        An empty string is written as "_". A new column DEPS also removes the DEPS of multiword tokens and all empty
        nodes, which are part of the enhanced graph only.
        note: the text of the comment "# mh4 = ", which replaces the comment of an earlier parse; "" only removes that
        comment, and None keeps it.
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
        """Return the text with exactly one blank line at its end, and no blank lines or byte order mark at its start.

        Such texts can be written one after another. columns, note: see text.
        """
        text = _BLANK_LINES.sub("", self.text(columns, note).removeprefix(BYTE_ORDER_MARK))
        return text.rstrip("\r\n") + 2 * (_line_end(self.lines[self.sentence.rows[0]]) or "\n")

    def parsed_columns(self, parsed: Sentence, tags: bool = False, keep_deps: bool = False) -> dict[int, list[str]]:
        """Return the columns that a parse replaces: Sentence.columns, and MISC with its new probabilities.

        DEPS is emptied unless `keep_deps`. A parse without a tree (heads None) replaces nothing else. A complete tree
        that was kept (note None) replaces only MISC besides, and only if it has probabilities.
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
        """See comment_in."""
        return comment_in(self.lines, name)

    @property
    def sent_id(self) -> str:
        """See sent_id_of."""
        return sent_id_of(self.lines)

    @property
    def skipped(self) -> bool:
        """Return whether an earlier parse skipped the sentence, so that its tree, if any, is not the parser's."""
        return any(line.startswith(_NOTE + SKIPPED) for line in self.lines)

    def misc(self, probable: Mapping[str, Sequence[str]]) -> list[str]:
        """Return MISC of each word with new probabilities in place of those of an earlier parse.

        probable: as Sentence.probable returns them.
        """
        column = []
        for k, cell in enumerate(self.column(MISC)):
            kept = [a for a in cell.split("|") if a.split("=")[0] not in PROBABILITIES]
            if probable:
                kept = [a for a in kept if a not in ("_", "")]
                kept += ["%s=%s" % (name, values[k]) for name, values in probable.items()]
            column.append("|".join(kept) or "_")
        return column


def is_blank(line: str) -> bool:
    """Return whether the line ends a sentence. A line with a tab does not: it may be a word whose columns were lost."""
    return not line.strip(" \r\n" + BYTE_ORDER_MARK)


def comment_in(lines: Sequence[str], name: str) -> str:
    """Return the value of the first comment "# name = value", or an empty string."""
    for line in lines:
        key, equals, value = line.removeprefix(BYTE_ORDER_MARK).partition("=")
        if equals and key.replace(" ", "") == "#" + name:
            return value.partition("\r")[0].strip()
    return ""


def sent_id_of(lines: Sequence[str]) -> str:
    """Return the sent_id, or an empty string."""
    return comment_in(lines, "sent_id") or comment_in(lines, "sentid")  # "sentid" in UD 1


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _noted(lines: list[str], note: str) -> list[str]:
    """Return the lines with this note in place of an earlier one; with an empty note, only remove the earlier one."""
    start = lines[0].removeprefix(BYTE_ORDER_MARK)
    mark, rest = lines[0][: len(lines[0]) - len(start)], [start, *lines[1:]]
    first = next(row for row, line in enumerate(rest) if not (is_blank(line) or line.startswith("#")))
    new = [_NOTE + note + (_line_end(rest[first]) or "\n")] if note else []
    found = [*(line for line in rest[:first] if not line.startswith(_NOTE)), *new, *rest[first:]]
    return [mark + found[0], *found[1:]]


def _without_deps(line: str) -> str:
    """Return the line; if it is a multiword token, without DEPS."""
    if not _MULTIWORD_TOKEN.match(line):
        return line
    cells = line.split("\t")
    cells[DEPS] = "_"
    return "\t".join(cells)
