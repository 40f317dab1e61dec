"""The pages of the documentation that can be downloaded as notebooks run without errors in Jupyter."""

import importlib
import os
import re

import pytest
from running import INSTALLED
from toy import ROOT

DOCS = ROOT / "docs"
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")


@pytest.fixture
def notebooks(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    return importlib.import_module("notebooks")


def pages():
    """Return the pages that are offered as notebooks: the tutorial first, because the others use its model."""
    offered = [page for page in DOCS.rglob("*.md") if "```{notebook}" in page.read_text(encoding="utf-8")]
    return sorted(offered, key=lambda page: page.name != "tutorial.md")


@pytest.mark.slow
def test_the_notebooks_run(notebooks, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    monkeypatch.setenv("PATH", "%s:%s" % (INSTALLED.parent, os.environ["PATH"]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    assert pages()[0] == DOCS / "tutorial.md"
    drawn = {}
    for page in pages():
        made = notebooks.notebook(page.read_text(encoding="utf-8"))
        nbclient.NotebookClient(
            made, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
        ).execute()
        outputs = [output for cell in made.cells if cell.cell_type == "code" for output in cell.outputs]
        assert outputs and not [output for output in outputs if output.output_type == "error"]
        html = [output.data.get("text/html", "") for output in outputs if "data" in output]
        drawn[page.name] = [len(re.findall('class="arrowhead"', text)) for text in html]
    assert drawn["tutorial.md"] == [14]  # the tree of sentence 7
