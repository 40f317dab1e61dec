"""The records of finished runs, in ``experiments/results/NAME/``: small text files in git, from which all tables are made.

NAME is the name of the treebank. Each run has ``SYSTEM-seedN.json``, its record: scores, data, commit and command; ``.jsonl``,
its evaluations; and ``.trees.gz``, its trees (``predictions``).
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

from experiments import paper
from experiments.engine.provenance import EXPERIMENTS, shown, without_machine
from experiments.engine.record_fields import Evaluation, File, Member, Origin, Record, complaint, matches
from experiments.engine.run import Run, read_json, system_and_loss, write_json
from experiments.engine.treebank import Treebank, settings_of
from mh4.cli.group import say
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.parser import config, systems
from mh4.util.files import make_folder, write_text

RESULTS = EXPERIMENTS / "results"
RESULT = ("dev_uas", "dev_las", "updates", "test_uas", "test_las")  # what the same inputs should give again
RECORD, EVALUATIONS, TREES = ".json", ".jsonl", ".trees.gz"
NOT_LISTED = type("NotListed", (), {"__repr__": lambda _: "not recorded"})()  # in place of a setting's value
LIMIT = "training.max_updates"  # in settings: says nothing of a run that ended before
TREES_BLOB: Final = "trees_git_blob"  # in records: which trees are those of the run


def record_path(folder: Path, system: str, seed: int, ending: str) -> Path:
    """The path of a file of a run's record in `folder`, that of the treebank's records; ending: RECORD, EVALUATIONS or TREES."""
    return folder / ("%s-seed%d%s" % (system, seed, ending))


class Records:
    """The records of a treebank's runs, in the folder `results`."""

    def __init__(self, results: Path, bank: Treebank) -> None:
        self.bank = bank
        self.folder = results / bank.name

    def path(self, run: Run, ending: str) -> Path:
        return record_path(self.folder, run.system, run.seed, ending)

    def of(self, run: Run) -> Record | None:
        """The record of the run on these files, and with these settings, wherever it was trained; None if there is none.

        That of an ensemble has no settings: those of its members count, which have to be the models that are recorded now.
        Raises InputError if it is damaged.
        """
        path = self.path(run, RECORD)
        record = _read(path) if path.exists() else None
        if record is None or self._is_of_other_data(record) or not made_with(record, self.bank):
            return None
        members = record.get("members", [])
        now = [self.of(Run(member["system"], member["seed"], self.folder)) for member in members]
        return record if all(one and _is(member, one) for member, one in zip(members, now, strict=True)) else None

    def check_settings(self, names: Collection[str]) -> None:
        """Raises InputError if a run of one of these systems, with any seed, is recorded with other settings than those to train with."""
        self.forget_others()
        for path, record in self._readable():
            other = _other_settings(record, self.bank) if record["system"] in names else {}
            if other:
                said = "%s is of a run with other settings (%s): delete it and its model to train again"
                raise InputError(said % (shown(path), config.listed(other)))

    def name_outdated(self) -> None:
        """Prints a line on standard error for each ensemble that is recorded and `outdated`."""
        for ensemble in outdated(self.bank.name, [record for _, record in self._readable()]):
            say("combined before its members were trained again: %s" % ensemble, err=True)

    def _readable(self) -> Iterator[tuple[Path, Record]]:
        """The records, and their paths; `load` reports damaged ones."""
        for path in sorted(self.folder.glob("*" + RECORD)):
            with suppress(InputError):
                yield path, _read(path)

    def _is_of_other_data(self, record: Any) -> bool:
        return any(record[split]["git_blob"] != blob for split, blob in self.bank.blobs.items())

    def keep(self, run: Run) -> None:
        """Writes the record of a finished run, without paths of this machine.

        A record of the same inputs that it replaces should be the same; if not, that is reported here and noted in the new one.
        Raises InputError if its evaluations or its summary are damaged, and leaves what is recorded.
        """
        origin, metrics = run.origin(), run.folder / "metrics.jsonl"
        record = {
            **run.summary(),
            "commit": run.commits,
            "date": origin["finished"],
            "command": without_machine(" ".join(["mh4", *run.command[run.command.index("train") :]])),
            "reproduce": origin["command"],
            **({"machines": origin["machines"]} if origin.get("machines") else {}),
            **_settings(run),
            **read_json(run.folder / "predicted.json"),
            **self._against_the_paper(run.system, _evaluations(metrics)),
        }
        record.pop("sources", None)  # redundant
        other = self._different(run, record)
        if other:
            record["differs_from"] = other
            say("%s differs from the record of the same inputs, %s" % (run.name, in_words(other)), err=True)
        self.write(run, record, metrics.read_text(encoding="utf-8"))

    def write(self, run: Run, record: dict, evaluations: str | None = None) -> None:
        """Writes this record of a run, with its name and that of the data, and its evaluations, if it has any.

        Raises InputError if something is missing or wrong in the record, and leaves what is recorded.
        """
        record = {**record, "system": run.system, "seed": run.seed, "lang": self.bank.lang, "release": self.bank.release}
        if self.bank.settings:
            record["settings_of"] = self.bank.settings
        for split, path in self.bank.paths.items():
            record[split] = {"path": path.name, "git_blob": self.bank.blobs[split]}
        wrong = complaint(record)
        if wrong:
            raise InputError("%s: no record can be made of this (%s)" % (shown(run.folder), wrong))
        if evaluations is not None:
            make_folder(self.folder)
            write_text(str(self.path(run, EVALUATIONS)), evaluations)
        write_json(self.path(run, RECORD), record, sort_keys=True)  # last, as `make paper` makes nothing again that has a record

    def _different(self, run: Run, record: dict) -> Origin | None:
        """The results and origin of the existing record of these inputs if its results differ, or what it notes of an earlier one."""
        try:
            before = self.of(run)
        except InputError:  # damaged, and replaced now
            before = None
        if before is None or _differing([before, record]):
            return None
        kept = dict(before)
        if all(kept[name] == record[name] for name in RESULT if name in kept and name in record):
            return before.get("differs_from")
        return cast(Origin, {name: kept[name] for name in (*RESULT, "commit", "date", "machines") if name in kept})

    def _against_the_paper(self, system: str, evaluations: Sequence[Evaluation]) -> dict:
        """The seconds on one core until dev UAS first reached the paper's mean: null if never, omitted if the paper has none."""
        published = paper.dev_uas(self.bank.lang, self.bank.release, system)
        if published is None:
            return {}
        reached = (each["seconds"] for each in evaluations if each["dev_uas"] >= published[0])
        return {"seconds_to_paper": next(reached, None)}

    def forget_others(self) -> None:
        """Removes records of an older toy treebank, or of older settings for it, and of ensembles of such runs.

        All other names identify the content.
        """
        found = list(self._readable()) if self.bank.lang == treebanks.TOY else []
        older = {_key(run) for _, run in found if self._is_of_other_data(run) or not made_with(run, self.bank)}
        for path, record in found:
            if not older.isdisjoint({_key(record), *map(_key, record.get("members", []))}):
                path.unlink()
                for ending in (EVALUATIONS, TREES):
                    path.with_suffix(ending).unlink(missing_ok=True)


def _settings(run: Run) -> dict:
    """The settings of the model as the parser reads them, all of them, as an entry of its record."""
    path, (system, _) = run.folder / "config.toml", system_and_loss(run.system)
    return {"settings": asdict(systems.settings([str(path)], system))} if path.exists() else {}


def finished_with(run: Run, bank: Treebank) -> bool:
    """Whether a run is finished, and its model has the settings of `bank`."""
    summary = run.summary()
    return bool(summary) and made_with({**summary, **_settings(run), "system": run.system}, bank)


def made_with(record: Mapping[str, Any], bank: Treebank) -> bool:
    """Whether a record has the settings of `bank`; that of an ensemble has none of its own."""
    return "members" in record or not _other_settings(record, bank)


def _other_settings(record: Mapping[str, Any], bank: Treebank) -> dict[str, Any]:
    """The settings of a record that are not those of `bank`, by name, with the values of both."""
    return _differing([record, {"settings": asdict(bank.config(record["system"]))}])


def _differing(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings in which records differ, by name, with their values; one that a record does not list differs from any value.

    A limit of updates that no run has reached, and would not have with the other, is no difference.
    """
    flat = [
        {"%s.%s" % (section, name): value for section, mine in record.get("settings", {}).items() for name, value in mine.items()}
        for record in records
    ]
    names = dict.fromkeys(name for one in flat for name in one if not name.startswith("model."))  # which has the seed
    values = {name: dict.fromkeys(one.get(name, NOT_LISTED) for one in flat) for name in names}
    differing = {name: tuple(found) for name, found in values.items() if len(found) > 1}
    limits = differing.get(LIMIT, (NOT_LISTED,))
    if NOT_LISTED not in limits and max(record.get("updates", 0) for record in records) < min(limits):
        del differing[LIMIT]
    return differing


def _key(run: Record | Member) -> tuple[str, int]:
    return run["system"], run["seed"]


def _is(member: Member, run: Record) -> bool:
    """Whether a member of an ensemble is the model of this record, as far as both say; an empty commit is unknown."""
    commits = {member.get("commit"), run.get("commit")} - {None, ""}
    return member.get("dev_uas", run["dev_uas"]) == run["dev_uas"] and len(commits) < 2


def outdated(name: str, runs: Sequence[Record]) -> list[str]:
    """The ensembles among the records of treebank `name` of which a member is recorded as another model by now, each with these."""
    now, found = {_key(run): run for run in runs}, []
    for run in runs:
        others = [_key(one) for one in run.get("members", []) if _key(one) in now and not _is(one, now[_key(one)])]
        if others:
            said = ", ".join("%s seed %d" % other for other in others)
            found.append("%s %s seed %d: of another %s." % (name, *_key(run), said))
    return found


def in_words(other: Origin) -> str:
    """The origin and results of a record, as in ``differs_from``, in words."""
    where = ", ".join(machine["processor"] for machine in other.get("machines", [])) or "a machine not recorded"
    commit, updates = other.get("commit", "unknown"), other.get("updates", "unknown")
    return "of commit %s on %s: dev UAS %.2f after %s updates" % (commit, where, other["dev_uas"], updates)


def names(results: Path) -> list[str]:
    """The names of treebanks with records."""
    return sorted({path.parent.name for path in results.glob("*/*-seed*" + RECORD)})


def is_toy(name: str) -> bool:
    """Whether this is the name of the toy treebank, with any settings."""
    return name.partition("-")[0] == treebanks.TOY


def load(name: str, results: Path = RESULTS) -> list[Record]:
    """The records of treebank `name`, as `load_any`. Raises InputError also if there are none."""
    records = load_any(name, results)
    if not records:
        raise InputError("no finished run of %s in %s: train one first, with make reproduce" % (name, shown(results)))
    return records


def load_all(results: Path, toy: bool = False) -> dict[str, list[Record]]:
    """The records of the toy treebank, or of all others, by name, in the order of ``paper.treebank_place``; as `load`."""
    mine = sorted((name for name in names(results) if is_toy(name) is toy), key=paper.treebank_place)
    return {name: load(name, results) for name in mine}


def load_any(name: str, results: Path, bank: Treebank | None = None) -> list[Record]:
    """The records of treebank `name`, if there are any, by system (in the order of ``paper.place``) and seed.

    bank: only those with its settings. Raises InputError if one cannot be read, or is not of the settings of the folder, or if they do
    not belong together.
    """
    records, settings = [], bank.settings if bank else settings_of(name)
    for path in sorted((results / name).glob("*-seed*" + RECORD)):
        record = _read(path)
        if path != record_path(path.parent, record["system"], record["seed"], RECORD):
            raise InputError("%s has the record of %s seed %d" % (shown(path), record["system"], record["seed"]))
        theirs = record.get("settings_of", "")
        if theirs != settings:
            said = "%s is of a run with other settings (%s) than those of its folder (%s): move or delete it"
            raise InputError(said % (shown(path), theirs or "defaults", settings or "defaults"))
        if bank is None or made_with(record, bank):
            records.append(record)
    _check_together(records, results / name)
    return sorted(records, key=lambda record: (paper.place(record["system"]), record["seed"]))


def _check_together(records: Sequence[Record], folder: Path) -> None:
    """Raises InputError if the runs in `folder` were trained on different data or, those of one system, with different settings."""
    if len({tuple(file["git_blob"] for file in files(record).values()) for record in records}) > 1:
        raise InputError("the runs in %s were trained or evaluated on different files" % shown(folder))
    for system in dict.fromkeys(record["system"] for record in records):
        single = [record for record in records if record["system"] == system and "members" not in record]
        for setting, values in _differing(single).items():
            said = "the runs of %s in %s were trained with different settings (%s is %s): delete those of one"
            raise InputError(said % (system, shown(folder), setting, " or ".join(map(config.as_toml, values))))


def _read(path: Path) -> Record:
    """The record in a file. Raises InputError if there is none, or if it is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        wrong = complaint(record)
    except (OSError, ValueError) as error:
        wrong = str(error)
    if wrong:
        raise InputError("%s is not the record of a finished run (%s): restore or delete it" % (shown(path), wrong))
    return record


def evaluations(folder: Path, system: str, seed: int) -> list[Evaluation]:
    """The evaluations of a run whose record is in `folder`; empty if they were not recorded. Raises InputError if they are damaged."""
    path = record_path(folder, system, seed, EVALUATIONS)
    return _evaluations(path) if path.exists() else []


def _evaluations(path: Path) -> list[Evaluation]:
    """The evaluations in a file. Raises InputError if there is none, or if it is damaged."""
    try:
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        whole = all(matches(line, Evaluation) for line in found)
    except (OSError, ValueError):
        whole = False
    if not whole:
        raise InputError("%s does not have the evaluations of a run: restore or delete it" % shown(path))
    return found


def common_seeds(records: Collection[Record], systems: Sequence[str]) -> list[int]:
    """The seeds that all of these systems have records with."""
    return sorted(set.intersection(*({run["seed"] for run in records if run["system"] == system} for system in systems)))


def commands(records: Sequence[Record]) -> list[str]:
    """The commands that reproduce runs."""
    return list(dict.fromkeys(record["reproduce"] for record in records if record.get("reproduce")))


def files(record: Record) -> dict[str, File]:
    """The files a run was trained and evaluated on, by split."""
    return {"train": record["train"], "dev": record["dev"]}
