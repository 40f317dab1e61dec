"""Plain-text tables: aligned columns under group titles, short file names, and names for ranges of numbers."""

import os
from collections.abc import Sequence
from itertools import pairwise

from mh4.errors import one_line


def aligned(corner: str, groups: Sequence[tuple[str, list[str]]], names: Sequence[str], body: Sequence[list[str]]) -> str:
    """The text of a table whose columns are grouped under titles; every column but the first is right-aligned.

    corner: the header of the first column; groups: (title, names of the columns); names, body: the name and cells of each row.
    """
    header, names = [name for _, columns in groups for name in columns], list(map(one_line, names))
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    first = max(map(len, [corner, *names]))
    above, column = " " * first, 0
    for title, columns in groups:
        width = sum(widths[column : column + len(columns)]) + 2 * (len(columns) - 1)
        if len(title) > width:
            widths[column] += len(title) - width
            width = len(title)
        above += "  " + title.rjust(width) if len(columns) == 1 else "  " + title.center(width)
        column += len(columns)
    lines = [above.rstrip()]
    for name, cells in [(corner, header), *zip(names, body, strict=True)]:
        lines.append("  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))]))
    return "\n".join(lines)


def short_names(paths: Sequence[str]) -> list[str]:
    """Names of files or folders without the folders that they are in, if these remain distinct; otherwise the paths. All are printable.

    "-" is standard input.
    """
    paths = ["standard input" if path == "-" else path for path in paths]
    short = [os.path.basename(path.rstrip(os.sep)) or path for path in paths]
    return list(map(one_line, short if len(set(short)) == len(short) else paths))


def group_names(starts: Sequence[int]) -> list[str]:
    """Names for ranges of numbers, each from its start up to the next start and the last open-ended: 0, 1, 2-4, 5+."""
    closed = ["%d" % start if end == start + 1 else "%d-%d" % (start, end - 1) for start, end in pairwise(starts)]
    return closed + ["%d+" % starts[-1]]
