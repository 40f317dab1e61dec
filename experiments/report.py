"""The table of a treebank: dev UAS by system, mean and standard deviation over seeds, beside the paper's Table 4.

Reads only ``experiments/results/NAME/`` (small text files, kept in git) and writes ``NAME.md`` and ``NAME.csv`` beside that folder,
so a table can be made again without any model: ``.venv/bin/python experiments/report.py hu``. NAME is the treebank's code, with the release
when that is not UD 2.0 (``eu-ud1.4``).
"""

import csv
import io
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from mh4.errors import InputError
from mh4.files import write_text

EXPERIMENTS = Path(__file__).resolve().parent
# In the order of the paper's Table 4; those with arcs are our own, the last two of its Table 1.
SYSTEMS = (
    "mh3", "mst", "mh4-two", "mh4-hybrid", "1ec", "mh3-arcs", "mh4-arcs",
    "greedy-mh3", "greedy-mh4", "greedy-mh4-two", "greedy-mh4-three",
)  # fmt: skip
PAPER_RELEASE = "UD 2.0"
TABLE4 = EXPERIMENTS / "paper" / "table4_dev_uas.csv"


@dataclass(frozen=True)
class Row:
    """One system: dev UAS in percent over its seeds, and the paper's where it can be compared (None elsewhere)."""

    system: str
    seeds: Tuple[int, ...]
    mean: float
    std: Optional[float]  # of the sample (n - 1); None for a single seed
    paper_mean: Optional[float]
    paper_std: Optional[float]

    @property
    def difference(self) -> Optional[float]:
        return None if self.paper_mean is None else self.mean - self.paper_mean


def load(name: str, results: Path = EXPERIMENTS / "results") -> List[dict]:
    """The finished runs recorded for treebank `name`, by system (in the paper's order) and seed.

    Raises InputError when there are none, one cannot be read, or they were trained on different data.
    """
    runs = []
    for path in (results / name).glob("*-seed*.json"):
        try:
            run = json.loads(path.read_text(encoding="utf-8"))
            run["system"], run["release"], run["lang"], int(run["seed"]), float(run["dev_uas"]), _data(run)
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError("%s is not the record of a finished run" % shown(path)) from None
        runs.append(run)
    if not runs:
        raise InputError("no finished run of %s in %s: train one first, with make reproduce" % (name, shown(results)))
    if len({tuple(blob for _, blob in _data(run)) for run in runs}) > 1:
        raise InputError("the runs in %s were trained or evaluated on different files" % shown(results / name))
    return sorted(runs, key=lambda run: (_order(run["system"]), run["seed"]))


def rows(runs: Sequence[dict], paper: Path = TABLE4) -> List[Row]:
    """One row for each system in `runs`; the paper's numbers only for runs on the paper's data."""
    table = []
    for system in sorted({run["system"] for run in runs}, key=_order):
        mine = [run for run in runs if run["system"] == system]
        scores = [run["dev_uas"] for run in mine]
        paper_mean, paper_std = published_dev_uas(mine[0]["lang"], mine[0]["release"], system, paper)
        table.append(
            Row(
                system=system,
                seeds=tuple(run["seed"] for run in mine),
                mean=statistics.mean(scores),
                std=statistics.stdev(scores) if len(scores) > 1 else None,
                paper_mean=paper_mean,
                paper_std=paper_std,
            )
        )
    return table


def cells(table: Sequence[Row]) -> Tuple[List[str], List[List[str]]]:
    """Header and rows as people read them; the paper's columns are left out where nothing compares."""
    compared = any(row.paper_mean is not None for row in table)
    header = ["system", "seeds", "dev UAS"] + (["paper", "difference"] if compared else [])
    body = []
    for row in table:
        line = [row.system, " ".join(map(str, row.seeds)), score(row.mean, row.std)]
        if compared:
            line += [score(row.paper_mean, row.paper_std), "" if row.difference is None else "%+.2f" % row.difference]
        body.append(line)
    return header, body


def note(runs: Sequence[dict], table: Sequence[Row]) -> str:
    """What to know when reading the table: the data, and whether the paper's numbers compare."""
    lang, release = runs[0]["lang"], runs[0]["release"]
    if release != PAPER_RELEASE:
        return "%s: not the paper's data (%s), so the paper's numbers do not compare and are not shown." % (
            release[0].upper() + release[1:],
            PAPER_RELEASE,
        )
    if all(row.paper_mean is None for row in table):
        return "The paper gives no development-set UAS for this (%s)." % lang
    return "Beside it the paper's Table 4, over 5 seeds, on the same files."


def markdown(name: str, runs: Sequence[dict]) -> str:
    """The page of treebank `name`: the table, every run, and what made them."""
    table = rows(runs)
    header, body = cells(table)
    scores = [
        [
            run["system"],
            str(run["seed"]),
            "%.2f" % run["dev_uas"],
            _number(run, "dev_las", "%.2f"),
            _number(run, "test_las", "%.2f"),
            _number(run, "epochs", "%.1f"),
            _number(run, "updates", "%d"),
            duration(run["seconds"]) if "seconds" in run else "",
            duration(run["seconds_to_paper"]) if run.get("seconds_to_paper") else "",
            _number(run, "tokens_per_second", "%.0f"),
            run.get("date", ""),
            run.get("commit", ""),
        ]
        for run in runs
    ]
    commands = list(dict.fromkeys(run["reproduce"] for run in runs if run.get("reproduce")))
    files = "\n".join("- %s: %s, git blob %s" % (split, name_, blob) for split, (name_, blob) in zip(("train", "dev"), _data(runs[0])))
    return "\n".join(
        [
            "# %s (%s): UAS on the development set" % (runs[0]["lang"], runs[0]["release"]),
            "",
            markdown_table(header, body, right=2),
            "",
            note(runs, table),
            "",
            "UAS in percent over all words, punctuation included, with gold segmentation: mean and standard deviation over the seeds.",
            "A run counts with its best evaluation on the development set, which also chooses its model. The standard deviation is that",
            "of a sample (n - 1); the paper does not say which one it gives.",
            "",
            "## Runs",
            "",
            markdown_table(
                ["system", "seed", "UAS", "LAS", "test LAS", "epochs", "updates", "time", "to the paper's mean", "tokens/s", "finished", "commit"],
                scores,
                right=1,
                left_from=10,
            ),
            "",
            "Test LAS is that of the official scorer, with the segmentation of the shared task's baseline. To the paper's mean: seconds of",
            "training and evaluation on one core until dev UAS first reaches it.",
            "",
            "The evaluations of each run are in `%s/`, one file for each system and seed, and the trees it predicts for dev and test,"
            % name,
            "without words: `.venv/bin/python experiments/predictions.py` puts them back into a treebank.",
            "",
            "## Data",
            "",
            files,
            "",
            "## Command",
            "",
            "\n".join("    %s" % command for command in commands),
            "",
            "This page and the csv are made from `%s/` by `.venv/bin/python experiments/report.py %s`." % (name, name),
            "",
        ]
    )


def comma_separated(name: str, runs: Sequence[dict]) -> str:
    """The table as csv: numbers unrounded to four decimals, empty where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["lang", "data", "system", "seeds", "mean", "std", "paper_mean", "paper_std", "difference"])
    for row in rows(runs):
        numbers = [row.mean, row.std, row.paper_mean, row.paper_std, row.difference]
        writer.writerow(
            [runs[0]["lang"], runs[0]["release"], row.system, " ".join(map(str, row.seeds))]
            + ["" if number is None else "%.4f" % number for number in numbers]
        )
    return text.getvalue()


def write(name: str, results: Path = EXPERIMENTS / "results") -> List[Path]:
    """Writes ``NAME.md`` and ``NAME.csv`` from the runs recorded in ``NAME/``; returns their paths."""
    runs = load(name, results)
    pages = [(results / (name + ".md"), markdown(name, runs)), (results / (name + ".csv"), comma_separated(name, runs))]
    for path, text in pages:
        write_text(str(path), text)
    return [path for path, _ in pages]


def duration(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, seconds = divmod(int(seconds), 60)
    return "%d:%02d:%02d" % (minutes // 60, minutes % 60, seconds)


def published_dev_uas(lang: str, release: str, system: str, paper: Path = TABLE4) -> Tuple[Optional[float], Optional[float]]:
    """Mean and standard deviation in the paper's Table 4; None where it has none that compare."""
    if release != PAPER_RELEASE:
        return None, None
    with open(paper, encoding="utf-8", newline="") as lines:
        # The table's last row, the averages, has no standard deviations.
        table = {(row["lang"], row["system"]): row for row in csv.DictReader(lines) if row["std"]}
    row = table.get((lang, system))
    return (float(row["mean"]), float(row["std"])) if row else (None, None)


def _data(run: dict) -> Tuple[Tuple[str, str], ...]:
    return tuple((run[split]["path"], run[split]["git_blob"]) for split in ("train", "dev"))


def _order(system: str) -> Tuple[int, str]:
    return (SYSTEMS.index(system) if system in SYSTEMS else len(SYSTEMS), system)


def score(mean: Optional[float], std: Optional[float]) -> str:
    if mean is None:
        return ""
    return "%.2f" % mean if std is None else "%.2f ± %.2f" % (mean, std)


def _number(run: dict, key: str, form: str) -> str:
    return form % run[key] if isinstance(run.get(key), (int, float)) else ""


def markdown_table(header: Sequence[str], body: Sequence[Sequence[str]], right: int, left_from: Optional[int] = None) -> str:
    """Columns from `right` up to `left_from` hold numbers and are set to the right."""
    numeric = range(right, len(header) if left_from is None else left_from)
    rule = ["---:" if column in numeric else "---" for column in range(len(header))]
    return "\n".join("| %s |" % " | ".join(line) for line in [header, rule, *body])


def shown(path: Path) -> str:
    """The path from the repository's folder on, when it is inside."""
    try:
        return str(path.relative_to(EXPERIMENTS.parent))
    except ValueError:
        return str(path)


if __name__ == "__main__":
    results = EXPERIMENTS / "results"
    names = sys.argv[1:] or sorted(folder.name for folder in results.glob("*") if folder.is_dir())
    if not names or any(name.startswith("-") for name in names):
        print("usage: .venv/bin/python experiments/report.py [hu eu-ud1.4 ...]    (all with results if none is named)", file=sys.stderr)
        sys.exit(2)
    try:
        for name in names:
            print(" ".join(shown(path) for path in write(name, results)))
    except InputError as error:
        print("report: %s" % error, file=sys.stderr)
        sys.exit(2)
