"""Measure the coverage of each class of trees (Table 3 of the paper, for any trees), and statistics of their crossings.

Sentence coverage is the percentage of trees that are in a class. Edge coverage is the percentage of arcs that the
nearest trees of the class keep. There is one arc per word, including arcs from the root and to punctuation.

The exact decoders find nearest trees, for the core of a tree (see mh4.trees.nearest). In treebanks, cores have up to
some 30 words. A core of 200 words takes a few seconds; one of 1000 would take hours. Trees with a core of more than
LARGEST_CORE words are not counted, and the tables list their number.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mh4 import trees
from mh4.decoders import arguments
from mh4.trees.measures import core
from mh4.util import text_tables
from mh4.util.plots import plotted
from mh4.util.text_tables import Form, Table, group_names

CLASSES = {"projective": "projective", "mh4": "MH4", "1ec": "1EC", "mh5": "MH5"}  # the paper's, and MH5
GAP_DEGREES = (0, 1, 2, 3)  # the first degree of each column; the last is open-ended
CROSSINGS = (0, 1, 2, 3, 4, 5, 10)
LARGEST_CORE = 200  # words

Row = tuple[str, "Coverage"]


@dataclass
class Coverage:
    """Counts over trees; the sum of two is the coverage of both together.

    covered: the number of trees in each class; kept: the number of arcs that the nearest trees of the class keep.
    gap_degree, crossings: how many trees have each gap degree, and each number of crossings (pairs of crossing arcs).
    left_out: the number of trees that are not counted because their core has more than 200 words.
    """

    sentences: int = 0
    words: int = 0
    well_nested: int = 0
    covered: Counter = field(default_factory=Counter)
    kept: Counter = field(default_factory=Counter)
    gap_degree: Counter = field(default_factory=Counter)
    crossings: Counter = field(default_factory=Counter)
    left_out: int = 0

    def add(self, heads: np.ndarray) -> None:
        """Count a tree: heads, integers (n+1,), as in mh4.trees. Raises ValueError if it is not a tree."""
        heads = arguments.tree(heads)
        crossings = trees.number_of_crossings(heads)
        if crossings and len(core(heads)[0]) - 1 > LARGEST_CORE:
            self.left_out += 1
            return
        self.sentences += 1
        self.words += len(heads) - 1
        self.crossings[crossings] += 1
        self.gap_degree[trees.gap_degree(heads)] += 1
        self.well_nested += trees.is_well_nested(heads)
        for name in CLASSES:
            near = trees.nearest(heads, name) if crossings else heads  # projective trees are in every class
            kept = int((near[1:] == heads[1:]).sum())
            self.kept[name] += kept
            self.covered[name] += kept == len(heads) - 1

    def __add__(self, other: "Coverage") -> "Coverage":
        return Coverage(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    def sentence_coverage(self, name: str) -> float:
        """Return the percentage of trees in a class: "projective", "mh4", "1ec" or "mh5".

        Raises ValueError for another name.
        """
        return self.share(self.covered[_counted(name)])

    def edge_coverage(self, name: str) -> float:
        """Return the percentage of arcs that the nearest trees of a class keep. Raises as `sentence_coverage` does."""
        return 100 * self.kept[_counted(name)] / self.words if self.words else 0.0

    def share(self, sentences: int) -> float:
        """Return a number of sentences as a percentage of all."""
        return 100 * sentences / self.sentences if self.sentences else 0.0


def _counted(name: str) -> str:
    if name not in CLASSES:
        raise ValueError("no class %r is counted; there are %s" % (name, ", ".join(CLASSES)))
    return name


def measure_coverage(treebank: Iterable[np.ndarray], advance: Callable[[int], None] = lambda words: None) -> Coverage:
    """Return the coverage of trees (heads, as in Coverage.add); `advance` is called with each tree's number of words."""
    coverage = Coverage()
    for heads in treebank:
        coverage.add(heads)
        advance(len(heads) - 1)
    return coverage


def total(rows: Sequence[Row]) -> Coverage:
    """Return the coverage of all rows together."""
    return sum((coverage for _, coverage in rows), Coverage())


def grouped(counts: Counter, starts: Sequence[int]) -> list[int]:
    """Sum the counts over groups of numbers, each from its start up to the next start; the last is open-ended."""
    ends = list(starts[1:]) + [float("inf")]
    return [
        sum(count for number, count in counts.items() if start <= number < end) for start, end in zip(starts, ends, strict=True)
    ]


def by_class(coverage: Coverage) -> list[float]:
    """Return the percentages of sentences in each of CLASSES, then the percentages of arcs."""
    return [of(name) for of in (coverage.sentence_coverage, coverage.edge_coverage) for name in CLASSES]


def by_shape(coverage: Coverage) -> list[float]:
    """Return percentages of sentences: in each group of GAP_DEGREES, well-nested, and in each group of CROSSINGS."""
    gaps, crossings = grouped(coverage.gap_degree, GAP_DEGREES), grouped(coverage.crossings, CROSSINGS)
    return [coverage.share(count) for count in (*gaps, coverage.well_nested, *crossings)]


def record(coverage: Coverage) -> dict[str, Any]:
    """Return the coverage for JSON, as the help of `mh4 coverage` describes it: counts, and unrounded percentages."""

    def distribution(counts: Counter, shift: int = 0) -> dict[str, int]:
        return {str(number + shift): counts[number] for number in sorted(counts)}

    return {
        "sentences": coverage.sentences,
        "words": coverage.words,
        "classes": {
            name: {
                "sentences": coverage.covered[name],
                "edges": coverage.kept[name],
                "sentence_coverage": coverage.sentence_coverage(name),
                "edge_coverage": coverage.edge_coverage(name),
            }
            for name in CLASSES
        },
        "gap_degree": distribution(coverage.gap_degree),
        "block_degree": distribution(coverage.gap_degree, shift=1),
        "well_nested": coverage.well_nested,
        "crossings": distribution(coverage.crossings),
        "left_out": coverage.left_out,
    }


def table(rows: Sequence[Row], form: Form = "text") -> str:
    """Format tables of sentence coverage, edge coverage, gaps, and crossings, then a line on sentences left out, if any."""
    names, classes, gaps = [name for name, _ in rows], list(CLASSES.values()), group_names(GAP_DEGREES)
    covered, shapes = ([["%.2f" % share for share in of(row)] for _, row in rows] for of in (by_class, by_shape))
    sizes = [["%d" % row.sentences, "%d" % row.words] for _, row in rows]
    sentence_rows = [[*size, *shares[: len(classes)]] for size, shares in zip(sizes, covered, strict=True)]
    arc_rows = [shares[len(classes) :] for shares in covered]
    nested = len(gaps) + 1
    parts = [
        Table.grouped("", [("", ["sentences", "words"]), ("sentence coverage, %", classes)], names, sentence_rows),
        Table.grouped("", [("edge coverage, %", classes)], names, arc_rows),
        Table.grouped(
            "% of sentences", [("gap degree", gaps), ("", ["well-nested"])], names, [shares[:nested] for shares in shapes]
        ),
        Table.grouped("% of sentences", [("crossings", group_names(CROSSINGS))], names, [shares[nested:] for shares in shapes]),
    ]
    return text_tables.written([*parts, *without(rows)], form)


def without(rows: Sequence[Row]) -> list[str]:
    """Return a line that lists how many sentences are left out, or no line."""
    left_out = ["%d of %s" % (row.left_out, name) for name, row in rows if row.left_out]
    message = "Sentences left out, as arcs of more than %d words are entangled and nearest trees would take too long: %s"
    return [message % (LARGEST_CORE, ", ".join(left_out))] if left_out else []


def plot(path: str, rows: Sequence[Row]) -> None:
    """Plot sentence and edge coverage by class, and the distribution of the number of crossings.

    path, and errors: see plots.plotted.
    """
    places = range(len(rows))
    with plotted(path, 12, 1.6 + 0.3 * len(rows)) as figure:
        sentences, edges, crossings = figure.subplots(1, 3, sharey=True)
        for axes, title, value in (
            (sentences, "Sentence coverage", Coverage.sentence_coverage),
            (edges, "Edge coverage", Coverage.edge_coverage),
        ):
            for (name, label), marker in zip(CLASSES.items(), "os^D", strict=True):
                axes.plot([value(row, name) for _, row in rows], places, marker, label=label, alpha=0.8)
            axes.set_title(title)
            axes.grid(alpha=0.3)
            axes.locator_params(axis="x", nbins=6)
        left = [0.0] * len(rows)
        groups = zip(*[grouped(row.crossings, CROSSINGS) for _, row in rows], strict=True)
        for number, (name, counts) in enumerate(zip(group_names(CROSSINGS), groups, strict=True)):
            shares = [row.share(count) for (_, row), count in zip(rows, counts, strict=True)]
            shade = str(0.9 - 0.85 * number / len(CROSSINGS))
            crossings.barh(places, shares, left=left, label=name, color=shade)
            left = [a + b for a, b in zip(left, shares, strict=True)]
        crossings.set_title("Crossings")
        crossings.set_xlim(0, 100)
        sentences.set_yticks(places, [name for name, _ in rows])
        sentences.invert_yaxis()
        for axes, unit in ((sentences, "sentences"), (edges, "arcs"), (crossings, "sentences")):
            axes.set_xlabel("% of " + unit)
        handles, labels = sentences.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=len(labels))
        handles, labels = crossings.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower right", ncols=len(labels), title="pairs of crossing arcs")
