"""The directive `chart`: the deduction of one tree by MH4, step by step, beside stack, buffer and arcs. The steps are found here;
docs/static/chart.js only shows them. Without scripts, they are a table.

    ```{chart}
    words: Jack Dempseys are not an easy cichlid to breed
    heads: 2 7 7 7 7 7 0 9 6
    ```
"""

import json
from html import escape

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from steps import best_steps
from tree_pictures import read

from mh4.drawing import layout

SEED = 1
BONUS = 6  # of the arcs of the tree to be shown, among random scores


def data(words: list[str], heads: list[int]) -> dict:
    """What the page shows: the words, the places of the arcs, and the steps, by random scores with a bonus for the arcs of this tree."""
    n, tree, rng = len(words), np.array([-1, *heads]), np.random.default_rng(SEED)
    tensors = [rng.normal(size=size).astype(np.float32) for size in ((n + 2,) * 2, *2 * [(6, n + 2, n + 2)])]
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    arcs[heads, np.arange(1, n + 1)] = BONUS
    steps = best_steps(n, *tensors, arcs=arcs)
    if {step["arc"] for step in steps} - {None} != {(head, m) for m, head in enumerate(heads, 1)}:
        raise ValueError("MH4 finds another tree")
    placed = layout.place(words, [(tree, [""] * n)])[0]
    picture = {
        "width": placed.width,
        "height": placed.height,
        "baseline": placed.baseline,
        "x": placed.words.tolist(),
        "arcs": [{"line": placed.arc(m).line, "head": placed.arc(m).arrowhead} for m in range(n)],
    }
    return {"words": words, "picture": picture, "steps": steps}


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
