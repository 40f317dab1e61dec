"""README's tables of results have the numbers of the pages that they refer to."""

import csv

from samples import ROOT

from experiments.engine import records
from experiments.pages.writer import Table
from experiments.tables import summary
from mh4.parser.config import LOSSES


def losses() -> str:
    """The table of both losses as README has to show it."""
    with open(records.RESULTS / "hu-likelihood.csv", encoding="utf-8", newline="") as file:
        rows = {(row["system"], row["loss"]): row for row in csv.DictReader(file)}
    body = []
    for system in dict.fromkeys(system for system, _ in rows):
        numbers = ["%.2f" % float(rows[system, loss][what]) for what in ("dev_uas", "ece_calibrated") for loss in LOSSES]
        body.append([system, *numbers])
    header = ["%s, %s" % (what, loss) for what in ("dev UAS", "ECE") for loss in LOSSES]
    return Table(["", *header], body, right=1).markdown()


def test_the_numbers_are_those_of_the_records():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert summary.table().markdown() in readme.partition(summary.BEGIN)[2].partition(summary.END)[0]
    assert losses() in readme
