"""The directive `settings`: every setting as `mh4 settings` prints it, with its default, its range and what it means."""

import re

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from mh4.parser.settings_help import THEIRS, Setting, sections


def allowed(values: str) -> str:
    """The values that a setting may have, in words, with numbers as they are printed."""
    values = values.replace("1000000000", "10⁹").replace("1e+30", "10³⁰").replace("1e-30", "10⁻³⁰")
    return re.sub(r"\b\d{5,}\b", lambda number: f"{int(number[0]):,}", values)


def table(header: list[str], body: list[tuple[str, ...]], code: int) -> nodes.table:
    """A table whose first `code` columns are code."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]

    def line(cells: tuple[str, ...] | list[str], literal: int) -> nodes.row:
        made = nodes.row()
        for place, cell in enumerate(cells):
            text = nodes.literal(cell, cell) if place < literal else nodes.Text(cell)
            made += nodes.entry("", nodes.paragraph("", "", text))
        return made

    group += nodes.thead("", line(header, 0))
    group += nodes.tbody("", *(line(cells, code) for cells in body))
    return nodes.table("", group, classes=["settings"])


class Settings(Directive):
    """A section of the page for each section of the settings."""

    def run(self) -> list[nodes.Node]:
        found = sections()
        made = [self.section(one.name, one.about, [each for each in one.settings if not each.authors]) for one in found]
        theirs = [each._replace(name="%s.%s" % (one.name, each.name)) for one in found for each in one.settings if each.authors]
        return [*made, self.section("authors' runs", THEIRS, theirs)]

    def section(self, name: str, about: str, settings: list[Setting]) -> nodes.Node:
        title = nodes.section(ids=[nodes.make_id("settings-" + name)], names=[name])
        title += nodes.title(name, name)
        title += nodes.paragraph("", about)
        rows = [(setting.name, setting.default, allowed(setting.allowed), setting.meaning) for setting in settings]
        title += table(["setting", "default", "values", ""], rows, 2)
        return title


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("settings", Settings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
