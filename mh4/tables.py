"""Tables for people: columns set right under the titles of their groups, names of files, names of groups of numbers."""

import os
from collections.abc import Sequence


def aligned(corner: str, groups: Sequence[tuple[str, list[str]]], names: Sequence[str], body: Sequence[list[str]]) -> str:
    """Lines of a table with groups of columns under a title, every column but the first to the right.

    corner: what stands above the names; groups: (title, names of the columns); names, body: of each row its name and its cells.
    """
    header = [name for _, columns in groups for name in columns]
    widths = [max(map(len, column)) for column in zip(header, *body)]
    first = max(map(len, [corner, *names]))
    above, column = " " * first, 0
    for title, columns in groups:
        width = sum(widths[column : column + len(columns)]) + 2 * (len(columns) - 1)
        if len(title) > width:
            widths[column] += len(title) - width
            width = len(title)
        above += "  " + title.rjust(width) if len(columns) == 1 else "  " + title.center(width)
        column += len(columns)
    lines = [[corner] + header] + [[name] + cells for name, cells in zip(names, body)]
    return "\n".join(
        [above.rstrip()]
        + ["  ".join([name.ljust(first)] + [cell.rjust(width) for cell, width in zip(cells, widths)]) for name, *cells in lines]
    )


def short_names(paths: Sequence[str]) -> list[str]:
    """The names of files without their folders, where that tells them apart."""
    short = [os.path.basename(path) for path in paths]
    names = short if len(set(short)) == len(short) else paths
    return [name.encode("utf-8", "replace").decode() for name in names]  # not every name is UTF-8


def group_names(starts: Sequence[int]) -> list[str]:
    """The names of groups of numbers, each from its start up to the next one's, the last open, as in 0, 1, 2-4, 5+."""
    closed = ["%d" % start if end == start + 1 else "%d-%d" % (start, end - 1) for start, end in zip(starts, starts[1:])]
    return closed + ["%d+" % starts[-1]]
