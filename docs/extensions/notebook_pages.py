"""The directive `notebook`: says that the page is also a notebook, which is written beside it when the site is built (notebooks.py)."""

from pathlib import Path

import nbformat
from docutils import nodes
from notebooks import notebook
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SAID = """<p>This page is also <a href="%s.ipynb" download>a notebook</a>: save it in the folder of your clone, and open it with Jupyter in
the environment of <code class="docutils literal">make setup</code> (<code class="docutils literal">pip install jupyterlab</code>).</p>"""


class Notebook(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.metadata[self.env.docname]["notebook"] = True
        return [nodes.raw("", SAID % Path(self.env.docname).name, format="html")]


def write(app: Sphinx, failure: Exception | None) -> None:
    for name, found in app.env.metadata.items():
        if "notebook" in found and not failure:
            page = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
            nbformat.write(notebook(page), Path(app.outdir, name + ".ipynb"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("notebook", Notebook)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
