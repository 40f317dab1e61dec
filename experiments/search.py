"""``make search LANG=hu``: what greedy and beam search find of what exact decoding finds, and how fast, with trained global models.

An experiment of our own. The models are those that ``make reproduce`` has trained; each scores the development set once, then all
ways to decode read the same scores, so that they differ in nothing but the search. Accuracy, model score and speed go to
``results/NAME-search.md``, ``.csv`` and ``.png``.
"""

import csv
import io
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np
from rich.console import Console

import grid
import report
import reproduce
from mh4 import conllu, treebanks
from mh4.errors import InputError
from mh4.files import atomic_path, write_text
from mh4.systems import SYSTEMS

DECODINGS = (("exact", 1), ("greedy", 1), ("beam", 2), ("beam", 4), ("beam", 8), ("beam", 16), ("beam", 64))
DEFAULT_SYSTEMS = ("mh4-hybrid", "mh4-two")
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 60), (61, 10**9))
ROUNDS = 3  # of decoding; the fastest counts

USAGE = 'usage: make search LANG=hu [SYSTEMS="mh4-hybrid mh4-two"] [SEEDS="1 2"] [UD=folder]'
OPTIONS = """\
  LANG     {languages},
           or toy: a small invented language, needs no network
  SYSTEMS  of {systems}; {default} if not given, as far as they have been trained
  SEEDS    of the trained models; all there are if not given
  UD       a folder that has the treebank's files already; otherwise they are downloaded"""


@dataclass(frozen=True)
class Decoded:
    """The development set decoded in one way with one model: arrays over its sentences.

    score: of the model, float64; right: words with the right head; seconds: of decoding alone.
    """

    score: np.ndarray
    right: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Row:
    """One way to decode, all models of a system together.

    uas: percent; score: the mean of a sentence; found, beyond: percent of the sentences whose score is that of exact decoding
    or higher, and higher (the tree or the sequence is none of the chart); speed: words per second.
    """

    decoding: str
    uas: float
    score: float
    found: float
    beyond: float
    speed: float


def label(how: str, beam: int) -> str:
    """The name of a way to decode."""
    return how if how != "beam" else "beam %d" % beam


NAMES = tuple(label(*decoding) for decoding in DECODINGS)


def measure(folder: Path, sentences: Sequence[conllu.Sentence]) -> Dict[str, Decoded]:
    """Every way to decode the sentences with the model in `folder`, by name."""
    from mh4.model import Model

    model = Model.load(str(folder))
    decoders = {label(how, beam): model.system.decoder(how, beam) for how, beam in DECODINGS}
    single_root = model.config.scorer.single_root
    shape = len(sentences)
    decoded = {name: Decoded(np.zeros(shape), np.zeros(shape, int), np.full(shape, np.inf)) for name in decoders}
    rng = np.random.default_rng(1)
    for batch, scores in model.scores(sentences):
        for k, tensors in zip(batch, scores.trees.arrays()):
            gold = sentences[k].heads
            for _ in range(ROUNDS):
                # In random order: whoever comes first reads the scores into the caches.
                for choice in rng.permutation(len(NAMES)):
                    name = NAMES[choice]
                    start = time.perf_counter()
                    derivation = decoders[name](**tensors, single_root=single_root)
                    taken = time.perf_counter() - start
                    found = decoded[name]
                    found.score[k] = derivation.score
                    found.right[k] = (derivation.heads[1:] == gold[1:]).sum()
                    found.seconds[k] = min(found.seconds[k], taken)
    return decoded


def rows(models: Sequence[Dict[str, Decoded]], words: int) -> List[Row]:
    """A row for each way to decode; every model has decoded the same `words` words."""
    table = []
    for name in NAMES:
        score, exact = (np.concatenate([model[which].score for model in models]) for which in (name, "exact"))
        # Two derivations can be as good but for the rounding of the chart, which is in single precision.
        near = 1e-5 * np.maximum(1, np.abs(exact))
        table.append(
            Row(
                decoding=name,
                uas=100.0 * sum(model[name].right.sum() for model in models) / (words * len(models)),
                score=score.mean(),
                found=100.0 * (score >= exact - near).mean(),
                beyond=100.0 * (score > exact + near).mean(),
                speed=words * len(models) / sum(model[name].seconds.sum() for model in models),
            )
        )
    return table


def cells(table: Sequence[Row]) -> Tuple[List[str], List[List[str]]]:
    """Header and rows as people read them."""
    header = ["decoding", "dev UAS", "mean score", "optimum found", "beyond the chart", "words/s"]
    body = [
        [row.decoding, "%.2f" % row.uas, "%.3f" % row.score, "%.1f %%" % row.found, "%.1f %%" % row.beyond, "%d" % row.speed]
        for row in table
    ]
    return header, body


def by_length(models: Sequence[Dict[str, Decoded]], lengths: Sequence[int]) -> Tuple[List[str], List[List[str]]]:
    """Milliseconds per sentence, by length: header and rows."""
    lengths, body = np.array(lengths), []
    for low, high in LENGTHS:
        inside = (low <= lengths) & (lengths <= high)
        if inside.any():
            means = [1000 * np.mean([model[name].seconds[inside].mean() for model in models]) for name in NAMES]
            span = "%d to %d" % (low, high) if high < 10**9 else "%d and more" % low
            body.append([span, "%d" % inside.sum()] + ["%.3g" % mean for mean in means])
    return ["words", "sentences", *NAMES], body


@dataclass(frozen=True)
class Trained:
    """A finished model that `make reproduce` left."""

    system: str
    seed: int
    folder: Path

    def origin(self) -> str:
        """Who trained it, for people."""
        commits = grid.read_json(self.folder / "origin.json").get("commits") or ["unknown"]
        return "%s, seed %d: trained at commit %s" % (self.system, self.seed, ", ".join(commits))


def trained(folder: Path, systems: str, seeds: str) -> List[Trained]:
    """The finished models in `folder` that were asked for. Raises InputError where there are none of a system."""
    wanted = tuple(dict.fromkeys(systems.split())) or DEFAULT_SYSTEMS
    for system in wanted:
        if system not in searched():
            raise InputError("SYSTEMS: %s is not one of %s" % (system, ", ".join(searched())))
    models = []
    for system in wanted:
        there = sorted((folder / system).glob("seed*"), key=lambda path: (len(path.name), path.name))
        for path in there:
            if grid.read_json(path / "summary.json").get("finished") is True and (not seeds or path.name[4:] in seeds.split()):
                models.append(Trained(system, int(path.name[4:]), path))
        if systems and not any(model.system == system for model in models):
            raise InputError("no trained model of %s in %s: train it first, with make reproduce" % (system, report.shown(folder)))
    if not models:
        raise InputError("no trained model of %s in %s: train one first, with make reproduce" % (" or ".join(wanted), report.shown(folder)))
    return models


def searched() -> List[str]:
    """The systems that can be decoded exactly and by search."""
    return [system.name for system in SYSTEMS.values() if {how for how, _ in DECODINGS} <= set(system.decoders)]


def markdown(
    bank: reproduce.Treebank,
    models: Sequence[Trained],
    measured: Dict[str, List[Dict[str, Decoded]]],
    sentences: Sequence[conllu.Sentence],
    command: str,
    home: Path,
) -> str:
    """The page of the treebank."""
    lengths = [len(sentence) for sentence in sentences]
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
            report.markdown_table(*cells(rows(decoded, sum(lengths))), right=1),
            "",
            "Milliseconds per sentence, by length:",
            "",
            report.markdown_table(*by_length(decoded, lengths), right=1),
            "",
        ]
    lines += [
        "The model's scores are the same in all rows; dev UAS in percent over all words (%d sentences, %d words), mean over the"
        % (len(lengths), sum(lengths)),
        "models. Mean score: the model's score of the derivation, of a sentence. Optimum found: sentences for which the search finds a",
        "derivation with the score of the exact decoder's, or a higher one: it is beyond the chart, as the transition system makes more",
        "trees, and more derivations of a tree, than MH4 deduces. Speed and time are those of decoding alone, without the network, on one",
        "core: of %d rounds in random order the fastest of each sentence." % ROUNDS,
        "",
        "## Models and data",
        "",
        "\n".join("- " + model.origin() for model in models),
        "- dev: %s, git blob %s" % (bank.paths["dev"].name, bank.blobs["dev"]),
        "",
        "## Command",
        "",
        "    %s" % command,
        "",
        "At commit %s, %s." % (reproduce.commit(reproduce.EXPERIMENTS), time.strftime("%Y-%m-%d")),
        "",
    ]
    return "\n".join(lines)


def comma_separated(bank: reproduce.Treebank, models: Sequence[Trained], measured, words: int) -> str:
    """The tables of all systems as csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["lang", "data", "system", "seeds", "decoding", "dev_uas", "mean_score", "found", "beyond", "words_per_second"])
    for system, decoded in measured.items():
        seeds = " ".join(str(model.seed) for model in models if model.system == system)
        for row in rows(decoded, words):
            numbers = ["%.4f" % number for number in (row.uas, row.score, row.found, row.beyond)]
            writer.writerow([bank.lang, bank.release, system, seeds, row.decoding, *numbers, "%.0f" % row.speed])
    return text.getvalue()


def plot(path: Path, title: str, measured: Dict[str, List[Dict[str, Decoded]]], lengths: Sequence[int]) -> None:
    """Accuracy against speed, and time against length, as a PNG."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    figure.suptitle(title, fontsize=11)
    for system, decoded in measured.items():
        table = rows(decoded, sum(lengths))
        (line,) = left.plot([row.speed for row in table[1:]], [row.uas for row in table[1:]], "o-", markersize=4, label=system + ", search")
        left.plot(table[0].speed, table[0].uas, "*", markersize=12, color=line.get_color(), label=system + ", exact")
        for row in table:
            left.annotate(
                row.decoding.replace("beam ", ""), (row.speed, row.uas), xytext=(4, 5), textcoords="offset points", fontsize=7
            )
    left.set_xscale("log")
    left.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.xaxis.set_major_formatter(FuncFormatter(lambda speed, _: "{:,.0f}".format(speed)))
    left.xaxis.set_minor_formatter(NullFormatter())
    left.margins(x=0.12, y=0.08)
    left.set_xlabel("words per second (decoding alone)")
    left.set_ylabel("dev UAS (%)")
    left.legend(fontsize=8, loc="lower left")

    system, decoded = next(iter(measured.items()))
    lengths = np.array(lengths)
    shown = sorted(set(lengths.tolist()))
    for name, style in (("exact", "-"), ("greedy", ":"), ("beam 8", "-"), ("beam 64", "-")):
        means = [1000 * np.mean([model[name].seconds[lengths == n].mean() for model in decoded]) for n in shown]
        right.plot(shown, means, style, linewidth=1.2, label=name)
    right.set_yscale("log")
    right.set_xlabel("words of a sentence (%s)" % system)
    right.set_ylabel("milliseconds per sentence")
    right.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    with atomic_path(str(path)) as temporary:
        figure.savefig(temporary, format="png", dpi=130)


def usage() -> str:
    """The usage line and what can stand there."""
    options = OPTIONS.format(
        languages=" ".join(treebanks.languages()), systems=" ".join(searched()), default=" and ".join(DEFAULT_SYSTEMS)
    )
    return USAGE + "\n" + options


def main(arguments: Sequence[str], home: Path = reproduce.EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = reproduce.options(arguments, USAGE, ("lang", "systems", "seeds", "ud"))
    return reproduce.answered("search", usage, typed.help, lambda: _search(typed, home))


def _search(typed, home: Path) -> int:
    asked = reproduce.request(typed.lang, "", typed.seeds, typed.ud, "")
    try:
        import matplotlib  # noqa: F401  before anything is done
    except ImportError:
        raise InputError("the plot needs matplotlib, which `make setup` installs") from None
    bank = reproduce.located(asked.lang, asked.ud)
    models = trained(home / "runs" / bank.name, typed.systems, typed.seeds)
    sentences = conllu.read(str(bank.paths["dev"]))
    console, measured = Console(highlight=False), {}
    for model in models:
        console.print("decoding %s (%s) with %s, seed %d" % (bank.paths["dev"].name, bank.release, model.system, model.seed), soft_wrap=True)
        measured.setdefault(model.system, []).append(measure(model.folder, sentences))
    lengths, results = [len(sentence) for sentence in sentences], home / "results"
    results.mkdir(parents=True, exist_ok=True)
    pages = [results / (bank.name + "-search" + ending) for ending in (".md", ".csv", ".png")]
    plot(pages[2], "%s (%s), development set" % (bank.lang, bank.release), measured, lengths)
    write_text(str(pages[1]), comma_separated(bank, models, measured, sum(lengths)))
    write_text(str(pages[0]), markdown(bank, models, measured, sentences, _command(asked.lang, typed, asked.ud), home))
    for system, decoded in measured.items():
        console.print("\n" + system)
        reproduce.print_table(console, *cells(rows(decoded, sum(lengths))), 1)
    console.print("Written: %s" % ", ".join(report.shown(page) for page in pages), soft_wrap=True)
    return 0


def _command(lang: str, typed, ud: Optional[str]) -> str:
    parts = ["make search", "LANG=" + lang]
    parts += ['%s="%s"' % (name.upper(), getattr(typed, name)) for name in ("systems", "seeds") if getattr(typed, name)]
    if ud:
        parts.append(reproduce.without_machine("UD=" + ud))
    return " ".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
