"""Sphinx's configuration: `make docs` builds the site into build/docs.

Its source folder is the repository, of which it takes docs/ and the pages of results: so these are part of the site as they are, and links
between them work there as they do in the repository.
"""

import importlib.util
import re
import sys
from pathlib import Path

from pygments.lexers.shell import BashSessionLexer

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

import mh4  # noqa: E402


class Console(BashSessionLexer):
    """Commands after "$ ", and what they print: elsewhere, "#" is a prompt, too."""

    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")


def setup(app):
    app.add_lexer("console", Console)


project, author, copyright = "mh4", "The mh4 developers", "The mh4 developers"
release = version = mh4.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_click",
    "sphinx_copybutton",
    "settings_table",  # this and what follows: in docs/extensions
    "tree_pictures",
    "item_pictures",
    "chart_steps",
    "mathml",
    "signatures",
    "notebook_pages",
]
include_patterns = [
    "docs/**.md",
    "experiments/results/*.md",
    "experiments/README.md",
    "benchmarks/results/*.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
]
# Records of treebanks that are made on this machine only, and folders that need not be searched.
exclude_patterns = [".*", "build", "dist", "data", "mh4", "tests", "tools", "runs"]
root_doc = "docs/index"
templates_path = ["templates"]
html_additional_pages = {"index": "redirect.html"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
# A transition such as LA' has a prime, which typographic quotes would turn into something else.
smartquotes = False

# Of a console block, the button copies the commands: neither their prompts nor what they print.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"
copybutton_copy_empty_lines = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_mock_imports = [] if importlib.util.find_spec("torch") else ["torch"]

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "mh4"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["mh4.css"]
html_copy_source = False
