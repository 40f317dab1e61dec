"""README's table of results has the numbers of the pages that it refers to."""

from samples import ROOT
from tables import table4, table5_6
from training import records


def test_the_numbers_are_those_of_the_records():
    expected = {}
    for lang in ("hu", "got"):
        runs = records.load(lang)
        dev = {row.system: row for row in table4.rows(runs)}
        test = {row.system: row for row in table5_6.rows(table5_6.tested(lang, runs, records.RESULTS))}
        for system, row in dev.items():
            shown = ["%s (%d)" % (row.ours, len(row.ours.seeds)), str(row.paper or "")]
            shown += [str(test[system].ours), str(test[system].paper or "")] if system in test else ["", ""]
            expected.setdefault(system, {})[lang] = shown
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| | dev UAS, Hungarian") :].partition("\n\n")[0].splitlines()[2:]
    found = {}
    for line in table:
        system, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        found[system] = {lang: four for lang, four in (("hu", cells[:4]), ("got", cells[4:])) if any(four)}
    assert found == expected
