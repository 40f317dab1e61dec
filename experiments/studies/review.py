"""``make review [LANGS="hu got"] [ROWS="errors-5 later"] [SYSTEMS="mh4-hybrid mst"] [SEEDS="1 2"] [UPDATES=3000] [UD=folder]
[JOBS=2] [SLURM=options] [LATER=folder]``: how many of the arcs that `mh4 review` lists first are errors

Rows errors-2 and errors-5 move 2 or 5 percent of the heads in train, dev and test to other words of their sentences, at
random for each seed, so that trees stay trees. Parsers are trained on train and dev with these errors for a few
updates, and judge test. Row later judges the test set as it is. Its errors are the heads that differ in a later release
of the treebank, whose files are in the folder LATER; heads of punctuation and conjunctions (cc) do not count. Recorded
runs are not repeated. This is not in the paper.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.engine.command import study
from experiments.engine.record_fields import Found, Record
from experiments.engine.run import LIKELIHOOD, Run
from experiments.engine.workplace import Bench
from experiments.pages import average
from experiments.tables import short_runs
from experiments.tables.short_runs import Lines
from mh4.annotating.review import Reviewed
from mh4.annotating.review import review as reviewed
from mh4.data import conllu
from mh4.data.cells import HEAD
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser.parsing import Parser
from mh4.parser.systems import with_marginals
from mh4.util.text_tables import Table

LATER = "later"
ROWS = ("errors-2", "errors-5", LATER)
DEFAULT_SYSTEMS = ("mst", "mh4-hybrid")
FIRST = (25, 50, 100, 200, 400, 800)  # numbers of words at the top of the list among which errors are counted
STYLES = {"probability": "o-", "margin": "s--", "disagreement": "x:"}  # the rankings of words, and their line styles
CONVENTIONS = ("punct", "cc")  # relations whose heads a later release has changed everywhere
NOT_ASKED = -1  # instead of the right head of a word that is not judged


@study(
    **short_runs.MEANINGS,
    rows=short_runs.of_rows(ROWS) + ", but %s only with LATER" % LATER,
    systems="that have marginals, also NAME-likelihood; by default %s" % " ".join(DEFAULT_SYSTEMS),
    later="for row later: a folder with LANG-later-SPLIT.conllu, the files of a later release",
)
def review(bench: Bench, later: str, **variables: str) -> int:
    rows = variables["rows"] or " ".join(row for row in ROWS if later or row != LATER)
    if LATER in rows.split() and not later:
        raise InputError("LATER is missing: row later needs the files of a later release")
    known = [name + end for end in ("", LIKELIHOOD) for name in with_marginals()]
    with_later = replace(STUDY, changed=partial(changed, later=Path(os.path.expanduser(later))))
    return with_later.train(bench, known, DEFAULT_SYSTEMS, {**variables, "rows": rows})


# Errors


def changed(files: Mapping[str, Path], row: str, seed: int, folder: Path, later: Path = Path()) -> short_runs.Row:
    """Return the changes of a row: files with errors; none for row later."""
    gold = {split: conllu.read(str(path)) for split, path in files.items()}
    if row == LATER:
        lang = files["test"].name.partition("-")[0]
        return short_runs.Row(partial(measured, path=files["test"], right=later_heads(gold["test"], later, lang)), {})
    moved, rng = dict[str, Path](), np.random.default_rng(seed)
    for split, sentences in gold.items():
        trees = with_errors([sentence.heads for sentence in sentences], float(row.partition("-")[2]), rng)
        columns = [{HEAD: list(map(str, tree[1:]))} for tree in trees]
        moved[split] = short_runs.with_columns(files[split], columns, folder)
    right = [sentence.heads for sentence in gold["test"]]
    return short_runs.Row(partial(measured, path=moved.pop("test"), right=right), moved)


def with_errors(trees: Sequence[np.ndarray], percent: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the trees with this percentage of heads moved to other words of the sentence, at random, without cycles.

    The heads of roots, and of words that have no other possible head, are not moved.
    """
    trees = [tree.copy() for tree in trees]
    places = [(tree, m) for tree in trees for m in range(1, len(tree))]
    left = round(len(places) * percent / 100)
    for place in rng.permutation(len(places)):
        tree, m = places[place]
        others = [h for h in range(1, len(tree)) if h != tree[m] and not _is_below(tree, h, m)] if left and tree[m] else []
        if others:
            tree[m] = rng.choice(others)
            left -= 1
    return trees


def _is_below(tree: np.ndarray, node: int, top: int) -> bool:
    """Return whether a node is in the subtree of `top`."""
    while node not in (0, top):
        node = tree[node]
    return node == top


def later_heads(sentences: Sequence[Sentence], folder: Path, lang: str) -> list[np.ndarray]:
    """Return the heads of each sentence in a later release, int (n+1,), with NOT_ASKED for words that are not judged.

    Words of sentences that the later release lacks are not judged. Of several sentences with the same words, the one
    with the most equal heads counts. Raises InputError if the folder has no files.
    """
    found: dict[tuple[str, ...], list[Sentence]] = {}
    for path in sorted(folder.glob(lang + "-later-*.conllu")):
        for sentence in conllu.read(str(path)):
            found.setdefault(tuple(sentence.words), []).append(sentence)
    if not found:
        raise InputError("LATER: %s has no %s-later-SPLIT.conllu" % (folder, lang))
    right = [np.full(len(one) + 1, NOT_ASKED) for one in sentences]
    for one, heads in zip(sentences, right, strict=True):
        for other in sorted(found.get(tuple(one.words), []), key=lambda other: int((other.heads != one.heads).sum()))[:1]:
            labels = zip(one.upos, one.deprels, other.deprels, strict=True)
            asked = [tag != "PUNCT" and before not in CONVENTIONS and after not in CONVENTIONS for tag, before, after in labels]
            heads[1:][asked] = other.heads[1:][asked]
    return right


# What is found


def measured(run: Run, path: Path, right: Sequence[np.ndarray]) -> Found:
    """Return how many errors a model finds in a file, by ranking, and, as "all", the numbers of words and errors.

    right: heads, or NOT_ASKED. The number "proposed" counts the errors for which the model's tree has the right head.
    """
    parser, blocks = Parser.load(str(run.folder)), list(conllu.blocks(str(path)))
    verdicts = list(reviewed(parser, [(path.name, k, block) for k, block in enumerate(blocks)]))
    asked = np.concatenate([right[one.number][1:] for one in verdicts]) != NOT_ASKED

    def of_words(of_sentence: Callable[[Reviewed], np.ndarray]) -> np.ndarray:
        """Return the values of all judged words, from an array (n+1,) of each sentence."""
        return np.concatenate([of_sentence(one)[1:] for one in verdicts])[asked]

    given, correct = of_words(lambda one: one.block.sentence.heads), of_words(lambda one: right[one.number])
    proposed, wrong = of_words(lambda one: one.proposal.heads), given != correct
    ranked = {"probability": of_words(lambda one: -one.heads), "disagreement": (proposed != given).astype(float)}
    if parser.model.system.name == "mst":
        of_sentences = margins(parser, [block.sentence for block in blocks])
        ranked["margin"] = of_words(lambda one: of_sentences[one.number])
    numbers = {"words": len(wrong), "errors": wrong.sum(), "proposed": (wrong & (proposed == correct)).sum()}
    return {"all": {name: int(n) for name, n in numbers.items()}, **{name: found_first(wrong, n) for name, n in ranked.items()}}


def margins(parser: Parser, sentences: Sequence[Sentence]) -> list[np.ndarray]:
    """Return the score of the best tree minus that of the best tree with the given head of each word, float64 (n+1,).

    It is 0 where the best tree has the given head.
    """
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


def found_first(wrong: np.ndarray, doubts: np.ndarray) -> dict[str, float]:
    """Return average precision, and the numbers of errors among the first words.

    The most doubtful words come first; words of equal doubt are in the order of the file.
    """
    right = np.cumsum(wrong[np.argsort(-doubts, kind="stable")])
    places = np.flatnonzero(np.diff(right, prepend=0))
    precision = float((right[places] / (places + 1)).mean()) if len(places) else 0.0
    return {"precision": precision, **{str(n): int(right[:n][-1]) for n in FIRST}}


# The page


def share(runs: Sequence[Record], part: str, whole: str) -> float:
    """Return the percentage of "errors" in "words", or of "proposed" corrections in "errors", a mean over runs."""
    return average([100 * run["found"]["all"][part] / run["found"]["all"][whole] for run in runs]).mean


def precision(runs: Sequence[Record], name: str, n: int) -> float:
    """Return the percentage of errors among the first n words, or all if there are fewer, a mean over runs."""
    return average([100 * run["found"][name][str(n)] / min(n, run["found"]["all"]["words"]) for run in runs]).mean


def table(lines: Lines) -> Table:
    body = []
    for (lang, row, system), runs in lines.items():
        for name in (name for name in STYLES if name in runs[0]["found"]):
            of_all = average([100 * run["found"][name]["precision"] for run in runs])
            uas = "%.1f" % average([run["dev_uas"] for run in runs]).mean
            cells = [lang, row, system, name, "%d" % len(runs), uas, "%.1f" % share(runs, "errors", "words"), str(of_all)]
            body.append(cells + ["%.0f" % precision(runs, name, n) for n in FIRST] + ["%.0f" % share(runs, "proposed", "errors")])
    header = ["treebank", "errors", "system", "ranked by", "seeds", "dev UAS", "errors, %", "average precision"]
    return Table([*header, *("first %d" % n for n in FIRST), "corrected"], body, right=4)


NOTE = """\
The words of the test set, ranked by how doubtful their heads are to a parser that was trained on train and stopped on dev. In percent: the
errors among the first words of the list, and average precision, the mean, over all errors, of the precision at the place of each (mean
and standard deviation over seeds). "errors, %" is their share of all words, which is what chance finds. Corrected: the share of all
errors for which the parser's tree has the right head.

- errors-2, errors-5: heads moved at random in train, dev and test, to any word that keeps the tree a tree. Most are easier to see than
  what annotators get wrong.
- later: UD 2.0 as it is. What counts as an error is a head that a later release has changed, other than heads of punctuation and cc,
  for which conventions changed. Some of the others followed conventions, too, and errors that are still there count as correct. A
  parser has learned the earlier head from train.

Ranked by probability: as `mh4 review` does. By disagreement: where the parser's tree has another head, in the order of the file. By
margin: by how much the best tree scores more than the best tree with the given head (mst). The parsers are trained for a few minutes only,
and on the treebank's own training set instead of all parts but one."""


def plot(figure: Any, lines: Lines) -> None:
    """Plot precision by the number of words looked at: a row of panels for each kind of errors, a column for each treebank."""
    langs, rows, systems = (list(dict.fromkeys(key[place] for key in lines)) for place in range(3))
    panels = figure.subplots(len(rows), len(langs), squeeze=False)
    for (lang, row, system), runs in lines.items():
        axes = panels[rows.index(row)][langs.index(lang)]
        for name, style in STYLES.items():
            if name in runs[0]["found"]:
                points, colour = [precision(runs, name, n) for n in FIRST], "C%d" % systems.index(system)
                axes.plot(FIRST, points, style, color=colour, markersize=3, label="%s, %s" % (system, name))
        axes.axhline(share(runs, "errors", "words"), color="grey", linewidth=0.8)
        axes.set(title="%s, %s" % (lang, row), xscale="log", xlabel="words looked at", ylabel="errors (%)")
        axes.set_xticks(FIRST, list(map(str, FIRST)))
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6)
    for axes in panels.flat:
        axes.set_ylim(0)  # now that all lines are there


TITLE, SHOWN = "Review: errors among the arcs listed first", "errors among the words listed first"
STUDY = short_runs.Study("review", ROWS, changed, TITLE, NOTE, table, SHOWN, plot, 9, ("test",))
