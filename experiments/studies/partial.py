"""``make partial [LANGS="hu got"] [ROWS="words-10 sentences-10"] [SYSTEMS=mh4-hybrid] [SEEDS="1 2"] [UPDATES=3000] [UD=folder]
[JOBS=2] [SLURM=options]``: learning from some words of every sentence, and from as many words in whole sentences

Each row keeps the heads and labels of N percent of the words of train: words-N of words at random, sentences-N of whole
sentences at random, short-25 of the shortest sentences, all-100 of all words. Parsers are trained for a few updates by
`mh4 train --partial`, without tags as targets, and parse dev. Recorded runs are not repeated. This is not in the paper.
"""

from collections.abc import Mapping, Sequence
from functools import partial as given
from pathlib import Path
from typing import Any

import numpy as np

from experiments.engine.command import study
from experiments.engine.record_fields import Found, Record
from experiments.engine.run import LIKELIHOOD, Run
from experiments.engine.workplace import Bench
from experiments.pages import average
from experiments.tables import short_runs
from experiments.tables.short_runs import Columns, Lines
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu
from mh4.data.cells import DEPREL, HEAD
from mh4.data.sentence import Sentence
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS, with_marginals
from mh4.util.text_tables import Table

WORDS, SENTENCES, SHORT, ALL = "words", "sentences", "short", "all"  # what is annotated
ROWS = ("words-10", "sentences-10", "words-25", "sentences-25", "short-25", "words-50", "sentences-50", "all-100")
NO_TAGS = ["training.%s_weight=0.0" % tag for tag in ("upos", "xpos", "feats")]  # tags would cover all words
LENGTHS = {"1-10": (1, 10), "11-20": (11, 20), "21-40": (21, 40), "41-": (41, 10**9)}  # of sentences


@study(
    **short_runs.MEANINGS,
    rows=short_runs.of_rows(ROWS),
    systems="that decode exactly, also NAME-likelihood; by default mh4-hybrid",
)
def partial(bench: Bench, **variables: str) -> int:
    known = [system.name for system in SYSTEMS.values() if "exact" in system.decoders]
    known += [name + LIKELIHOOD for name in with_marginals()]
    return STUDY.train(bench, known, ("mh4-hybrid",), variables)


def changed(files: Mapping[str, Path], row: str, seed: int, folder: Path) -> short_runs.Row:
    """Return the changes of a row: train with the row's share of annotation."""
    columns = annotated(conllu.read(str(files["train"])), row, seed)
    train = {"train": short_runs.with_columns(files["train"], columns, folder)}
    return short_runs.Row(given(measured, path=files["dev"]), train, NO_TAGS, ["--partial"])


def annotated(sentences: Sequence[Sentence], row: str, seed: int) -> list[Columns | None]:
    """Return new columns of each sentence, with the row's share of annotation; None for sentences without any."""
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


def _columns(sentence: Sentence, mask: np.ndarray) -> Columns:
    """Return the columns of a sentence in which only the words of the mask are annotated."""
    columns = {HEAD: map(str, sentence.heads[1:]), DEPREL: sentence.deprels}
    return {number: [cell if kept else "_" for cell, kept in zip(cells, mask, strict=True)] for number, cells in columns.items()}


def measured(run: Run, path: Path) -> Found:
    """Return UAS and LAS of a model on a file, of all sentences ("all") and by length."""
    gold, found = conllu.read(str(path)), Found()
    parsed = Parser.load(str(run.folder)).parse(gold)
    for name, (least, most) in {ALL: (1, 10**9), **LENGTHS}.items():
        pairs = [pair for pair in zip(gold, parsed, strict=True) if least <= len(pair[0]) <= most]
        if pairs:
            found[name] = attachment_scores(*zip(*pairs, strict=True))
    return found


def score(runs: Sequence[Record], part: str, name: str) -> str:
    """Return the average of a score over seeds on a part of the development set; "" if the part is empty."""
    return str(average([run["found"][part][name] for run in runs])) if part in runs[0]["found"] else ""


def table(lines: Lines) -> Table:
    body = []
    for (lang, row, system), runs in lines.items():
        cells = [lang, *row.split("-"), system, "%d" % len(runs), score(runs, ALL, "uas"), score(runs, ALL, "las")]
        body.append(cells + [score(runs, part, "uas") for part in LENGTHS])
    header = ["treebank", "annotated", "%", "system", "seeds", "dev UAS", "dev LAS"]
    return Table([*header, *("UAS, %s words" % part for part in LENGTHS)], body, right=4)


NOTE = """\
Scores on the development set, in percent (mean and standard deviation over seeds), also by the length of sentences. Annotated: words at
random in all sentences, sentences at random with all their words, or the shortest sentences; each up to a share of the words of train.
All other heads and labels are missing, and in the last two cases also the other sentences. Tags are learned by none of the parsers, which
are trained for a few minutes only: with more updates, all scores would be higher."""


def plot(figure: Any, lines: Lines) -> None:
    """Plot dev UAS by the share that is annotated, a panel for each treebank."""
    langs = list(dict.fromkeys(lang for lang, _, _ in lines))
    for axes, lang in zip(figure.subplots(1, len(langs), squeeze=False)[0], langs, strict=True):
        for what, style in ((WORDS, "o-"), (SENTENCES, "s--"), (SHORT, "x")):
            for system in dict.fromkeys(system for place, _, system in lines if place == lang):
                rows = [row for row in ROWS if row.startswith(what) or row.startswith(ALL) and what != SHORT]
                runs = {int(row.split("-")[1]): lines[lang, row, system] for row in rows if (lang, row, system) in lines}
                points = [average([run["found"][ALL]["uas"] for run in group]).mean for group in runs.values()]
                axes.plot(list(runs), points, style, markersize=5, label="%s, %s" % (what, system))
        axes.set(title=lang, xlabel="annotated (% of the words)", ylabel="dev UAS (%)")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)


TITLE, SHOWN = "Partial trees: words annotated at random, or whole sentences", "dev UAS by the share of words that are annotated"
STUDY = short_runs.Study("partial", ROWS, changed, TITLE, NOTE, table, SHOWN, plot, 4.2)
