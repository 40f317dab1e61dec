"""The directive `chart`: the deduction of one tree by MH4, step by step, beside stack, buffer and arcs. The data are made here, by a
decoder; docs/static/chart.js only shows them. Without scripts, the steps are a table.

    ```{chart}
    words: Jack Dempseys are not an easy cichlid to breed
    heads: 2 7 7 7 7 7 0 9 6
    ```
"""

import json
from html import escape

import numpy as np
from deduction import Step, best, scores_for
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from tree_pictures import read

from mh4.decoders.mh4 import decode
from mh4.decoders.shared import arguments
from mh4.drawing import layout
from mh4.transitions import Transition

SEED = 1


def data(words: list[str], heads: list[int]) -> dict:
    """What the page shows: the words, the places of the arcs, and the steps."""
    tree = arguments.tree([-1, *heads])
    scores = scores_for(tree, SEED)
    steps = best(*scores)
    found = decode(*scores[:3], arcs=scores[3], single_root=True)
    if found.heads.tolist() != tree.tolist() or abs(found.score - steps[-1].score) > 1e-3:
        raise ValueError("the decoder finds another tree")
    placed = layout.place(words, [(tree, [""] * len(words))])[0]
    arcs = [{"line": placed.arc(m).line, "head": placed.arc(m).arrowhead} for m in range(len(words))]
    picture = {
        "width": placed.width,
        "height": placed.height,
        "baseline": placed.baseline,
        "x": placed.words.tolist(),
        "arcs": arcs,
    }
    return {"words": words, "picture": picture, "steps": [_shown(step) for step in steps]}


def _shown(step: Step) -> dict:
    name = "" if step.transition is None else str(Transition(step.transition))
    return {
        "rule": step.rule,
        "item": step.item,
        "used": step.used,
        "score": round(step.score, 2),
        "gained": round(step.gained, 2),
        "transition": name,
        "arc": step.arc,
        "stack": step.stack,
        "b0": step.b0,
        "attached": [int(m) for m in np.flatnonzero(np.array(step.heads) >= 0)],
    }


def _table(found: dict) -> str:
    def named(item: list[int]) -> str:
        return "[%s]" % ", ".join(map(str, item))

    lines = [
        (step["rule"], named(step["item"]), " + ".join(map(named, step["used"])), step["transition"]) for step in found["steps"]
    ]
    body = "".join("<tr>%s</tr>" % "".join("<td>%s</td>" % escape(cell) for cell in line) for line in lines)
    return (
        "<table><thead><tr><th>rule</th><th>item</th><th>from</th><th>transition</th></tr></thead><tbody>%s</tbody></table>"
        % body
    )


class Chart(Directive):
    has_content = True

    def run(self) -> list[nodes.Node]:
        words, heads, _ = read(list(self.content))
        found = data(words, heads)
        text = json.dumps(found, ensure_ascii=False).replace("</", "<\\/")
        page = '<div class="mh4-chart"><noscript>%s</noscript></div><script type="application/json" class="mh4-chart-data">%s</script>'
        return [nodes.raw("", page % (_table(found), text), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("chart", Chart)
    app.add_js_file("chart.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
