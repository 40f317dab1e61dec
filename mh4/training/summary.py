"""Read the records of a training in the model folder: metrics.jsonl during training, summary.json after it."""

import json
from typing import Any

from mh4.errors import counted
from mh4.parser.model_files import Folder, each_source
from mh4.util import reading


def state_of(files: Folder) -> list[str]:
    """Return a summary of the training recorded with a model, in a few lines of text; InputError if the record is damaged."""
    if files.has("summary.json"):
        with files.intact("summary.json"):
            return _trained(files.record("summary.json"))
    lines = complete_lines(files.place("metrics.jsonl")) if files.has("metrics.jsonl") else []
    with files.intact("metrics.jsonl"):
        message = "in training: %(updates)d updates, best dev UAS so far %(best_dev_uas).2f"
        return [message % json.loads(lines[-1])] if lines else ["no record of its training"]


def resumed(summary: dict[str, Any]) -> list[str]:
    """Return a line for each time that training was resumed with other settings."""
    changes = [dict(change) for change in summary.get("changes", ())]
    return [
        "resumed after %s with %s"
        % (counted(change.pop("updates"), "update"), ", ".join("%s=%s" % one for one in change.items()))
        for change in changes
    ]


def _trained(summary: dict[str, Any]) -> list[str]:
    scores = ["%s %.2f" % (name.upper(), summary["dev_" + name]) for name in ("uas", "las", "upos") if "dev_" + name in summary]
    counts = (counted(int(summary[noun + "s"]), noun) for noun in ("evaluation", "update"))
    run = "best of %s, %s, mh4 %s" % (*counts, summary["mh4"])
    lines = ["trained: dev %s, %s" % (", ".join(scores), run)]
    for name, source in each_source(summary["sources"]):
        nouns = ("sentence", "word") if "words" in source else ()
        size = "".join(", " + counted(source[noun + "s"], noun) for noun in nouns)
        lines.append("%s: %s (git blob %s)%s" % (name, source["file"], source["git_blob"], size))
    lines += resumed(summary)
    for treebank in summary.get("dev_treebanks", ()):
        lines.append("%(file)s: dev UAS %(uas).2f, LAS %(las).2f" % treebank)
    return lines


def complete_lines(path: str) -> list[str]:
    """Return the complete lines of a file, whose last line may be unfinished. Raises InputError if it cannot be read or is not UTF-8."""
    return [line + "\n" for line in reading.text(path).split("\n")[:-1]]
