"""Draw trees as text with udapi."""

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

import click
import numpy as np
from rich.cells import cell_len

from mh4 import trees
from mh4.conversions import to_udapi
from mh4.data.sentence import Sentence
from mh4.errors import counted, needs, one_line
from mh4.viewing.analyses import SentenceView

with needs("drawing trees as text", "evaluate", "udapi"):
    from udapi.block.write.textmodetrees import COLOR_OF, TextModeTrees

_DEEPEST = 400  # udapi draws trees by recursion
_LONGEST = 10_000  # words; beyond, udapi takes minutes
_LARGEST = 1_000_000  # the total length of spans; such a drawing takes some seconds and 16 MB


def draw(shown: SentenceView, names: list[str], color: bool = False, columns: int = sys.maxsize) -> str:
    """Return a sentence as text, with a heading.

    Two analyses are side by side under their names. Between them is a mark for each word whose head (≠) or only
    relation (≈) differs. color: whether to use terminal escapes for colours. columns: the width of the terminal. If two
    analyses are wider, the second is below the first, with the marks at the ends of its lines. A tree that is wider is
    drawn more narrowly. If a tree is too large to be drawn as text, there is a comment instead.
    """
    comments = ["%d%s" % (shown.number, "  " + one_line(shown.sent_id) if shown.sent_id else ""), one_line(shown.text)]
    comments += ["%s: %s" % (name, one.note) for name, one in zip(names, shown.analyses, strict=True) if one.note]
    too_large = next(filter(None, (_too_large(analysis.heads) for analysis in shown.analyses)), "")
    if too_large:
        comments.append("not drawn: %s, too large for a drawing in text; --html and --svg draw it" % too_large)
        drawing = []
    elif len(shown.analyses) == 1:
        drawing = _lines(shown.analyses[0], color, columns)
    else:
        drawing = _parallel_lines(shown, names, color, columns)
    lines = ["# " + comment for comment in comments] + drawing
    if len(shown.analyses) > 1:
        lines.append("# " + _difference(shown))
    return "\n".join(lines) + "\n"


def _parallel_lines(shown: SentenceView, names: list[str], color: bool, columns: int) -> list[str]:
    """Return the lines of two trees, side by side or one below the other, with marks for differing words."""
    differing = shown.differing()
    left, right = ([name, *_lines(one, color, columns, differing)] for name, one in zip(names, shown.analyses, strict=True))
    width = max(_width(line) for line in left)
    by_word = dict.fromkeys(differing, "≈") | dict.fromkeys(shown.differing_heads(), "≠")
    marks = [by_word.get(k - 1, " ") for k in range(len(left))]
    lines = ["%s%s  %s  %s" % (a, " " * (width - _width(a)), mark, b) for a, mark, b in zip(left, marks, right, strict=True)]
    if max(map(_width, lines)) > columns:
        lines = left + ["%s  %s" % pair for pair in zip(right, marks, strict=True)]
    return [line.rstrip() for line in lines]


def _difference(shown: SentenceView) -> str:
    count = len(shown.differing())
    if not count:
        return "no arcs differ"
    arcs = "%d of %s differ%s" % (count, counted(len(shown.words), "arc"), "s" if count == 1 else "")
    return arcs + " (≠ in the head, ≈ in the relation alone)"


def _too_large(heads: np.ndarray) -> str:
    """Return what makes a tree too large to be drawn as text, or an empty string.

    The drawing has a column of text for each head, from the first to the last of the head and its dependents.
    """
    n, deep = len(heads) - 1, trees.depth(heads)
    words = np.arange(n + 1)
    first, last = words.copy(), words.copy()
    np.minimum.at(first, heads[1:], words[1:])
    np.maximum.at(last, heads[1:], words[1:])
    if n > _LONGEST:
        return "%d words" % n
    if deep > _DEEPEST:
        return "a tree %d arcs deep" % deep
    return "arcs over %d words in all" % (last - first).sum() if (last - first).sum() > _LARGEST else ""


class _Drawing(TextModeTrees):
    """The lines of a tree: the root's, then one for each word."""

    def __init__(self, marked: Sequence[int], **options: Any) -> None:
        super().__init__(print_sent_id=False, print_text=False, add_empty_line=False, **options)
        self._marked = frozenset(marked)

    def is_marked(self, node: Any) -> bool:
        return node.ord in self._marked

    def colorize_attr(self, attr: str, value: str, marked: bool) -> str:
        """Return the value with colours. udapi omits colours if it does not print to a terminal."""
        return click.style(value, COLOR_OF.get(attr), bold=marked or None, reverse=marked or None)


def _lines(analysis: Sentence, color: bool, columns: int, marked: Sequence[int] = ()) -> list[str]:
    """Return the lines of a tree, without horizontal lines between words and levels if these make it too wide."""
    words, upos, deprels = (list(map(one_line, column)) for column in (analysis.words, analysis.upos, analysis.deprels))
    sentence = Sentence(words, upos, deprels=deprels, heads=analysis.heads)
    for narrower in ({}, {"layout": "compact", "indent": 0}):
        output = io.StringIO()
        with redirect_stdout(output):
            _Drawing(marked, color=color, **narrower).process_tree(to_udapi(sentence))
        lines = output.getvalue().splitlines()
        if max(map(_width, lines)) <= columns:
            break
    return lines


def _width(line: str) -> int:
    """Return the number of terminal columns of a line."""
    return cell_len(click.unstyle(line))
