"""Formulas as MathML, which browsers draw by themselves: no page of the site needs a script from the network for them."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    # In the cells of a table, the sizes and limits would be as for formulas in a line.
    formula = tex2mathml(node.astext(), as_block=True).replace("<mtable ", '<mtable displaystyle="true" ')
    writer.body.append('<div class="formula">%s</div>' % formula)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
