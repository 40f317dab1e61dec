"""Pages as notebooks: the commands and Python of a page become cells that can be executed, and its text stays text."""

import re

import nbformat

FENCED = re.compile(r"^```(\S+)[^\n]*\n(.*?)^```\n?", re.S | re.M)
LINK = re.compile(r"!?\[([^\]]+)\]\((?![a-z]+://)[^)]*\)", re.S)  # within the documentation


def notebook(page: str) -> nbformat.NotebookNode:
    """The notebook of a page in Markdown. Directives, such as pictures, are left out: it draws its own."""
    cells: list[nbformat.NotebookNode] = []

    def add(make, text: str) -> None:
        if text.strip():
            cells.append(make(text.strip(), id="cell-%d" % len(cells)))

    done, text = 0, ""
    for block in FENCED.finditer(page):
        kind, content = block.groups()
        text += page[done : block.start()]
        done = block.end()
        if kind in ("console", "python"):
            add(nbformat.v4.new_markdown_cell, LINK.sub(r"\1", text))
            add(nbformat.v4.new_code_cell, content if kind == "python" else "%%bash -e\n" + "\n".join(commands(content)))
            text = ""
        elif not kind.startswith("{"):
            text += block[0]
    add(nbformat.v4.new_markdown_cell, LINK.sub(r"\1", text + page[done:]))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def commands(console: str) -> list[str]:
    """The lines of a console block that are typed, without prompts."""
    typed: list[str] = []
    goes_on = False
    for line in console.splitlines():
        if line.startswith("$ ") or goes_on:
            typed.append(line.removeprefix("$ "))
            goes_on = line.endswith("\\")
    return typed
