"""``make partial [LANGS="hu got"] [ROWS="words-10 sentences-10"] [SYSTEMS=mh4-hybrid] [SEEDS="1 2"] [UPDATES=3000] [UD=folder] [JOBS=2]
[SLURM=options]``: learning from some words of every sentence, and from as many words in whole sentences

Rows words-N keep N percent of the heads and labels of train, of words at random; rows sentences-N all those of sentences at random, until
these are N percent of the words; short-25 those of the shortest sentences; all-100 all. Parsers are trained by `mh4 train --partial` for a
few updates, without tags as targets, and parse dev. Runs already recorded are not repeated. This is not in the paper.
"""

from collections.abc import Sequence
from functools import partial as with_options
from pathlib import Path
from typing import Any

import numpy as np

from experiments.engine import altered, options
from experiments.engine.command import requested_systems, study
from experiments.engine.experiment import Experiment
from experiments.engine.record_fields import Found, Record
from experiments.engine.run import Run
from experiments.engine.workplace import Bench
from experiments.pages import document, sections
from experiments.pages.writer import average
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu, treebanks
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS
from mh4.util.plots import plotted, require_matplotlib
from mh4.util.text_tables import Table

WORDS, SENTENCES, SHORT, ALL = "words", "sentences", "short", "all"  # what is annotated
ROWS = ("words-10", "sentences-10", "words-25", "sentences-25", "short-25", "words-50", "sentences-50", "all-100")
NO_TAGS = ["training.%s_weight=0.0" % tag for tag in ("upos", "xpos", "feats")]  # which would be known of all words
LENGTHS = {"1-10": 10, "11-20": 20, "21-40": 40, "41-": 10**9}  # of sentences, with the most words


@study
@options.variable("langs", "by default hu and got")
@options.variable("rows", "of %s; by default all" % " ".join(ROWS))
@options.variable("systems", "that decode exactly; by default mh4-hybrid")
@options.variable("seeds", "positive whole numbers; by default 1")
@options.variable("updates", "of each training; by default 1500")
@options.UD
@options.JOBS
def partial(bench: Bench, langs: str, rows: str, systems: str, seeds: str, updates: str, **variables: str) -> int:
    require_matplotlib()
    exact = [system.name for system in SYSTEMS.values() if "exact" in system.decoders]
    wanted, length, experiments = requested_systems(systems, exact, ("mh4-hybrid",)), altered.number_of_updates(updates, 1500), []
    named = altered.requested_rows(rows, ROWS)
    for lang in options.languages(langs, ("hu", "got")):
        asked = options.request(lang, " ".join(wanted), seeds or "1", **variables)
        bank = asked.treebank(test=False)
        sentences = conllu.read(str(bank.paths["train"]))
        for row in named:
            for seed in asked.seeds:
                mine = altered.short(bank, "partial", row, length, *NO_TAGS)
                folder = bench.home / "data" / mine.name / row / ("seed%d" % seed)
                train = altered.with_columns(bank.paths["train"], annotated(sentences, row, seed), folder)
                mine = altered.with_files(mine, {"train": train})
                measure = with_options(measured, path=bank.paths["dev"])
                experiments.append(Experiment(mine, wanted, [seed], options.repeat(), bench, trees=False, measure=measure))
                for run in experiments[-1].runs:
                    run.command = [*run.command, "--partial"]
    return altered.train_all("partial", experiments, asked.jobs, with_options(write, bench.results))


def annotated(sentences: Sequence[conllu.Sentence], row: str, seed: int) -> list[altered.Columns | None]:
    """The columns of each sentence of which as much is annotated as a row says; None for sentences of which nothing is."""
    what, _, percent = row.partition("-")
    lengths, rng = np.array(list(map(len, sentences))), np.random.default_rng(seed)
    most = round(lengths.sum() * int(percent) / 100)
    if what == WORDS:
        kept = np.zeros(lengths.sum(), dtype=bool)
        kept[rng.permutation(len(kept))[:most]] = True
        masks = np.split(kept, np.cumsum(lengths)[:-1])
        return [_columns(sentence, mask) for sentence, mask in zip(sentences, masks, strict=True)]
    order = np.argsort(lengths, kind="stable") if what == SHORT else rng.permutation(len(lengths))
    whole = set(order[np.cumsum(lengths[order]) <= most].tolist())
    return [{} if k in whole else None for k in range(len(sentences))]


def _columns(sentence: conllu.Sentence, mask: np.ndarray) -> altered.Columns:
    """The columns of a sentence of which these words are annotated."""
    columns = {conllu.HEAD: map(str, sentence.heads[1:]), conllu.DEPREL: sentence.deprels}
    return {number: [cell if kept else "_" for cell, kept in zip(cells, mask, strict=True)] for number, cells in columns.items()}


def measured(run: Run, path: Path) -> Found:
    """UAS and LAS of a model on a file, of all sentences ("all") and of those of each length, and their numbers of words."""
    gold, least, found = conllu.read(str(path)), 1, Found()
    parsed = Parser.load(str(run.folder)).parse(gold)
    for name, most in {ALL: 10**9, **LENGTHS}.items():
        pairs = [pair for pair in zip(gold, parsed, strict=True) if least <= len(pair[0]) <= most]
        if pairs:
            found[name] = {**attachment_scores(*zip(*pairs, strict=True)), "words": sum(len(one) for one, _ in pairs)}
        least = 1 if name == ALL else most + 1
    return found


# The page

Key = tuple[str, str, str]  # treebank, system, row


def groups(found: Sequence[Record]) -> dict[Key, list[Record]]:
    """The records behind each line of the table."""
    lines: dict[Key, list[Record]] = {}
    for record in sorted(found, key=lambda one: (one["lang"] != "hu", one["lang"], one["system"], ROWS.index(one["row"]))):
        lines.setdefault((record["lang"], record["system"], record["row"]), []).append(record)
    return lines


def score(lines: Sequence[Record], part: str, name: str) -> str:
    """A score on a part of the development set, over seeds."""
    return str(average([record["found"][part][name] for record in lines])) if part in lines[0]["found"] else ""


def table(found: Sequence[Record]) -> Table:
    body = []
    for (lang, system, row), lines in groups(found).items():
        updates = sorted({record["settings"]["training"]["max_updates"] for record in lines})
        seeds = " ".join(str(record["seed"]) for record in lines)
        cells = [
            lang,
            system,
            *row.split("-"),
            seeds,
            " ".join(map(str, updates)),
            score(lines, ALL, "uas"),
            score(lines, ALL, "las"),
        ]
        body.append(cells + [score(lines, part, "uas") for part in LENGTHS])
    header = ["treebank", "system", "annotated", "%", "seeds", "updates", "dev UAS", "dev LAS"]
    return Table([*header, *("UAS, %s words" % part for part in LENGTHS)], body, right=3)


def write(results: Path, found: list[Record]) -> list[Path]:
    """Write the page and the plot of these records; return their paths."""
    if not found:
        return []
    name = sections.page_name("partial", found[0]["lang"] == treebanks.TOY)
    drawing = results / (name + ".png")
    with plotted(str(drawing), 10, 4.2) as figure:
        plot(figure, found)
    commits = ", ".join(sorted({record["commit"] for record in found}))
    parts: list[document.Part] = ["![dev UAS by the share of words that are annotated](%s.png)" % name, table(found), SAID]
    parts += sections.command(sorted({record["reproduce"] for record in found}), "Trained at commit %s." % commits)
    return [*document.write(results, name, "Partial trees: words annotated at random, or whole sentences", parts), drawing]


SAID = """\
Scores on the development set, in percent (mean and standard deviation over seeds), also by the length of sentences. Annotated: words at
random in all sentences, sentences at random with all their words, or the shortest sentences; each up to a share of the words of train.
All other heads and labels are missing, and in the last two cases also the other sentences. Tags are learned by none of the parsers, which
are trained for a few minutes only: with more updates, all scores would be higher."""


def plot(figure: Any, found: Sequence[Record]) -> None:
    """Plot dev UAS by the share that is annotated, a panel for each treebank."""
    lines = groups(found)
    langs = list(dict.fromkeys(lang for lang, _, _ in lines))
    for axes, lang in zip(figure.subplots(1, len(langs), squeeze=False)[0], langs, strict=True):
        for system in dict.fromkeys(key[1] for key in lines if key[0] == lang):
            for what, style in ((WORDS, "o-"), (SENTENCES, "s--"), (SHORT, "x")):
                rows = [row for row in ROWS if row.split("-")[0] in (what, *([] if what == SHORT else [ALL]))]
                mine = {int(row.split("-")[1]): lines[lang, system, row] for row in rows if (lang, system, row) in lines}
                points = [average([one["found"][ALL]["uas"] for one in group]).mean for group in mine.values()]
                axes.plot(list(mine), points, style, markersize=5, label="%s, %s" % (system, what))
        axes.set(title=lang, xlabel="annotated (% of the words)", ylabel="dev UAS (%)")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
