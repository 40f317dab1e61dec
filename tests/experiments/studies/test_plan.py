"""What trainings are estimated to cost."""

import json
from dataclasses import replace

import pytest
from samples import as_conllu, kept, record, rewrite, study

from experiments.engine.treebank import TOY_SETTINGS
from experiments.studies import plan
from experiments.studies.plan import Size, Speed
from mh4.util.files import git_blob_id


def test_wall_clock():
    assert plan.wall_clock([3.0, 3.0, 2.0, 2.0, 2.0], 2) == 7.0  # the longest first, on the core that is free first: 3 + 2 + 2
    assert plan.wall_clock([5.0, 1.0], 16) == 5.0


def test_the_time_of_a_training():
    """Evaluations every 500 updates of 100 words and half a sentence, or every quarter of an epoch if that is more."""
    speed, lasting = Speed(training=1000.0, parsing=5000.0, memory=700), {"mst": 40.0, "": 50.0}
    small = Size(sentences=1000, words=20_000, dev_words=10_000)
    assert plan.seconds("mst", small, speed, lasting) == pytest.approx(plan.START_UP + 40 * (500 * 110 / 1000 + 2) + 6)
    assert plan.seconds("1ec", small, speed, lasting) == pytest.approx(plan.START_UP + 50 * (500 * 110 / 1000 + 2) + 6)
    large = Size(sentences=20_000, words=400_000, dev_words=10_000)
    assert plan.seconds("mst", large, speed, lasting) == pytest.approx(plan.START_UP + 40 * (400_000 / 4 / 1000 + 2) + 6)


def test_how_long_trainings_last_is_taken_from_records(tmp_path):
    for seed, evaluations in ((1, 30), (2, 50), (3, 44)):
        record(tmp_path, "hu", "mst", seed, 80.0, evaluations=evaluations)
    record(tmp_path, "got", "1ec", 1, 80.0, evaluations=20)
    record(tmp_path, "got", "ensemble", 1, 80.0)
    record(tmp_path, "toy", "mst", 1, 80.0, evaluations=1000)
    record(tmp_path, "hu-authors", "mst", 1, 80.0, evaluations=70, settings_of="authors")
    assert plan.evaluations(tmp_path) == {"": 37, "mst": 44, "1ec": 20}
    assert plan.evaluations(tmp_path, "authors") == {"": 70, "mst": 70}


def test_sizes(hungarian):
    """Counted if the files are there, else the paper's, else typical."""
    files = {split: hungarian / ("hu-ud-%s.conllu" % split) for split in ("train", "dev")}
    counted = plan.size_of("hu", files)
    assert counted == Size(1, 2, 2)
    assert plan.size_of("eu", {}) == Size(5396, 72974, 0)
    completed = plan.completed({"hu": counted, "eu": plan.size_of("eu", {}), "ja": plan.size_of("ja", {})})
    assert completed["hu"] == counted
    assert completed["eu"] == Size(5396, 72974, 2, known=False)
    assert completed["ja"] == Size(2698, 36488, 2, known=False)


def test_a_speed_that_is_known_is_not_measured_again(hungarian, tmp_path, monkeypatch, capsys):
    """The plan as it is printed; of Hungarian one of four trainings is already recorded."""
    home = tmp_path / "home"
    known = {system: {"training": 1000.0, "parsing": 5000.0, "memory": 700} for system in ("mst", "1ec")}
    speeds = home / "speeds.json"
    speeds.parent.mkdir(parents=True)
    speeds.write_text(json.dumps({"machine": plan.machine(), "speeds": known}))
    (home / "results").mkdir()
    blobs = {split: git_blob_id(hungarian / ("hu-ud-%s.conllu" % split)) for split in ("train", "dev")}
    files = {split: {"path": split, "git_blob": blob} for split, blob in blobs.items()}
    record(home / "results", "hu", "mst", 1, 80.0, dev=files["dev"])
    rewrite(home / "results", "hu/mst-seed1", {**kept(tmp_path, "hu/mst-seed1"), **files})

    def measured(*arguments, **more):
        raise AssertionError("measured")

    monkeypatch.setattr(plan, "temporary_child", measured)
    words = ["--langs", "hu", "--systems", "mst 1ec", "--seeds", "1 2", "--ud", str(hungarian)]
    assert study("plan", *words, "--cores", "2", home=home) == 0
    shown = capsys.readouterr().out
    row = next(line.split() for line in shown.splitlines() if line.startswith("hu "))
    assert row[:4] == ["hu", "2", "2", "4"] and row[5] == "3" and row[7] == "700"
    assert "in training: mst 1000, 1ec 1000." in shown
    with pytest.raises(AssertionError, match="measured"):  # as other settings have other speeds ...
        study("plan", *words, "--settings", "authors", home=home)
    others = {"authors/" + system: dict(speed, training=100.0) for system, speed in known.items()}
    speeds.write_text(json.dumps({"machine": plan.machine(), "speeds": {**known, **others}}))
    capsys.readouterr()
    assert study("plan", *words, "--settings", "authors", home=home) == 0  # ... and other records
    assert next(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("hu "))[5] == "4"
    speeds.write_text(json.dumps({"machine": plan.machine(), "speeds": known}))
    assert study("plan", "--langs", "hu toy", "--systems", "mst", "--ud", str(tmp_path / "home"), home=home) == 2
    said = capsys.readouterr().err  # the speed on toy says nothing of hu
    assert said.startswith("plan: no training set is here to measure speed on: ")
    for damaged in ([], {"mst": 1}, {"mst": {"training": 1.0}}, {"mst": dict(known["mst"], training="x")}):
        speeds.write_text(json.dumps({"machine": plan.machine(), "speeds": damaged}))
        with pytest.raises(AssertionError, match="measured"):
            study("plan", *words, home=home)
    speeds.write_text(json.dumps({"machine": plan.machine(), "speeds": known}))
    monkeypatch.setattr(plan, "machine", lambda: {"processor": "another"})
    with pytest.raises(AssertionError, match="measured"):
        study("plan", *words, home=home)


@pytest.mark.slow
def test_speed_is_measured(tmp_path):
    """Of the small network, on the toy treebank, in a process of its own."""
    from experiments.engine.command import request
    from experiments.engine.workplace import Bench
    from experiments.studies.paper import found

    [asked] = [request("toy", "mst", "1", "", "")]
    grids, _ = found([asked], "make paper", Bench(tmp_path))
    measured = plan.measured_speeds(grids, tmp_path)
    assert set(measured) == {"toy/mst"}
    assert measured["toy/mst"].training > 100 and measured["toy/mst"].parsing > 100 and measured["toy/mst"].memory > 50
    tiny = tmp_path / "tiny.conllu"
    tiny.write_text(as_conllu(("a", 0, "root"), ("b", 1, "obj")))
    fewer_than_warm_up = plan.measure("mst", grids[0].bank.config("mst"), str(tiny), str(tiny))
    assert fewer_than_warm_up.training > 0
    slower = {**measured, "toy/mst": replace(measured["toy/mst"], training=1.0)}
    assert plan.seconds("mst", Size(100, 1000, 100), slower["toy/mst"], {}, [TOY_SETTINGS]) > 1000
