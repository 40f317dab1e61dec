"""Deduction steps as pictures: reading their descriptions, which item_pictures.py explains, checking them, and drawing items as SVG."""

import re
from dataclasses import dataclass
from html import escape

import numpy as np

from mh4.decoders.charts.oneec.rules import RULES, rule_text
from mh4.drawing import layout

# In pixels. Words between two nodes take the width of REGION.
REGION, ADJACENT, PADDING, BOX = 34, 8, 7, 24
KNOWN_RULES = {rule_text(rule).partition(";")[0] for rule in RULES}  # without their arcs
NODE = re.compile(r"\((.+)\)|<(.+)>|(\S+)")
ARC = re.compile(r"(\S+) (->|--|\.\.) (\S+)")


@dataclass(frozen=True)
class Node:
    """A node of an item: complete if it has its head, outside if it is not in the region that the item covers."""

    name: str
    complete: bool = False
    outside: bool = False
    note: str = ""


@dataclass(frozen=True)
class Arc:
    """first and last: places of the nodes at its ends. kind: "->", "--" or ".."."""

    first: int
    last: int
    kind: str

    @property
    def span(self) -> tuple[int, int]:
        return min(self.first, self.last), max(self.first, self.last)


@dataclass(frozen=True)
class Item:
    """nodes, from the left to the right; between: what is between each and the next, "=", "." or nothing."""

    nodes: list[Node]
    between: list[str]
    arcs: list[Arc]

    @property
    def open(self) -> tuple[str, ...]:
        """The nodes that wait for their heads."""
        return tuple(node.name for node in self.nodes if not node.complete and not node.outside)

    def __str__(self) -> str:
        arcs = ["%s %s %s" % (self.nodes[arc.first].name, arc.kind, self.nodes[arc.last].name) for arc in self.arcs]
        return "; ".join([" ".join(node.name for node in self.nodes), *arcs])


@dataclass(frozen=True)
class Step:
    """A deduction step: from the items taken to the one made, or to a picture of a single item, made is None. rule: of 1EC."""

    name: str
    taken: list[Item]
    made: Item | None
    rule: str


def read_item(text: str) -> Item:
    """An item from its text, without brackets."""
    line, *arcs = [part.strip() for part in text.split(";")]
    found: list[Node] = []
    between: list[str] = []
    for token in line.split():
        if token in ("=", "."):
            between[-1] = token
            continue
        match = NODE.fullmatch(token)
        assert match
        complete, outside, waiting = match.groups()
        name, _, note = (complete or outside or waiting).partition("/")
        found.append(Node(name, bool(complete), bool(outside), note))
        between.append("")
    names = [node.name for node in found]
    if len(set(names)) < len(names):
        raise ValueError("%s: the same node twice" % text)
    made = []
    for arc in arcs:
        match = ARC.fullmatch(arc)
        if not match or not {match[1], match[3]} <= set(names):
            raise ValueError("%s: not an arc between nodes of the item" % arc)
        made.append(Arc(names.index(match[1]), names.index(match[3]), match[2]))
    return Item(found, between[:-1], made)


def read(content: list[str]) -> list[Step]:
    """The steps of a directive's content, each checked; ValueError for what is not one."""
    lines = [line.split(": ", 1) for line in content if line.strip()]
    checks = {name: text for name, text in lines if name in ("steps of", "rules of")}
    k, rules = checks.get("steps of", "").removeprefix("mh"), checks.get("rules of", "")
    steps = []
    for name, text in lines:
        if name in checks:
            continue
        shown, _, rule = text.partition(" | ")
        sides = [[read_item(item) for item in re.findall(r"\[(.*?)\]", side)] for side in shown.split(" => ")]
        if len(sides) > 2 or not all(sides):
            raise ValueError("%s: not items, or items => an item" % text)
        step = Step(name, sides[0], sides[1][0] if len(sides) == 2 else None, rule)
        if k and step.made and not is_step(step, int(k)):
            raise ValueError("%s: not a step of MH%s" % (text, k))
        if rules and rule not in KNOWN_RULES:
            raise ValueError("%s: not a rule of 1EC" % rule)
        steps.append(step)
    return steps


def is_step(step: Step, k: int) -> bool:
    """Whether a step is Shift, Combine or Link of MH_k (Figure 2); in the first, the node after h is called h+1."""
    assert step.made
    made = step.made.open
    if not all(2 <= len(item.open) <= k for item in (*step.taken, step.made)):
        return False
    if len(step.taken) == 2:
        left, right = (item.open for item in step.taken)
        return left[-1] == right[0] and left + right[1:] == made
    (item,) = step.taken
    if not item.arcs:
        return made == (item.open[-1], item.open[-1] + "+1")
    if len(item.arcs) > 1:
        return False
    (arc,) = item.arcs
    head, dependent = item.nodes[arc.first].name, item.nodes[arc.last].name
    rest = tuple(node for node in item.open if node != dependent)
    return arc.kind == "->" and head in rest and dependent in item.open[1:-1] and rest == made


def picture(item: Item) -> str:
    """The item as SVG, in the style of trees (mh4/drawing): nodes in a line, arcs above them."""
    widths = [layout.text_width(node.name, layout.WORD_SIZE) + 2 * PADDING for node in item.nodes]
    left, middles = float(layout.MARGIN), []
    for place, width in enumerate(widths):
        middles.append(left + width / 2)
        left += width + (REGION if item.between[place : place + 1] in (["="], ["."]) else ADJACENT)
    width = round(middles[-1] + widths[-1] / 2 + layout.MARGIN)
    above = levels(item.arcs)
    starts, ends = np.zeros(len(item.arcs), dtype=int), np.zeros(len(item.arcs), dtype=int)
    for node in range(len(item.nodes)):
        # As in trees: on each side of a node the highest arc is the innermost, so that arcs at one node do not cross.
        for side in (-1, 1):
            here = [a for a, arc in enumerate(item.arcs) if node in arc.span and (sum(arc.span) - 2 * node) * side > 0]
            for rank, a in enumerate(sorted(here, key=lambda a: -above[a])):
                at = starts if item.arcs[a].first == node else ends
                at[a] = round(middles[node] + side * (rank + 0.5) * layout.LEG)
    placed = layout.Layout(width, np.array(middles), starts, ends, np.array(above or [0]))
    top, middle = placed.bottom + 2, placed.bottom + 2 + BOX // 2
    parts = list(_regions(item, middles, widths, top))
    for place, node in enumerate(item.nodes):
        if not node.complete:
            kind = "outside" if node.outside else "waiting"
            box = '<rect class="%s" x="%g" y="%d" width="%g" height="%d" rx="4"/>'
            parts.append(box % (kind, middles[place] - widths[place] / 2, top, widths[place], BOX))
        parts.append('<text x="%g" y="%d">%s</text>' % (middles[place], middle + 5, escape(node.name)))
        if node.note:
            parts.append('<text class="note" x="%g" y="%d">%s</text>' % (middles[place], top + BOX + 16, escape(node.note)))
    for a, arc in enumerate(item.arcs):
        drawn = placed.arc(a)
        crossed = any(crosses(arc.span, other.span) for other in item.arcs)
        kinds = "arc%s%s" % (" crossed" if crossed else "", " elsewhere" if arc.kind == ".." else "")
        arrow = '<path class="arrowhead" d="%s"/>' % drawn.arrowhead if arc.kind == "->" else ""
        parts.append('<g class="%s"><path class="line" d="%s"/>%s</g>' % (kinds, drawn.line, arrow))
    return '<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">{3}</svg>'.format(
        width, top + BOX + 2, escape("[%s]" % item), "".join(parts)
    )


def _regions(item: Item, middles: list[float], widths: list[float], top: int):
    """Bars for the words that have their heads, and dots for what does not belong to the item."""
    for place, between in enumerate(item.between):
        ends = [item.nodes[end].complete for end in (place, place + 1)]
        left, right = (
            middles[end] + side * (0 if complete else widths[end] / 2)
            for end, side, complete in ((place, 1, ends[0]), (place + 1, -1, ends[1]))
        )
        if between == "=":
            yield '<rect class="region" x="%g" y="%d" width="%g" height="%d"/>' % (left, top + 3, right - left, BOX - 6)
        elif between == ".":
            yield '<text class="beyond" x="%g" y="%d">…</text>' % ((left + right) / 2, top + BOX // 2 + 3)
    for place, node in enumerate(item.nodes):  # the outer half of a complete node at the end of a region
        sides = (place > 0 and item.between[place - 1] == "=", place < len(item.between) and item.between[place] == "=")
        if node.complete and sides[0] != sides[1]:
            left = middles[place] - (0 if sides[0] else widths[place] / 2)
            yield '<rect class="region" x="%g" y="%d" width="%g" height="%d"/>' % (left, top + 3, widths[place] / 2, BOX - 6)


def levels(arcs: list[Arc]) -> list[int]:
    """The level of each arc: one above the shorter ones that it shares some space with."""
    made = [0] * len(arcs)
    for a in sorted(range(len(arcs)), key=lambda a: arcs[a].span[1] - arcs[a].span[0]):
        left, right = arcs[a].span
        below = [made[b] for b, other in enumerate(arcs) if made[b] and other.span[0] < right and left < other.span[1]]
        made[a] = 1 + max(below, default=0)
    return made


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two arcs, from their left to their right ends, cross."""
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def drawn(step: Step) -> str:
    """The step as a row of the figure; in a narrow window it takes several lines."""
    taken = '<span class="sign">+</span>'.join(map(picture, step.taken))
    made = '<span class="made"><span class="sign">⇒</span>%s</span>' % picture(step.made) if step.made else ""
    return '<div class="step"><span class="name">%s</span><span class="deduction">%s%s</span></div>' % (
        escape(step.name), taken, made,
    )  # fmt: skip
