"""Where a study works: its folders, its console, and the command that trains; tests replace them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from experiments.engine.provenance import EXPERIMENTS


@dataclass
class Bench:
    """The folder of runs and results, and the command line to which ``train ...`` or ``parse ...`` is appended."""

    home: Path = EXPERIMENTS
    trainer: Sequence[str] = (sys.executable, "-m", "mh4")
    # Names of files may have brackets and colons, which are no markup.
    console: Console = field(default_factory=lambda: Console(highlight=False, markup=False, emoji=False))

    def __reduce__(self) -> tuple:
        return Bench, (self.home, self.trainer)  # workers have no console

    @property
    def results(self) -> Path:
        return self.home / "results"

    def models(self, name: str) -> Path:
        """The folder of the models of the treebank `name`."""
        return self.home / "runs" / name
