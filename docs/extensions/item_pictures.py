"""The directive `items`: deduction steps as pictures. Each line is a step, with the items that it takes and the one that it makes:

    ```{items} What the pictures show
    Combine: [h1 = h2 = h3] + [h3 = h4] => [h1 = h2 = h3 = h4]
    Link: [h1 = h2 = h3 = h4; h1 -> h3] => [h1 = h2 = (h3) = h4]
    steps of: mh4
    ```

Nodes stand in the order of the sentence. A node that waits for its head has a box, or a dashed one if it is outside of the region that
the item covers: (m) has its head, <x> is outside. What follows a slash is written below: h4/b0. Between nodes, `=` is a region whose
words all have their heads, `.` a part of the sentence that does not belong to the item. After semicolons follow arcs: h -> m, an arc in
either direction a -- b, or one that is made elsewhere, a .. b. Arcs that cross are in colour.

With `steps of: mh4` (mh5, ...), each line must be a step of Figure 2 for this k, with `rules of: 1ec` a rule of charts/oneec/rules.py
for the items that the line names after a bar, as in

    Spanned: [l = (u) = t . <r>; l -- t; u -- r] + [t = r] => [l = (u) = (t) = r; l -- t; u -- r] | complex l r <- spanned l t r, gap t r

or else the page is not built.
"""

from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive
from items import drawn, read
from sphinx.application import Sphinx


class Items(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        try:
            steps = read(list(self.content))
        except (AssertionError, ValueError) as error:
            raise self.error("not deduction steps: %s" % error) from None
        caption = "<figcaption>%s</figcaption>" % escape(self.arguments[0]) if self.arguments else ""
        return [nodes.raw("", '<figure class="items">%s%s</figure>' % ("".join(map(drawn, steps)), caption), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("items", Items)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
