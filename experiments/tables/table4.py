"""Table 4: UAS on the development set by system, mean and standard deviation over seeds, compared with the paper's.

Made only from the records of a treebank's runs, so ``experiments/report.py`` can rewrite it without any model. It is written to
``results/NAME.md`` and ``.csv``.
"""

from collections.abc import Sequence
from pathlib import Path

import paper
from training import records
from training.run import duration

from tables.writer import Average, SystemRow, Table, averages, command_section, data_section, systems_as_csv, title, write_pages


def rows(runs: Sequence[dict]) -> list[SystemRow]:
    """A row of dev UAS for each system with records; the paper's numbers only for runs on the paper's data."""
    found = []
    for system, ours in averages(runs, "dev_uas").items():
        published = paper.dev_uas(runs[0]["lang"], runs[0]["release"], system)
        found.append(SystemRow(system, ours, Average(*published) if published else None))
    return found


def table(runs: Sequence[dict]) -> Table:
    """The table as shown; the paper's columns are omitted if nothing is comparable."""
    lines = rows(runs)
    header, body = ["system", "seeds", "dev UAS"], [[row.system, row.ours.seeds_listed, str(row.ours)] for row in lines]
    if any(row.paper for row in lines):
        header += ["paper", "difference"]
        for cells, row in zip(body, lines):
            cells += [str(row.paper), "%+.2f" % row.difference] if row.paper else ["", ""]
    return Table(header, body, right=2)


def note(runs: Sequence[dict]) -> str:
    """A note on how to read the table: the data, and whether the paper's numbers are comparable."""
    lang, release = runs[0]["lang"], runs[0]["release"]
    if release != paper.RELEASE:
        return "%s: not the paper's data (%s), so the paper's numbers are not comparable and not shown." % (
            release[0].upper() + release[1:],
            paper.RELEASE,
        )
    if not any(row.paper for row in rows(runs)):
        what = "these systems" if paper.in_table_4(lang, release) else "this treebank (%s)" % lang
        return "The paper gives no development-set UAS for %s." % what
    return "The paper's numbers are from Table 4, with 5 seeds, on the same files."


def every_run(runs: Sequence[dict]) -> Table:
    """The scores and training times of each run."""

    def number(run: dict, key: str, form: str) -> str:
        return form % run[key] if isinstance(run.get(key), (int, float)) else ""

    def time(run: dict, key: str) -> str:
        return "" if run.get(key) is None else duration(run[key])

    columns = {
        "system": lambda run: run["system"],
        "seed": lambda run: str(run["seed"]),
        "UAS": lambda run: "%.2f" % run["dev_uas"],
        "LAS": lambda run: number(run, "dev_las", "%.2f"),
        "test LAS": lambda run: number(run, "test_las", "%.2f"),
        "epochs": lambda run: number(run, "epochs", "%.1f"),
        "updates": lambda run: number(run, "updates", "%d"),
        "time": lambda run: time(run, "seconds"),
        "to the paper's mean": lambda run: time(run, "seconds_to_paper"),
        "tokens/s": lambda run: number(run, "tokens_per_second", "%.0f"),
        "finished": lambda run: run.get("date", ""),
        "commit": lambda run: run.get("commit", ""),
    }
    body = [[cell(run) for cell in columns.values()] for run in runs]
    return Table(list(columns), body, right=1, left_from=list(columns).index("finished"))


def markdown(name: str, runs: Sequence[dict]) -> list[str]:
    """The lines of the page: the table, every run, and the commands."""
    return [
        "# %s: UAS on the development set" % title(runs[0]),
        "",
        table(runs).markdown(),
        "",
        note(runs),
        "",
        "UAS in percent over all words, including punctuation, with gold segmentation: mean and standard deviation over seeds. The",
        "score of a run is that of its best evaluation on the development set, which also selects its model. The standard",
        "deviation is the sample standard deviation (n - 1); the paper does not state which one it reports.",
        "",
        "## Runs",
        "",
        every_run(runs).markdown(),
        "",
        "Test LAS is by the official scorer, with the segmentation of the shared task's baseline. To the paper's mean: time for",
        "training and evaluation on one core until dev UAS first reaches it.",
        "",
        "`%s/` contains the evaluations of each run, one file for each system and seed, and its predicted trees for dev and test,"
        % name,
        "without words: `.venv/bin/python experiments/predictions.py` merges them into the treebank's files.",
        *data_section(("%s: %s" % (split, file), blob) for split, file, blob in records.files(runs[0])),
        *command_section(
            records.commands(runs),
            "This page and the csv are made from `%s/` by `.venv/bin/python experiments/report.py %s`." % (name, name),
        ),
    ]


def as_csv(runs: Sequence[dict]) -> str:
    """The table as csv."""
    return systems_as_csv(runs[0]["lang"], runs[0]["release"], rows(runs))


def write(name: str, results: Path = records.RESULTS) -> list[Path]:
    """Writes the pages of treebank `name` from all its records in the folder `results`; returns their paths."""
    runs = records.load(name, results)
    return write_pages(results, name, markdown(name, runs), as_csv(runs))
