"""README's tables of results have the numbers of the pages that they refer to."""

import csv

from samples import ROOT
from tables import table4, table5_6
from tables.writer import Table
from training import records
from training.run import LIKELIHOOD

from mh4.config import LOSSES

TREEBANKS = {
    "hu": "Hungarian",
    "got": "Gothic",
    "el": "Greek",
    "vi": "Vietnamese",
    "id": "Indonesian",
    "eu-ud1.4": "Basque (UD 1.4)",
}


def results() -> str:
    """The table of results as README has to show it: of systems trained with the paper's hinge."""
    body = []
    for lang, name in TREEBANKS.items():
        runs = records.load(lang)
        scores = table5_6.tested(lang, runs, records.RESULTS)
        test = {row.system: row for row in table5_6.rows(scores)} if scores else {}
        for row in table4.rows(runs):
            if row.system.endswith(LIKELIHOOD):
                continue
            tested = [str(test[row.system].ours), str(test[row.system].paper or "")] if row.system in test else ["", ""]
            body.append([name, row.system, str(len(row.ours.seeds)), str(row.ours), str(row.paper or ""), *tested])
            name = ""
    return Table(["", "", "seeds", "dev UAS", "paper", "test LAS", "paper"], body, right=2).markdown()


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
    assert results() in readme
    assert losses() in readme
