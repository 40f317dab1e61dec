"""Define the folders and the console of a study, the command that trains, and how paths are printed."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from mh4.errors import one_line
from mh4.util.files import relative_if_inside

EXPERIMENTS = Path(__file__).resolve().parents[1]
RESULTS = EXPERIMENTS / "results"  # the records that came with the repository
OWN = EXPERIMENTS.parent / "runs"  # models and results of this machine


@dataclass
class Bench:
    """The workplace of a study. home: the folder of models and results.

    trainer: the command line before ``train ...`` or ``parse ...``, which tests replace. recorded: the folder of
    records, in the repository or in another home. recording: whether results are written to `recorded`.
    """

    home: Path = OWN
    trainer: Sequence[str] = (sys.executable, "-m", "mh4")
    recorded: Path = RESULTS
    recording: bool = False
    # Without markup, as file names may contain brackets and colons.
    console: Console = field(default_factory=lambda: Console(highlight=False, markup=False, emoji=False))

    def __reduce__(self) -> tuple:
        return Bench, (self.home, self.trainer, self.recorded, self.recording)  # workers have no console

    @property
    def results(self) -> Path:
        """The folder that records and pages are written to."""
        return self.recorded if self.recording else self.home / "results"

    def holding(self, name: str) -> Path:
        """Return the folder with records of treebank `name`: `recorded` if only that has any, otherwise `results`."""
        own, recorded = ((folder / (name + ".jsonl")).exists() for folder in (self.results, self.recorded))
        return self.recorded if recorded and not own else self.results

    def models(self, name: str) -> Path:
        """Return the folder of the models of the treebank `name`."""
        return self.home / "models" / name


def shown(path: Path) -> str:
    """Return the path, relative to the repository if it is inside it, without characters that control a terminal."""
    return one_line(relative_if_inside(path, EXPERIMENTS.parent))


def report_written(paths: Iterable[Path]) -> None:
    """Print which files a command has written."""
    print("Written: %s" % ", ".join(map(shown, paths)))
