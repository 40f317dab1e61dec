"""The report on all records: its tables and marks."""

import json
import shutil
from dataclasses import replace

import pytest
from samples import record, study

from experiments.engine import records
from experiments.pages import Average, paper_average
from experiments.studies import coverage, report
from experiments.tables import agreement
from mh4.errors import InputError
from mh4.util.files import write_text


@pytest.fixture
def results(tmp_path):
    """Records of Hungarian, one of them with evaluations, and of Basque in another release."""
    for seed, uas in ((1, 84.0), (2, 85.0), (3, 84.2)):
        record(tmp_path, "hu", "mh4-hybrid", seed, uas)
    curve = [{"updates": 500 * k, "dev_uas": 80.0 + k} for k in range(1, 5)]
    more = {"tokens_per_second": 1000, "updates": 500, "seconds": 60, "cpu_seconds": 50, "curve": curve}
    record(tmp_path, "hu", "mst", 1, 84.5, test_las=70.0, **more)
    record(tmp_path, "hu", "greedy-mh4", 1, 81.0, differs_from={"dev_uas": 80.5, "updates": 7, "commit": "abc"})
    record(tmp_path, "eu-ud1.4", "mst", 1, 80.0, lang="eu", release="UD 1.4")
    return tmp_path


def table(text, title):
    """Return the cells of a section's first table by the first two of each line. Empty first cells repeat the last."""
    found, name = {}, ""
    for line in text.partition("## " + title)[2].partition("\n## ")[0].splitlines():
        if line.startswith("| "):
            cells = [cell.strip() for cell in line[1:-1].split("|")]
            name = cells[0] or name
            found[name, cells[1]] = cells[2:]
    assert found
    return found


@pytest.mark.slow
def test_every_table_stands_beside_the_papers(results):
    file = {"path": "f", "git_blob": "ff"}
    systems = {"stanford": {**file, "las": 74.7201}, "c2l2": {**file, "las": 74.0}}
    shared_task = {"lang": "ja", "test": file, "systems": systems}
    text = report.write(results)[0].read_text(encoding="utf-8")
    rows = table(text, "Table 4")
    columns = rows["treebank", ""]
    ours, theirs, difference = (dict(zip(columns, rows["Hungarian", kind])) for kind in ("ours", "paper", "difference"))
    assert [line["mh4-hybrid"] for line in (ours, theirs, difference)] == ["84.40 ± 0.53 (3)", "84.59 ± 0.50", "-0.19"]
    assert ours["mst"] == "84.50 (1)" and difference["mst"] == "+1.69 *"  # beyond 2 * 0.49 * sqrt(1 + 1/5) = 1.07
    assert ours["mh3"] == "–" and difference["mh3"] == ""
    assert ("Basque", "ours") not in rows  # without runs
    assert "80.00 (1)" in rows["Basque (UD 1.4)", "ours"] and ("Basque (UD 1.4)", "paper") not in rows
    assert table(text, "Table 1")["s2 s1 s0 b0", "greedy-mh4"] == ["85.27", "–", "–", "81.00 (1)"]
    assert table(text, "Table 2")["hybrid", "mh4-hybrid"] == ["87.27", "–", "–", "84.40 ± 0.53 (3)"]
    assert "No training set of this table was available." in text
    # Table 5 has only runs on the paper's test files.
    table_5 = text.partition("## Table 5")[2].partition("\n## ")[0]
    assert table_5 and "Hungarian" not in table_5
    write_text(str(results / "conll17.jsonl"), json.dumps(shared_task))
    rows = table(report.write(results)[0].read_text(encoding="utf-8"), "Table 6")
    assert rows["Japanese", "ours"][-2:] == ["74.72", "74.00"] and rows["Japanese", "difference"][-2:] == ["✓", "-0.51"]
    assert dict(zip(table(text, "Speed")["system", "runs"], table(text, "Speed")["mst", "1"]))["CPU time, median"] == "0:00:50"


def test_agreement_with_the_paper():
    """One of three cells differs by two standard errors, so chi-squared is 4. The single run has the deviation of the others."""
    seeds, theirs = (1, 2, 3, 4, 5), paper_average((82.0, 0.4))
    error, single = (0.3**2 / 5 + 0.4**2 / 5) ** 0.5, (0.3**2 + 0.4**2 / 5) ** 0.5
    ours = [
        report.Average(82.0, 0.4, seeds),
        report.Average(82.0, None, (1,)),
        report.Average(82.0 + 2 * error, 0.02**0.5, seeds),
    ]
    found = agreement.cells([(one, theirs) for one in ours])
    assert found == [pytest.approx((0, error)), pytest.approx((0, single)), pytest.approx((2 * error, error))]
    assert agreement.cells([]) == [] and agreement.cells([(ours[1], theirs)]) == []
    (row,) = agreement.table({"dev UAS": found, "test LAS": []}).body
    assert row == ["dev UAS", "3", "+0.15 ± 0.16", "4.0", "0.26", "2"]


def test_averages_are_over_the_treebanks_that_both_have():
    line, average = report.Line, report.Average
    lines = [
        line("hu", {"mst": average(80.0, None), "mh3": average(1.0, None)}, {"mst": average(82.0, None)}),
        line("got", {"mst": average(84.0, 1.0, (1, 2))}, {"mst": average(82.0, 1.0, (1, 2)), "mh3": average(2.0, None)}),
        line("hu-authors", {"mst": average(0.0, None)}, {"mst": average(82.0, None)}, "authors"),
        line("hu-mine", {"mst": average(0.0, None)}, {"mst": average(82.0, None)}, "mine"),
    ]
    *_, ours, theirs, difference = report._table(lines).body
    assert ours == ["average", "ours", "–", "82.00 (of 2)"]
    assert theirs == ["", "paper", "–", "82.00"] and difference == ["", "difference", "–", "+0.00"]
    assert report._table(lines[:1]).body[-1][1] == "difference"  # of one treebank, there is no average


def test_what_is_missing_or_differs_is_named(results):
    text = report.write(results)[0].read_text(encoding="utf-8")
    assert "Without recorded evaluations: hu mh4-hybrid seed 1, hu mh4-hybrid seed 2, " in text
    assert "No record of any run: Basque, Urdu, Gothic, Old Church Slavonic, " in text
    assert (
        "hu greedy-mh4 seed 1: dev UAS 81.00 after unknown updates; "
        "of commit abc on a machine not recorded: dev UAS 80.50 after 7 updates."
    ) in text


def test_no_test_scores_are_left_out(tmp_path):
    """Test scores of other settings, and on other files than those of Tables 5 and 6, are on one of the pages."""
    files = {"test": {"path": "t", "git_blob": "cc"}, "segmentation": {"path": "s", "git_blob": "dd"}}
    toy = {"lang": "toy", "release": "toy treebank"}
    for name, las, more in (
        ("toy", 70.0, toy),
        ("toy-authors", 71.0, {**toy, "settings_of": "authors"}),
        ("hu", 72.0, {}),
        ("eu-ud1.4-authors", 73.0, {"lang": "eu", "release": "UD 1.4", "settings_of": "authors"}),
    ):
        record(tmp_path, name, "mst", 1, 90.0, test_las=las, **files, **more)
    found = {}
    for is_toy in (False, True):
        text = report.write(tmp_path, is_toy)[0].read_text(encoding="utf-8")
        found.update(table(text, "LAS on other test sets"))
    assert found == {
        ("treebank", ""): ["mst"],
        ("---", "---"): ["---:"],
        ("Hungarian", "ours"): ["72.00 (1)"],
        ("Basque (UD 1.4), authors' settings", "ours"): ["73.00 (1)"],
        ("toy", "ours"): ["70.00 (1)"],
        ("toy, authors' settings", "ours"): ["71.00 (1)"],
    }


def test_two_standard_errors():
    """Differences beyond two standard errors, here 2.098, are marked. Without a deviation, there is no mark."""
    theirs, two = paper_average((80.0, 0.5**0.5)), Average(82.1, 2**0.5, (1, 2))
    assert report._difference(two, theirs) == "+2.10 *" and report._difference(replace(two, mean=82.09), theirs) == "+2.09"
    assert report._difference(replace(two, std=None), theirs) == "+2.10"
    assert report._difference(two, paper_average((80.0, None))) == "+2.10"


def test_deviations_are_pooled_over_the_lines():
    """The deviations 1 of two runs and 2 of three have 1 and 2 degrees of freedom."""
    one, two, three = Average(80.0, None, (1,)), Average(81.0, 1.0, (1, 2)), Average(82.0, 2.0, (1, 2, 3))
    paper, ensemble = paper_average((80.0, 0.4)), paper_average((81.0, None))
    lines = [
        report.Line("hu", {"mst": one, "mh3": two}, {"mst": paper, "ensemble": ensemble}),
        report.Line("got", {"mst": three}, {}),
    ]
    hungarian, gothic = report._pooled(lines)
    stds = [hungarian.ours["mst"].std, hungarian.ours["mh3"].std, gothic.ours["mst"].std]
    assert stds == pytest.approx([3**0.5] * 3) and hungarian.ours["mst"].mean == 80.0
    assert hungarian.paper["mst"] == paper and hungarian.paper["ensemble"] == ensemble


@pytest.mark.slow
def test_the_committed_report_is_that_of_the_committed_records(tmp_path):
    shutil.copytree(records.RESULTS, tmp_path / "results", ignore=shutil.ignore_patterns("toy*"))
    report.write(tmp_path / "results")
    assert (tmp_path / "results" / "report.md").read_text() == (records.RESULTS / "report.md").read_text()


def test_without_records(tmp_path, capsys):
    assert study("report", home=tmp_path) == 2
    assert capsys.readouterr().err.startswith("report: no records in ")
    record(tmp_path / "results", "hu", "mst", 1, 84.5)
    for name in ("hu/", "eu", "-x"):
        assert study("report", "--langs", name, home=tmp_path) == 2
        said = capsys.readouterr().err
        assert said.startswith("report: no records of %s in " % name) and said.endswith(", only of hu\n")
    assert not (tmp_path / "results" / "hu.md").exists()


@pytest.mark.parametrize(
    "damage", [("lang,", "a,"), ("sent_mh4,", "b,"), ("UD 2.0,100", "UD 2.0,x"), ("UD 2.0,100,1000", "UD 2.0,100")]
)
def test_a_damaged_csv_of_coverage_is_named(tmp_path, damage):
    row = ["got", "train", "UD 2.0", "100", "1000", *["50.0"] * (len(coverage.COLUMNS) - 2)]
    text = ",".join(["lang", "split", "data", *coverage.COLUMNS]) + "\n" + ",".join(row) + "\n"
    (tmp_path / "table3.csv").write_text(text)
    assert coverage.recorded(tmp_path)["got"]["sentences"] == "100"
    assert report._coverage(tmp_path)[1] == "Identical in all columns: none."
    assert text.replace(*damage) != text
    (tmp_path / "table3.csv").write_text(text.replace(*damage))
    with pytest.raises(InputError, match="table3.csv does not have the columns of Table 3"):
        coverage.recorded(tmp_path)
