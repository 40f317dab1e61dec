"""Draw trees as SVG files, for papers, notebooks and READMEs."""

import re
from collections.abc import Sequence
from html import escape

import numpy as np

from mh4 import trees
from mh4.drawing import layout

_BEGIN = re.compile(r'<svg [^>]*?\bwidth="(\d+)" height="(\d+)"')

# Crossed arcs are coloured. Less probable arcs are paler, and dashed below one half. Dark mode is the reader's setting.
_STYLE = """
.mh4-tree text { font: %dpx sans-serif; text-anchor: middle; fill: #1f2328 }
.mh4-tree .line { fill: none; stroke: #3d444d; stroke-width: 1.5 }
.mh4-tree .doubtful { stroke-dasharray: 5 3 }
.mh4-tree .arrowhead { fill: #3d444d }
.mh4-tree .label { font-size: %dpx; fill: #3d444d; paint-order: stroke; stroke: #fff; stroke-width: 4 }
.mh4-tree .crossed .line { stroke: #a83a0b }
.mh4-tree .crossed .arrowhead, .mh4-tree .crossed .label { fill: #a83a0b }
.mh4-tree .background { fill: #fff }
@media (prefers-color-scheme: dark) {
.mh4-tree text { fill: #e6edf3 }
.mh4-tree .line { stroke: #aab4be }
.mh4-tree .arrowhead { fill: #aab4be }
.mh4-tree .label { fill: #aab4be; stroke: #0d1117 }
.mh4-tree .crossed .line { stroke: #fb923c }
.mh4-tree .crossed .arrowhead, .mh4-tree .crossed .label { fill: #fb923c }
.mh4-tree .background { fill: #0d1117 }
}
""" % (layout.WORD_SIZE, layout.LABEL_SIZE)


def picture(words: list[str], heads: np.ndarray, deprels: list[str], probabilities: np.ndarray | None = None) -> str:
    """Return the tree of n words as SVG.

    heads: int32 (n+1,). deprels: n strings. probabilities: of the arcs, float64 (n+1,), nan where unknown; or None.
    """
    direction = layout.direction_of(words)
    (placed,) = layout.place(words, [(heads, deprels)], direction)
    crossed = trees.crossed_arcs(heads)
    certain = np.ones(len(heads)) if probabilities is None else np.nan_to_num(probabilities, nan=1.0)
    shades = (layout.PALEST + (1 - layout.PALEST) * certain).tolist()
    arcs, labels = [], []
    for m in range(len(words)):
        arc, shade = placed.arc(m), shades[m + 1]
        begin = '<g class="crossed">' if crossed[m + 1] else "<g>"
        line = "line doubtful" if shade < (1 + layout.PALEST) / 2 else "line"
        opacity = f' opacity="{shade:.2f}"' if shade < 1 else ""
        label_opacity = f' fill-opacity="{(1 + shade) / 2:.2f}"' if shade < 1 else ""
        path = f'<path class="{line}" d="{arc.line}"{opacity}/>'
        arcs.append(f'{begin}{path}<path class="arrowhead" d="{arc.arrowhead}"{opacity}/></g>')
        # A label is less pale, to remain legible. Its outline is not pale at all, as it separates the label from lines.
        labels.append(begin + _text(arc.label_x, arc.label_y, deprels[m], ' class="label"' + label_opacity) + "</g>")
    written = [_text(x, placed.baseline, word) for x, word in zip(placed.words.tolist(), words, strict=True)]
    nodes = ["root", *words]
    arcs_in_words = ["%s ← %s (%s)" % (nodes[m], nodes[heads[m]], deprels[m - 1]) for m in range(1, len(nodes))]
    described = "Dependency tree: " + ", ".join(arcs_in_words)  # for readers who cannot see it
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="mh4-tree"{5} width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" '
        'aria-label="{2}"><style>{3}</style><rect class="background" width="{0}" height="{1}"/>\n{4}\n</svg>\n'
    ).format(
        placed.width,
        placed.height,
        escape(described),
        _STYLE,
        "\n".join(arcs + labels + written),
        ' direction="rtl"' * (direction == "rtl"),
    )
    return valid_xml(drawing)


def valid_xml(text: str) -> str:
    """Return text with replacement characters in place of characters that XML does not allow."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def sheet(pictures: Sequence[str]) -> str:
    """Stack several pictures in one SVG file; return a single one as it is."""
    if len(pictures) == 1:
        return pictures[0]
    parts, width, height = [], 1, 0
    for drawing in pictures:
        begin = _BEGIN.match(drawing)
        assert begin
        parts.append('<svg y="%d" %s' % (height, drawing[len("<svg ") :]))
        width, height = max(width, int(begin[1])), height + int(begin[2])
    size = 'width="{0}" height="{1}" viewBox="0 0 {0} {1}"'.format(width, max(height, 1))
    return '<svg xmlns="http://www.w3.org/2000/svg" %s>\n%s</svg>\n' % (size, "".join(parts))


def _text(x: float, y: int, text: str, attributes: str = "") -> str:
    return '<text x="%.10g" y="%d"%s>%s</text>' % (x, y, attributes, escape(text))
