"""Changes to try one at a time: settings, a patch, or another system, against the code of one commit.

``experiments/ablations/plan.toml`` lists them; patches are in the same folder. They apply to the plan's `base`, whose code is
extracted from git and compiled for them.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from provenance import EXPERIMENTS, without_machine

from mh4.config import tables
from mh4.errors import InputError
from training.run import TRAINER, Run
from training.treebank import Treebank

FOLDER = EXPERIMENTS / "ablations"
CLONE = EXPERIMENTS.parent


@dataclass(frozen=True)
class Change:
    """A change, made by its settings and its patch, if it has one, and the systems to try it with.

    against: the system that a changed one is compared with; if empty, the same system.
    """

    name: str
    what: str
    systems: tuple[str, ...]
    settings: tuple[str, ...] = ()
    against: str = ""

    @property
    def patch(self) -> Path:
        return FOLDER / (self.name + ".patch")


@dataclass(frozen=True)
class Plan:
    """The changes to `base`, a commit; the seeds, and the numbers of updates until a run ends and between its evaluations."""

    base: str
    seeds: tuple[int, ...]
    updates: int
    evaluate_updates: int
    changes: tuple[Change, ...] = field(repr=False)

    @classmethod
    def read(cls, path: Path = FOLDER / "plan.toml") -> "Plan":
        content = tables(path.read_text(encoding="utf-8"), str(path))
        return cls(changes=tuple(Change(**_tuples(change)) for change in content.pop("change")), **_tuples(content))

    def unchanged(self) -> Change:
        """The baseline of all changes: the unchanged base, with all systems needed for comparison."""
        systems = [change.against or system for change in self.changes for system in change.systems]
        return Change("unchanged", "", tuple(dict.fromkeys(systems)))


def _tuples(content: dict) -> dict:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}


def code(runs: Path, base: str, change: Change) -> Path:
    """The folder in `runs` with the compiled code of commit `base`, changed by the patch; created if missing."""
    folder = runs / base / "code" / (change.name if change.patch.exists() else "unchanged")
    if folder.exists():
        return folder
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(str(making), ignore_errors=True)
    making.mkdir(parents=True)
    archive = _done(["git", "-C", str(CLONE), "archive", base, "."], stdout=subprocess.PIPE)
    _done(["tar", "-x", "-C", str(making)], input=archive.stdout)
    if change.patch.exists():
        with open(change.patch, "rb") as patch:
            _done(["patch", "--quiet", "--strip=1", "--fuzz=0"], cwd=str(making), stdin=patch)
        for library in (code(runs, base, Change("unchanged", "", ())) / "mh4" / "decoders").glob("*.so"):
            shutil.copy(str(library), str(making / "mh4" / "decoders"))
    else:
        _done([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=str(making))
    making.rename(folder)
    return folder


def _done(command: Sequence[str], **how) -> subprocess.CompletedProcess:
    """Runs a command for building the code of a change; InputError if it fails."""
    done = subprocess.run(command, **how)
    if done.returncode:
        raise InputError("%s: exit code %d" % (without_machine(" ".join(command)), done.returncode))
    return done


def run_of(plan: Plan, bank: Treebank, change: Change, system: str, seed: int, runs: Path) -> Run:
    """The training run of `system` with `change`, with its model and its code in the folder `runs`."""
    run = Run.at(runs / plan.base / bank.name / change.name, system, seed)
    command = [*TRAINER, "train", "--system", system, "--seed", str(seed), "--model", str(run.folder)]
    for split in ("train", "dev"):
        command += ["--" + split, str(bank.paths[split].resolve())]
    lengths = ("training.max_updates=%d" % plan.updates, "training.evaluate_updates=%d" % plan.evaluate_updates)
    for setting in (*lengths, *change.settings):
        command += ["--set", setting]
    # `python -m mh4` takes the package from the folder in which it is started.
    run.command, run.cwd = command, code(runs, plan.base, change)
    return run
