"""The directive `settings`: every setting of mh4/parser/config.py with its default, its range, and what the source says of it."""

import ast
import dataclasses
import inspect
import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from mh4.parser import config

NUMBER = re.compile(r"(from|to) (\S+) to (\S+)")


def rows(section: type) -> list[tuple[str, str, str, str]]:
    """The name, default, range and explanation of the settings in a section, from its source and from what `mh4 train` checks."""
    name = section.__name__.lower()
    lines, start = inspect.getsourcelines(section)
    (tree,) = ast.parse("".join(lines)).body
    assert isinstance(tree, ast.ClassDef)
    places = {node.target.id: node for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    found = []
    for field in dataclasses.fields(section):
        node = places[field.name]
        text = "".join(lines[node.lineno - 1 : node.end_lineno])
        found.append((field.name, config.as_toml(field.default), allowed(name, field), comment(text)))
    return found


def comment(text: str) -> str:
    """What follows the # of an assignment, which may be on any of its lines."""
    return " ".join(line.partition("  # ")[2].strip() for line in text.splitlines()).strip()


def allowed(section: str, field: Any) -> str:
    """The values that a setting may have, in words."""
    known = config._ALLOWED
    rule = known.get("%s.%s" % (section, field.name)) or known.get(section) or config._DEFAULT[type(field.default)]
    return str(rule).replace("1000000000", "10⁹").replace("1e+30", "10³⁰").replace("1e-30", "10⁻³⁰").replace("10000", "10,000")


def table(header: list[str], body: list[tuple[str, ...]], code: int) -> nodes.table:
    """A table whose first `code` columns are code."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]

    def line(cells: tuple[str, ...] | list[str], literal: int) -> nodes.row:
        made = nodes.row()
        for place, cell in enumerate(cells):
            kind = nodes.literal if place < literal else nodes.Text
            paragraph = nodes.paragraph("", "", kind(cell, cell) if kind is nodes.literal else nodes.Text(cell))
            made += nodes.entry("", paragraph)
        return made

    group += nodes.thead("", line(header, 0))
    group += nodes.tbody("", *(line(cells, code) for cells in body))
    return nodes.table("", group, classes=["settings"])


class Settings(Directive):
    """A section of the page for each section of the settings."""

    def run(self) -> list[nodes.Node]:
        made = []
        for part in dataclasses.fields(config.Config):
            section = type(getattr(config.Config(), part.name))
            title = nodes.section(ids=["settings-" + part.name], names=[part.name])
            title += nodes.title(part.name, part.name)
            title += nodes.paragraph("", (section.__doc__ or "").strip())
            title += table(["setting", "default", "values", ""], rows(section), 2)
            made.append(title)
        return made


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("settings", Settings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
