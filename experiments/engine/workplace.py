"""The workplace of a study: its folders, its console, and the command that trains, which tests replace; paths as they are shown."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from mh4.errors import one_line
from mh4.util.files import relative_if_inside

EXPERIMENTS = Path(__file__).resolve().parents[1]
RESULTS = EXPERIMENTS / "results"  # the records that came with the repository
OWN = EXPERIMENTS.parent / "runs"  # what runs here


@dataclass
class Bench:
    """The folder of models and results, and the command line before ``train ...`` or ``parse ...``.

    recorded: the folder of records, in the repository or in another home. recording: whether results are
    added to those.
    """

    home: Path = OWN
    trainer: Sequence[str] = (sys.executable, "-m", "mh4")
    recorded: Path = RESULTS
    recording: bool = False
    # Names of files may have brackets and colons, which are no markup.
    console: Console = field(default_factory=lambda: Console(highlight=False, markup=False, emoji=False))

    def __reduce__(self) -> tuple:
        return Bench, (self.home, self.trainer, self.recorded, self.recording)  # workers have no console

    @property
    def results(self) -> Path:
        """The folder that records and pages are written to."""
        return self.recorded if self.recording else self.home / "results"

    def holding(self, name: str) -> Path:
        """Return the folder with the records of treebank `name`: the repository's if only that has any, otherwise one's own."""
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
