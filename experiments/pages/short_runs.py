"""Pages of studies of annotation: a table and a plot of what their runs found."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.engine.short_runs import Lines
from experiments.pages import document, sections
from mh4.util.plots import plotted
from mh4.util.text_tables import Table


@dataclass(frozen=True)
class Page:
    """A page in words, with a table and a plot of what is recorded, of this height in inches."""

    title: str
    text: str
    table: Callable[[Lines], Table]
    shown: str  # by the plot
    plot: Callable[[Any, Lines], None]
    height: float

    def write(self, name: str, results: Path, lines: Lines) -> list[Path]:
        """Write the page and the plot; return their paths."""
        runs: list[Any] = [run for group in lines.values() for run in group]
        updates = sorted({run["settings"]["training"]["max_updates"] for run in runs})
        origin = "%s updates each, trained at commit %s."
        origin %= " or ".join(map(str, updates)), ", ".join(sorted({run["commit"] for run in runs}))
        parts: list[document.Part] = ["![%s](%s.png)" % (self.shown, name), self.table(lines), self.text]
        parts += sections.command(sorted({run["reproduce"] for run in runs}), origin)
        drawing = results / (name + ".png")
        with plotted(str(drawing), 10, self.height) as figure:
            self.plot(figure, lines)
        return [*document.write(results, name, self.title, parts), drawing]
