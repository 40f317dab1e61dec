"""``make verify LANG=hu SYSTEM=mst SEED=1 [UPDATES=4000] [UD=folder] [CONLL17=folder] [SETTINGS=authors]``: a recorded run, trained again

Trains the run in ``runs/verify/`` with the settings of its record, up to UPDATES if given. Compares every evaluation
with the record, scores the recorded trees again, and prints where both runs were made. No record is changed. The exit
code is 1 if anything differs.
"""

import math
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import cast

from experiments.engine import predictions, records
from experiments.engine.command import repeat, request, study
from experiments.engine.executor import Jobs
from experiments.engine.experiment import Experiment, exit_code
from experiments.engine.record_fields import Record
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, shown
from mh4.analysis.attachment import attachment_scores
from mh4.analysis.evaluation import official
from mh4.data import conllu
from mh4.errors import InputError
from mh4.parser.config import as_toml
from mh4.util.files import write_text

TIMES = ("seconds", "tokens_per_second")  # differ in every run


@study(system="of the run", seed="of the run", updates="at which to stop; by default where the run ended")
def verify(bench: Bench, system: str, seed: str, updates: str, **variables: str) -> int:
    asked = request(systems=system, seeds=seed, jobs="1", **variables)
    if len(asked.systems) != 1 or len(asked.seeds) != 1:
        raise InputError("SYSTEM and SEED: expected one of each")
    if updates and not (updates.isdecimal() and int(updates)):
        raise InputError("UPDATES: %s is not a positive whole number" % updates)
    bank, (name,), (number,) = asked.treebank(), asked.systems, asked.seeds
    path = records.file_of(bench.recorded, bank.name)
    record = records.read(path).get(("", name, number))
    if record is None or any(file["git_blob"] != bank.blobs[split] for split, file in records.files(record).items()):
        raise InputError("%s has no record of %s seed %d on these files" % (shown(path), name, number))
    first = next((one["updates"] for one in record.get("curve", [])), 0)
    if updates and int(updates) < first:
        raise InputError("UPDATES: %s is before the first recorded evaluation, after %d updates" % (updates, first))
    again = _trained_again(bench, bank, record, updates)
    found = [_evaluations(record, again), _trees(bench, bank, record)]
    for line in [*(line for _, line in found), _origin("recorded", record), _origin("here", again)]:
        bench.console.print(line, soft_wrap=True)
    return int(not all(same for same, _ in found))


def _trained_again(bench: Bench, bank: Treebank, record: Record, updates: str) -> Record:
    """Train the run again with the recorded settings; return the new record. Raises InputError if training fails."""
    theirs = {**records.listed_settings(record), **({"training.max_updates": int(updates)} if updates else {})}
    assignments = tuple("%s=%s" % (name, as_toml(value)) for name, value in theirs.items())
    home = bench.home / "verify" / ("%s-%s-seed%d" % (bank.name, record["system"], record["seed"]))
    shutil.rmtree(home, ignore_errors=True)
    own, as_recorded = replace(bench, home=home), replace(bank, assignments=assignments)
    experiment = Experiment(as_recorded, [record["system"]], [record["seed"]], repeat(), own, trees=False)
    experiment.train(Jobs(1), lambda: None)
    if exit_code([experiment]):
        raise InputError("the run could not be trained again")
    [found] = records.read(records.file_of(own.results, bank.name)).values()
    return found


def _evaluations(record: Record, again: Record) -> tuple[bool, str]:
    """Return whether all evaluations that both records have are equal, and a description of the first that differs."""
    here = {one["updates"]: dict(one) for one in again.get("curve", [])}
    both = [one for one in record.get("curve", []) if one["updates"] in here]
    for number, one in enumerate(both, start=1):
        mine = here[one["updates"]]
        differing = [name for name, value in one.items() if name not in TIMES and mine.get(name, value) != value]
        if differing:
            message = ", ".join("%s is %s, recorded %s" % (name, mine[name], dict(one)[name]) for name in differing)
            return False, "evaluation %d, after %d updates, differs: %s" % (number, one["updates"], message)
    return bool(both), "recorded evaluations made again: %d of %d; all are the same" % (len(both), len(record.get("curve", [])))


def _trees(bench: Bench, bank: Treebank, record: Record) -> tuple[bool, str]:
    """Return whether the recorded trees have the recorded scores, and a description of both."""
    dev, scores = bank.paths["dev"], dict[str, float]()
    if not records.trees_of(bench.recorded, bank.name, record["system"], record["seed"]).exists():
        return True, "no trees are recorded"
    trees = predictions.of_record(bench.recorded, bank.name, record)
    with tempfile.TemporaryDirectory() as place:
        parsed = Path(place) / "parsed.conllu"
        write_text(str(parsed), predictions.restored(trees, dev))
        dev_scores = attachment_scores(conllu.read(str(dev)), conllu.read(str(parsed)))
        scores.update(dev_uas=dev_scores["uas"], dev_las=dev_scores["las"])
        if bank.test and dict(record).get("segmentation") == bank.test_files["segmentation"]:
            write_text(str(parsed), predictions.restored(trees, bank.test[1]))
            test_scores = official(str(bank.test[0]), str(predictions.single_roots(parsed)))
            scores.update(test_uas=test_scores["UAS"].f1, test_las=test_scores["LAS"].f1)
    recorded = cast(dict[str, float], record)
    both = [(name, value, recorded[name]) for name, value in scores.items() if name in recorded]
    same, message = all(math.isclose(*pair) for _, *pair in both), ", ".join("%s %.4f (recorded %.4f)" % one for one in both)
    return same, "the recorded trees score %s: %s" % (message, "the same" if same else "which differs")


def _origin(side: str, record: Record) -> str:
    """Describe where a run was made."""
    machines = ["; ".join("%s %s" % pair for pair in one.items() if pair[0] != "flags") for one in record.get("machines", [])]
    return "%s: commit %s; %s" % (side, record.get("commit", "unknown"), " and ".join(machines) or "machine not recorded")
