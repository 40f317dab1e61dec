"""A training run: its command, and the files in its folder.

``mh4 train`` writes a line of ``metrics.jsonl`` for each evaluation and, when it has finished, ``summary.json``. Its
output goes to ``train.log``. ``origin.json`` is our record of the inputs, commits and machines of the run.
"""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mh4.errors import InputError
from mh4.parser.config import LOSSES
from mh4.util.files import make_folder, write_text

LIKELIHOOD = "-likelihood"  # the end of the name of runs that are trained on likelihood, not with the hinge
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
LOG_LINES = 8  # number of lines shown of a failed run's log

WAITING, TRAINING, DONE, FAILED = "waiting", "training", "done", "failed"


@dataclass
class Run:
    """A training run: system, seed, model folder, command line that trains it, and a prefix of its name in messages."""

    system: str
    seed: int
    folder: Path
    command: Sequence[str] = ()
    prefix: str = ""
    state: str = WAITING
    started: float = 0.0  # when it was first seen training
    seconds: float = 0.0  # since then
    failure: str = ""  # why it failed
    exit_code: int | None = None
    log_start: int = 0  # where the last attempt begins in the log, in bytes

    @classmethod
    def at(cls, models: Path, system: str, seed: int) -> "Run":
        """Return the run in its folder among `models`."""
        return cls(system, seed, models / system / ("seed%d" % seed))

    @property
    def name(self) -> str:
        return "%s%s seed %d" % (self.prefix, self.system, self.seed)

    @property
    def log(self) -> Path:
        return self.folder / "train.log"

    def summary(self) -> dict:
        """Return the summary of the finished run; empty while it is unfinished."""
        summary = read_json(self.folder / "summary.json")
        return summary if summary.get("finished") is True else {}

    @property
    def dev_uas(self) -> float:
        """The dev UAS of the finished run, in percent. Raises InputError if its summary is damaged."""
        score = self.summary().get("dev_uas")
        if not isinstance(score, (int, float)):
            raise InputError("%s: damaged: no dev_uas of a finished run" % (self.folder / "summary.json"))
        return score

    def origin(self) -> dict:
        """Return the record of the run's inputs; empty if there is none."""
        return read_json(self.folder / "origin.json")

    def note_origin(self, origin: dict) -> None:
        """Write the record that `origin` returns."""
        write_json(self.folder / "origin.json", origin)

    @property
    def commits(self) -> str:
        """The commits of the code that trained it; empty if there is no record of them."""
        return ", ".join(self.origin().get("commits", []))

    def follow(self) -> None:
        """Update the state from the log, as the run may be made on another machine."""
        if self.state == WAITING and self.log.exists() and self.log.stat().st_size > self.log_start:
            self.state, self.started = TRAINING, time.monotonic()
        if self.state == TRAINING:
            self.seconds = time.monotonic() - self.started

    def log_tail(self) -> list[str]:
        """Return the last non-empty lines printed by the last attempt."""
        try:
            with open(self.log, "rb") as log:
                log.seek(self.log_start)
                lines = log.read().decode("utf-8", errors="replace").splitlines()[1:]  # the first is the command
        except OSError:
            return []
        return [line for line in lines if line.strip()][-LOG_LINES:]


def system_and_loss(name: str) -> tuple[str, str]:
    """Return the system and the loss of runs of this name: mh3 and "likelihood" for mh3-likelihood."""
    hinge, likelihood = LOSSES
    return (name[: -len(LIKELIHOOD)], likelihood) if name.endswith(LIKELIHOOD) else (name, hinge)


def environment(lang: str) -> dict[str, str]:
    """Return the environment of the commands that train and parse the treebank of a language, each on one thread."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONUTF8": "1"}
    if environment.get("LANG") == lang:  # names the treebank here, but the locale for all other programs
        del environment["LANG"]
    return environment


def read_json(path: Path) -> dict:
    """Return the object in a JSON file; empty if the file is missing or incomplete."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a JSON file, and make its folder."""
    make_folder(path.parent)
    write_text(str(path), json.dumps(content, indent=1) + "\n")


def duration(seconds: float) -> str:
    """Format seconds as h:mm:ss."""
    minutes, seconds = divmod(int(seconds), 60)
    return "%d:%02d:%02d" % (minutes // 60, minutes % 60, seconds)
