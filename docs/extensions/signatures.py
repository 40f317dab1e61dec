"""What autodoc needs to know of our modules: the form of our docstrings, which are plain text. A line `name: what it is` in them becomes
an item of a list, with the indented lines that follow it.
"""

import re
from typing import Any

from sphinx.application import Sphinx

PARAMETER = re.compile(r"^((?:[a-z_]\w*)(?:, [a-z_]\w*)*): ")


def in_restructured_text(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring so that they can be parsed."""
    if what == "module":
        return
    made: list[str] = []
    item = False
    for line in lines:
        found = PARAMETER.match(line)
        if found:
            made += ([] if item else [""]) + ["* ``%s``: %s" % (found[1], line[found.end() :])]
            item = True
        elif item and line.strip() and (line.startswith("    ") or not made[-1].endswith((".", ";"))):
            made.append("  " + line.strip())
        elif line.startswith("    ") and made and made[-1] and not made[-1].startswith(" "):
            made.append(line.strip())  # hanging indents, of which reStructuredText knows nothing
        else:
            if item and line.strip():
                made.append("")
            item = item and not line.strip()
            made.append(line)
    lines[:] = made


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", in_restructured_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
