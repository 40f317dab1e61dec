"""Tables 5 and 6, from records."""

import json
import statistics

import pytest
from samples import record

from experiments.engine.records import load
from experiments.tables import treebank
from mh4.data import conll17, treebanks

TEST = next(row.git_blob_sha1 for row in treebanks.manifest() if (row.lang, row.split, row.release) == ("hu", "test", "2.0"))
OUTPUTS = {row.system: row.git_blob_sha1 for row in conll17.manifest() if row.lang == "hu"}


def add(results, system, seed, las, test=TEST, segmentation=OUTPUTS["udpipe"], name="hu", **more):
    """Makes the record of a run that was tested."""
    files = {
        "test": {"path": "hu-ud-test.conllu", "git_blob": test},
        "segmentation": {"path": "hu-udpipe.conllu", "git_blob": segmentation},
    }
    record(results, name, system, seed, 80.0, test_las=las, test_uas=las + 5, **files, **more)


def references(results, **systems):
    """Makes the record of the shared task's systems."""
    entries = {
        system: {"path": "hu-%s.conllu" % system, "git_blob": OUTPUTS[system], **entry} for system, entry in systems.items()
    }
    content = {"lang": "hu", "test": {"path": "hu-ud-test.conllu", "git_blob": TEST}, "systems": entries}
    (results / "conll17.jsonl").write_text(json.dumps(content))


def page(results, name="hu"):
    """The lines of the page, and its rows by system."""
    runs = load(name, results)
    scores = treebank.tested(name, runs, results)
    (markdown,) = scores.write(results)
    assert markdown == results / (name + "-test.md")
    return markdown.read_text(encoding="utf-8").splitlines(), {row.system: row for row in scores.rows()}


def test_means_and_standard_deviations_stand_beside_the_papers(tmp_path):
    for seed, las in ((1, 76.0), (2, 77.5), (3, 77.2)):
        add(tmp_path, "mh4-hybrid", seed, las)
    add(tmp_path, "ensemble", 1, 79.004)
    add(tmp_path, "mh4-two", 2, 76.0)
    add(tmp_path, "mst", 2, 75.0)
    record(tmp_path, "hu", "mst", 3, 83.0)  # of before there was a segmentation
    references(tmp_path, c2l2={"las": 76.0}, udpipe={"las": 64.301}, stanford={"las": 77.5573})
    lines, table = page(tmp_path)
    assert lines[0] == "# hu (UD 2.0): LAS on the test set (Table 5)"
    assert lines[2:11] == [
        "| system | seeds | test LAS | paper | difference |",
        "| --- | --- | ---: | ---: | ---: |",
        "| mst | 2 | 75.00 | 75.79 ± 0.36 | -0.79 |",
        "| mh4-two | 2 | 76.00 |  |  |",
        "| mh4-hybrid | 1 2 3 | 76.90 ± 0.79 | 76.90 ± 0.31 | +0.00 |",
        "| ensemble | 1 | 79.00 | 79.35 | -0.35 |",
        "| CoNLL #1 (Stanford) |  | 77.56 | 77.56 | ✓ |",
        "| CoNLL #2 (C2L2) |  | 76.00 | 76.55 | -0.55 |",
        "| UDPipe 1.1 baseline |  | 64.30 |  |  |",
    ]
    assert "Omitted, without scores on these files: 1 of 7 runs." in lines
    assert "- segmentation: hu-udpipe.conllu, git blob " + OUTPUTS["udpipe"] in lines
    assert "- CoNLL #2 (C2L2): hu-c2l2.conllu, git blob " + OUTPUTS["c2l2"] in lines
    assert list(table) == ["mst", "mh4-two", "mh4-hybrid", "ensemble", "stanford", "c2l2", "udpipe"]
    assert table["mh4-hybrid"].ours.std == pytest.approx(statistics.stdev([76.0, 77.5, 77.2]))
    assert table["ensemble"].difference == pytest.approx(79.004 - 79.35) and table["ensemble"].paper.std is None
    assert table["udpipe"].ours.mean == 64.301 and table["udpipe"].paper is table["mh4-two"].paper is None


def test_without_tested_runs_there_is_no_page(tmp_path):
    record(tmp_path, "hu", "mh3", 1, 83.0)
    references(tmp_path, stanford={"las": 77.56})
    assert treebank.tested("hu", load("hu", tmp_path), tmp_path) is None


@pytest.mark.parametrize(
    "other", [{"test": "0" * 40}, {"segmentation": OUTPUTS["c2l2"]}, {"segmentation": TEST}, {"release": "UD 1.4"}]
)
def test_other_files_are_never_compared_with_the_paper(tmp_path, other):
    add(tmp_path, "mh4-hybrid", 1, 76.9, **other)
    references(tmp_path, stanford={"las": 77.5573})
    lines, table = page(tmp_path)
    assert lines[0].endswith(": LAS on the test set") and lines[2] == "| system | seeds | test LAS |"
    assert any("are not comparable" in line for line in lines) and not any(
        "76.90 ±" in line or "77.56 |  |" in line for line in lines
    )
    assert {row.paper for row in table.values()} == {None}
    assert ("stanford" in table) == ("test" not in other)  # its score is of another test set


def test_what_was_tested_on_different_files_is_not_averaged(tmp_path):
    for seed, las in ((1, 76.0), (2, 77.0)):
        add(tmp_path, "mst", seed, las)
    add(tmp_path, "mst", 3, 10.0, segmentation="0" * 40)
    lines, table = page(tmp_path)
    assert table["mst"].ours.mean == 76.5 and table["mst"].ours.seeds == (1, 2)
    assert "Omitted, without scores on these files: 1 of 3 runs." in lines


def test_an_output_that_the_scorer_refuses(tmp_path):
    add(tmp_path, "mst", 1, 76.0)
    references(tmp_path, stanford={"las": 77.5573}, c2l2={"rejected": "hu-c2l2.conllu, line 7: a cycle"})
    lines, table = page(tmp_path)
    assert list(table) == ["mst", "stanford"]
    assert "The official scorer rejects the output of CoNLL #2 (C2L2): hu-c2l2.conllu, line 7: a cycle." in lines
