"""Common sections of pages: the treebank, the data and models, and the commands that make the page again."""

import time
from collections.abc import Iterable, Sequence

from experiments.engine.provenance import commit
from experiments.engine.record_fields import Record
from experiments.engine.run import Run
from experiments.engine.treebank import Treebank
from experiments.pages.document import Part, code, items


def of_treebank(run: Record) -> str:
    """The treebank of a run in the titles of pages, with the name of its settings if they are not the defaults."""
    others = ", settings: %s" % run["settings_of"] if "settings_of" in run else ""
    return "%s (%s%s)" % (run["lang"], run["release"], others)


def page_name(name: str, toy: bool) -> str:
    """The name of a page on several treebanks: toy-NAME for that on the toy treebank, which is kept apart from that on real ones."""
    return "toy-" + name if toy else name


def data(blobs: Iterable[tuple[str, str]]) -> list[Part]:
    """The section on the data: a description of each file, with its git blob id."""
    return ["## Data", items("%s, git blob %s" % described for described in blobs)]


def command(commands: Sequence[str], *origin: str) -> list[Part]:
    """The last section: the commands that reproduce the page, and lines on what it was made from, or when."""
    return ["## Command", code(commands), "\n".join(origin)]


def made_now(repeat: str) -> list[Part]:
    """The last section of a page that the command `repeat` makes now, with the code as it is."""
    return command([repeat], "At commit %s, %s." % (commit(), time.strftime("%Y-%m-%d")))


def origin(model: Run) -> str:
    """The origin of a model, as text."""
    return "%s, seed %d: trained at commit %s" % (model.system, model.seed, model.commits or "unknown")


def models(described: Iterable[str], bank: Treebank, repeat: str) -> list[Part]:
    """The last sections of a page that `repeat` makes now from models, each described in a line, on a development set."""
    dev = "dev: %s, git blob %s" % (bank.paths["dev"].name, bank.blobs["dev"])
    return ["## Models and data", items([*described, dev]), *made_now(repeat)]
