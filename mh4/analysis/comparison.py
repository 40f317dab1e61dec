"""Analyse where one parser is better than another, and whether this may be due to chance (`mh4 compare`).

The recall and precision of arcs are measured by dependency length, by distance to the root and by sentence length,
following McDonald & Nivre ("Analyzing and Integrating Dependency Parsers", Computational Linguistics 37(1), 2011), and
by whether arcs are crossed. These properties are taken from the gold tree for recall and from the system's own tree for
precision. Words may differ: the official scorer aligns them.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mh4.analysis import evaluation, significance
from mh4.analysis.arcs import Arcs, Correct, correct_arcs, recovered_arcs
from mh4.errors import InputError, counted
from mh4.util.files import identity
from mh4.util.plots import plotted
from mh4.util.text_tables import Form, Table, group_names, short_names, written

MEASURES = {  # computed for each sentence
    "uas": "UAS (F1)",
    "las": "LAS (F1)",
    "exact_unlabelled": "exact, heads",
    "exact_labelled": "exact, labelled",
}
EXPLANATION = """\
In percent; exact: sentences without an error. The interval is the middle 95 %% of
the differences in %s bootstrap samples of the gold sentences.
p: how often a difference as large as A - B, in either direction, would arise by
chance if A and B were equally good. The paired bootstrap counts the samples whose
difference is at least as far from A - B as A - B is from 0; approximate
randomisation counts how often the difference is as large after A and B swap their
trees of randomly chosen sentences, %s times.
p applies to these two outputs on text of this kind, not to other seeds."""
OVER_RUNS = """\
In percent, means over the runs; exact: sentences without an error. The interval is
the middle 95 %% of the differences in %s bootstrap samples, each of which draws
gold sentences, runs of A and runs of B. p: the share of samples whose difference is
at least as far from A - B as A - B is from 0. Both apply to other text of this kind
%s; of two or three runs, they are too small."""
OTHER_SEEDS, THIS_RUN = "and other seeds", "and other seeds of %s, but not of %s, of which there is one run"


class Dimension(NamedTuple):
    """A property to group arcs by: key, table title, function from arcs to values, first value of each group, and group names."""

    key: str
    title: str
    values: Callable[[Arcs], np.ndarray]
    starts: Sequence[int]
    names: Sequence[str]

    def groups(self, of: Arcs) -> np.ndarray:
        """Return the number of the group of each arc: int64 (words,)."""
        return np.searchsorted(self.starts, self.values(of), side="right") - 1


_LENGTHS, _DEPTHS, _SENTENCES = (1, 2, 3, 5, 10, 15), (1, 2, 3, 4, 5, 7, 10), (1, 11, 21, 31, 41, 51)
DIMENSIONS = (
    Dimension("length", "dependency length", lambda of: of.lengths, (0, *_LENGTHS), ["root", *group_names(_LENGTHS)]),
    Dimension("crossed", "crossed by an arc", lambda of: of.crossed.astype(np.int64), (0, 1), ["no", "yes"]),
    Dimension("depth", "distance to root", lambda of: of.depths, _DEPTHS, group_names(_DEPTHS)),
    Dimension("sentence_length", "sentence length", lambda of: of.sentence_lengths, _SENTENCES, group_names(_SENTENCES)),
)


class Group(NamedTuple):
    """Arc counts of a group in gold and in the system, and the correct ones in each. A percentage of no arcs is None."""

    gold: int
    system: int
    recalled: int
    precise: int

    @property
    def recall(self) -> float | None:
        return 100.0 * self.recalled / self.gold if self.gold else None

    @property
    def precision(self) -> float | None:
        return 100.0 * self.precise / self.system if self.system else None


@dataclass(frozen=True)
class System:
    """A parsed file, a chunk of it, or the files of several runs, compared with gold.

    paths: the file of each run. words, aligned: the numbers of words and of words aligned with gold, summed over runs.
    counts: by the key of a dimension, int64 (2, groups, 4), the counts of its groups, unlabelled and labelled, summed over runs.
    sentences: int32 (runs, gold sentences, measures, 2), correct and total counts by each of MEASURES, for
    significance.compare.
    """

    paths: tuple[str, ...]
    words: int
    aligned: int
    counts: dict[str, np.ndarray]
    sentences: np.ndarray

    @property
    def groups(self) -> dict[str, list[tuple[Group, Group]]]:
        """Map the key of each dimension to its groups in order, each (unlabelled, labelled)."""
        return {
            key: [(Group(*one), Group(*other)) for one, other in zip(*counts.tolist(), strict=True)]
            for key, counts in self.counts.items()
        }

    @property
    def name(self) -> str:
        """Return the path of the first run, and the number of runs if there are several."""
        runs = len(self.paths)
        return self.paths[0] + (" (%d runs)" % runs if runs > 1 else "")


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same gold file, and their difference by each of MEASURES.

    path: the gold file; sentences, words: their numbers in it.
    systems: A and B, each with the `groups` of its arcs by "length", "crossed", "depth" and "sentence_length".
    differences: a Difference for each of "uas", "las", "exact_unlabelled" and "exact_labelled".
    """

    path: str
    sentences: int
    words: int
    systems: tuple[System, System]
    differences: dict[str, significance.Difference]


def compare(gold_path: str, a: str | Sequence[str], b: str | Sequence[str]) -> Comparison:
    """Compare parsed files `a` and `b` against gold; each may also be a list of the files of several runs.

    Raises InputError for files that the official scorer rejects, and for a file given as two runs.
    """
    files = [[one] if isinstance(one, str) else list(one) for one in (a, b)]
    for paths in files:
        keys = [identity(path) or os.path.realpath(path) for path in paths]
        for path, key in zip(paths, keys, strict=True):
            if keys.count(key) > 1:
                raise InputError("%s is named as the output of two runs, expected a file for each run" % path)
    words, parts = 0, []
    for gold, systems in evaluation.chunks(gold_path, [*files[0], *files[1]]):
        words += len(gold.arcs)
        parts.append([_compared(gold, system) for system in systems])
    runs = [_together(chunks, axis=1) for chunks in zip(*parts, strict=True)]
    first, second = _together(runs[: len(files[0])], axis=0), _together(runs[len(files[0]) :], axis=0)
    differences = dict(zip(MEASURES, significance.compare(first.sentences, second.sentences), strict=True))
    return Comparison(gold_path, first.sentences.shape[1], words, (first, second), differences)


def _together(parts: Sequence[System], axis: int) -> System:
    """Join the chunks of a file (axis 1 of `sentences`), or several runs (axis 0)."""
    counts = {dimension.key: np.sum([part.counts[dimension.key] for part in parts], axis=0) for dimension in DIMENSIONS}
    paths = parts[0].paths if axis else tuple(path for part in parts for path in part.paths)
    words, in_gold = sum(part.words for part in parts), sum(part.aligned for part in parts)
    return System(paths, words, in_gold, counts, np.concatenate([part.sentences for part in parts], axis=axis))


def _compared(gold: evaluation.Chunk, system: evaluation.Chunk) -> System:
    _, gold_words = evaluation.evaluate(gold, system)
    correct = correct_arcs(gold.arcs, system.arcs, gold_words)
    recovered = recovered_arcs(gold.arcs, correct, gold_words)
    counts = {dimension.key: _groups(dimension, gold.arcs, system.arcs, recovered, correct) for dimension in DIMENSIONS}
    # An unaligned word belongs to the gold sentence in which it begins.
    starts = gold.starts()
    first = starts[np.searchsorted(gold.arcs.sentences, np.arange(len(gold.sentences)))]
    begun = np.searchsorted(first, system.starts(), side="right") - 1
    places = np.where(gold_words >= 0, gold.arcs.sentences[gold_words], begun)
    sentences = by_sentence(gold.arcs.sentences, places, correct)
    return System((system.path,), len(system.arcs), int((gold_words >= 0).sum()), counts, sentences[None])


def _groups(dimension: Dimension, gold: Arcs, system: Arcs, recovered: Correct, correct: Correct) -> np.ndarray:
    """Return the counts of each Group, unlabelled and labelled: int64 (2, groups, 4)."""
    in_gold, in_system, number = dimension.groups(gold), dimension.groups(system), len(dimension.names)
    columns = [
        [np.bincount(groups, minlength=number) for groups in (in_gold, in_system, in_gold[recalled], in_system[precise])]
        for recalled, precise in zip(recovered, correct, strict=True)
    ]
    return np.stack(columns).transpose(0, 2, 1)


def by_sentence(gold: np.ndarray, system: np.ndarray, correct: Correct) -> np.ndarray:
    """Return correct and total counts for each of s gold sentences: int32 (s, measures, 2), MEASURES in order.

    gold, system: int64 (words,), the gold sentence of each gold word and of each system word. correct: for the system's
    words. For UAS and LAS, the total is the number of words of gold and system together, so that 2 * correct / total is
    F1. For exact match, the total is 2. A sentence matches if all its arcs are correct and the system has no other
    words in it.
    """
    s = int(gold[-1]) + 1
    there = np.bincount(gold, minlength=s) + np.bincount(system, minlength=s)
    heads, labelled = (np.bincount(system[one], minlength=s) for one in correct)
    two = np.full(s, 2)
    pairs = [(heads, there), (labelled, there), (2 * heads == there, two), (2 * labelled == there, two)]
    return np.stack([np.stack(pair, axis=1) for pair in pairs], axis=1).astype(np.int32)


def table(found: Comparison, form: Form = "text") -> str:
    """Format the comparison: the files, scores and their differences, and tables for each dimension."""
    tables = [table for dimension in DIMENSIONS for table in _dimension_tables(found, dimension)]
    return written([_files(found), *_differences(found), *tables], form)


def _files(found: Comparison) -> str:
    gold, *names = short_names([found.path, *(path for system in found.systems for path in system.paths)])
    lines = ["gold  %s: %s, %s" % (gold, counted(found.sentences, "sentence"), counted(found.words, "word"))]
    for letter, system in zip("AB", found.systems, strict=True):
        runs = len(system.paths)
        mine, names = names[:runs], names[runs:]
        size = "%s, %s" % (counted(runs, "run"), counted(system.words, "word")) if runs > 1 else counted(system.words, "word")
        lines.append("%-4s  %s: %s, %d of them aligned with gold" % (letter, ", ".join(mine), size, system.aligned))
    return "\n".join(lines)


def _differences(found: Comparison) -> list[Table | str]:
    runs = dict(zip("AB", (len(system.paths) for system in found.systems), strict=True))
    several = max(runs.values()) > 1
    body = [difference_cells(one)[: 5 if several else None] for one in found.differences.values()]
    columns = [("", ["A", "B", "A - B", "interval"]), ("p", ["bootstrap", "randomisation"][: 1 if several else None])]
    samples = format(significance.SAMPLES, ",")
    seeds = THIS_RUN % tuple(sorted(runs, key=lambda name: -runs[name])) if 1 in runs.values() else OTHER_SEEDS
    explanation = OVER_RUNS % (samples, seeds) if several else EXPLANATION % (samples, samples)
    if found.sentences < significance.FEWEST:
        explanation = significance.too_few(found.sentences)
    return [Table.grouped("", columns, MEASURES.values(), body), explanation]


def difference_cells(found: significance.Difference) -> list[str]:
    """Format the scores of both, their difference, its interval, and p by both methods; "-" where there is no test."""
    interval = "-" if found.low is None else f"{found.low:+z.2f} to {found.high:+z.2f}"
    values = ["-" if p is None else "%.4f" % p for p in (found.p_bootstrap, found.p_randomisation)]
    return ["%.2f" % found.a, "%.2f" % found.b, f"{found.difference:+z.2f}", interval, *values]


def _dimension_tables(found: Comparison, dimension: Dimension) -> list[Table]:
    """Format two tables, unlabelled and labelled, of the groups that have arcs; counts are means over runs."""
    runs = [len(system.paths) for system in found.systems]
    groups = zip(dimension.names, *(system.groups[dimension.key] for system in found.systems), strict=True)
    rows = [(name, pair) for name, *pair in groups if any(unlabelled.gold or unlabelled.system for unlabelled, _ in pair)]
    three, blocks = ["A", "B", "A - B"], []
    for kind, score in enumerate(("UAS", "LAS")):
        body = []
        for _, pair in rows:
            a, b = (groups[kind] for groups in pair)
            counts = [a.gold / runs[0], a.system / runs[0], b.system / runs[1]]
            body.append(
                ["%.0f" % count for count in counts] + share_cells(a.recall, b.recall) + share_cells(a.precision, b.precision)
            )
        columns = [("arcs", ["gold", "A", "B"]), (score + " recall, %", three), (score + " precision, %", three)]
        blocks.append(Table.grouped(dimension.title, columns, [name for name, _ in rows], body))
    return blocks


def share_cells(a: float | None, b: float | None, none: str = "-") -> list[str]:
    """Format two percentages and their difference. none: the text for a percentage of no arcs."""
    shown = [none if value is None else "%.1f" % value for value in (a, b)]
    return shown + [none if a is None or b is None else f"{a - b:+z.1f}"]


def record(found: Comparison) -> dict[str, Any]:
    """Return the comparison for JSON: counts, and unrounded percentages, which are None where there are no arcs.

    The counts of a system are summed over its runs.
    """

    def group(one: Group) -> dict[str, Any]:
        return {"recalled": one.recalled, "precise": one.precise, "recall": one.recall, "precision": one.precision}

    def groups(dimension: Dimension) -> list[dict[str, Any]]:
        rows = []
        for number, name in enumerate(dimension.names):
            pairs = [system.groups[dimension.key][number] for system in found.systems]
            row: dict[str, Any] = {"group": name, "gold": pairs[0][0].gold // len(found.systems[0].paths)}
            for letter, (unlabelled, labelled) in zip("ab", pairs, strict=True):
                row[letter] = {"system": unlabelled.system, "unlabelled": group(unlabelled), "labelled": group(labelled)}
            rows.append(row)
        return rows

    return {
        "gold": {"file": found.path, "sentences": found.sentences, "words": found.words},
        **{
            letter: {"files": system.paths, "words": system.words, "aligned": system.aligned}
            for letter, system in zip("ab", found.systems, strict=True)
        },
        "samples": significance.SAMPLES,
        "seed": significance.SEED,
        "scores": {name: one._asdict() for name, one in found.differences.items()},
        "arcs": {dimension.key: groups(dimension) for dimension in DIMENSIONS},
    }


def plot(path: str, found: Comparison) -> None:
    """Draw recall and precision along every dimension, unlabelled as solid lines and labelled as dashed ones.

    path, and errors: see plots.plotted.
    """
    names = short_names([system.name for system in found.systems])
    with plotted(path, 14, 6.5) as figure:
        widths = [len(dimension.names) for dimension in DIMENSIONS]
        panels = figure.subplots(2, len(DIMENSIONS), sharex="col", sharey="row", width_ratios=widths)
        for column, dimension in zip(panels.T, DIMENSIONS, strict=True):
            for axes, value in zip(column, ("recall", "precision"), strict=True):
                for number, (name, system) in enumerate(zip(names, found.systems, strict=True)):
                    for kind, style in enumerate(("-", "--")):
                        shares = [getattr(pair[kind], value) for pair in system.groups[dimension.key]]
                        heights = [np.nan if share is None else share for share in shares]
                        label = "%s: %s, %s" % ("AB"[number], name, ("unlabelled", "labelled")[kind])
                        look = {"marker": "os"[number], "color": "C%d" % number, "alpha": 0.8}
                        axes.plot(dimension.names, heights, style, label=label, **look)
                axes.grid(alpha=0.3)
            column[1].margins(x=0.3 / len(dimension.names))
            column[1].set_xlabel(dimension.title)
        for axes, value in zip(panels[:, 0], ("recall", "precision"), strict=True):
            axes.set_ylabel("%s of arcs, %%" % value)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2)
