"""The table of all results, and the tables that `make report` writes into README and the documentation."""

import pytest
from samples import ROOT, record

from experiments.tables import summary, systems
from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS


@pytest.fixture
def results(tmp_path):
    tested = {"test": {"path": "x", "git_blob": "x"}, "segmentation": {"path": "y", "git_blob": "y"}}
    for seed, uas in ((1, 84.0), (2, 85.0)):
        record(tmp_path, "hu", "mh4-hybrid", seed, uas, test_las=uas - 10, **tested)
    record(tmp_path, "hu-authors", "mh4-hybrid", 1, 83.25, settings_of="authors")
    record(tmp_path, "hu-authors", "greedy-mh3", 1, 80.25, settings_of="authors")
    record(tmp_path, "hu", "mst-likelihood", 1, 80.0)
    record(tmp_path, "got", "mst", 3, 70.0, lang="got")
    record(tmp_path, "eu-ud1.4", "mst", 3, 60.0, lang="eu", release="UD 1.4")
    record(tmp_path, "toy", "mst", 3, 90.0, lang="toy", release="toy treebank")
    return tmp_path


def test_the_lines(results):
    assert [line[:2] for line in summary.table(results).body] == [
        ["Gothic", "mst"],
        ["Hungarian", "mh4-hybrid"],
        ["", "greedy-mh3"],
        ["Basque (UD 1.4)", "mst"],
    ]
    gothic, hybrid, greedy, basque = (line[2:] for line in summary.table(results).body)
    assert gothic == ["84.74 ± 0.28", "", "70.00", "", "", "", "1"]
    assert hybrid == ["84.59 ± 0.50", "83.25", "84.50 ± 0.71", "", "", "74.50 ± 0.71", "1, 2"]
    assert greedy == ["81.75 ± 0.47", "80.25", "", "", "", "", "1, 0"]
    assert basque == ["", "", "60.00", "", "", "", "1"]  # not compared with the paper


def test_the_title_of_a_treebank():
    titles = {"hu": "Hungarian", "cu": "Old Church Slavonic", "eu-ud1.4": "Basque (UD 1.4)"}
    for name in ("hu-udpipe", "mine", "mine-ud1.4", "eu-files-0123abcd"):  # not of the manifest
        titles[name] = name
    assert {name: summary.title(name) for name in titles} == titles


def test_a_score_that_only_some_runs_have_says_so(results):
    record(results, "hu", "mh4-hybrid", 3, 84.5)  # not tested
    (hybrid,) = (line for line in summary.table(results).body if line[:2] == ["Hungarian", "mh4-hybrid"])
    assert hybrid[2:] == ["84.59 ± 0.50", "83.25", "84.50 ± 0.50", "", "", "74.50 ± 0.71 (2 seeds)", "1, 3"]


def test_the_headline(results):
    """The headline is empty without scores on the paper's test sets."""
    assert summary.headline(results).body == []


def test_it_is_written_into_readme(results, tmp_path):
    readme = tmp_path / "README.md"
    begin, end = "<!-- results: written by make report -->", "<!-- end of results -->"
    readme.write_text("before\n\n%s\nold\n%s\n\nafter\n" % (begin, end))
    for _ in range(2):  # the second time changes nothing
        summary.write_into(readme, results)
        text = readme.read_text(encoding="utf-8")
        assert text.startswith("before\n\n%s\n\n| " % begin) and text.endswith(" |\n\n%s\n\nafter\n" % end)
        assert summary.headline(results).markdown() in text and "old" not in text
    readme.write_text("no place")
    with pytest.raises(InputError, match="has no lines"):
        summary.write_into(readme, results)
    assert readme.read_text() == "no place"


# README and the documentation


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
