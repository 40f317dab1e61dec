"""The paper's tables of a treebank by its records, and make features, which trains the systems of Tables 1 and 2."""

import json
import statistics

import pytest
from samples import calls, record

from experiments import pages
from experiments.engine.records import load
from experiments.tables import paper_tables
from experiments.tables.paper_tables import Dev
from mh4.data import conll17, treebanks
from mh4.util.files import git_blob_id

TEST = next(row.git_blob_sha1 for row in treebanks.manifest() if (row.lang, row.split, row.release) == ("hu", "test", "2.0"))
OUTPUTS = {row.system: row.git_blob_sha1 for row in conll17.manifest() if row.lang == "hu"}


# Tables 1 and 2


@pytest.mark.slow
def test_features_trains_what_results_do_not_have(call, stand_in, hungarian, tmp_path, capsys):
    folder, results = hungarian, tmp_path / "home" / "results"
    blobs = {split: git_blob_id(folder / ("hu-ud-%s.conllu" % split)) for split in ("train", "dev")}
    files = {"train": blobs["train"], "dev": {"path": "hu-ud-dev.conllu", "git_blob": blobs["dev"]}}
    record(results, "hu", "mh4-hybrid", 1, 84.43, **files)
    record(results, "hu", "mh4-hybrid", 2, 84.15, **files)
    record(results, "hu", "mh4-hybrid", 3, 84.59, **files)  # not requested
    record(results, "hu", "mh3", 1, 83.0, **files)  # in no table
    assert call("features", "--lang", "hu", "--ud", str(folder)) == 0
    untrained = ("greedy-mh4-two", "greedy-mh4-three", "greedy-mh4", "mh4-two")
    trained = sorted(call["run"] for call in calls(stand_in))
    assert trained == sorted("%s-%d" % (s, n) for s in untrained for n in (1, 2))
    page = (results / "hu.md").read_text(encoding="utf-8").splitlines()
    start = page.index("## UAS on the development set, by features")
    assert page[start + 2].split(" | ")[-1] == "paper's average |"
    assert page[start + 4 : start + 9] == [
        "| local | s0 b0 | greedy-mh4-two | 1 2 | 60.15 ± 0.07 | 49.83 |",
        "| local | s1 s0 b0 | greedy-mh4-three | 1 2 | 82.15 ± 0.07 | 85.17 |",
        "| local | s2 s1 s0 b0 | greedy-mh4 | 1 2 | 82.40 ± 0.07 | 85.27 |",
        "| global | s0 b0 | mh4-two | 1 2 | 83.65 ± 0.07 | 86.79 |",
        "| global | hybrid | mh4-hybrid | 1 2 3 | 84.39 ± 0.22 | 87.27 |",
    ]
    assert "averages over 10 languages" in "\n".join(page)
    assert "82.40 ± 0.07" in capsys.readouterr().out
    assert call("features", "--lang", "hu", "--ud", str(folder)) == 0  # now there is nothing to train
    assert len(calls(stand_in)) == len(trained) and "0 to train, 10 already finished" in capsys.readouterr().out


def test_they_need_a_greedy_parser(tmp_path):
    record(tmp_path, "hu", "mh4-two", 1, 84.0)
    (page,) = paper_tables.write("hu", tmp_path)
    assert "by features" not in page.read_text(encoding="utf-8")  # there is no Table 1
    record(tmp_path, "hu", "greedy-mh4", 1, 82.0)
    paper_tables.write("hu", tmp_path)
    *_, features = page.read_text(encoding="utf-8").partition("by features")
    assert "| greedy-mh4 | 1 | 82.00 |" in features and "| mh4-two | 1 | 84.00 |" in features


# Table 4


def test_every_run_has_its_scores_times_and_origin(tmp_path):
    record(tmp_path, "hu", "mh4-hybrid", 1, 85.0, test_uas=81.234, test_las=76.543, cpu_seconds=60)
    record(tmp_path, "hu", "mst", 1, 82.0)
    (page,) = paper_tables.write("hu", tmp_path)
    lines = page.read_text(encoding="utf-8").splitlines()
    assert (
        "| hu | mh4-hybrid | 1 | 85.00 | 80.00 | 81.23 | 76.54 | 1:02:05 | 0:01:00 | abc | 2018-07-15 | not recorded |" in lines
    )
    assert "| hu | mst | 1 | 82.00 | 77.00 | – | – | 1:02:05 | – | abc | 2018-07-15 | not recorded |" in lines


def test_the_segmentation_of_the_test_set_is_that_of_its_file_or_of_the_baseline(tmp_path):
    files = [{"path": name, "git_blob": name} for name in ("test.conllu", "hu-udpipe.conllu")]
    for name, segmentation, said in (("mine", files[0], "gold segmentation"), ("hu", files[1], "baseline")):
        record(tmp_path, name, "mst", 1, 82.0, test_las=76.5, test_uas=80.0, test=files[0], segmentation=segmentation)
        page = paper_tables.write(name, tmp_path)[0].read_text(encoding="utf-8")
        assert said in next(line for line in page.splitlines() if line.startswith("Test scores"))


@pytest.mark.parametrize(
    "name, release", [("eu-ud1.4", "UD 1.4"), ("eu-files-0123abcd", "unidentified files"), ("toy", "toy treebank")]
)
def test_other_data_are_never_compared_with_the_paper(tmp_path, name, release):
    record(tmp_path, name, "mh4-hybrid", 1, 84.0, lang="toy" if name == "toy" else "eu", release=release)
    (markdown,) = paper_tables.write(name, tmp_path)
    text = markdown.read_text(encoding="utf-8")
    assert release in text.splitlines()[0] and "| system | seeds | dev UAS |" in text
    assert "84.13" not in text and "are not comparable" in text  # 84.13: the paper's, for eu
    (row,) = Dev(load(name, tmp_path)).rows()
    assert row.paper is None and row.difference is None


def test_an_ensemble_of_all_seeds_is_one_run(tmp_path):
    members = [{"system": "mst", "seed": seed} for seed in (1, 2, 3, 4, 5)]
    for member in members:
        record(tmp_path, "hu", "mst", member["seed"], 82.0)
    record(tmp_path, "hu", "ensemble-all", 0, 84.0, members=members)
    runs = load("hu", tmp_path)
    assert pages.all_scores(runs).body == [["mst", "5", "82.00 ± 0.00", "77.00 ± 0.00"], ["ensemble-all", "1", "84.00", "79.00"]]
    caption = paper_tables.caption(runs)
    assert caption.endswith("\nmst: seeds 1 2 3 4 5\nensemble-all: one ensemble, of seeds 1 2 3 4 5")


# Tables 5 and 6


def add(results, system, seed, las, test=TEST, segmentation=OUTPUTS["udpipe"], name="hu", **more):
    """Write the record of a run that was tested."""
    files = {"test": {"path": "test", "git_blob": test}, "segmentation": {"path": "hu-udpipe.conllu", "git_blob": segmentation}}
    record(results, name, system, seed, 80.0, test_las=las, test_uas=las + 5, **files, **more)


def references(results, **systems):
    """Write the record of the shared task's systems."""
    entries = {
        system: {"path": "hu-%s.conllu" % system, "git_blob": OUTPUTS[system], **entry} for system, entry in systems.items()
    }
    content = {"lang": "hu", "test": {"path": "hu-ud-test.conllu", "git_blob": TEST}, "systems": entries}
    (results / "conll17.jsonl").write_text(json.dumps(content))


def page(results, name="hu"):
    """Return the lines of a treebank's page from the section of test scores on, and the section's rows by system."""
    scores = paper_tables.tested(load(name, results), results)
    (markdown,) = paper_tables.write(name, results)
    lines = markdown.read_text(encoding="utf-8").splitlines()
    return lines[lines.index("## " + scores.title) :], {row.system: row for row in scores.rows()}


def test_means_and_standard_deviations_stand_beside_the_papers(tmp_path):
    for seed, las in ((1, 76.0), (2, 77.5), (3, 77.2)):
        add(tmp_path, "mh4-hybrid", seed, las)
    add(tmp_path, "ensemble", 1, 79.004)
    add(tmp_path, "mh4-two", 2, 76.0)
    add(tmp_path, "mst", 2, 75.0)
    record(tmp_path, "hu", "mst", 3, 83.0)  # not tested
    references(tmp_path, c2l2={"las": 76.0}, udpipe={"las": 64.301}, stanford={"las": 77.5573})
    lines, table = page(tmp_path)
    assert lines[0] == "## LAS on the test set (Table 5)"
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
    assert paper_tables.tested(load("hu", tmp_path), tmp_path) is None


@pytest.mark.parametrize(
    "other", [{"test": "0" * 40}, {"segmentation": OUTPUTS["c2l2"]}, {"segmentation": TEST}, {"release": "UD 1.4"}]
)
def test_other_files_are_never_compared_with_the_paper(tmp_path, other):
    add(tmp_path, "mh4-hybrid", 1, 76.9, **other)
    references(tmp_path, stanford={"las": 77.5573})
    lines, table = page(tmp_path)
    assert lines[0] == "## LAS on the test set" and lines[2] == "| system | seeds | test LAS |"
    assert any("are not comparable" in line for line in lines)
    assert not any("76.90 ±" in line or "77.56 |  |" in line for line in lines)
    assert {row.paper for row in table.values()} == {None}
    assert ("stanford" in table) == ("test" not in other)  # its score is on another test set


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
