"""The tables of README and of pages of the documentation are those that `make report` writes from records and registry."""

import pytest
from samples import ROOT

from experiments.tables import summary, systems
from mh4.parser.systems import SYSTEMS


def between(page, name):
    text = page.read_text(encoding="utf-8")
    return text.partition("<!-- %s: written by make report -->" % name)[2].partition("<!-- end of %s -->" % name)[0].strip()


def test_the_numbers_are_those_of_the_records():
    assert between(ROOT / "README.md", "results") == summary.headline().markdown()


@pytest.mark.parametrize(("page", "full"), [(systems.README, False), (systems.REFERENCE, True)])
def test_the_systems_are_those_of_the_registry(page, full):
    assert between(page, "systems") == systems.table(full).markdown()
    assert [line[0] for line in systems.table(full).body] == ["`%s`" % name for name in SYSTEMS]


@pytest.mark.parametrize("name", summary.PAIRS)
def test_mh4_against_mh3(name):
    table = summary.against_mh3(*summary.PAIRS[name])
    assert between(summary.DIFFERENCES, "%s MH4 against MH3" % name) == table.markdown()
    paper = dict(zip(table.header, table.body[0]))
    assert paper["Gothic"] == {"greedy": "-0.88 ± 0.22", "exact": "+0.13 ± 0.12"}[name] and paper["Vietnamese"] == ""
