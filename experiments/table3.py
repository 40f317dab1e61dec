"""``make coverage``: the paper's Table 3 for the treebanks at hand, and what the paper does not give of them.

Measures every LANG-ud-SPLIT.conllu of a folder and writes ``table3.md`` and ``table3.csv`` into ``experiments/results/``:
counts and percentages only. Training sets of UD 2.0 stand beside the paper's numbers; files of other releases never do.
"""

import argparse
import csv
import io
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import report
from mh4 import conllu, coverage, treebanks
from mh4.errors import InputError
from mh4.files import write_text
from mh4.progress import words_bar
from reproduce import commit

EXPERIMENTS = Path(__file__).resolve().parent
PAPER = EXPERIMENTS / "paper" / "table3_coverage.csv"
HOW = "`mh4 data hu` fetches a treebank, UD=folder names a folder that has some"
COLUMNS = [
    "sentences",
    "words",
    *("%s_%s" % (kind, name) for kind in ("sent", "edge") for name in coverage.CLASSES),
]


@dataclass
class File:
    """A treebank file: language code, split, UD release ("UD 2.0"; None if the manifest does not know it), what was counted."""

    path: Path
    lang: str
    split: str
    release: Optional[str]
    blob: str
    counts: Optional[coverage.Coverage] = None

    @property
    def name(self) -> str:
        return self.lang if self.release == report.PAPER_RELEASE else "%s (%s)" % (self.lang, self.release or "unidentified file")

    @property
    def numbers(self) -> Dict[str, str]:
        """The columns as Table 3 gives them: percentages to the second decimal."""
        found = self.counts
        numbers = {"sentences": "%d" % found.sentences, "words": "%d" % found.words}
        for name in coverage.CLASSES:
            numbers["sent_" + name] = "%.2f" % found.sentence_coverage(name)
            numbers["edge_" + name] = "%.2f" % found.edge_coverage(name)
        return numbers


Paper = Dict[str, Dict[str, str]]


def published() -> Paper:
    """The rows of the paper's Table 3 by language code, in its order."""
    with open(PAPER, encoding="utf-8", newline="") as lines:
        return {row["lang"]: row for row in csv.DictReader(lines)}


def files(folder: Path) -> List[File]:
    """The treebank files of a folder, training sets first, languages as in the paper's tables.

    Raises InputError if there is none.
    """
    if not folder.is_dir():
        raise InputError("%s is not a folder: %s" % (report.shown(folder), HOW))
    order = list(dict.fromkeys([*published(), *treebanks.languages()]))
    found = []
    for path in sorted(folder.iterdir()):
        match = re.fullmatch(r"([a-z_]+)-ud-(%s)\.conllu" % "|".join(treebanks.SPLITS), path.name)
        if match:
            row, (lang, split) = treebanks.identify(path), match.groups()
            release = "UD " + row.release if row and (row.lang, row.split) == (lang, split) else None
            found.append(File(path, lang, split, release, treebanks.git_blob_id(path)))
    if not found:
        raise InputError("no LANG-ud-SPLIT.conllu in %s: %s" % (report.shown(folder), HOW))
    place = {lang: number for number, lang in enumerate(order)}
    return sorted(found, key=lambda file: (treebanks.SPLITS.index(file.split), place.get(file.lang, len(place)), file.lang))


def beside(file: File, paper: Paper) -> Dict[str, str]:
    """The paper's columns for this very file; empty if it has none."""
    row = paper.get(file.lang, {}) if (file.split, file.release) == ("train", report.PAPER_RELEASE) else {}
    return {column: row[column] for column in COLUMNS if column in row}


def agreement(measured: Sequence[File], paper: Paper) -> List[str]:
    """For people, a line for each thing to know: which rows are the paper's, which are not, which are missing."""
    compared = [file for file in measured if beside(file, paper)]
    different = {
        file.lang: [column for column, value in beside(file, paper).items() if file.numbers[column] != value] for file in compared
    }
    same = [lang for lang, columns in different.items() if not columns]
    missing = [lang for lang in paper if lang not in different]
    lines = []
    if same:
        lines.append("As in the paper's Table 3, to the digit, in all eight columns: %s." % ", ".join(same))
    for lang, columns in different.items():
        if columns:
            lines.append("Unlike the paper's Table 3: %s in %s." % (lang, ", ".join(columns)))
    if missing:
        lines.append("Not at hand, the UD 2.0 training sets of the other rows of Table 3: %s." % ", ".join(missing))
    return lines


def markdown(measured: Sequence[File], paper: Paper, command: str) -> str:
    """The page: Table 3, the other files, gaps and crossings, and what made them."""
    training = [file for file in measured if file.split == "train"]
    others = [file for file in measured if file.split != "train"]
    classes = list(coverage.CLASSES.values())
    header = ["sentences", "words"] + ["sent. " + name for name in classes] + ["edge " + name for name in classes]

    def cells(file: File) -> List[str]:
        theirs = beside(file, paper)
        return [
            number if column not in theirs else number + " ✓" if number == theirs[column] else "%s (paper: %s)" % (number, theirs[column])
            for column, number in ((column, file.numbers[column]) for column in COLUMNS)
        ]

    parts = ["# Coverage (Table 3)", ""]
    if training:
        parts += [
            report.markdown_table(["training set"] + header, [[file.name] + cells(file) for file in training], right=1),
            "",
            "✓: the same digits as in the paper, which has no MH5 and only these languages: %s." % ", ".join(paper),
            "",
        ]
    parts += agreement(measured, paper)
    parts += [
        "",
        "Sentence coverage: the percentage of sentences whose tree is in the class. Edge coverage: the percentage of arcs, one for each",
        "word, punctuation and roots included, that the nearest trees of the class keep.",
        "",
    ]
    if others:
        rows = [[file.name, file.split] + cells(file) for file in others]
        parts += ["## Development and test sets", "", report.markdown_table(["treebank", "set"] + header, rows, right=2), ""]
    gaps = ["gap degree " + name for name in coverage.group_names(coverage.GAP_DEGREES)]
    crossings = ["crossings " + name for name in coverage.group_names(coverage.CROSSINGS)]
    rows = [[file.name, file.split] + ["%.2f" % share for share in _shapes(file.counts)] for file in measured]
    parts += [
        "## Gaps and crossings",
        "",
        "Percentages of sentences. The gap degree of a tree is the largest number of gaps in the yield of a node (the block degree is",
        "one more); it is well-nested if no two disjoint subtrees interleave; crossings are pairs of crossing arcs.",
        "",
        report.markdown_table(["treebank", "set", *gaps, "well-nested", *crossings], rows, right=2),
        "",
        "## Data",
        "",
        *("- %s (%s), git blob %s" % (file.path.name, file.release or "unidentified", file.blob) for file in measured),
        "",
        "## Command",
        "",
        "    " + command,
        "",
        "At commit %s." % commit(EXPERIMENTS),
        "",
    ]
    return "\n".join(parts)


def comma_separated(measured: Sequence[File], paper: Paper) -> str:
    """The tables as csv, a line for each file: percentages to four decimals, the paper's as it gives them."""
    gaps = ["gap_degree_" + name for name in coverage.group_names(coverage.GAP_DEGREES)]
    crossings = ["crossings_" + name for name in coverage.group_names(coverage.CROSSINGS)]
    theirs = [column for column in COLUMNS if column in next(iter(paper.values()))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["lang", "split", "data", *COLUMNS, *("paper_" + column for column in theirs), *gaps, "well_nested", *crossings])
    for file in measured:
        found, row = file.counts, beside(file, paper)
        shares = [of(name) for of in (found.sentence_coverage, found.edge_coverage) for name in coverage.CLASSES]
        writer.writerow(
            [file.lang, file.split, file.release or "unidentified", found.sentences, found.words]
            + ["%.4f" % share for share in shares]
            + [row.get(column, "") for column in theirs]
            + ["%.4f" % share for share in _shapes(found)]
        )
    return text.getvalue()


def _shapes(found: coverage.Coverage) -> List[float]:
    """Percentages of sentences: by gap degree, well-nested, by number of crossings."""
    gaps, crossings = coverage.grouped(found.gap_degree, coverage.GAP_DEGREES), coverage.grouped(found.crossings, coverage.CROSSINGS)
    return [found.share(count) for count in (*gaps, found.well_nested, *crossings)]


def write(folder: Path, results: Path, command: str) -> Tuple[List[File], List[Path]]:
    """Measures the files of a folder and writes ``table3.md`` and ``table3.csv``; nothing if one of the files is broken."""
    measured = files(folder)
    with words_bar() as bar:
        for file in measured:
            trees = [sentence.heads for sentence in conllu.read(str(file.path))]
            task = bar.add_task(file.path.name, total=sum(len(heads) - 1 for heads in trees), note="")
            file.counts = coverage.measure(trees, lambda words: bar.advance(task, words))
            bar.remove_task(task)
    paper = published()
    results.mkdir(parents=True, exist_ok=True)
    pages = [(results / "table3.md", markdown(measured, paper, command)), (results / "table3.csv", comma_separated(measured, paper))]
    for path, text in pages:
        write_text(str(path), text)
    return measured, [path for path, _ in pages]


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; returns its exit code: 0, 2 for bad input, 130 if interrupted."""
    parser = argparse.ArgumentParser(usage="make coverage [UD=folder]")
    parser.add_argument("--ud", default="", help="the folder of treebanks; data/ud-2.0 if not given")
    typed = os.path.expanduser(parser.parse_args(arguments).ud)
    folder = Path(typed) if typed else treebanks.DATA / ("ud-" + treebanks.RELEASE)
    command = "make coverage" + (" UD=%s" % (folder.name if folder.is_absolute() else folder) if typed else "")
    try:
        measured, pages = write(folder, home / "results", command)
        print(coverage.table([(file.path.name, file.counts) for file in measured]))
        print()
        print("\n".join(agreement(measured, published())))
        print("Written: %s" % " and ".join(report.shown(page) for page in pages))
        return 0
    except KeyboardInterrupt:
        print("coverage: interrupted", file=sys.stderr)
        return 130
    except InputError as error:
        print("coverage: %s" % error, file=sys.stderr)
    except OSError as error:  # a full disk, a folder of someone else
        print("coverage: %s: %s" % (error.filename or "files", error.strerror or error), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
