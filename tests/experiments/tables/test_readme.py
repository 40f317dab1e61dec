"""README's table of results has the numbers of the records."""

from samples import ROOT

from experiments.tables import summary


def test_the_numbers_are_those_of_the_records():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.partition(summary.BEGIN)[2].partition(summary.END)[0].strip() == summary.headline().markdown()
