"""README's table of results has the numbers of the pages that it refers to."""

from samples import ROOT
from tables import table4, table5_6
from tables.writer import Table
from training import records

TREEBANKS = {"hu": "Hungarian", "got": "Gothic", "el": "Greek", "vi": "Vietnamese"}


def table() -> str:
    """The table as README has to show it."""
    body = []
    for lang, name in TREEBANKS.items():
        runs = records.load(lang)
        test = {row.system: row for row in table5_6.rows(table5_6.tested(lang, runs, records.RESULTS))}
        for row in table4.rows(runs):
            tested = [str(test[row.system].ours), str(test[row.system].paper or "")] if row.system in test else ["", ""]
            body.append([name, row.system, str(len(row.ours.seeds)), str(row.ours), str(row.paper or ""), *tested])
            name = ""
    return Table(["", "", "seeds", "dev UAS", "paper", "test LAS", "paper"], body, right=2).markdown()


def test_the_numbers_are_those_of_the_records():
    assert table() in (ROOT / "README.md").read_text(encoding="utf-8")
