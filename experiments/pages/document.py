"""Pages of paragraphs, tables and figures, as Markdown, without the figures, and as one HTML page that needs no other file."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mh4.errors import InputError
from mh4.util.files import make_folder, write_text
from mh4.util.text_tables import Table


@dataclass(frozen=True)
class Figure:
    """A drawing, as SVG, and the sentence below it; only in HTML."""

    svg: str
    caption: str


Part = str | Table  # a str is Markdown


@dataclass(frozen=True)
class Section:
    """A title, and what follows it. folded: the reader opens it."""

    title: str
    parts: Sequence[str | Table | Figure]
    folded: bool = False


def items(lines: Iterable[str]) -> str:
    """A list."""
    return "\n".join("- " + line for line in lines)


def code(lines: Iterable[str]) -> str:
    """Lines to be typed."""
    return "\n".join("    " + line for line in lines)


def markdown(title: str, parts: Iterable[Part]) -> str:
    """A page as Markdown."""
    texts = (part.markdown() if isinstance(part, Table) else part for part in parts)
    return "\n\n".join(["# " + title, *filter(None, texts)]) + "\n"


def write(results: Path, name: str, title: str, parts: Iterable[Part], csv_text: str = "") -> list[Path]:
    """Writes ``NAME.md`` and, if there is such a table, ``NAME.csv``; returns their paths."""
    make_folder(results)
    pages = {results / (name + ".md"): markdown(title, parts), **({results / (name + ".csv"): csv_text} if csv_text else {})}
    for path, text in pages.items():
        write_text(str(path), text)
    return list(pages)


def write_between(page: Path, name: str, table: Table) -> Path:
    """Puts a table between the two lines of a page that name it, and returns its path. Raises InputError if it does not have them."""
    begin, end = "<!-- %s: written by make report -->" % name, "<!-- end of %s -->" % name
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, also_found, after = rest.partition(end)
    if not found or not also_found:
        raise InputError("%s has no lines %s and %s, between which the table is" % (page, begin, end))
    write_text(str(page), "%s%s\n\n%s\n\n%s%s" % (before, begin, table.markdown(), end, after))
    return page


def write_report(results: Path, name: str, title: str, sections: Sequence[Section]) -> list[Path]:
    """Writes ``NAME.md``, without sections of nothing but figures, and ``NAME.html``; returns their paths."""
    parts: list[Part] = []
    for section in sections:
        in_words = [part for part in section.parts if not isinstance(part, Figure)]
        if section.folded:
            in_words = ["<details>\n<summary>Show</summary>", *in_words, "</details>"]
        parts += ["## " + section.title, *in_words] if in_words else []
    pages = {results / (name + ".md"): markdown(title, parts), results / (name + ".html"): as_html(title, sections)}
    for path, text in pages.items():
        write_text(str(path), text)
    return list(pages)


STYLE = """\
:root { color-scheme: light dark; --line: #d5d9de; --soft: #f4f6f8; --link: #0b57a4; --text: #1c2024; --page: #fff; --faint: #555; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3d444d; --soft: #161b22; --link: #6cb0ff; --text: #e6edf3; --page: #0d1117; --faint: #9da7b3; }
  figure svg { filter: invert(1) hue-rotate(180deg); }
}
body { margin: 0 auto; padding: 1rem 1.5rem 4rem; max-width: 78rem; color: var(--text); background: var(--page);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: 1rem 0 .5rem; } h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; }
p { max-width: 52rem; } nav a { margin-right: 1rem; } a { color: var(--link); }
.wide { overflow-x: auto; margin: 1rem 0; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: left; white-space: nowrap; border-top: 1px solid var(--line); }
tr.continued td { border-top: none; } th { background: var(--soft); } td.number, th.number { text-align: right; }
figure { margin: 1.5rem 0; } figcaption { color: var(--faint); font-size: 13px; }
"""


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The document as a page of HTML, with its figures and style inside."""
    anchors = {section.title: re.sub(r"[^a-z0-9]+", "-", section.title.lower()).strip("-") for section in sections}
    links = "\n".join('<a href="#%s">%s</a>' % (anchors[section.title], html.escape(section.title)) for section in sections)
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<link rel="icon" href="data:,">',
        "<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>" % (html.escape(title), STYLE),
        "<h1>%s</h1>\n<nav>\n%s\n</nav>" % (html.escape(title), links),
    ]
    for section in sections:
        lines.append('<section id="%s">\n<h2>%s</h2>' % (anchors[section.title], html.escape(section.title)))
        begin, end = (["<details>\n<summary>Show</summary>"], ["</details>"]) if section.folded else ([], [])
        lines += [*begin, *map(_part, section.parts), *end]
        lines.append("</section>")
    return "\n".join([*lines, "</body>\n</html>\n"])


def _part(part: str | Table | Figure) -> str:
    if isinstance(part, Figure):
        drawing = part.svg[part.svg.index("<svg") :]  # without the declarations of an XML file
        figure = '<figure>\n<div class="wide">%s</div>\n<figcaption>%s</figcaption>\n</figure>'
        return figure % (drawing, html.escape(part.caption))
    if isinstance(part, Table):
        head = _row(part, part.header, "th")
        body = "\n".join(_row(part, line, "td") for line in part.body)
        return '<div class="wide"><table>\n<thead>\n%s\n</thead>\n<tbody>\n%s\n</tbody>\n</table></div>' % (head, body)
    return "<p>%s</p>" % html.escape(part)


def _row(table: Table, cells: Sequence[str], tag: str) -> str:
    continued = ' class="continued"' if not cells[0] else ""  # what the line above begins
    row = ""
    for column, cell in enumerate(cells):
        row += "<%s%s>%s</%s>" % (tag, ' class="number"' if table.is_number(column) else "", html.escape(cell), tag)
    return "<tr%s>%s</tr>" % (continued, row)
