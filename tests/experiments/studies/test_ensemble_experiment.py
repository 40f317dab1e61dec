"""``make ensemble`` on models of the toy treebank has the scores of `mh4 ensemble`."""

import json
import os
import shutil
from dataclasses import replace

import pytest
from samples import record, recorded, rewrite, study, tables, trained, trees_file

import mh4
from experiments.engine import ensemble_runs, predictions, records
from experiments.engine.ensemble_runs import ALL, MEMBERS, name_of, record_all_seeds
from experiments.engine.records import TREES_BLOB
from experiments.engine.treebank import identified, located, with_test
from experiments.pages import average, averages
from experiments.studies import ensemble as study_of_ensembles
from mh4.analysis.attachment import attachment_scores
from mh4.analysis.evaluation import official
from mh4.data import conllu, treebanks
from mh4.errors import InputError
from mh4.util.files import git_blob_id

SYSTEMS = ("mh3", "mst")


@pytest.fixture(scope="module")
def paths():
    return treebanks.locate("toy")


@pytest.fixture(scope="module")
def home(tmp_path_factory, paths):
    """Two seeds of two systems, briefly trained, with their records."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        summaries = trained(patch, home, *((system, seed) for system in SYSTEMS for seed in (1, 2)), updates=60)
        blobs = {split: git_blob_id(paths[split]) for split in ("train", "dev")}
        for (system, seed), summary in summaries.items():
            data = {"lang": "toy", "release": "toy treebank", "train": blobs["train"]}
            data["dev"] = {"path": paths["dev"].name, "git_blob": blobs["dev"]}
            record(home / "results", "toy", system, seed, summary["dev_uas"], test_las=50.0 + seed, **data)
        yield home


@pytest.mark.slow
def test_the_pages_and_the_records(home, paths, capsys, monkeypatch):
    monkeypatch.chdir(home)
    assert study("ensemble", "--lang", "toy", "--systems", "mst mh3", home=home) == 0
    out, results = capsys.readouterr().out, home / "results"
    table = {row[""]: row for row in tables(results / "toy-ensemble-mh3-mst.md")[0]}
    dev = conllu.read(str(paths["dev"]))
    uas = []
    for seed in (1, 2):
        kept = recorded(results, "toy/ensemble-mh3-mst-seed%d" % seed)
        folders = ["models/toy/%s/seed%d" % (one["system"], seed) for one in kept["members"]]
        assert kept["command"] == " ".join(["mh4 ensemble", *("--model " + folder for folder in folders)])
        parsed = mh4.load(folders).parse(dev)
        scores = attachment_scores(dev, parsed)
        assert (kept["dev_uas"], kept["dev_las"]) == pytest.approx((scores["uas"], scores["las"]))
        uas.append(scores["uas"])
        restored = home / "restored.conllu"
        restored.write_text(predictions.restored(trees_file(results, "toy/ensemble-mh3-mst-seed%d" % seed), paths["test"]))
        assert kept["test_las"] == official(str(paths["test"]), str(restored))["LAS"].f1
        assert str(home) not in json.dumps(kept)
    assert table["ensemble"]["dev UAS"] == str(average(uas))
    assert table["mst"]["test LAS"] == table["mh3"]["test LAS"] == "51.50 ± 0.71"
    assert table["ensemble of all seeds"]["test LAS"]
    page = (results / "toy-ensemble-mh3-mst.md").read_text(encoding="utf-8")
    assert 'make ensemble LANG=toy SYSTEMS="mst mh3"' in page and str(home) not in page
    assert "ensemble of all seeds" in out
    assert (results / "toy.md").read_text(encoding="utf-8").count("| ensemble-mh3-mst | 1 2 | ") == 2


@pytest.mark.slow
def test_one_seed_does_not_record_the_ensemble_of_all(home, paths, tmp_path, monkeypatch, capsys):
    shutil.copytree(home, tmp_path / "home")
    for module in (ensemble_runs, study_of_ensembles):
        monkeypatch.setattr(module, "MEMBERS", SYSTEMS)
    results = tmp_path / "home" / "results"
    for name in ("mh3-seed1", "mh3-seed2", "mst-seed1", "mst-seed2"):
        predictions.keep(trees_file(results, "toy/" + name), {"dev": paths["dev"]}, {"dev": paths["dev"]})
    members = [{"system": system, "seed": 1, "dev_uas": 1.0} for system in SYSTEMS]
    mine = recorded(results, "toy/mst-seed1")
    rewrite(results, "toy/ensemble-seed1", {**mine, "system": "ensemble", "members": members})
    assert study("ensemble", "--lang", "toy", "--seeds", "2", home=tmp_path / "home") == 0
    assert capsys.readouterr().err.endswith(
        "toy: no ensemble of all seeds, as SEEDS leaves out 1\n"
        "combined before its members were trained again: toy ensemble seed 1: of another mh3 seed 1, mst seed 1.\n"
    )
    assert recorded(results, "toy/ensemble-seed2") and not recorded(results, "toy/ensemble-all-seed0")


def test_only_the_papers_ensemble_has_its_name():
    assert name_of(["mst", "1ec", "mh4-hybrid"]) == "ensemble"
    assert name_of(["mst", "mh4-hybrid"]) == "ensemble-mst-mh4-hybrid" and name_of(["mst"]) == "ensemble-mst"


def test_the_ensemble_of_all_seeds_needs_only_recorded_trees(tmp_path, paths, capsys, monkeypatch):
    """The ensemble combines recorded trees, here gold for four of six runs, of those seeds that all systems have."""
    bank = replace(identified("toy", paths), test=None)
    sentences = conllu.read(str(paths["dev"]))
    wrong = tmp_path / "wrong.conllu"
    with open(wrong, "w", encoding="utf-8") as file:
        for sentence in sentences:  # chains
            file.writelines("%d\t%s%s%d\tx\t_\t_\n" % (k + 1, word, "\t_" * 4 + "\t", k) for k, word in enumerate(sentence.words))
            file.write("\n")
    kept = records.Records(tmp_path, bank)

    def keep(system, seed, uas, path):
        trees = kept.trees(system, seed)
        predictions.keep(trees, {"dev": paths["dev"]}, {"dev": path})
        kept.write(system, seed, {"dev_uas": uas, "dev_las": 60.0, TREES_BLOB: git_blob_id(trees)}, path)

    for system, seed, path in [
        *((system, 1, paths["dev"]) for system in MEMBERS),
        *zip(MEMBERS, (2, 2, 2), (wrong, wrong, paths["dev"])),
    ]:
        keep(system, seed, 70.0 + seed, path)
        if (system, seed) == (MEMBERS[-1], 1):
            assert record_all_seeds(kept, "make paper") is None
    keep(MEMBERS[0], 3, 99.0, wrong)
    assert record_all_seeds(kept, 'make paper SEEDS="2 3"', (2, 3)) is None
    assert capsys.readouterr().err == "toy: no ensemble of all seeds, as SEEDS leaves out 1\n"
    assert record_all_seeds(kept, 'make paper SEEDS="1 2"', (1, 2)) == {"dev_uas": 100.0, "dev_las": 100.0}
    [found] = [run for run in records.load("toy", tmp_path) if run["system"] == ALL]
    assert {(member["system"], member["seed"]) for member in found["members"]} == {(s, k) for s in MEMBERS for k in (1, 2)}
    assert found["members"][0]["seed"] == 2  # the highest dev UAS first
    assert averages([found], "dev_uas")[ALL].seeds_listed == "1 2"
    (tmp_path / "voted").write_text(predictions.restored(kept.trees(ALL, 0), paths["dev"]))
    assert conllu.read(str(tmp_path / "voted"))[0].heads.tolist() == sentences[0].heads.tolist()

    def refuse(*paths):
        raise InputError("the official scorer rejects it")

    of_all = kept.trees(ALL, 0)
    of_all.write_bytes(b"those of its record")
    with monkeypatch.context() as patched, pytest.raises(InputError, match="rejects it"):
        patched.setattr(ensemble_runs, "official", refuse)
        record_all_seeds(kept, 'make paper SEEDS="1 2"', (1, 2))
    assert of_all.read_bytes() == b"those of its record"

    lost = kept.trees(MEMBERS[1], 2)
    lost.rename(lost.with_suffix(".lost"))
    assert record_all_seeds(kept, "make paper") is None
    said = "toy: no ensemble of all seeds, as these have no trees: %s seed 2: make them again, with make reproduce\n"
    assert capsys.readouterr().err == said % MEMBERS[1]
    assert [run for run in records.load("toy", tmp_path) if run["system"] == ALL] == [found]
    lost.with_suffix(".lost").rename(lost)

    shutil.copy(*(kept.trees(MEMBERS[0], seed) for seed in (2, 1)))
    with pytest.raises(InputError, match="does not have the trees of %s seed 1: " % MEMBERS[0]):
        record_all_seeds(kept, "make paper")


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["hu", "got"])
def test_recorded_ensembles_of_all_seeds_are_those_of_the_recorded_trees(lang, tmp_path):
    if "UD" not in os.environ or "CONLL17" not in os.environ:
        pytest.skip("needs real treebanks and outputs of the shared task: make test UD=folder CONLL17=folder")
    try:
        bank = with_test(located(lang, os.environ["UD"]), os.environ["UD"], os.environ["CONLL17"])
    except InputError as error:
        pytest.skip(str(error))
    shutil.copy(records.RESULTS / (lang + ".jsonl"), tmp_path)
    shutil.copytree(records.RESULTS / "trees" / lang, tmp_path / "trees" / lang)
    [found] = [run for run in records.load(lang) if run["system"] == ALL]
    scores = record_all_seeds(records.Records(tmp_path, bank), "make paper")
    assert list(scores) == ["dev_uas", "dev_las", "test_uas", "test_las"]
    assert {name: found[name] for name in scores} == pytest.approx(scores)
