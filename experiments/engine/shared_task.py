"""Score the shared task's systems on the test sets. ``results/conll17.jsonl`` has the scores, one line per language.

Only the files behind the paper's numbers are scored: the test sets of UD 2.0 and the released outputs, identified by git blob id.
"""

from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from experiments import published
from experiments.engine import lines
from experiments.engine.provenance import commit
from experiments.engine.record_fields import File, Output, SharedTask, matches
from experiments.engine.treebank import Treebank, described, release_of
from mh4.analysis.evaluation import official, scorer_name
from mh4.cli.group import say
from mh4.data import conll17, treebanks
from mh4.errors import InputError

FILE = "conll17.jsonl"  # in results


def is_test_set(lang: str, blob: str) -> bool:
    """Return whether this is the git blob id of the language's test set in UD 2.0."""
    return release_of(lang, "test", blob) == published.RELEASE


def is_output(lang: str, system: str, blob: str) -> bool:
    """Return whether this is the git blob id of the shared-task system's output for the language's test set."""
    row = conll17.identify_blob(blob)
    return row is not None and (row.lang, row.system) == (lang, system)


def score(lang: str, test: Path, outputs: dict[str, Path], results: Path) -> dict[str, str]:
    """Score systems' outputs on the test set, unless their scores are recorded; return why others are not, by system.

    The record of each has "uas" and "las" or, if the official scorer rejects the output, the reason as "rejected".
    Without the test set, nothing is scored; the key of this reason is "test".
    """
    before, there, lacking = load(lang, results), dict[str, File](), dict[str, str]()
    for what, path in {"test": test, **outputs}.items():
        file = described(path) if path.is_file() else None
        if file and (is_test_set(lang, file["git_blob"]) if what == "test" else is_output(lang, what, file["git_blob"])):
            there[what] = file
        else:
            lacking[what] = path.name + " is not the released file" if file else "no " + path.name
    if not there:
        lacking = {"test": "neither test set nor outputs"}
    if "test" not in there or len(there) == 1:
        recorded = ["test", *before["systems"]] if before else []
        return {what: why for what, why in lacking.items() if what not in recorded}
    record: SharedTask = {"lang": lang, "test": there.pop("test"), "systems": {}}
    if before and before["test"] == record["test"]:
        record["systems"].update(before["systems"])
    for system, file in there.items():
        known = record["systems"].get(system)
        if known is None or (known["path"], known["git_blob"]) != (file["path"], file["git_blob"]):
            made = {**file, **_scores(test, outputs[system]), "commit": commit(), "scorer": scorer_name()}
            record["systems"][system] = cast(Output, made)
    if record != before:
        with lines.changed(results / FILE, _lang, _complaint) as kept:
            kept[lang] = record
    return {system: why for system, why in lacking.items() if system not in record["systems"]}


def _scores(test: Path, output: Path) -> dict:
    try:
        scores = official(str(test), str(output))
    except InputError as error:
        reason = str(error)
        for path in (test, output):
            reason = reason.replace(str(path), path.name)
        return {"rejected": reason}
    return {"uas": scores["UAS"].f1, "las": scores["LAS"].f1}


def score_available(bank: Treebank, results: Path) -> None:
    """Call `score` if the treebank has outputs; print errors on standard error."""
    try:
        if bank.test and bank.outputs:
            score(bank.lang, bank.test[0], bank.outputs, results)
    except InputError as error:
        say("the shared task's systems are not scored: %s" % error, err=True)


def load(lang: str, results: Path) -> SharedTask | None:
    """Return the record for a language, or None. Raises InputError if a record is damaged."""
    return lines.read(results / FILE, _lang, _complaint).get(lang)


def load_all(results: Path) -> list[SharedTask]:
    """Return all records, with languages in the order of the paper's tables."""
    found = lines.read(results / FILE, _lang, _complaint)
    return [found[lang] for lang in treebanks.languages() if lang in found]


_lang = itemgetter("lang")


def _complaint(record: Any) -> str | None:
    """Return the error in a record, or None."""
    whole = matches(record, SharedTask) and all({"rejected", "las"} & output.keys() for output in record["systems"].values())
    return None if whole else "not a record of the shared task's scores"
