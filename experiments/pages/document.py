"""Pages of paragraphs and tables, as Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mh4.errors import InputError
from mh4.util.files import make_folder, write_text
from mh4.util.text_tables import Table

Part = str | Table  # a str is Markdown


@dataclass(frozen=True)
class Section:
    """A title, and what follows it. folded: whether it is closed at first."""

    title: str
    parts: Sequence[Part]
    folded: bool = False


def items(lines: Iterable[str]) -> str:
    """Return a list."""
    return "\n".join("- " + line for line in lines)


def code(lines: Iterable[str]) -> str:
    """Lines to be typed."""
    return "\n".join("    " + line for line in lines)


def markdown(title: str, parts: Iterable[Part]) -> str:
    """Return a page as Markdown."""
    texts = (part.markdown() if isinstance(part, Table) else part for part in parts)
    return "\n\n".join(["# " + title, *filter(None, texts)]) + "\n"


def write(results: Path, name: str, title: str, parts: Iterable[Part], csv_text: str = "") -> list[Path]:
    """Write ``NAME.md`` and, if there is such a table, ``NAME.csv``; return their paths."""
    make_folder(results)
    pages = {results / (name + ".md"): markdown(title, parts), **({results / (name + ".csv"): csv_text} if csv_text else {})}
    for path, text in pages.items():
        write_text(str(path), text)
    return list(pages)


def write_between(page: Path, name: str, table: Table) -> Path:
    """Put a table between the two lines of a page that name it, and return its path. Raises InputError if these lines are missing."""
    begin, end = "<!-- %s: written by make report -->" % name, "<!-- end of %s -->" % name
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, also_found, after = rest.partition(end)
    if not found or not also_found:
        raise InputError("%s has no lines %s and %s, between which the table is" % (page, begin, end))
    write_text(str(page), "%s%s\n\n%s\n\n%s%s" % (before, begin, table.markdown(), end, after))
    return page


def of_sections(sections: Iterable[Section]) -> list[Part]:
    """Return the parts of a page of sections."""
    parts: list[Part] = []
    for section in sections:
        inside = ["<details>\n<summary>Show</summary>", *section.parts, "</details>"] if section.folded else section.parts
        parts += ["## " + section.title, *inside] if section.parts else []
    return parts
