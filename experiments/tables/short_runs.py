"""Make studies of annotation, which train parsers for a few updates on treebanks with changes. Each change is a row.

Each run has a line in ``results/STUDY/TREEBANK.jsonl``, and is not repeated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments import pages, published
from experiments.engine import records
from experiments.engine.command import chosen, languages, repeat, request, requested_systems, whole_number
from experiments.engine.experiment import Experiment, exit_code, train_together
from experiments.engine.record_fields import Found, Record
from experiments.engine.run import Run
from experiments.engine.workplace import Bench, report_written
from mh4.data import conllu, treebanks
from mh4.util.files import git_blob_id, make_folder, write_text
from mh4.util.plots import require_matplotlib
from mh4.util.text_tables import Table

EVALUATIONS = 4  # of a run
Lines = Mapping[tuple[str, str, str], list[Record]]  # runs by treebank, row and system
Columns = Mapping[int, list[str]]  # the new columns of a sentence, by number, as for Block.text
MEANINGS = {  # help texts of variables
    "langs": "by default hu and got",
    "seeds": "positive whole numbers; by default 1",
    "updates": "of each training; by default 1500",
}


def of_rows(rows: Sequence[str]) -> str:
    """Return the help text of ROWS."""
    return "of %s; by default all" % " ".join(rows)


@dataclass(frozen=True)
class Row:
    """The changes of a row: files of splits, settings such as "training.upos_weight=0.0", and flags of `mh4 train`.

    measure: measures a finished model; its record has the result as "found".
    """

    measure: Callable[[Run], Found]
    paths: Mapping[str, Path]
    settings: Sequence[str] = ()
    flags: Sequence[str] = ()


@dataclass(frozen=True)
class Study:
    """A study of these rows, and its page: the title, the text, and functions that tabulate and plot the records.

    changed: returns the changes of a row, given a treebank's files by split, the row, a seed, and a folder for files.
    height: of the plot, in inches.
    """

    name: str
    rows: Sequence[str]
    changed: Callable[[Mapping[str, Path], str, int, Path], Row]
    title: str
    text: str
    table: Callable[[Lines], Table]
    shown: str  # by the plot
    plot: Callable[[Any, Lines], None]
    height: float
    splits: Sequence[str] = ()  # to be changed, too, besides train and dev

    def train(self, bench: Bench, known: Sequence[str], default: Sequence[str], given: Mapping[str, str]) -> int:
        """Train the runs without a record, write the pages after each new one, and return the exit code.

        known, default: the systems that can be trained, and the default ones. given: the variables. Raises InputError
        if a variable is invalid.
        """
        require_matplotlib()
        langs, systems = languages(given["langs"], ("hu", "got")), requested_systems(given["systems"], known, default)
        unknown = "ROWS: no row %s; there are %s"
        rows = chosen(given["rows"], self.rows, self.rows, lambda row: unknown % (row, " ".join(self.rows)))
        updates = whole_number("UPDATES", given["updates"] or "1500", EVALUATIONS, 10**7 - 1)
        lengths = {"max": updates, "evaluate": updates // EVALUATIONS, "averaged": max(1, updates // 10)}
        short = ["training.%s_updates=%d" % pair for pair in lengths.items()]
        experiments = list[Experiment]()
        for lang in langs:
            others = {name: given[name] for name in ("ud", "jobs", "slurm")}
            asked = request(lang, " ".join(systems), given["seeds"] or "1", **others)
            bank = replace(asked.treebank(test=False), test=None)
            files = {**bank.paths, **treebanks.locate(lang, ud=asked.ud, splits=self.splits)}
            for row in rows:
                for seed in asked.seeds:
                    name = "%s/%s" % (self.name, bank.name)
                    mine = self.changed(files, row, seed, bench.home / "data" / name / row / ("seed%d" % seed))
                    paths = {**bank.paths, **mine.paths}
                    blobs = {split: git_blob_id(path) for split, path in paths.items()}
                    settings = (*short, *mine.settings)
                    altered = replace(bank, name=name, row=row, paths=paths, blobs=blobs, assignments=settings)
                    one = Experiment(altered, systems, [seed], repeat(), bench, trees=False, measure=mine.measure)
                    experiments.append(one)
                    for run in one.runs:
                        run.prefix, run.command = "%s %s " % (bank.name, row), [*run.command, *mine.flags]

        def write_all() -> list[Path]:
            toys = sorted({lang == treebanks.TOY for lang in langs})
            return [path for toy in toys for path in self.write(bench.results, toy)]

        train_together(experiments, self.name, bench.models(self.name), asked.jobs, write_all, records_count=True)
        report_written(write_all())
        return exit_code(experiments)

    def recorded(self, results: Path, toy: bool) -> Lines:
        """Return the records of the study, on the toy treebank or on all others, in the order of its table."""
        found: dict[tuple[str, str, str], list[Record]] = {}
        paths = [path for path in (results / self.name).glob("*.jsonl") if records.is_toy(path.stem) is toy]
        for path in sorted(paths, key=lambda path: published.treebank_place(path.stem)):
            of_file = records.read(path).values()
            place = [(self.rows.index(one["row"]), published.place(one["system"]), one["seed"]) for one in of_file]
            for _, record in sorted(zip(place, of_file, strict=True), key=lambda pair: pair[0]):
                found.setdefault((path.stem, record["row"], record["system"]), []).append(record)
            for group in found.values():
                records.check_same_settings(group, path)
        return found

    def write(self, results: Path, toy: bool) -> list[Path]:
        """Write the page and the plot, if there are records; return their paths."""
        lines, name = self.recorded(results, toy), pages.page_name(self.name, toy)
        if not lines:
            return []
        runs: list[Any] = [run for group in lines.values() for run in group]
        updates = sorted({run["settings"]["training"]["max_updates"] for run in runs})
        made = "%s updates each, trained at commit %s."
        made %= " or ".join(map(str, updates)), ", ".join(sorted({run["commit"] for run in runs}))
        parts: list[pages.Part] = ["![%s](%s.png)" % (self.shown, name), self.table(lines), self.text]
        parts += pages.command(sorted({run["reproduce"] for run in runs}), made)
        drawing = pages.Plot(lambda figure: self.plot(figure, lines), self.height)
        return pages.write(results, name, self.title, parts, plot=drawing)


def with_columns(path: Path, columns: Sequence[Columns | None], folder: Path) -> Path:
    """Write a copy of a file to `folder` with new columns of each sentence; return its path.

    columns: by sentence, in order; sentences with None are left out.
    """
    make_folder(folder)
    pairs = zip(conllu.blocks(str(path)), columns, strict=True)
    write_text(str(folder / path.name), "".join(block.alone(dict(mine)) for block, mine in pairs if mine is not None))
    return folder / path.name
