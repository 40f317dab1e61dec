"""Studies of annotation: parsers trained for a few updates on treebanks with changed annotation, of which each change is a row.

A run has a line in ``results/STUDY/TREEBANK.jsonl``, and is not repeated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from experiments import published
from experiments.engine import options, records
from experiments.engine.command import chosen, requested_systems
from experiments.engine.experiment import Experiment, train_together
from experiments.engine.progress import failures
from experiments.engine.provenance import report_written
from experiments.engine.record_fields import Found, Record
from experiments.engine.run import Run
from experiments.engine.workplace import Bench
from mh4.cli.options import together
from mh4.data import conllu, treebanks
from mh4.errors import InputError
from mh4.util.files import git_blob_id, make_folder, write_text
from mh4.util.plots import require_matplotlib

EVALUATIONS = 4  # of a run
Lines = Mapping[tuple[str, str, str], list[Record]]  # runs by treebank, row and system
Columns = Mapping[int, list[str]]  # of a sentence, by number, as Block.text takes them


@dataclass(frozen=True)
class Row:
    """What a row changes: files of splits, settings, such as "training.upos_weight=0.0", and flags of `mh4 train`.

    measure: what enters the record of a finished model, as "found".
    """

    measure: Callable[[Run], Found]
    paths: Mapping[str, Path]
    settings: Sequence[str] = ()
    flags: Sequence[str] = ()


def variables(rows: Sequence[str], systems: str) -> options.Decorator:
    """The variables of such a study. systems: the help of SYSTEMS."""
    return together(
        options.variable("langs", "by default hu and got"),
        options.variable("rows", "of %s; by default all" % " ".join(rows)),
        options.variable("systems", systems),
        options.variable("seeds", "positive whole numbers; by default 1"),
        options.variable("updates", "of each training; by default 1500"),
        options.UD,
        options.JOBS,
    )


def train(
    study: str,
    bench: Bench,
    rows: Sequence[str],
    known: Sequence[str],
    default: Sequence[str],
    changed: Callable[[Mapping[str, Path], str, int, Path], Row],
    write: Callable[[str, Path, Lines], list[Path]],
    given: Mapping[str, str],
) -> int:
    """Train the runs without a record, write the pages after each new one, and return the exit code.

    known, default: systems. changed: takes the files of a treebank by split, a row, a seed, and a folder for files. write: writes pages
    of this name to a folder. given: the variables. Raises InputError for wrong ones.
    """
    require_matplotlib()
    langs, systems = options.languages(given["langs"], ("hu", "got")), requested_systems(given["systems"], known, default)
    wanted = chosen(given["rows"], rows, rows, lambda row: "ROWS: no row %s; there are %s" % (row, " ".join(rows)))
    number = given["updates"] or "1500"
    if not (number.isdecimal() and EVALUATIONS <= int(number) < 10**7):
        raise InputError("UPDATES: %s is not a whole number from %d to 9999999" % (number, EVALUATIONS))
    lengths = {"max": int(number), "evaluate": int(number) // EVALUATIONS, "averaged": max(1, int(number) // 10)}
    short = ["training.%s_updates=%d" % pair for pair in lengths.items()]
    experiments = list[Experiment]()
    for lang in langs:
        others = {name: given[name] for name in ("ud", "jobs", "slurm")}
        asked = options.request(lang, " ".join(systems), given["seeds"] or "1", **others)
        bank = replace(asked.treebank(test=False), test=None)
        files = {**bank.paths, **treebanks.locate(lang, ud=asked.ud, splits=("test",))}
        for row in wanted:
            for seed in asked.seeds:
                name = "%s/%s" % (study, bank.name)
                mine = changed(files, row, seed, bench.home / "data" / name / row / ("seed%d" % seed))
                paths = {**bank.paths, **mine.paths}
                blobs = {split: git_blob_id(path) for split, path in paths.items()}
                settings = (*short, *mine.settings)
                altered = replace(bank, name=name, row=row, paths=paths, blobs=blobs, assignments=settings)
                experiments.append(
                    Experiment(altered, systems, [seed], options.repeat(), bench, trees=False, measure=mine.measure)
                )
                for run in experiments[-1].runs:
                    run.prefix, run.command = "%s %s " % (bank.name, row), [*run.command, *mine.flags]

    def write_all() -> list[Path]:
        toys = sorted({lang == treebanks.TOY for lang in langs})
        found = {"toy-" + study if toy else study: recorded(bench.results / study, rows, toy) for toy in toys}
        return [path for name, lines in found.items() if lines for path in write(name, bench.results, lines)]

    train_together(experiments, study, bench.models(study), asked.jobs, write_all, records_count=True)
    report_written(write_all())
    wrong = any(experiment.unparsed for experiment in experiments)
    return failures([run for experiment in experiments for run in experiment.runs], bench.console) or int(wrong)


def recorded(folder: Path, rows: Sequence[str], toy: bool) -> Lines:
    """The records of a study, of the toy treebank or of all others, in the order of its tables."""
    found: dict[tuple[str, str, str], list[Record]] = {}
    paths = [path for path in folder.glob("*.jsonl") if records.is_toy(path.stem) is toy]
    for path in sorted(paths, key=lambda path: published.treebank_place(path.stem)):
        of_file = records.read(path).values()
        for record in sorted(of_file, key=lambda one: (rows.index(one["row"]), published.place(one["system"]), one["seed"])):
            found.setdefault((path.stem, record["row"], record["system"]), []).append(record)
    return found


def with_columns(path: Path, columns: Sequence[Columns | None], folder: Path) -> Path:
    """Write a file with other columns of each sentence, without sentences that have None, under the same name in `folder`."""
    make_folder(folder)
    pairs = zip(conllu.blocks(str(path)), columns, strict=True)
    write_text(str(folder / path.name), "".join(block.alone(dict(mine)) for block, mine in pairs if mine is not None))
    return folder / path.name
