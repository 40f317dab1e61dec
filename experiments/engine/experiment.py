"""Train and record the runs of some systems and seeds on one treebank.

Finished runs are not repeated; interrupted runs are resumed. Models are in ``runs/models/NAME/SYSTEM/seedN``; records
are in ``runs/results/`` or, with ``--record``, in ``experiments/results/`` (``workplace``).
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from experiments.engine import predictions
from experiments.engine.executor import Failed, Jobs, alone, train, workers
from experiments.engine.progress import display, failures
from experiments.engine.provenance import commit, machine
from experiments.engine.record_fields import Found
from experiments.engine.records import PREDICTED, TREES_BLOB, Records, beside_recorded, finished_with
from experiments.engine.run import DONE, FAILED, WAITING, Run, environment, read_json, system_and_loss, write_json
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, shown
from mh4.analysis.evaluation import official
from mh4.cli.group import say
from mh4.errors import InputError
from mh4.util.files import git_blob_id, relative_if_inside


@dataclass(eq=False)
class Experiment:
    """The runs and their state.

    command: reproduces the runs; it is recorded. trees: whether finished models parse dev and test, to record trees and
    scores. measure: if not `trees`, measures a finished model; the result is recorded as "found". unparsed: the runs
    whose model could not parse or be measured.
    """

    bank: Treebank
    systems: Sequence[str]
    seeds: Sequence[int]
    command: str
    bench: Bench
    trees: bool = True
    measure: Callable[[Run], Found] | None = None

    def __post_init__(self) -> None:
        self.records, self.unparsed = Records(self.bench.results, self.bank), list[Run]()
        self.runs = [self._run(system, seed) for seed in self.seeds for system in self.systems]

    def _run(self, system: str, seed: int) -> Run:
        run, here = Run.at(self.bench.models(self.bank.name) / self.bank.row, system, seed), Path.cwd()
        options = [("--system", system_and_loss(system)[0])]
        options += [("--" + split, str(path)) for split, path in self.bank.paths.items()]
        options += [("--model", relative_if_inside(run.folder, here)), ("--seed", str(seed))]
        options += [("--config", relative_if_inside(file, here)) for file in self.bank.settings_files]
        options += [("--set", assignment) for assignment in self.bank.assigned(system)]
        run.command = [*self.bench.trainer, "train", *chain.from_iterable(options)]
        return run

    def train(self, jobs: Jobs, recorded: Callable[[], object], records_count: bool = False) -> None:
        """Train the unfinished runs of this experiment, as `train_together` does, and then name outdated ensembles.

        Raises InputError if the systems have records with other settings.
        """
        self.records.check_settings({run.system for run in self.runs})
        train_together([self], self.bank.title, self.bench.models(self.bank.name), jobs, recorded, records_count)
        self.records.name_outdated()

    def is_done(self, run: Run) -> bool:
        """Return whether the run was finished here with these files and settings.

        In case of doubt, this is False, and `mh4 train` decides.
        """
        origin = run.origin()
        return "finished" in origin and origin.get("inputs") == self._inputs() and finished_with(run, self.bank)

    def started(self, run: Run) -> None:
        """Record the inputs of a run, and each commit and machine that contributes to it."""
        origin = run.origin()
        if not origin and (run.folder / "metrics.jsonl").exists():
            origin["commits"] = ["unknown"]  # not started by an experiment
        commits, machines = origin.get("commits", []), origin.get("machines", [])
        if not run.summary():
            commits = list(dict.fromkeys([*commits, commit()]))
            machines += [machine()] if machine() not in machines else []
        command = origin.get("command", self.command)
        run.note_origin({"inputs": self._inputs(), "commits": commits, "machines": machines, "command": command})

    def make(self, run: Run, local: bool) -> str:
        """Train a run and parse with its model, in a worker; return the error in parsing, or "". Raises Failed.

        local: as in `Workers`. The results are in files.
        """
        train(run, environment(self.bank.lang), not local, begun=lambda: self.started(run))
        return self.predicted(run)

    def finished(self, run: Run, wrong: str) -> None:
        """Make the record of a run. wrong: the error in parsing, which is printed, or ""."""
        if wrong:  # training is done, and other runs continue
            say("%s: %s" % (run.name, wrong), err=True)
            self.unparsed.append(run)
        origin = run.origin()
        if "finished" not in origin:
            ended = time.localtime((run.folder / "summary.json").stat().st_mtime)
            run.note_origin({**origin, "finished": time.strftime("%Y-%m-%d", ended)})
        if self.measure is None:  # otherwise the files of each seed differ
            self.records.forget_others()
        self.records.keep(run)
        places = self.bench.results, self.bench.recorded
        mine, recorded = (Records(results, self.bank).of(run.system, run.seed) for results in places)
        if mine and recorded and self.bench.recorded != self.bench.results:
            self.bench.console.print(beside_recorded(run.name, mine, recorded), soft_wrap=True)

    def predicted(self, run: Run) -> str:
        """Parse dev and test, or measure the model, unless that is done; return the error, or an empty string."""
        if self.trees or self.measure:
            with alone(run.folder / "predicted.lock"):  # other processes may parse other files of this language
                try:
                    if self.trees:
                        self._predict(run)
                    elif self.measure and not read_json(run.folder / PREDICTED):
                        write_json(run.folder / PREDICTED, {"found": self.measure(run)})
                except InputError as error:
                    return str(error)
        return ""

    def _predict(self, run: Run) -> None:
        """Parse dev and test once with the finished model, save the trees, and score test."""
        done, trees, test = run.folder / PREDICTED, self.records.trees(run.system, run.seed), self.bank.test
        files, tested, before = self.bank.to_parse, self.bank.test_files, read_json(done)
        # The trees may have been replaced since, for example by those in the repository.
        if trees.exists() and all(before.get(name) == what for name, what in {**tested, TREES_BLOB: git_blob_id(trees)}.items()):
            return
        try:
            command = [*self.bench.trainer, "parse", "--model", str(run.folder)]
            parsed = predictions.parse(command, run.folder, files, self.bank.lang)
            scores = official(str(test[0]), str(predictions.single_roots(parsed["test"]))) if test else {}
            predictions.keep(trees, files, parsed)
        except InputError:
            trees.unlink(missing_ok=True)  # may be from another model
            done.unlink(missing_ok=True)  # describes the deleted trees
            raise
        found = {"test_" + name.lower(): scores[name].f1 for name in ("UAS", "LAS") if scores}
        write_json(done, {**found, **tested, TREES_BLOB: git_blob_id(trees)})

    def _inputs(self) -> dict[str, str]:
        settings = "".join(file.read_text(encoding="utf-8") for file in self.bank.settings_files)
        settings += "".join(assignment + "\n" for assignment in self.bank.assignments)
        return {**self.bank.blobs, "settings": hashlib.sha1(settings.encode("utf-8")).hexdigest() if settings else ""}


def train_together(
    experiments: Sequence[Experiment], name: str, models: Path, jobs: Jobs, recorded: Callable[[], object], records_count: bool
) -> None:
    """Train the unfinished runs of experiments, one run of each experiment in turn; call `recorded` after new records.

    name, models: for messages, the name of the runs and the folder of their models. records_count: whether runs that
    have a record, wherever they were trained, count as finished.
    """
    experiment_of = {run.folder: experiment for experiment in experiments for run in experiment.runs}
    runs = [run for turn in zip_longest(*(experiment.runs for experiment in experiments)) for run in turn if run]
    anew = False
    for run in runs:
        experiment = experiment_of[run.folder]
        record = experiment.records.of(run.system, run.seed) if records_count else None
        if record and (experiment.bank.test_files.items() <= record.items() or not experiment.is_done(run)):
            run.state = DONE
        elif experiment.is_done(run):
            run.state = DONE
            experiment.finished(run, experiment.predicted(run))
            anew = True
    if anew:
        recorded()
    waiting, bench = [run for run in runs if run.state == WAITING], experiments[0].bench
    message = "%s: %d to train, %d already finished; models in %s"
    bench.console.print(message % (name, len(waiting), len(runs) - len(waiting), shown(models)), soft_wrap=True)
    if not waiting:
        return
    for experiment in experiments:  # records that cannot be written are an error before anything is trained
        with alone(experiment.records.path.with_name(".lock")):
            pass
    pending: dict[Future, Run] = {}
    with workers(bench.home, jobs, len(waiting)) as them:
        for run in waiting:
            run.log_start = run.log.stat().st_size if run.log.exists() else 0
            pending[them.executor.submit(experiment_of[run.folder].make, run, them.local)] = run
        show = display(runs, bench.console)
        while pending:
            ended = them.ended(pending)
            for run in pending.values():
                run.follow()
            for future in ended:
                run = pending.pop(future)
                _end(run, future.exception(), them.killed)
                if run.state == DONE:
                    experiment_of[run.folder].finished(run, future.result())
                    recorded()
            show()


def _end(run: Run, error: BaseException | None, killed: tuple[type[BaseException], ...]) -> None:
    """Set the state of a run whose call has ended: done, or failed with a reason.

    A failed run does not stop the others. Unexpected errors are raised.
    """
    run.state = FAILED if error else DONE
    if isinstance(error, Failed):
        run.failure, run.exit_code = error.args
    elif isinstance(error, killed):
        run.failure = "its jobs were killed again and again"
    elif isinstance(error, InputError):
        run.failure = str(error)
    elif error:
        raise error


def exit_code(experiments: Sequence[Experiment]) -> int:
    """Print the runs that failed. Return 1 if there are any, or if a model could not parse, otherwise 0."""
    failed = failures([run for one in experiments for run in one.runs], experiments[0].bench.console)
    return failed or int(any(one.unparsed for one in experiments))
