"""Compute the layout of a tree: words in a line, arcs above them at levels according to nesting.

An arc goes up from its head, along its level and down to its dependent. An arc from the root comes straight down from
above all other arcs, so that it meets exactly the arcs that cross it. Words are far enough apart that no labels of arcs
overlap. Widths of texts are estimates for a sans-serif font, as there is no font to measure.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from mh4.decoders import arguments
from mh4.trees import measures

# In pixels; for fonts, the font size.
WORD_SIZE, LABEL_SIZE, TAG_SIZE = 15, 12, 10
LEVEL = 21  # from one level to the next
GAP = 11  # between words, at least
TAG_GAP = 6  # between the tags under words
LEG = 5  # between the ends of two arcs on one side of a word, if there is room
CORNER = 6  # the radius of an arc's corners
MARGIN = 8
PALEST = 0.65  # the opacity of an arc of probability 0, which is still visible

_NARROW, _BROAD = frozenset("fijlrtI1|!.,:;'`()[]{} "), frozenset("mwMWQO@%&—…")


@dataclass(frozen=True)
class Layout:
    """The layout of a tree over n words. Places are in pixels from the left; levels are numbers.

    width: of the whole drawing. words: int array (n,), the middle of each word. heads, dependents: int arrays (n,), where the arc
    to each word leaves its head and where it reaches the word; both are the same for an arc from the root. levels: int
    array (n,), the level of each arc, from 1: one above the shorter arcs that it shares space with. Arcs from the root
    are above all others. tagged: whether there are tags under the words.
    """

    width: int
    words: np.ndarray
    heads: np.ndarray
    dependents: np.ndarray
    levels: np.ndarray
    tagged: bool = False

    @cached_property
    def bottom(self) -> int:
        """Return the height at which arcs end, in pixels from the top. Words are below."""
        return MARGIN + LABEL_SIZE // 2 + LEVEL * int(self.levels.max())

    @property
    def baseline(self) -> int:
        """Return the baseline of the words, in pixels from the top."""
        return self.bottom + 3 + WORD_SIZE

    @property
    def tagline(self) -> int:
        """Return the baseline of the tags, in pixels from the top."""
        return self.baseline + 5 + TAG_SIZE

    @property
    def height(self) -> int:
        """Return the height of the whole drawing, in pixels."""
        return (self.tagline if self.tagged else self.baseline + 4) + MARGIN

    def arc(self, m: int) -> "Arc":
        """Return how to draw the arc to word m, counted from 0; draw.js draws it in the same way."""
        start, end = int(self.heads[m]), int(self.dependents[m])
        top, bottom = self.bottom - LEVEL * int(self.levels[m]), self.bottom
        line = "M%d %dV%d" % (end, top, bottom - 4)
        if start != end:
            r = min(CORNER, abs(end - start) / 2)
            across = r if end > start else -r
            numbers = (start, bottom, top + r, -r, across, -r, end - across, across, across, r, bottom - 4)
            line = "M%d %dV%.10gq0 %.10g %.10g %.10gH%.10gq%.10g 0 %.10g %.10gV%d" % numbers
        return Arc(line, "M%d %dl-3.5 -6h7z" % (end, bottom), (start + end) / 2, top + 4)

    def mirrored(self) -> "Layout":
        """Return the layout from right to left."""
        width = self.width
        return Layout(width, width - self.words, width - self.heads, width - self.dependents, self.levels, self.tagged)


class Arc(NamedTuple):
    """The paths of an arc's line and arrowhead, and the middle and baseline of its label."""

    line: str
    arrowhead: str
    label_x: float
    label_y: int


def place(
    words: Sequence[str],
    analyses: Sequence[tuple[np.ndarray, Sequence[str]]],
    direction: str = "ltr",
    tags: Sequence[Sequence[str]] = (),
) -> list[Layout]:
    """Return the layouts of one or more trees over the same words. The words have the same places in all layouts.

    analyses: the heads of each tree, int array (n+1,), and its labels, n strings. direction: "ltr" or "rtl", see direction_of.
    tags: rows of n strings, to be written under the words.
    """
    n = len(words)
    widths = [text_width(word, WORD_SIZE) for word in words]
    tag_widths = [max((text_width(row[j], TAG_SIZE) for row in tags), default=0.0) for j in range(n)]
    drawn = [_Arcs(heads, labels, widths) for heads, labels in analyses]
    # rows: widths and gap of each row of texts (words, tags, labels of roots). edges: where the next text may begin.
    rows = [(widths, GAP), (tag_widths, TAG_GAP), *((arcs.root_widths, GAP) for arcs in drawn)]
    middles, edges = np.zeros(n), [float(MARGIN)] * len(rows)
    for j in range(n):
        earliest = [edge + widths[j] / 2 for edge, (widths, _) in zip(edges, rows, strict=True)]
        middles[j] = max(*earliest, *(arcs.earliest(j, middles) for arcs in drawn))
        edges = [max(edge, middles[j] + widths[j] / 2 + gap) for edge, (widths, gap) in zip(edges, rows, strict=True)]
    width = int(max(edge - gap for edge, (_, gap) in zip(edges, rows, strict=True)) + MARGIN)
    layouts = [arcs.layout(width, middles, bool(tags)) for arcs in drawn]
    return [layout.mirrored() for layout in layouts] if direction == "rtl" else layouts


class _Arcs:
    """The arcs of a tree, whose labels need room between words."""

    def __init__(self, heads: np.ndarray, labels: Sequence[str], widths: Sequence[float]) -> None:
        self._heads = heads
        self._label_widths = [text_width(label, LABEL_SIZE) for label in labels]
        self.root_widths = [width if heads[m] == 0 else -np.inf for m, width in enumerate(self._label_widths, start=1)]
        self._levels = measures.levels(arguments.tree(heads))[1:]
        self._at_head, self._at_dependent = _legs(heads, self._levels, widths)
        # For each word, the dependents of the arcs between it and words to its left.
        self._reaching: list[list[int]] = [[] for _ in labels]
        for m in range(len(labels)):
            if heads[m + 1]:
                self._reaching[max(m, heads[m + 1] - 1)].append(m)

    def earliest(self, j: int, middles: np.ndarray) -> float:
        """Return the leftmost middle of word j that leaves room for the labels of its arcs."""
        found = 0.0
        for m in self._reaching[j]:
            h = self._heads[m + 1] - 1
            legs = self._at_head[m] - self._at_dependent[m]
            i, legs = (h, legs) if m == j else (m, -legs)
            found = max(found, middles[i] + legs + self._label_widths[m] + LABEL_SIZE)
        return found

    def layout(self, width: int, middles: np.ndarray, tagged: bool) -> Layout:
        heads = np.where(self._heads[1:] == 0, middles, middles[self._heads[1:] - 1]) + self._at_head
        at_word, at_head, at_dependent = (one.round().astype(int) for one in (middles, heads, middles + self._at_dependent))
        return Layout(width, at_word, at_head, at_dependent, self._levels, tagged)


def direction_of(words: Iterable[str]) -> str:
    """Return the direction of a text: "rtl" if most of its letters are of scripts written from right to left, otherwise "ltr"."""
    kinds = [unicodedata.bidirectional(char) for word in words for char in word]
    return "rtl" if sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L") else "ltr"


def text_width(text: str, size: float) -> float:
    """Return the width of text in a sans-serif font of this size, estimated generously."""
    return size * sum(map(_relative_width, text))


@cache
def _relative_width(char: str) -> float:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in _NARROW:
        return 0.4
    return 0.95 if char in _BROAD else 0.75 if char.isupper() else 0.62


def _legs(heads: np.ndarray, above: np.ndarray, widths: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of each arc's ends from the middles of its head and dependent: two float arrays (n,).

    On each side of a word the highest arc is the innermost, so that arcs at the same word do not cross.
    """
    n = len(widths)
    ends: list[dict[int, list[tuple[int, int, int]]]] = [{-1: [], 1: []} for _ in widths]  # by word and side
    for m, h in enumerate((heads[1:] - 1).tolist()):
        if h >= 0:
            side = 1 if m > h else -1
            ends[h][side].append((-above[m], 0, m))
            ends[m][-side].append((-above[m], 1, m))
    legs = np.zeros((2, n))
    for k, sides in enumerate(ends):
        alone = heads[k + 1] > 0 and len(sides[-1]) + len(sides[1]) == 1
        for side, arcs in sides.items():
            step = min(LEG, (widths[k] + GAP - 2) / 2 / (len(arcs) + 0.5))
            for rank, (_, end, m) in enumerate(sorted(arcs)):
                legs[end, m] = 0 if alone else side * step * (rank + 0.5 + 0.5 * (heads[k + 1] == 0))
    return legs[0], legs[1]
