"""Accuracy from raw text: segmentation, UAS and LAS on the test set, with our segmenter and with given segmentations.

This table is not in the paper. It is written to ``results/NAME-text.md`` and ``.csv``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from training.run import Run
from training.treebank import Treebank, described

from mh4.analysis.evaluation import scorer_name
from mh4.data.segmenter import EPOCHS
from tables.writer import Table, comma_separated, data_section, made_now, origin

METRICS = ("Sentences", "Words", "UAS", "LAS")
OURS, BASELINE, GOLD = "raw text", "baseline", "gold"  # where sentences and words are from


@dataclass(frozen=True)
class Row:
    """A model with a segmentation: F1 of METRICS, in percent."""

    model: Run
    segmentation: str
    scores: dict[str, float]


def summary(rows: Sequence[Row]) -> Table:
    """A row for each model and segmentation."""
    body = [
        [row.model.system, str(row.model.seed), row.segmentation, *("%.2f" % row.scores[metric] for metric in METRICS)]
        for row in rows
    ]
    return Table(["system", "seed", "segmentation", *METRICS], body, right=3)


def markdown(bank: Treebank, segmenter: Path, rows: Sequence[Row], command: str) -> list[str]:
    """The lines of the page."""
    assert bank.test is not None
    models = {(row.model.system, row.model.seed): row.model for row in rows}
    files = dict.fromkeys([bank.paths["train"], bank.paths["dev"], *bank.test])
    return [
        "# %s (%s): from raw text" % (bank.lang, bank.release),
        "",
        summary(rows).markdown(),
        "",
        "F1 by the official scorer (%s) on the test set. %s: segmented by `mh4 segmenter train` (ufal.udpipe %s, %d epochs, the best on"
        % (scorer_name(), OURS, metadata.version("ufal.udpipe"), EPOCHS),
        "dev) from the text of the test set; %s: the segmentation of the shared task's baseline, UDPipe 1.1, which is the input of"
        % BASELINE,
        "the paper's parsers; %s: that of the test set itself." % GOLD,
        *data_section((path.name, described(path)["git_blob"]) for path in files),
        "- segmenter, git blob %s" % described(segmenter)["git_blob"],
        "",
        "## Models",
        "",
        *("- " + origin(model) for model in models.values()),
        *made_now(command),
    ]


def as_csv(bank: Treebank, rows: Sequence[Row]) -> str:
    """The table as csv."""
    header = ["lang", "data", "system", "seed", "segmentation", *(metric.lower() for metric in METRICS)]
    body = [
        [bank.lang, bank.release, row.model.system, row.model.seed, row.segmentation, *(row.scores[m] for m in METRICS)]
        for row in rows
    ]
    return comma_separated(header, body)
