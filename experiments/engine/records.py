"""Read and write the records of finished runs: ``results/NAME.jsonl``, one line per run. All tables are made from them.

NAME is the name of the treebank. A record has scores, data, commit, command and, as "curve", the evaluations of the
run. Its trees are in ``trees/NAME/SYSTEM-seedN.trees.gz`` (``predictions``).
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

from experiments import published
from experiments.engine import lines, shared_task
from experiments.engine.provenance import without_machine
from experiments.engine.record_fields import Evaluation, File, Member, Origin, Record, complaint, matches
from experiments.engine.run import Run, read_json, system_and_loss
from experiments.engine.treebank import OWN_FILES, Treebank
from experiments.engine.workplace import RESULTS, shown
from mh4.cli.group import say
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.parser import config, systems

RESULT = ("dev_uas", "dev_las", "updates", "test_uas", "test_las")  # fields that the same inputs should reproduce
# Possible causes of differences in these fields: properties of the machine and of the code.
CAUSES = ("processor", "decoders", "compiler", "dynet_build", "dynet_processor", "dyNET", "numpy", "commit")
NOT_LISTED = type("NotListed", (), {"__repr__": lambda _: "not recorded"})()  # the value of a missing setting
LIMIT = "training.max_updates"  # a setting that has no effect on a run that ended earlier
TREES_BLOB: Final = "trees_git_blob"  # in records: identifies the trees of the run
PREDICTED: Final = "predicted.json"  # in the folder of a run: the fields that parsing adds to its record
FIRST = ("row", "lang", "system", "seed")  # fields at the start of a line; the curve is at its end


def file_of(results: Path, name: str) -> Path:
    """Return the file of the records of treebank `name` in the folder `results`."""
    return results / (name + ".jsonl")


def trees_of(results: Path, name: str, system: str, seed: int) -> Path:
    """Return the file of the trees of a recorded run on treebank `name`."""
    return results / "trees" / name / ("%s-seed%d.trees.gz" % (system, seed))


def key(record: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return the key of a record in its file: the row of an ablation (or ""), the system and the seed."""
    return record.get("row", ""), record["system"], record["seed"]


def read(path: Path) -> Mapping[tuple[str, str, int], Record]:
    """Return the records in a file by `key`; none if there is no file. Raises InputError that names a damaged line.

    A file is read again only if it has been replaced.
    """
    if not path.exists():
        return {}
    status = path.stat()
    return _read(path, (status.st_ino, status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=64)
def _read(path: Path, _version: tuple[int, int, int]) -> Mapping[tuple[str, str, int], Record]:
    return lines.read(path, key, complaint)


class Records:
    """The records of a treebank's runs, in the folder `results`."""

    def __init__(self, results: Path, bank: Treebank) -> None:
        self.bank, self.results = bank, results
        self.path = file_of(results, bank.name)

    def trees(self, system: str, seed: int) -> Path:
        """Return the file of the trees of a run."""
        return trees_of(self.results, self.bank.name, system, seed)

    def of(self, system: str, seed: int) -> Record | None:
        """Return the record of the run on these files with these settings, wherever it was trained; None if there is none.

        The record of an ensemble has no settings. Its members must be the models that are recorded now.
        Raises InputError if the file is damaged.
        """
        record = read(self.path).get((self.bank.row, system, seed))
        if record is None or self._is_of_other_data(record) or not made_with(record, self.bank):
            return None
        members = record.get("members", [])
        now = [self.of(*_key(member)) for member in members]
        return record if all(one and _is(member, one) for member, one in zip(members, now, strict=True)) else None

    def forget(self, system: str, seed: int) -> None:
        """Remove the record of a run, if there is one, whatever its data and settings."""
        mine = (self.bank.row, system, seed)
        if mine in read(self.path):
            with lines.changed(self.path, key, complaint) as found:
                found.pop(mine, None)

    def check_settings(self, names: Collection[str]) -> None:
        """Raise InputError if a recorded run used other files, or if a run of one of these systems used other settings.

        names: of the systems; any seed counts.
        """
        self.forget_others()
        for record in self._mine():
            # The names of other treebanks identify their content.
            if self.bank.release == OWN_FILES and self._is_of_other_data(record):
                message = "%s has runs on other files: choose another NAME, or delete it and the models"
                raise InputError(message % shown(self.path))
            other = _other_settings(record, self.bank) if record["system"] in names else {}
            if other:
                message = "%s: %s seed %d is of a run with other settings (%s): delete this line and its model to train again"
                if self.bank.settings.endswith(".toml"):
                    message += ", or rename %s to keep both" % Path(self.bank.settings).name
                raise InputError(message % (shown(self.path), record["system"], record["seed"], config.listed(other)))

    def name_outdated(self) -> None:
        """Print a line on standard error for each recorded ensemble that is `outdated`."""
        for ensemble in outdated(self.bank.name, self._mine()):
            say("combined before its members were trained again: %s" % ensemble, err=True)

    def current(self, system: str) -> list[Record]:
        """Return the records of a system's runs with the treebank's settings.

        Raises InputError if their data or settings differ.
        """
        found = [record for record in self._mine() if record["system"] == system and made_with(record, self.bank)]
        _check_together(found, self.path)
        return found

    def _mine(self) -> list[Record]:
        """Return the records of the treebank and, in an ablation, of its row."""
        return [record for (row, _, _), record in read(self.path).items() if row == self.bank.row]

    def _is_of_other_data(self, record: Any) -> bool:
        return any(record[split]["git_blob"] != blob for split, blob in self.bank.blobs.items())

    def keep(self, run: Run) -> None:
        """Write the record of a finished run, without paths of this machine.

        If it replaces a record of the same inputs with other results, this is printed, and noted in the new record.
        Raises InputError, and keeps the old record, if the evaluations or the summary are damaged.
        """
        origin, curve = run.origin(), _evaluations(run.folder / "metrics.jsonl")
        record = {
            **run.summary(),
            "commit": run.commits,
            "date": origin["finished"],
            "command": without_machine(["mh4", *run.command[run.command.index("train") :]]),
            "reproduce": origin["command"],
            **({"machines": origin["machines"]} if origin.get("machines") else {}),
            **_settings(run),
            **read_json(run.folder / PREDICTED),
            "curve": curve,
        }
        record.pop("sources", None)  # redundant
        other = self._different(run, record)
        if other:
            record["differs_from"] = other
            say("%s differs from the record of the same inputs, %s" % (run.name, in_words(other)), err=True)
        self.write(run.system, run.seed, record, run.folder)

    def write(self, system: str, seed: int, record: dict, source: Path) -> None:
        """Add the names of the run and of the data to a record, and write it.

        Raises InputError that names `source`, and keeps the old record, if a field is missing or invalid.
        """
        record = {**record, "system": system, "seed": seed, "lang": self.bank.lang, "release": self.bank.release}
        if self.bank.row:
            record["row"] = self.bank.row
        if self.bank.settings:
            record["settings_of"] = Path(self.bank.settings).stem
        for split, path in self.bank.paths.items():
            record[split] = {"path": path.name, "git_blob": self.bank.blobs[split]}
        wrong = complaint(record)
        if wrong:
            raise InputError("%s: no record can be made of this (%s)" % (shown(source), wrong))
        order = [*(name for name in FIRST if name in record), *sorted({*record} - {*FIRST, "curve"})]
        with lines.changed(self.path, key, complaint) as found:
            found[key(record)] = {name: record[name] for name in (*order, *(["curve"] if "curve" in record else []))}

    def _different(self, run: Run, record: dict) -> Origin | None:
        """Return the results and origin of the current record of the same inputs, if its results differ.

        Otherwise, return those of an earlier run noted in it, or None.
        """
        before = self.of(run.system, run.seed)
        if before is None or _differing([before, record]):
            return None
        kept = dict(before)
        if all(kept[name] == record[name] for name in RESULT if name in kept and name in record):
            return before.get("differs_from")
        return cast(Origin, {name: kept[name] for name in (*RESULT, "commit", "date", "machines") if name in kept})

    def forget_others(self) -> None:
        """Remove records of an older toy treebank, or of older settings for it, and of ensembles of such runs.

        The names of other treebanks identify their content.
        """
        found = self._mine() if self.bank.lang == treebanks.TOY else []
        older = {_key(run) for run in found if self._is_of_other_data(run) or not made_with(run, self.bank)}
        for run in found:
            if not older.isdisjoint({_key(run), *map(_key, run.get("members", []))}):
                self.forget(*_key(run))
                self.trees(*_key(run)).unlink(missing_ok=True)


def _settings(run: Run) -> dict:
    """Return all settings of the model, for its record."""
    path, (system, _) = run.folder / "config.toml", system_and_loss(run.system)
    return {"settings": asdict(systems.settings([str(path)], system))} if path.exists() else {}


def finished_with(run: Run, bank: Treebank) -> bool:
    """Return whether a run is finished, and its model has the settings of `bank`."""
    summary = run.summary()
    return bool(summary) and made_with({**summary, **_settings(run), "system": run.system}, bank)


def made_with(record: Mapping[str, Any], bank: Treebank) -> bool:
    """Return whether a record has the settings of `bank`. This is true of ensembles, which have no settings."""
    return "members" in record or not _other_settings(record, bank)


def _other_settings(record: Mapping[str, Any], bank: Treebank) -> dict[str, Any]:
    """Return the settings in which a record differs from `bank`, with the values of both."""
    return _differing([record, {"settings": asdict(bank.config(record["system"]))}])


def listed_settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a record, by names such as "training.clip".

    The section "model" is left out, as it contains the seed.
    """
    sections = [(section, mine) for section, mine in record.get("settings", {}).items() if section != "model"]
    return {"%s.%s" % (section, name): value for section, mine in sections for name, value in mine.items()}


def _differing(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings in which records differ, with their values; a missing setting differs from any value.

    Different limits of updates do not count if no run has reached the lowest.
    """
    flat = list(map(listed_settings, records))
    values = {name: dict.fromkeys(one.get(name, NOT_LISTED) for one in flat) for name in chain.from_iterable(flat)}
    differing = {name: tuple(found) for name, found in values.items() if len(found) > 1}
    limits = differing.get(LIMIT, (NOT_LISTED,))
    if NOT_LISTED not in limits and max(record.get("updates", 0) for record in records) < min(limits):
        del differing[LIMIT]
    return differing


def _key(run: Record | Member) -> tuple[str, int]:
    return run["system"], run["seed"]


def _is(member: Member, run: Record) -> bool:
    """Return whether a member of an ensemble is the model of this record. A missing dev UAS or commit matches any."""
    commits = {member.get("commit"), run.get("commit")} - {None, ""}
    return member.get("dev_uas", run["dev_uas"]) == run["dev_uas"] and len(commits) < 2


def outdated(name: str, runs: Sequence[Record]) -> list[str]:
    """Return a description of each recorded ensemble of treebank `name` whose members have been trained again since."""
    now, found = {_key(run): run for run in runs}, []
    for run in runs:
        others = [_key(one) for one in run.get("members", []) if _key(one) in now and not _is(one, now[_key(one)])]
        if others:
            message = ", ".join("%s seed %d" % other for other in others)
            found.append("%s %s seed %d: of another %s." % (name, *_key(run), message))
    return found


def beside_recorded(name: str, run: Record, recorded: Record) -> str:
    """Return a line that compares a run, and its machine, with the recorded run of the same inputs."""
    mine, theirs = dict[str, Any](run), dict[str, Any](recorded)
    if all(mine[score] == theirs[score] for score in RESULT if score in mine and score in theirs):
        return "%s: dev UAS %.2f, the same as recorded" % (name, run["dev_uas"])
    here, there = ({"commit": one.get("commit"), **one.get("machines", [{}])[-1]} for one in (mine, theirs))
    both = [what for what in CAUSES if what in here and what in there and here[what] != there[what]]
    why = ["other %s (%s, recorded %s)" % (what, here[what], there[what]) for what in both]
    why += [] if "machines" in theirs else ["the recorded machine is unknown"]
    scores = name, run["dev_uas"], recorded["dev_uas"]
    return "%s: dev UAS %.2f here, %.2f recorded: %s" % (*scores, ", ".join(why) or "no cause is known")


def in_words(other: Origin) -> str:
    """Format the origin and results of a record, as in ``differs_from``."""
    where = ", ".join(machine["processor"] for machine in other.get("machines", [])) or "a machine not recorded"
    commit, updates = other.get("commit", "unknown"), other.get("updates", "unknown")
    return "of commit %s on %s: dev UAS %.2f after %s updates" % (commit, where, other["dev_uas"], updates)


def names(results: Path) -> list[str]:
    """Return the names of treebanks with records. Raises InputError if a record is damaged."""
    return sorted(path.stem for path in results.glob("*.jsonl") if path.name != shared_task.FILE and read(path))


def is_toy(name: str) -> bool:
    """Return whether this is the name of the toy treebank, with any settings."""
    return name.partition("-")[0] == treebanks.TOY


def load(name: str, results: Path = RESULTS) -> list[Record]:
    """Return the records of treebank `name`, as `load_any` does. Raises InputError also if there are none."""
    records = load_any(name, results)
    if not records:
        message = "no finished run of %s in %s: train one first, with make reproduce" % (name, shown(results))
        others = [other for other in names(results) if other.startswith(name + "-")]
        raise InputError(message + (", or give the SETTINGS of %s" % " or ".join(others) if others else ""))
    return records


def load_all(results: Path, toy: bool = False) -> dict[str, list[Record]]:
    """Return the records of the toy treebank, or of all others, by name, in the order of ``published.treebank_place``; see `load`."""
    mine = sorted((name for name in names(results) if is_toy(name) is toy), key=published.treebank_place)
    return {name: load(name, results) for name in mine}


def load_any(name: str, results: Path) -> list[Record]:
    """Return the records of treebank `name`, if there are any, by system (in the order of ``published.place``) and seed.

    Raises InputError if a record is damaged, or if their data or settings differ.
    """
    path = file_of(results, name)
    records = list(read(path).values())
    _check_together(records, path)
    return sorted(records, key=lambda record: (published.place(record["system"]), record["seed"]))


def _check_together(records: Sequence[Record], path: Path) -> None:
    """Raise InputError if runs in a file were trained on different data or, for one system, with different settings."""
    if len({tuple(file["git_blob"] for file in files(record).values()) for record in records}) > 1:
        raise InputError("the runs in %s were trained or evaluated on different files" % shown(path))
    check_same_settings(records, path)


def check_same_settings(records: Sequence[Record], path: Path) -> None:
    """Raise InputError if runs of one system in a file were trained with different settings."""
    for system in dict.fromkeys(record["system"] for record in records):
        single = [record for record in records if record["system"] == system and "members" not in record]
        for setting, values in _differing(single).items():
            message = "the runs of %s in %s were trained with different settings (%s is %s): delete the records of one"
            raise InputError(message % (system, shown(path), setting, " or ".join(map(config.as_toml, values))))


def _evaluations(path: Path) -> list[Evaluation]:
    """Read the evaluations in a file. Raises InputError if the file is missing or damaged."""
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        whole = all(matches(line, Evaluation) for line in found)
    except (OSError, ValueError):
        whole = False
    if not whole:
        raise InputError("%s does not have the evaluations of a run: restore or delete it" % shown(path))
    return found


def common_seeds(records: Collection[Record], systems: Sequence[str]) -> list[int]:
    """Return the seeds for which all of these systems have records."""
    return sorted(set.intersection(*({run["seed"] for run in records if run["system"] == system} for system in systems)))


def commands(records: Sequence[Record]) -> list[str]:
    """Return the commands that reproduce runs."""
    return list(dict.fromkeys(record["reproduce"] for record in records if record.get("reproduce")))


def files(record: Record) -> dict[str, File]:
    """Return the files a run was trained and evaluated on, by split."""
    return {"train": record["train"], "dev": record["dev"]}
