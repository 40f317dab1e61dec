"""The figures of the report, as SVG: learning curves, and differences from the paper."""

import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from experiments import published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that remain distinct to colour-blind readers (Okabe & Ito 2008).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8a00")
SHOWN = 12.0  # a plot of learning curves begins this many points below the best score


def curves(runs: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """Dev UAS over updates: for each system a curve, as pairs of updates and UAS."""
    figure, axes = _figure(3.6)
    best = max(uas for curve in runs.values() for _, uas in curve)
    for system, curve in runs.items():
        colour, style = appearance(system)
        updates, scores = zip(*curve, strict=True)
        axes.plot([n / 1000 for n in updates], scores, linewidth=1.2, label=system, color=colour, linestyle=style)
    axes.set_ylim(max(0.0, best - SHOWN), best + 0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("updates, in thousands")
    axes.set_ylabel("dev UAS, %")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return _svg(figure, " ".join(runs))


def appearance(system: str) -> tuple[str, str]:
    """The colour of a system's curves in all figures and, as there are more systems than colours, whether they are dashed."""
    place = published.place(system)[0]
    return COLOURS[place % len(COLOURS)], "--" if place >= len(COLOURS) else "-"


def differences(rows: Sequence[tuple[str, float, float]]) -> str:
    """The differences from the paper, with what they have to exceed: (label, difference, margin) from top to bottom."""
    figure, axes = _figure(0.8 + 0.2 * len(rows))
    places = range(len(rows), 0, -1)
    for place, (_, difference, margin) in zip(places, rows, strict=True):
        colour = COLOURS[1] if abs(difference) > margin else COLOURS[0]
        axes.errorbar(difference, place, xerr=margin, fmt="o", color=colour, markersize=4, elinewidth=1)
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    axes.set_yticks(list(places), [label for label, _, _ in rows], fontsize=8)
    axes.set_xlabel("dev UAS minus the paper's, points")
    return _svg(figure, "differences")


def finding(rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], system: str) -> str:
    """How far `system` is ahead of others, each with (treebank, difference): a line of points for each, from top to bottom."""
    figure, axes = _figure(0.9 + 0.32 * len(rows))
    places = range(len(rows), 0, -1)
    points = [(name, difference, place) for place, (_, mine) in zip(places, rows, strict=True) for name, difference in mine]
    for number, name in enumerate(dict.fromkeys(name for name, _, _ in points)):
        found = [(difference, place) for other, difference, place in points if other == name]
        axes.plot(*zip(*found, strict=True), "osD^v<>P"[number % 8], color=COLOURS[number % 6], markersize=6, label=name)
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    axes.set_yticks(places, [other for other, _ in rows])
    axes.set_xlabel("points by which %s is better" % system)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return _svg(figure, "finding")


def _figure(height: float) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e4e7ea", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def _svg(figure: "Figure", salt: str) -> str:
    """The same text for the same figure; ids differ between figures, which may share a page."""
    import matplotlib

    drawn = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r'<g id="[^"]*">', "<g>", drawn.getvalue())  # figure_1, which would be in every figure
