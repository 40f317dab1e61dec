"""Treebanks with changed annotation, on which studies of annotating train parsers for a given number of updates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.engine import records
from experiments.engine.command import chosen
from experiments.engine.executor import Jobs
from experiments.engine.experiment import Experiment, train_together
from experiments.engine.progress import failures
from experiments.engine.provenance import report_written
from experiments.engine.record_fields import Record
from experiments.engine.treebank import Treebank
from mh4.data import conllu
from mh4.errors import InputError
from mh4.util.files import git_blob_id, make_folder, write_text

EVALUATIONS = 4  # of a run
Columns = Mapping[int, list[str]]  # of a sentence, by number, as Block.text takes them


def requested_rows(rows: str, known: Iterable[str]) -> list[str]:
    """The rows that ROWS asks for, by default all. Raises InputError if one is not of those `known`."""
    known = list(known)
    return chosen(rows, known, known, lambda row: "ROWS: no row %s; there are %s" % (row, " ".join(known)))


def number_of_updates(updates: str, default: int) -> int:
    """The updates of each run. Raises InputError for what is no number of at least EVALUATIONS."""
    if updates and not (updates.isdecimal() and EVALUATIONS <= int(updates) < 10**7):
        raise InputError("UPDATES: %s is not a whole number from %d to 9999999" % (updates, EVALUATIONS))
    return int(updates or default)


def short(bank: Treebank, study: str, row: str, updates: int, *assignments: str) -> Treebank:
    """The treebank for runs of this many updates, which belong to a row of a study."""
    lengths = {"max_updates": updates, "evaluate_updates": updates // EVALUATIONS, "averaged_updates": max(1, updates // 10)}
    settings = ["training.%s=%d" % pair for pair in lengths.items()]
    return replace(bank, name="%s/%s" % (study, bank.name), row=row, assignments=(*settings, *assignments))


def with_columns(path: Path, columns: Sequence[Columns | None], folder: Path) -> Path:
    """Write a file with other columns of each sentence, without sentences that have None, under the same name in `folder`."""
    make_folder(folder)
    pairs = zip(conllu.blocks(str(path)), columns, strict=True)
    write_text(str(folder / path.name), "".join(block.alone(dict(mine)) for block, mine in pairs if mine is not None))
    return folder / path.name


def with_files(bank: Treebank, paths: Mapping[str, Path]) -> Treebank:
    """The treebank with other files of some splits."""
    blobs = {split: git_blob_id(path) for split, path in paths.items()}
    return replace(bank, paths={**bank.paths, **paths}, blobs={**bank.blobs, **blobs})


def train_all(study: str, experiments: Sequence[Experiment], jobs: Jobs, write: Callable[[list[Record]], list[Path]]) -> int:
    """Train the runs without a record, write the pages after each new record, and return the exit code."""
    bench, runs = experiments[0].bench, [run for experiment in experiments for run in experiment.runs]
    for experiment in experiments:
        for run in experiment.runs:
            run.prefix = "%s %s " % (experiment.bank.lang, experiment.bank.row)
    toy = records.is_toy(experiments[0].bank.lang)

    def write_all() -> list[Path]:
        files = sorted((bench.results / study).glob("*.jsonl"))
        of_study = (records.read(path).values() for path in files if records.is_toy(path.stem) is toy)
        return write([record for of_file in of_study for record in of_file])

    train_together(experiments, study, bench.models(study), jobs, write_all, records_count=True)
    report_written(write_all())
    unmeasured = any(experiment.unparsed for experiment in experiments)
    return failures(runs, bench.console) or int(unmeasured)
