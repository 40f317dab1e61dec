"""``make features LANG=hu``: the rows of the paper's Tables 1 and 2, dev UAS by how many positions a parser sees.

Local parsers are greedy, global ones find the best derivation. Runs that ``experiments/results/`` has are not trained again; the
others are trained as by ``make reproduce`` and recorded beside them. The table goes to ``results/NAME-features.md`` and ``.csv``.
"""

import csv
import io
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

from rich.console import Console

import grid
import report
import reproduce
from mh4 import treebanks
from mh4.files import write_text

# The rows of Tables 1 and 2: decoding and features as in the csv of the paper's numbers, and the system.
ROWS = (
    ("local", "s0 b0", "greedy-mh4-two"),
    ("local", "s1 s0 b0", "greedy-mh4-three"),
    ("local", "s2 s1 s0 b0", "greedy-mh4"),
    ("global", "s0 b0", "mh4-two"),
    ("global", "hybrid", "mh4-hybrid"),
)
DEFAULT_SEEDS = "1 2"
USAGE = 'usage: make features LANG=hu [SEEDS="1 2"] [UD=folder] [JOBS=2]'
OPTIONS = """\
  LANG     {languages},
           or toy: a small invented language, needs no network
  SEEDS    whole numbers from 1 on; {seeds} if not given
  UD       a folder that has the treebank's files already; otherwise they are downloaded
  JOBS     trainings at a time, each on one core; if not given, as many as there are cores, at most {jobs}"""


@dataclass(frozen=True)
class Row:
    """One feature set: dev UAS in percent over its seeds, and the paper's average over 10 languages."""

    decoding: str
    features: str
    system: str
    seeds: Tuple[int, ...]
    mean: float
    std: Optional[float]  # of the sample (n - 1); None for a single seed
    paper: float


def rows(runs: Sequence[dict], paper: Path = report.EXPERIMENTS / "paper" / "table1_table2_features.csv") -> List[Row]:
    """A row for each feature set that `runs` have, in the order of the paper's tables."""
    with open(paper, encoding="utf-8", newline="") as lines:
        published = {(row["decoding"], row["features"]): float(row["uas_avg10"]) for row in csv.DictReader(lines)}
    table = []
    for decoding, features, system in ROWS:
        mine = [run for run in runs if run["system"] == system]
        if mine:
            scores = [run["dev_uas"] for run in mine]
            std = statistics.stdev(scores) if len(scores) > 1 else None
            seeds = tuple(run["seed"] for run in mine)
            table.append(Row(decoding, features, system, seeds, statistics.mean(scores), std, published[decoding, features]))
    return table


def cells(table: Sequence[Row]) -> Tuple[List[str], List[List[str]]]:
    """Header and rows as people read them."""
    header = ["decoding", "features", "system", "seeds", "dev UAS", "paper's average"]
    body = [
        [row.decoding, row.features, row.system, " ".join(map(str, row.seeds)), report.score(row.mean, row.std), "%.2f" % row.paper]
        for row in table
    ]
    return header, body


def note(runs: Sequence[dict]) -> str:
    """What to know when reading the table."""
    return (
        "Here %s (%s); the paper's Tables 1 and 2 give averages over 10 languages of UD 2.0 alone, so the numbers do not compare "
        "one by one, but what they say of the features does." % (runs[0]["lang"], runs[0]["release"])
    )


def markdown(name: str, runs: Sequence[dict]) -> str:
    """The page of treebank `name`."""
    header, body = cells(rows(runs))
    return "\n".join(
        [
            "# %s (%s): UAS on the development set, by features" % (runs[0]["lang"], runs[0]["release"]),
            "",
            report.markdown_table(header, body, right=4),
            "",
            note(runs),
            "",
            "UAS in percent over all words, with gold segmentation: mean and standard deviation (n - 1) over the seeds. Local parsers",
            "are greedy and score every transition on all features; global ones find the best derivation, and hybrid ones score shifts",
            "on s0 b0 and reduces on s1 s0 b0.",
            "",
            "Every run, its data, commit and command are in [%s.md](%s.md) and `%s/`. This page is made from them by" % (name, name, name),
            "",
            '    make features LANG=%s SEEDS="%s"'
            % (runs[0]["lang"], " ".join(map(str, sorted({run["seed"] for run in runs})))),
            "",
        ]
    )


def comma_separated(runs: Sequence[dict]) -> str:
    """The table as csv, four decimals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["lang", "data", "decoding", "features", "system", "seeds", "mean", "std", "paper_uas_avg10"])
    for row in rows(runs):
        writer.writerow(
            [runs[0]["lang"], runs[0]["release"], row.decoding, row.features, row.system, " ".join(map(str, row.seeds))]
            + ["%.4f" % row.mean, "" if row.std is None else "%.4f" % row.std, "%.2f" % row.paper]
        )
    return text.getvalue()


def usage() -> str:
    """The usage line and what can stand there."""
    options = OPTIONS.format(
        languages=" ".join(treebanks.languages()), seeds=DEFAULT_SEEDS, jobs=reproduce.MOST_JOBS
    )
    return USAGE + "\n" + options


def main(arguments: Sequence[str], trainer: Sequence[str] = reproduce.TRAINER, home: Path = reproduce.EXPERIMENTS) -> int:
    """The command; exit codes, `trainer` and `home` as in reproduce.main."""
    typed = reproduce.options(arguments, USAGE, ("lang", "seeds", "ud", "jobs"))

    def work() -> int:
        systems = " ".join(system for _, _, system in ROWS)
        return _features(reproduce.request(typed.lang, systems, typed.seeds or DEFAULT_SEEDS, typed.ud, typed.jobs), trainer, home)

    return reproduce.answered("features", usage, typed.help, work)


def _features(asked: reproduce.Request, trainer: Sequence[str], home: Path) -> int:
    console = Console(highlight=False)
    experiment = reproduce.Experiment(asked, reproduce.located(asked.lang, asked.ud), trainer, home, Path.cwd())
    for run in experiment.runs:
        if experiment.is_done(run):
            experiment.finished(run)
        if experiment.is_recorded(run):
            run.state = grid.DONE
    reproduce.train(experiment, console)
    name, results = experiment.bank.name, experiment.results
    wanted = {(run.system, run.seed) for run in experiment.runs if run.state == grid.DONE}
    if wanted:
        runs = [run for run in report.load(name, results) if (run["system"], run["seed"]) in wanted]
        pages = [results / (name + "-features" + ending) for ending in (".md", ".csv")]
        write_text(str(pages[0]), markdown(name, runs))
        write_text(str(pages[1]), comma_separated(runs))
        reproduce.print_table(console, *cells(rows(runs)), 4)
        console.print(note(runs), soft_wrap=True)
        console.print("Written: %s" % " and ".join(report.shown(page) for page in pages), soft_wrap=True)
    return reproduce.failures(experiment, console)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
