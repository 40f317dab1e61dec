"""``make coverage [UD=folder] [FORMAT=latex]``: the coverage of the classes of trees, compared with the paper (Table 3)

Measures every LANG-ud-SPLIT.conllu in a folder and its subfolders, with further statistics that are not in the paper.
``results/table3.md`` and ``.csv`` only contain counts and percentages. Only training sets of UD 2.0 are compared with
the paper's numbers. If the folder is all of ud-treebanks-v2.0.tgz, the page also checks what the paper says of UD.
"""

import csv
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from experiments import pages, published
from experiments.engine.command import form_of, repeat, study
from experiments.engine.provenance import commit
from experiments.engine.treebank import release_of
from experiments.engine.workplace import Bench, report_written, shown
from experiments.pages import comma_separated
from mh4.analysis import coverage as classes
from mh4.data import conllu, treebanks
from mh4.errors import InputError
from mh4.util.files import git_blob_id
from mh4.util.progress import words_bar
from mh4.util.text_tables import Table

MANY = 40  # training sets; a folder with fewer is not the whole release
HOW = "fetch a treebank with `mh4 data hu`, or name a folder with UD=folder"
COLUMNS = ["sentences", "words", *("%s_%s" % (kind, name) for kind in ("sent", "edge") for name in classes.CLASSES)]


@dataclass(frozen=True)
class File:
    """A treebank file: language code, split, UD release ("UD 2.0"; None if it is not in the manifest), and its counts."""

    path: Path
    lang: str
    split: str
    release: str | None
    blob: str
    counts: classes.Coverage

    @property
    def name(self) -> str:
        return self.lang if self.release == published.RELEASE else "%s (%s)" % (self.lang, self.release or "unidentified file")

    @property
    def numbers(self) -> dict[str, str]:
        """The columns as in Table 3: percentages to two decimals."""
        counts = ["%d" % self.counts.sentences, "%d" % self.counts.words]
        return dict(zip(COLUMNS, [*counts, *("%.2f" % share for share in classes.by_class(self.counts))], strict=True))

    @property
    def paper(self) -> dict[str, str]:
        """The paper's columns for exactly this file; empty if it has none."""
        row = published.coverage().get(self.lang, {}) if (self.split, self.release) == ("train", published.RELEASE) else {}
        return {column: row[column] for column in COLUMNS if column in row}

    @property
    def cells(self) -> list[str]:
        """The numbers, beside the paper's."""
        beside = {name: " ✓" if number == self.numbers[name] else " (paper: %s)" % number for name, number in self.paper.items()}
        return [number + beside.get(name, "") for name, number in self.numbers.items()]


@study(ud="the folder of treebanks; by default data/ud-2.0")
def coverage(bench: Bench, ud: str, format: str) -> None:
    form = form_of(format)
    measured = measure(Path(os.path.expanduser(ud)) if ud else treebanks.default_folder())
    written = write(measured, bench.results, repeat())
    print(classes.table([(file.path.name, file.counts) for file in measured], form))
    print()
    print("\n".join(agreement(measured)))
    report_written(written)


def measure(folder: Path) -> list[File]:
    """Return the treebank files in a folder, training sets first, languages in the order of the paper's tables.

    Raises InputError if there are none.
    """
    if not folder.is_dir():
        raise InputError("%s is not a folder: %s" % (shown(folder), HOW))
    found = []
    with words_bar() as bar:
        for path in sorted(folder.rglob("*.conllu")):
            match = re.fullmatch(r"([a-z_]+)-ud-(%s)\.conllu" % "|".join(treebanks.SPLITS), path.name)
            if match:
                (lang, split), blob = match.groups(), git_blob_id(path)
                trees = [sentence.heads for sentence in conllu.read(str(path))]
                task = bar.add_task(path.name, total=sum(len(heads) - 1 for heads in trees), note="")
                counts = classes.measure_coverage(trees, partial(bar.advance, task))
                bar.remove_task(task)
                found.append(File(path, lang, split, release_of(lang, split, blob), blob, counts))
    if not found:
        raise InputError("no LANG-ud-SPLIT.conllu in %s: %s" % (shown(folder), HOW))
    return sorted(found, key=lambda file: (treebanks.SPLITS.index(file.split), published.treebank_place(file.lang)))


def agreement(measured: Sequence[File]) -> list[str]:
    """Return lines that state which rows equal the paper's, which do not, and which are missing."""
    different = {}
    for file in measured:
        if file.paper:
            different[file.lang] = [column for column, value in file.paper.items() if file.numbers[column] != value]
    same = ", ".join(lang for lang, columns in different.items() if not columns)
    missing = ", ".join(lang for lang in published.coverage() if lang not in different)
    return [
        *(["Identical to the paper's Table 3 in all eight columns: %s." % same] if same else []),
        *("Different from the paper's Table 3: %s in %s." % (lang, ", ".join(own)) for lang, own in different.items() if own),
        *(["UD 2.0 training sets of Table 3 that were not available: %s." % missing] if missing else []),
    ]


def page(measured: Sequence[File], repeat: str) -> list[pages.Part]:
    """Return the page below its title: Table 3, the other files, gaps and crossings, and the command."""
    training = [file for file in measured if file.split == "train"]
    others = [file for file in measured if file.split != "train"]
    names = list(classes.CLASSES.values())
    header = ["sentences", "words"] + ["sent. " + name for name in names] + ["edge " + name for name in names]
    parts: list[pages.Part] = []
    if training:
        rows = [[file.name, *file.cells] for file in training]
        message = "✓: identical to the paper, which does not include MH5 and only has these languages: %s."
        parts += [Table(["training set", *header], rows, right=1), message % ", ".join(published.coverage())]
    parts += ["\n".join(agreement(measured)), *classes.without([(file.path.name, file.counts) for file in measured]), OF_CLASSES]
    if len(training) >= MANY:
        parts += ["## What the paper says of UD 2.0", Table(["", "the paper", "here"], survey(training), right=3)]
    if others:
        rows = [[file.name, file.split, *file.cells] for file in others]
        parts += ["## Development and test sets", Table(["treebank", "set", *header], rows, right=2)]
    gaps = ["gap degree " + name for name in classes.group_names(classes.GAP_DEGREES)]
    crossings = ["crossings " + name for name in classes.group_names(classes.CROSSINGS)]
    rows = [[file.name, file.split] + ["%.2f" % share for share in classes.by_shape(file.counts)] for file in measured]
    return [
        *parts,
        "## Gaps and crossings",
        OF_SHAPES,
        Table(["treebank", "set", *gaps, "well-nested", *crossings], rows, right=2),
        *pages.data(("%s (%s)" % (file.path.name, file.release or "unidentified"), file.blob) for file in measured),
        *pages.command([repeat], "At commit %s." % commit()),
    ]


def survey(training: Sequence[File]) -> list[list[str]]:
    """Return the rows of a table: what the paper says of UD 2.0 as a whole, and what these training sets show."""
    crossing = {file.lang: 100 - file.counts.sentence_coverage("projective") for file in training}
    most = max(crossing, key=crossing.__getitem__)
    languages = defaultdict(list)
    for lang in crossing:
        languages[lang.partition("_")[0]].append(lang)
    single = sorted((langs[0] for langs in languages.values() if len(langs) == 1), key=crossing.__getitem__)
    mean = fmean(fmean(map(crossing.__getitem__, langs)) for langs in languages.values())
    some = sum(share > 0 for share in crossing.values())
    projective = "%s projective, of the languages with one training set"
    return [
        ["sentences with crossing arcs, at most (Introduction)", "63 %, Ancient Greek", "%.0f %%, %s" % (crossing[most], most)],
        ["the same, the mean over languages (Introduction)", "around 12 %", "%.1f %%" % mean],
        ["treebanks with such sentences (Section 6)", "68 of 70", "%d of %d training sets" % (some, len(training))],
        [projective % "least", ", ".join(published.test_languages(5)), ", ".join(reversed(single[-10:]))],
        [projective % "most", ", ".join(sorted(published.test_languages(6))), ", ".join(sorted(single[:10]))],
    ]


OF_CLASSES = """\
Sentence coverage: the percentage of sentences whose tree is in the class. Edge coverage: the percentage of arcs, one for
each word, including punctuation and roots, that the nearest trees of the class keep."""
OF_SHAPES = """\
Percentages of sentences. The gap degree of a tree is the largest number of gaps in the yield of a node (the block degree
is one more); a tree is well-nested if no two disjoint subtrees interleave; crossings are pairs of crossing arcs."""


def as_csv(measured: Sequence[File]) -> str:
    """Return the tables as csv, a line for each file; the paper's percentages as published.

    Our percentages have six decimals: rounding to four and then to two is not rounding to two.
    """
    gaps = ["gap_degree_" + name for name in classes.group_names(classes.GAP_DEGREES)]
    crossings = ["crossings_" + name for name in classes.group_names(classes.CROSSINGS)]
    theirs = [column for column in COLUMNS if column in next(iter(published.coverage().values()))]
    header = ["lang", "split", "data", *COLUMNS, *("paper_" + column for column in theirs), *gaps, "well_nested", *crossings]
    body = []
    for file in measured:
        found, row = file.counts, file.paper
        line = [file.lang, file.split, file.release or "unidentified", found.sentences, found.words]
        body.append([*line, *classes.by_class(found), *(row.get(column) for column in theirs), *classes.by_shape(found)])
    return comma_separated(header, body, "%.6f")


def recorded(results: Path) -> dict[str, dict[str, str]]:
    """Return the rows of ``table3.csv`` for training sets of UD 2.0, by language code. Raises InputError if it is damaged."""
    path = results / "table3.csv"
    if not path.exists():
        return {}
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            table = csv.DictReader(lines)
            rows = [row for row in table if (row["split"], row["data"]) == ("train", published.RELEASE)]
        if not table.fieldnames:
            raise ValueError
        for row in rows:
            for column in COLUMNS:
                float(row[column])
        return {row["lang"]: row for row in rows}
    except (ValueError, KeyError, TypeError):
        raise InputError("%s does not have the columns of Table 3: restore or delete it" % shown(path)) from None


def write(found: Sequence[File], results: Path, repeat: str) -> list[Path]:
    """Write the pages of measured files; return their paths. `repeat`: the command that makes them."""
    return pages.write(results, "table3", "Coverage (Table 3)", page(found, repeat), as_csv(found))
