"""Ensembles of finished models: which models there are, parsing and scoring with them, and the record of the scores."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import paper
from provenance import commit, shown, without_machine

from mh4.errors import InputError
from mh4.evaluation import official
from training import predictions
from training.grid import ONE_THREAD
from training.records import TREES, Records
from training.run import Run, environment, finished_runs, untrained
from training.treebank import Treebank, described

NAME = "ensemble"  # the system in records, as in the paper's tables
MEMBERS = ("mh4-hybrid", "1ec", "mst")  # the paper's


@dataclass(frozen=True)
class Scores:
    """The scores of an ensemble, in percent, by the official scorer; None where it was not applied, as on test without its segmentation."""

    dev_uas: Optional[float]
    dev_las: Optional[float]
    test_uas: Optional[float] = None
    test_las: Optional[float] = None


def name_of(systems: Sequence[str]) -> str:
    """The name of an ensemble of these systems in records and pages: "ensemble" for the paper's, "ensemble-mh3-mst" for another."""
    return NAME if set(systems) == set(MEMBERS) else "-".join([NAME, *sorted(systems, key=paper.place)])


def members(folder: Path, systems: Sequence[str], seeds: Sequence[int]) -> dict[int, list[Run]]:
    """The finished models in `folder` by seed, those with the highest dev UAS first.

    seeds: of the models; if empty, all for which every system has one. Raises InputError if a system has no finished model.
    """
    runs = {system: {run.seed: run for run in finished_runs(folder, system)} for system in systems}
    for system, mine in runs.items():
        missing = [str(seed) for seed in seeds if seed not in mine]
        if not mine or missing:
            which = " with seed " + ", ".join(missing) if missing else ""
            raise untrained(system + which, folder)
    common = list(seeds) or sorted(set.intersection(*(set(mine) for mine in runs.values())))
    if not common:
        raise InputError("no seed for which every one of %s has a trained model in %s" % (", ".join(systems), shown(folder)))
    return {seed: sorted((mine[seed] for mine in runs.values()), key=dev_uas, reverse=True) for seed in common}


def dev_uas(run: Run) -> float:
    """The dev UAS of a finished run, in percent."""
    return float((run.summary() or {})["dev_uas"])


class Combiner:
    """Parses a treebank's dev and test sets with ensembles of models.

    trainer: the command line to which ``ensemble ...`` is appended; folder: for the parsed files, one folder for each ensemble.
    """

    def __init__(self, bank: Treebank, trainer: Sequence[str], folder: Path) -> None:
        self.bank, self.trainer, self.folder = bank, trainer, folder
        self.files = {"dev": bank.paths["dev"], **({"test": bank.test[1]} if bank.test else {})}

    def command(self, runs: Sequence[Run], votes: Sequence[Path] = ()) -> list[str]:
        """``ensemble`` with these models and files of other parsers' trees."""
        arguments = [("--model", str(run.folder)) for run in runs] + [("--vote", str(path)) for path in votes]
        return ["ensemble", *(word for pair in arguments for word in pair)]

    def combine(self, name: str, runs: Sequence[Run]) -> tuple[Scores, dict[str, Path]]:
        """The scores of the ensemble of these models on dev and, if available, test; and the parsed files by split."""
        parsed = self._parse(name, self.command(runs), self.files)
        dev = official(str(self.bank.paths["dev"]), str(parsed["dev"]))
        return Scores(dev["UAS"].f1, dev["LAS"].f1, *self._test(parsed)), parsed

    def with_votes(self, name: str, runs: Sequence[Run], votes: Sequence[Path]) -> tuple[Optional[float], Optional[float]]:
        """UAS and LAS on the test set of these models together with other parsers' trees for it."""
        return self._test(self._parse(name, self.command(runs, votes), {"test": self.files["test"]}))

    def _parse(self, name: str, command: Sequence[str], files: dict[str, Path]) -> dict[str, Path]:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return predictions.parse([*self.trainer, *command], folder, files, {**environment(self.bank.lang), **ONE_THREAD})

    def _test(self, parsed: dict[str, Path]) -> tuple[Optional[float], Optional[float]]:
        if self.bank.test is None:
            return None, None
        scores = official(str(self.bank.test[0]), str(parsed["test"]))
        return scores["UAS"].f1, scores["LAS"].f1

    def record(self, records: Records, seed: int, runs: Sequence[Run], reproduce: str) -> Scores:
        """Combines the models of one seed, and writes the record that the tables show, with the trees."""
        scores, parsed = self.combine("seed%d" % seed, runs)
        run = Run(name_of([run.system for run in runs]), seed, self.folder / ("seed%d" % seed))
        trees = records.path(run, TREES)
        trees.parent.mkdir(parents=True, exist_ok=True)
        predictions.keep(trees, self.files, parsed)
        record: dict = {what: score for what, score in vars(scores).items() if score is not None}
        record.update({what: described(path) for what, path in zip(("test", "segmentation"), self.bank.test or ())})
        record.update(members=[_member(run) for run in runs], commit=commit(), date=time.strftime("%Y-%m-%d"))
        record.update(command=without_machine(" ".join(["mh4", *self.command(runs)])), reproduce=reproduce)
        records.write(run, record)
        return scores


def _member(run: Run) -> dict:
    return {"system": run.system, "seed": run.seed, "dev_uas": dev_uas(run), "commit": ", ".join(run.origin().get("commits", []))}
