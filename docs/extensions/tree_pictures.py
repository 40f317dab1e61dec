"""The directive `tree`: a dependency tree, drawn by mh4 itself.

    ```{tree} What the picture shows
    words: A hearing is scheduled on the issue today
    heads: 2 4 4 0 7 7 2 4
    labels: det nsubj aux root case det nmod obl
    ```

Labels may be omitted. `in: mh4 1ec` and `outside: projective` say which classes the tree is in; if it is not so, the page is not built.
"""

from html import escape

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from mh4 import trees
from mh4.decoders import arguments
from mh4.drawing import svg


def read(content: list[str]) -> tuple[list[str], list[int], list[str]]:
    """The words, heads and labels of a directive's content."""
    fields = dict(line.split(": ", 1) for line in content if line.strip())
    words = fields["words"].split()
    heads = [int(head) for head in fields["heads"].split()]
    labels = fields["labels"].split() if "labels" in fields else [""] * len(words)
    if not len(words) == len(heads) == len(labels):
        raise ValueError("%d words, %d heads and %d labels" % (len(words), len(heads), len(labels)))
    return words, heads, labels


def check(content: list[str], heads: np.ndarray) -> None:
    """Raise ValueError if the tree is not in the classes that the content names, or in one that it should be outside of."""
    for line in content:
        field, _, names = line.partition(": ")
        for name in names.split() if field in ("in", "outside") else ():
            if trees.in_class(heads, name) != (field == "in"):
                raise ValueError("it is not %s %s" % (field, name))


class Tree(Directive):
    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        try:
            words, heads, labels = read(list(self.content))
            tree = arguments.tree([-1, *heads])
            check(list(self.content), tree)
            picture = svg.picture(words, tree, labels)
        except (KeyError, ValueError) as error:
            raise self.error("not a tree: %s" % error) from None
        caption = "<figcaption>%s</figcaption>" % escape(self.arguments[0]) if self.arguments else ""
        return [nodes.raw("", '<figure class="tree">%s%s</figure>' % (picture, caption), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("tree", Tree)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
