"""``make search LANG=hu [SYSTEMS="mh4-hybrid mh4-two"] [SEEDS="1 2"] [UD=folder]``: greedy, beam and exact decoding
with trained global models: accuracy and speed

The models are those trained by ``make reproduce``. Each model scores the development set once. All decoders read these
scores, so that they differ only in the search. This is not in the paper.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments import pages
from experiments.engine.command import repeat, request, study
from experiments.engine.models import meanings, requested_models
from experiments.engine.workplace import Bench, report_written
from experiments.pages import Plot, print_table
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.parser.systems import SYSTEMS
from mh4.util.plots import require_matplotlib
from mh4.util.text_tables import Table

DEFAULT_SYSTEMS = ("mh4-hybrid", "mh4-two")
# The decoders by their names in tables: how they search, and the width of their beam, if they have one
DECODERS = {
    "exact": ("exact", None),
    "greedy": ("greedy", None),
    **{"beam %d" % beam: ("beam", beam) for beam in (2, 4, 8, 16, 64)},
}
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 10**9))
ROUNDS = 3  # of decoding, of which the fastest counts


@dataclass(frozen=True)
class Decoded:
    """The development set decoded by one decoder with one model: arrays over its sentences.

    score: the model score, float64; right: the number of words with the correct head; seconds: of decoding only.
    """

    score: np.ndarray
    right: np.ndarray
    seconds: np.ndarray


Row = tuple[str, float, float, float, float, float]  # of `rows`
FORMS = ("%s", "%.2f", "%.3f", "%.1f %%", "%.1f %%", "%d")  # of its cells
Measured = dict[str, list[dict[str, Decoded]]]  # by system: for each of its models, the results by decoder


def measure(folder: Path, sentences: Sequence[Sentence]) -> dict[str, Decoded]:
    """Return the results of every decoder on the sentences, by name, with the model in `folder`."""
    from mh4.parser.model import Model

    model = Model.load(str(folder))
    decoders = {name: model.system.decoder(how, beam) for name, (how, beam) in DECODERS.items()}
    single_root = model.config.scorer.single_root
    shape = len(sentences)
    decoded = {name: Decoded(np.zeros(shape), np.zeros(shape, int), np.full(shape, np.inf)) for name in decoders}
    rng = np.random.default_rng(1)
    for batch, scores in model.score(sentences):
        for k, tensors in zip(batch, scores.trees.arrays(), strict=True):
            gold = sentences[k].heads
            for _ in range(ROUNDS):
                # In random order, since the first decoder loads the scores into the caches.
                for name in rng.permutation(list(decoders)):
                    start = time.perf_counter()
                    derivation = decoders[name](**tensors, single_root=single_root)
                    taken = time.perf_counter() - start
                    found = decoded[name]
                    found.score[k] = derivation.score
                    found.right[k] = (derivation.heads[1:] == gold[1:]).sum()
                    found.seconds[k] = min(found.seconds[k], taken)
    return decoded


def searched() -> list[str]:
    """Return the systems that can be decoded exactly and by search."""
    return [system.name for system in SYSTEMS.values() if {how for how, _ in DECODERS.values()} <= set(system.decoders)]


@study(**meanings(searched(), DEFAULT_SYSTEMS))
def search(bench: Bench, lang: str, systems: str, seeds: str, ud: str) -> None:
    asked = request(lang, seeds=seeds, ud=ud)
    require_matplotlib()
    bank = asked.treebank(test=False)
    models = requested_models(bench, bank, systems, seeds, searched(), DEFAULT_SYSTEMS)
    sentences = conllu.read(str(bank.paths["dev"]))
    measured: Measured = {}
    for model in models:
        message = "decoding %s (%s) with %s, seed %d" % (bank.paths["dev"].name, bank.release, model.system, model.seed)
        bench.console.print(message, soft_wrap=True)
        measured.setdefault(model.system, []).append(measure(model.folder, sentences))
    lengths, title = list(map(len, sentences)), bank.title + ": greedy and beam search with global models"
    drawing = Plot(lambda figure: plot(figure, bank.title + ", development set", measured, lengths), 4.2)
    parts: list[pages.Part] = ["![dev UAS and speed of decoding, by the width of the beam](%s-search.png)" % bank.name]
    for system, decoded in measured.items():
        by_words = by_length(decoded, lengths)
        parts += ["## " + system, table(decoded, sum(lengths)), "Milliseconds per sentence, by length:", by_words]
    parts += [NOTE % (len(lengths), sum(lengths), ROUNDS), *pages.models(map(pages.origin, models), bank, repeat())]
    written = pages.write(bench.results, bank.name + "-search", title, parts, plot=drawing)
    for system, decoded in measured.items():
        bench.console.print("\n" + system)
        print_table(table(decoded, sum(lengths)), bench.console)
    report_written(written)


def rows(models: Sequence[dict[str, Decoded]], words: int) -> list[Row]:
    """Return a row for each decoder, over all models. words: the number of words that each model has decoded.

    A row has the decoder's name, UAS, the mean score of a sentence, the percentages of sentences that score at least as
    high as with exact decoding, and higher (by derivations outside the chart), and words per second.
    """
    found = []
    for name in DECODERS:
        score, exact = (np.concatenate([model[which].score for model in models]) for which in (name, "exact"))
        # Equally good derivations can differ by the rounding of the chart, which is in single precision.
        near = 1e-5 * np.maximum(1, np.abs(exact))
        uas = 100.0 * sum(model[name].right.sum() for model in models) / (words * len(models))
        at_least, more = 100.0 * (score >= exact - near).mean(), 100.0 * (score > exact + near).mean()
        speed = words * len(models) / sum(model[name].seconds.sum() for model in models)
        found.append((name, uas, float(score.mean()), float(at_least), float(more), speed))
    return found


def table(models: Sequence[dict[str, Decoded]], words: int) -> Table:
    header = ["decoding", "dev UAS", "mean score", "optimum found", "beyond the chart", "words/s"]
    body = [[form % value for form, value in zip(FORMS, row, strict=True)] for row in rows(models, words)]
    return Table(header, body, right=1)


def by_length(models: Sequence[dict[str, Decoded]], lengths: Sequence[int]) -> Table:
    """Return a table of milliseconds per sentence, by length."""
    words, body = np.array(lengths), []
    for low, high in LENGTHS:
        inside = (low <= words) & (words <= high)
        if inside.any():
            means = [1000 * np.mean([model[name].seconds[inside].mean() for model in models]) for name in DECODERS]
            span = "%d to %d" % (low, high) if high < 10**9 else "%d or more" % low
            body.append([span, "%d" % inside.sum()] + ["%.3g" % mean for mean in means])
    return Table(["words", "sentences", *DECODERS], body, right=1)


NOTE = """\
All rows use the same model scores. Dev UAS is in percent over all words (%d sentences, %d words), averaged over the
models. Mean score: the model score of the derivation, per sentence. Optimum found: sentences for which the search
finds a derivation that scores at least as high as the exact decoder's. Beyond the chart: those where it scores higher,
which is possible because the transition system produces more trees, and more derivations of a tree, than MH4 deduces.
Speed and time are for decoding only, without the network, on one core: for each sentence, the fastest of %d rounds in
random order."""


def plot(figure: Any, title: str, measured: Measured, lengths: Sequence[int]) -> None:
    """Plot accuracy against speed, and time against length, on a matplotlib figure."""
    from matplotlib.ticker import LogLocator, NullFormatter

    left, right = figure.subplots(1, 2)
    figure.suptitle(title, fontsize=11)
    for system, decoded in measured.items():
        points = {name: (speed, uas) for name, uas, *_, speed in rows(decoded, sum(lengths))}
        exact, *ways = points.values()
        (line,) = left.plot(*zip(*ways, strict=True), "o-", markersize=4, label=system + ", search")
        left.plot(*exact, "*", markersize=12, color=line.get_color(), label=system + ", exact")
        for name, point in points.items():
            left.annotate(name.replace("beam ", ""), point, xytext=(4, 5), textcoords="offset points", fontsize=7)
    left.set_xscale("log")
    left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.xaxis.set_major_formatter("{x:,.0f}")
    left.xaxis.set_minor_formatter(NullFormatter())
    left.margins(x=0.12, y=0.08)
    left.set(xlabel="words per second (decoding only)", ylabel="dev UAS (%)")
    left.legend(fontsize=8, loc="lower left")

    system, decoded = next(iter(measured.items()))
    words = np.array(lengths)
    shown = sorted(set(lengths))
    for name, style in (("exact", "-"), ("greedy", ":"), ("beam 8", "-"), ("beam 64", "-")):
        means = [1000 * np.mean([model[name].seconds[words == n].mean() for model in decoded]) for n in shown]
        right.plot(shown, means, style, linewidth=1.2, label=name)
    right.set_yscale("log")
    right.yaxis.set_major_formatter("{x:g}")
    right.set(xlabel="words per sentence (%s)" % system, ylabel="milliseconds per sentence")
    right.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
