"""Greedy and beam search compared with exact decoding of the same scores: accuracy, model score and speed, by beam width.

This table is not in the paper. It is written to ``results/NAME-search.md``, ``.csv`` and ``.png``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from training.run import Run
from training.treebank import Treebank

from mh4.util.files import atomic_path
from tables.writer import Table, comma_separated, models_section, origin

DECODERS = (("exact", 1), ("greedy", 1), ("beam", 2), ("beam", 4), ("beam", 8), ("beam", 16), ("beam", 64))
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 10**9))
ROUNDS = 3  # of decoding, of which the fastest counts


def label(how: str, beam: int) -> str:
    """The name of a decoder."""
    return how if how != "beam" else "beam %d" % beam


NAMES = tuple(label(*decoding) for decoding in DECODERS)


@dataclass(frozen=True)
class Decoded:
    """The development set decoded by one decoder with one model: arrays over its sentences.

    score: the model score, float64; right: the number of words with the correct head; seconds: of decoding only.
    """

    score: np.ndarray
    right: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Row:
    """One decoder, over all models of a system.

    uas: percent; score: the mean per sentence; found, beyond: percent of the sentences whose score is at least that of exact
    decoding, and higher than that (the tree or the sequence is not in the chart); speed: words per second.
    """

    decoding: str
    uas: float
    score: float
    found: float
    beyond: float
    speed: float


Measured = dict[str, list[dict[str, Decoded]]]  # by system: for each of its models, the results by decoder


def rows(models: Sequence[dict[str, Decoded]], words: int) -> list[Row]:
    """A row for each decoder; every model has decoded the same `words` words."""
    found = []
    for name in NAMES:
        score, exact = (np.concatenate([model[which].score for model in models]) for which in (name, "exact"))
        # Equally good derivations can differ by the rounding of the chart, which is in single precision.
        near = 1e-5 * np.maximum(1, np.abs(exact))
        found.append(
            Row(
                decoding=name,
                uas=100.0 * sum(model[name].right.sum() for model in models) / (words * len(models)),
                score=score.mean(),
                found=100.0 * (score >= exact - near).mean(),
                beyond=100.0 * (score > exact + near).mean(),
                speed=words * len(models) / sum(model[name].seconds.sum() for model in models),
            )
        )
    return found


def table(models: Sequence[dict[str, Decoded]], words: int) -> Table:
    """The table as shown."""
    header = ["decoding", "dev UAS", "mean score", "optimum found", "beyond the chart", "words/s"]
    body = [
        [row.decoding, "%.2f" % row.uas, "%.3f" % row.score, "%.1f %%" % row.found, "%.1f %%" % row.beyond, "%d" % row.speed]
        for row in rows(models, words)
    ]
    return Table(header, body, right=1)


def by_length(models: Sequence[dict[str, Decoded]], lengths: Sequence[int]) -> Table:
    """Milliseconds per sentence, by length."""
    lengths, body = np.array(lengths), []
    for low, high in LENGTHS:
        inside = (low <= lengths) & (lengths <= high)
        if inside.any():
            means = [1000 * np.mean([model[name].seconds[inside].mean() for model in models]) for name in NAMES]
            span = "%d to %d" % (low, high) if high < 10**9 else "%d or more" % low
            body.append([span, "%d" % inside.sum()] + ["%.3g" % mean for mean in means])
    return Table(["words", "sentences", *NAMES], body, right=1)


def markdown(bank: Treebank, models: Sequence[Run], measured: Measured, lengths: Sequence[int], command: str) -> list[str]:
    """The lines of the page; `lengths` are those of the sentences."""
    lines = [
        "# %s (%s): greedy and beam search with global models" % (bank.lang, bank.release),
        "",
        "![dev UAS and speed of decoding, by the width of the beam](%s-search.png)" % bank.name,
        "",
    ]
    for system, decoded in measured.items():
        lines += [
            "## %s" % system,
            "",
            table(decoded, sum(lengths)).markdown(),
            "",
            "Milliseconds per sentence, by length:",
            "",
            by_length(decoded, lengths).markdown(),
            "",
        ]
    lines += [
        "All rows use the same model scores. Dev UAS is in percent over all words (%d sentences, %d words), averaged over the"
        % (len(lengths), sum(lengths)),
        "models. Mean score: the model score of the derivation, per sentence. Optimum found: sentences for which the search",
        "finds a derivation that scores at least as high as the exact decoder's. Beyond the chart: those where it scores higher,",
        "which is possible because the transition system produces more trees, and more derivations of a tree, than MH4 deduces.",
        "Speed and time are for decoding only, without the network, on one core: for each sentence, the fastest of %d rounds in"
        % ROUNDS,
        "random order.",
        "",
        *models_section(map(origin, models), bank, command),
    ]
    return lines


def as_csv(bank: Treebank, models: Sequence[Run], measured: Measured, words: int) -> str:
    """The tables of all systems as csv."""
    header = ["lang", "data", "system", "seeds", "decoding", "dev_uas", "mean_score", "found", "beyond", "words_per_second"]
    body = []
    for system, decoded in measured.items():
        seeds = " ".join(str(model.seed) for model in models if model.system == system)
        for row in rows(decoded, words):
            numbers = [row.uas, row.score, row.found, row.beyond]
            body.append([bank.lang, bank.release, system, seeds, row.decoding, *numbers, "%.0f" % row.speed])
    return comma_separated(header, body)


def plot(path: Path, title: str, measured: Measured, lengths: Sequence[int]) -> None:
    """Plot accuracy against speed, and time against length, as a PNG."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    figure.suptitle(title, fontsize=11)
    for system, decoded in measured.items():
        ways = rows(decoded, sum(lengths))
        (line,) = left.plot(
            [row.speed for row in ways[1:]], [row.uas for row in ways[1:]], "o-", markersize=4, label=system + ", search"
        )
        left.plot(ways[0].speed, ways[0].uas, "*", markersize=12, color=line.get_color(), label=system + ", exact")
        for row in ways:
            left.annotate(
                row.decoding.replace("beam ", ""), (row.speed, row.uas), xytext=(4, 5), textcoords="offset points", fontsize=7
            )
    left.set_xscale("log")
    left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.xaxis.set_major_formatter(FuncFormatter(lambda speed, _: f"{speed:,.0f}"))
    left.xaxis.set_minor_formatter(NullFormatter())
    left.margins(x=0.12, y=0.08)
    left.set_xlabel("words per second (decoding only)")
    left.set_ylabel("dev UAS (%)")
    left.legend(fontsize=8, loc="lower left")

    system, decoded = next(iter(measured.items()))
    lengths = np.array(lengths)
    shown = sorted(set(lengths.tolist()))
    for name, style in (("exact", "-"), ("greedy", ":"), ("beam 8", "-"), ("beam 64", "-")):
        means = [1000 * np.mean([model[name].seconds[lengths == n].mean() for model in decoded]) for n in shown]
        right.plot(shown, means, style, linewidth=1.2, label=name)
    right.set_yscale("log")
    right.set_xlabel("words per sentence (%s)" % system)
    right.set_ylabel("milliseconds per sentence")
    right.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    with atomic_path(str(path)) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
