"""``make review [LANGS="hu got"] [ROWS="errors-5 later"] [SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UPDATES=3000] [LATER=folder]
[UD=folder] [JOBS=2] [SLURM=options]``: how many of the arcs that `mh4 review` lists first are errors

Rows errors-2 and errors-5 move so many percent of the heads of train, dev and test to other words of their sentences, at random for
each seed, so that the trees stay trees. Parsers are trained for a few updates on train and dev, with the errors, and judge test. Row later
judges the test set as it is; its errors are the heads that a later release of the treebank, of which LATER has the files, has changed, but
for those of punctuation and conjunctions (cc). Runs already recorded are not repeated. This is not in the paper.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.engine import altered, options
from experiments.engine.command import requested_systems, study
from experiments.engine.experiment import Experiment
from experiments.engine.record_fields import Found, Record
from experiments.engine.run import LIKELIHOOD, Run
from experiments.engine.workplace import Bench
from experiments.pages import document, sections
from experiments.pages.writer import average
from mh4.annotating import review as reviewing
from mh4.data import conllu, treebanks
from mh4.errors import InputError
from mh4.parser.parsing import Parser
from mh4.parser.systems import with_marginals
from mh4.util.plots import plotted, require_matplotlib
from mh4.util.text_tables import Table

LATER, ROWS = "later", {"errors-2": 2, "errors-5": 5, "later": 0}  # with the percentage of heads that are moved
DEFAULT_SYSTEMS = ("mst", "mh4-hybrid")
FIRST = (25, 50, 100, 200, 400, 800)  # words of the list, among which errors are counted
PROBABILITY, MARGIN, DISAGREEMENT = "probability", "margin", "disagreement"  # what words are ranked by
NOT_ASKED = ("punct", "cc")  # relations whose heads were changed by a convention


@study
@options.variable("langs", "by default hu and got")
@options.variable("rows", "of %s; by default all, but later only with LATER" % " ".join(ROWS))
@options.variable("systems", "that have marginals, also NAME-likelihood; by default %s" % " ".join(DEFAULT_SYSTEMS))
@options.variable("seeds", "positive whole numbers; by default 1")
@options.variable("updates", "of each training; by default 1500")
@options.variable("later", "a folder with LANG-later-SPLIT.conllu, the files of a later release")
@options.UD
@options.JOBS
def review(bench: Bench, langs: str, rows: str, systems: str, seeds: str, updates: str, later: str, **variables: str) -> int:
    require_matplotlib()
    known = [*with_marginals(), *(name + LIKELIHOOD for name in with_marginals())]
    wanted = requested_systems(systems, known, DEFAULT_SYSTEMS)
    named = altered.requested_rows(rows, ROWS if later or rows else [row for row in ROWS if row != LATER])
    if LATER in named and not later:
        raise InputError("LATER is missing: row later needs the files of a later release")
    length, experiments = altered.number_of_updates(updates, 1500), []
    for lang in options.languages(langs, ("hu", "got")):
        asked = options.request(lang, " ".join(wanted), seeds or "1", **variables)
        bank = asked.treebank(test=False)
        test = treebanks.locate(lang, ud=asked.ud, splits=("test",))["test"]
        for row in named:
            for seed in asked.seeds:
                mine, judged = altered.short(bank, "review", row, length), test
                if row != LATER:
                    folder = bench.home / "data" / mine.name / row / ("seed%d" % seed)
                    rng = np.random.default_rng(seed)
                    moved = {split: _moved(path, ROWS[row], rng, folder) for split, path in {**bank.paths, "test": test}.items()}
                    judged = moved.pop("test")
                    mine = altered.with_files(mine, moved)
                correct = Path(later) if row == LATER else test
                measure = partial(measured, judged=judged, correct=correct, lang=lang)
                experiments.append(Experiment(mine, wanted, [seed], options.repeat(), bench, trees=False, measure=measure))
    return altered.train_all("review", experiments, asked.jobs, partial(write, bench.results))


# Errors


def _moved(path: Path, percent: int, rng: np.random.Generator, folder: Path) -> Path:
    """A file with errors, in `folder`."""
    heads = with_errors([sentence.heads for sentence in conllu.read(str(path))], percent, rng)
    return altered.with_columns(path, [{conllu.HEAD: list(map(str, tree[1:]))} for tree in heads], folder)


def with_errors(trees: Sequence[np.ndarray], percent: float, rng: np.random.Generator) -> list[np.ndarray]:
    """The trees with so many percent of all heads moved to another word of the sentence, at random, to which there is no cycle then.

    That of a root stays, and so does that of a word which has no other word to go to.
    """
    trees = [tree.copy() for tree in trees]
    places = [(tree, m) for tree in trees for m in range(1, len(tree))]
    left = round(len(places) * percent / 100)
    for place in rng.permutation(len(places)):
        tree, m = places[place]
        others = [h for h in range(1, len(tree)) if h != tree[m] and not _is_below(tree, h, m)]
        if left and tree[m] and others:
            tree[m] = rng.choice(others)
            left -= 1
    return trees


def _is_below(tree: np.ndarray, node: int, top: int) -> bool:
    """Return whether a node is in the subtree of `top`."""
    while node not in (0, top):
        node = tree[node]
    return node == top


def revised(folder: Path, lang: str, sentences: Iterable[conllu.Sentence]) -> list[conllu.Sentence | None]:
    """The sentences of the same words in a later release: of several, the most similar one; None where there is none."""
    found: dict[tuple[str, ...], list[conllu.Sentence]] = {}
    for path in sorted(folder.glob(lang + "-later-*.conllu")):
        for sentence in conllu.read(str(path)):
            found.setdefault(tuple(sentence.words), []).append(sentence)
    if not found:
        raise InputError("LATER: %s has no %s-later-SPLIT.conllu" % (folder, lang))
    return [
        min(found.get(tuple(one.words), ()), key=lambda other: int((other.heads != one.heads).sum()), default=None)
        for one in sentences
    ]


# What is found


def measured(run: Run, judged: Path, correct: Path, lang: str) -> Found:
    """How many errors a model finds in a file, by what words are ranked by, and the number of words, and of errors, as "all".

    correct: the file without errors, or the folder of a later release.
    """
    parser, blocks = Parser.load(str(run.folder)), list(conllu.blocks(str(judged)))
    given = [block.sentence for block in blocks]
    right = revised(correct, lang, given) if correct.is_dir() else conllu.read(str(correct))
    verdicts = list(reviewing.review(parser, [(judged.name, k, block) for k, block in enumerate(blocks)]))
    asked = [_asked(one.block.sentence, right[one.number], correct.is_dir()) for one in verdicts]

    def of_words(values: Callable[[reviewing.Reviewed], Any]) -> np.ndarray:
        """An array over the words asked for."""
        return np.concatenate([values(one)[1:][mask] for one, mask in zip(verdicts, asked, strict=True)])

    wrong = of_words(lambda one: one.block.sentence.heads != getattr(right[one.number], "heads", one.block.sentence.heads))
    doubts = {
        PROBABILITY: of_words(lambda one: 1 - one.heads),
        DISAGREEMENT: of_words(lambda one: 1.0 * (one.block.sentence.heads != one.proposal.heads)),
    }
    if parser.model.system.name == "mst":
        of_sentence = margins(parser, given)
        doubts[MARGIN] = of_words(lambda one: of_sentence[one.number])
    listed = {name: found_first(wrong, suspicion) for name, suspicion in doubts.items()}
    return {"all": {"words": len(wrong), "errors": int(wrong.sum())}, **listed}


def _asked(given: conllu.Sentence, right: conllu.Sentence | None, later: bool) -> np.ndarray:
    """Which words count, bool (n,): in a later release only those of sentences that are still there, and not of NOT_ASKED."""
    if not later:
        return np.ones(len(given), dtype=bool)
    if right is None:
        return np.zeros(len(given), dtype=bool)
    marks = [tag == "PUNCT" for tag in given.upos]
    pairs = zip(marks, given.deprels, right.deprels, strict=True)
    return np.array([not mark and before not in NOT_ASKED and after not in NOT_ASKED for mark, before, after in pairs])


def margins(parser: Parser, sentences: Sequence[conllu.Sentence]) -> list[np.ndarray]:
    """How much lower the best tree with the given head of a word scores than the best tree, float64 (n+1,); 0 where they are one."""
    found = [np.zeros(len(sentence) + 1) for sentence in sentences]
    options: Mapping[str, Any] = {"single_root": parser.model.config.scorer.single_root}
    with parser.model.lock:
        for batch, scores in parser.model.score(sentences):
            for k, tensors in zip(batch, scores.trees.arrays(), strict=True):
                best, heads = parser.decode(**tensors, **options), sentences[k].heads
                for m in np.flatnonzero(best.heads != heads):
                    only = np.where(np.arange(len(heads)) == m, heads, -1).astype(np.int32)
                    found[k][m] = best.score - parser.decode(**tensors, heads=only, **options).score
    return found


def found_first(wrong: np.ndarray, suspicion: np.ndarray) -> dict[str, float]:
    """Average precision, and the errors among the first words, the most suspicious first, and of equal ones those first in the file."""
    right = np.cumsum(wrong[np.argsort(-suspicion, kind="stable")])
    places = np.flatnonzero(np.diff(right, prepend=0))
    precision = float((right[places] / (places + 1)).mean()) if len(places) else 0.0
    return {"precision": precision, **{str(n): int(right[n - 1]) for n in FIRST if n <= len(right)}}


# The page

Key = tuple[str, str, str, str]  # treebank, row, system, what words are ranked by
HEADER = ["treebank", "errors", "system", "ranked by", "seeds", "updates", "errors, %", "average precision"]


def groups(found: Sequence[Record]) -> dict[Key, list[Record]]:
    """The records behind each line of the table."""
    lines: dict[Key, list[Record]] = {}
    for lang in sorted({record["lang"] for record in found}, reverse=True):
        for row in ROWS:
            for record in found:
                for name in record["found"] if (record["lang"], record["row"]) == (lang, row) else ():
                    if name != "all":
                        lines.setdefault((lang, row, record["system"], name), []).append(record)
    return lines


def precision(lines: Sequence[Record], name: str, n: int) -> float:
    """The percentage of errors among the first n words, a mean over runs."""
    return average([100 * record["found"][name].get(str(n), np.nan) / n for record in lines]).mean


def table(found: Sequence[Record]) -> Table:
    body = []
    for (lang, row, system, name), lines in groups(found).items():
        share = average([100 * record["found"]["all"]["errors"] / record["found"]["all"]["words"] for record in lines])
        of_all = average([100 * record["found"][name]["precision"] for record in lines])
        updates = sorted({record["settings"]["training"]["max_updates"] for record in lines})
        seeds = " ".join(str(record["seed"]) for record in lines)
        cells = [lang, row, system, name, seeds, " ".join(map(str, updates)), "%.1f" % share.mean, str(of_all)]
        body.append(cells + ["%.0f" % precision(lines, name, n) for n in FIRST])
    return Table([*HEADER, *("first %d" % n for n in FIRST)], body, right=4)


def write(results: Path, found: list[Record]) -> list[Path]:
    """Write the page and the plot of these records; return their paths."""
    if not found:
        return []
    name = sections.page_name("review", found[0]["lang"] == treebanks.TOY)
    drawing = results / (name + ".png")
    with plotted(str(drawing), 10, 8) as figure:
        plot(figure, found)
    commands = sorted({record["reproduce"] for record in found})
    commits = ", ".join(sorted({record["commit"] for record in found}))
    parts: list[document.Part] = ["![errors among the words listed first](%s.png)" % name, table(found), SAID]
    parts += sections.command(commands, "Trained at commit %s." % commits)
    return [*document.write(results, name, "Review: errors among the arcs listed first", parts), drawing]


SAID = """\
The words of the test set, ranked by how doubtful their heads are to a parser that was trained on train and stopped on dev. In percent: the
errors among the first words of the list, and average precision, the mean, over all errors, of the precision at the place of each (mean
and standard deviation over seeds). "errors, %" is their share of all words, which is what chance finds.

- errors-2, errors-5: heads moved at random in train, dev and test, to any word that keeps the tree a tree. Most are easier to see than
  what annotators get wrong.
- later: UD 2.0 as it is. What counts as an error is a head that a later release has changed, other than those of punctuation and cc,
  for which conventions changed. Some of the others followed conventions, too, and errors that are still there count as correct.

Ranked by probability: as `mh4 review` does. By disagreement: where the parser's tree has another head, in the order of the file. By
margin: by how much the best tree scores more than the best tree with the given head (mst). The parsers are trained for a few minutes only,
and on the treebank's own training set instead of all parts but one."""


def plot(figure: Any, found: Sequence[Record]) -> None:
    """Plot precision by the number of words looked at: a row of panels for each kind of error, a column for each treebank."""
    lines = groups(found)
    rows, langs = (list(dict.fromkeys(key[place] for key in lines)) for place in (1, 0))
    panels = figure.subplots(len(rows), len(langs), squeeze=False, sharex=True)
    for (lang, row, system, name), mine in lines.items():
        axes = panels[rows.index(row)][langs.index(lang)]
        style = {PROBABILITY: "o-", MARGIN: "s--", DISAGREEMENT: "x:"}[name]
        colour = "C%d" % sorted({key[2] for key in lines}).index(system)
        axes.plot(
            FIRST, [precision(mine, name, n) for n in FIRST], style, color=colour, markersize=3, label="%s, %s" % (system, name)
        )
    for axes, row, lang in ((panels[r][c], rows[r], langs[c]) for r in range(len(rows)) for c in range(len(langs))):
        mine = [record for key, group in lines.items() if key[:2] == (lang, row) for record in group]
        if mine:
            axes.axhline(100 * mine[0]["found"]["all"]["errors"] / mine[0]["found"]["all"]["words"], color="grey", linewidth=0.8)
        axes.set(
            title="%s, %s" % (lang, row), xscale="log", xlabel="words looked at", ylabel="errors among them (%)", ylim=(0, 100)
        )
        axes.set_xticks(FIRST, list(map(str, FIRST)))
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6)
