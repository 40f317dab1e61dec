"""Common sections of pages: the treebank, the data and models, and the commands that make the page again."""

import time
from collections.abc import Iterable, Sequence

from experiments.engine.provenance import commit
from experiments.engine.record_fields import Record
from experiments.engine.run import Run
from experiments.engine.treebank import Treebank
from experiments.pages.document import Part, code, items
from mh4.util.files import git_blob_id


def of_treebank(run: Record) -> str:
    """Return the title of a run's treebank, with the name of its settings if they are not the defaults."""
    others = ", settings: %s" % run["settings_of"] if "settings_of" in run else ""
    return "%s (%s%s)" % (run["lang"], run["release"], others)


def page_name(name: str, toy: bool) -> str:
    """Return the name of a page on several treebanks: toy-NAME on the toy treebank."""
    return "toy-" + name if toy else name


def data(blobs: Iterable[tuple[str, str]]) -> list[Part]:
    """Make the section on the data: a description of each file, with its git blob id."""
    return ["## Data", items("%s, git blob %s" % described for described in blobs)]


def command(commands: Sequence[str], *origin: str) -> list[Part]:
    """Make the last section: the commands that reproduce the page, and lines on its origin."""
    return ["## Command", code(commands), "\n".join(origin)]


def made_now(repeat: str) -> list[Part]:
    """Make the last section of a page that the command `repeat` makes now."""
    return command([repeat], "At commit %s, %s." % (commit(), time.strftime("%Y-%m-%d")))


def origin(model: Run) -> str:
    """Return the origin of a model, as text."""
    return "%s, seed %d: trained at commit %s" % (model.system, model.seed, model.commits or "unknown")


def models(described: Iterable[str], bank: Treebank, repeat: str, split: str = "dev") -> list[Part]:
    """Make the last sections of a page that `repeat` makes now from models, each described in a line, on a split that they parse."""
    parsed = bank.to_parse[split]
    return [
        "## Models and data",
        items([*described, "%s: %s, git blob %s" % (split, parsed.name, git_blob_id(parsed))]),
        *made_now(repeat),
    ]
