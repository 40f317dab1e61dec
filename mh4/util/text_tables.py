"""Tables of text: as aligned columns, Markdown, csv or LaTeX; short file names, and names for ranges of numbers."""

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from mh4.errors import one_line

Form = Literal["text", "markdown", "csv", "latex"]
SPREAD = " ± "  # between a mean and its spread in a cell
_LATEX = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "$%s$" % character for character in "<>|"},
    "±": r"$\pm$",
    "✓": r"$\surd$",
}


@dataclass(frozen=True)
class Table:
    """A header and rows of text. Columns from `right` up to `left_from` contain numbers and are right-aligned.

    groups: titles above columns, from the first on, each with its number of columns; empty without titles.
    """

    header: Sequence[str]
    body: Sequence[Sequence[str]]
    right: int
    left_from: int | None = None
    groups: Sequence[tuple[str, int]] = ()

    @classmethod
    def grouped(
        cls, corner: str, groups: Sequence[tuple[str, Sequence[str]]], names: Iterable[str], body: Iterable[Sequence[str]]
    ) -> "Table":
        """Make a table whose columns of numbers are grouped under titles.

        corner: the header of the first column; groups: (title, column names); names, body: the name and cells of each row.
        """
        header = [corner, *(column for _, columns in groups for column in columns)]
        rows = [[name, *cells] for name, cells in zip(names, body, strict=True)]
        return cls(header, rows, 1, groups=[("", 1), *((title, len(columns)) for title, columns in groups)])

    def is_number(self, column: int) -> bool:
        """Return whether a column contains numbers."""
        return self.right <= column < (len(self.header) if self.left_from is None else self.left_from)

    def written(self, form: Form) -> str:
        """Format the table in the form `form`."""
        return {"text": self.text, "markdown": self.markdown, "csv": self.csv, "latex": self.latex}[form]()

    def text(self) -> str:
        """Format as aligned columns."""
        rows = [[one_line(cell) for cell in line] for line in (self.header, *self.body)]
        widths, above, column = [max(map(len, cells)) for cells in zip(*rows, strict=True)], [], 0
        for title, columns in self.groups:
            width = sum(widths[column : column + columns]) + 2 * (columns - 1)
            widths[column] += max(0, len(title) - width)
            above.append(title.rjust(width) if columns == 1 else title.center(width))
            column += columns
        lines = ["  ".join(above)] if above else []
        for line in rows:
            cells = zip(line, widths, strict=True)
            lines.append("  ".join(cell.rjust(w) if self.is_number(k) else cell.ljust(w) for k, (cell, w) in enumerate(cells)))
        return "\n".join(line.rstrip() for line in lines)

    def markdown(self) -> str:
        """Format as Markdown, with the titles of groups in the column headers."""
        rule = ["---:" if self.is_number(column) else "---" for column in range(len(self.header))]
        rows = [[one_line(cell).replace("|", r"\|") for cell in line] for line in (self._titled(), rule, *self.body)]
        return "\n".join("| %s |" % " | ".join(line) for line in rows)

    def csv(self) -> str:
        """Format as comma-separated values, with separate columns for spreads and empty cells for missing numbers."""
        columns = []
        for number, (name, *cells) in enumerate(zip(self._titled(), *self.body, strict=True)):
            if not self.is_number(number):
                columns.append([name, *cells])
                continue
            split = [cell.partition(SPREAD) for cell in ("" if cell == "-" else cell for cell in cells)]
            columns.append([name, *(mean for mean, _, _ in split)])
            if any(sign for _, sign, _ in split):
                columns.append([name + SPREAD.rstrip(), *(spread for _, _, spread in split)])
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(zip(*columns, strict=True))
        return text.getvalue().rstrip("\n")

    def latex(self) -> str:
        """Format as a LaTeX tabular with booktabs."""
        lines, column = [], 1
        if any(title for title, _ in self.groups):
            titles, rules = [], []
            for title, columns in self.groups:
                titles.append(r"\multicolumn{%d}{c}{%s}" % (columns, _latex(title)) if title else "& " * (columns - 1))
                rules.append(r"\cmidrule(lr){%d-%d}" % (column, column + columns - 1) if title else "")
                column += columns
            lines += [" & ".join(titles).strip() + r" \\", " ".join(filter(None, rules))]
        lines += [" & ".join(map(_latex, self.header)) + r" \\", r"\midrule"]
        for line in self.body:
            cells = (_latex_number(cell) if self.is_number(k) else _latex(cell) for k, cell in enumerate(line))
            lines.append(" & ".join(cells) + r" \\")
        kinds = "".join("r" if self.is_number(column) else "l" for column in range(len(self.header)))
        return "\n".join([r"\begin{tabular}{%s}" % kinds, r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"])

    def _titled(self) -> list[str]:
        """Return the header with the title of a column's group in front of its name."""
        titles = [title for title, columns in self.groups for _ in range(columns)] or [""] * len(self.header)
        return [": ".join(filter(None, pair)) for pair in zip(titles, self.header, strict=True)]


def _latex(cell: str) -> str:
    """Format a name for LaTeX. A range of numbers, as from `group_names`, gets a dash."""
    escaped = "".join(_LATEX.get(character, character) for character in one_line(cell))
    return re.sub(r"^(\d+)-(\d+)$", r"\1--\2", escaped)


def _latex_number(cell: str) -> str:
    """Format numbers for LaTeX, with a minus sign before negative ones and a dash in ranges."""
    return re.sub(r"(?<=\d)-(?=\d)", "--", re.sub(r"(?<![\w.])-(?=\d)", "$-$", _latex(cell)))


def written(parts: Iterable[Table | str], form: Form = "text") -> str:
    """Format tables and the paragraphs between them. Paragraphs are comments in LaTeX, and are left out of csv."""
    new_line = {"latex": "\n% ", "markdown": "\\\n"}.get(form, "\n")
    shown = []
    for part in parts:
        if isinstance(part, Table):
            shown.append(part.written(form))
        elif form != "csv":
            shown.append("% " * (form == "latex") + part.replace("\n", new_line))
    return "\n\n".join(shown)


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files or folders without their parents if these names are distinct, otherwise the paths.

    All are printable; "-" is standard input.
    """
    paths = ["standard input" if path == "-" else path for path in paths]
    short = [os.path.basename(path.rstrip(os.sep)) or path for path in paths]
    return list(map(one_line, short if len(set(short)) == len(short) else paths))


def group_names(starts: Sequence[int]) -> list[str]:
    """Name ranges of numbers, each from its start up to the next start and the last open-ended: 0, 1, 2-4, 5+."""
    closed = ["%d" % start if end == start + 1 else "%d-%d" % (start, end - 1) for start, end in pairwise(starts)]
    return closed + ["%d+" % starts[-1]]
