"""make verify: a recorded run is trained again and compared with its record."""

import os
import shutil

import pytest
import toy
from samples import kept, rewrite, study, toy_settings, trees_file

from experiments.engine import records
from experiments.engine.provenance import machine
from mh4.parser import config

CHARTS = ["mh3", "mst", "mh4-hybrid", "1ec"]


@pytest.fixture
def verify(call, run, tmp_path):
    """A function that calls make verify for a recorded run of the stand-in.

    Its trees are not recorded, as they do not have the scores that the stand-in reports.
    """
    assert run("--lang", "toy", "--systems", "mst", "--seeds", "1") == 0
    results = tmp_path / "home" / "results"
    trees_file(results, "toy/mst-seed1").unlink()

    def unchanged(*arguments):
        before = {path: path.read_bytes() for path in results.rglob("*.*")}
        code = call("verify", "--lang", "toy", "--system", "mst", "--seed", "1", *arguments)
        assert {path: path.read_bytes() for path in results.rglob("*.*")} == before
        return code

    return unchanged


def test_the_same_evaluations(verify, capsys):
    assert verify() == 0
    out = capsys.readouterr().out
    assert "recorded evaluations made again: 3 of 3; all are the same\n" in out and "no trees are recorded\n" in out
    recorded, here = out.splitlines()[-2:]
    assert recorded.startswith("recorded: commit ") and here == recorded.replace("recorded", "here")
    assert "; decoders " in here and "; numpy " in here


def test_an_end_before_the_first_evaluation(verify, capsys):
    assert verify("--updates", "60") == 2
    assert "UPDATES: 60 is before the first recorded evaluation, after 500 updates" in capsys.readouterr().err


def test_the_first_evaluation_that_differs(verify, tmp_path, capsys):
    record = kept(tmp_path, "toy/mst-seed1")
    for evaluation in record["curve"][1:]:
        evaluation.update(dev_uas=80.0, seconds=5.0)
    rewrite(tmp_path / "home" / "results", "toy/mst-seed1", record)
    assert verify() == 1
    said = "evaluation 2, after 1000 updates, differs: dev_uas is 81.6, recorded 80.0\n"
    assert said in capsys.readouterr().out


def test_trees_that_do_not_have_the_recorded_scores(verify, run, tmp_path, capsys):
    model = tmp_path / "home" / "models" / "toy" / "mst" / "seed1"
    (model / "predicted.json").unlink()
    assert run("--lang", "toy", "--systems", "mst", "--seeds", "1") == 0
    assert verify() == 1
    assert "(recorded 82.6000), " in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--seed", "2"], "toy.jsonl has no record of mst seed 2 on these files\n"),
        (["--system", ""], "verify: SYSTEM and SEED: expected one of each\n"),
        (["--updates", "-1"], "verify: UPDATES: -1 is not a positive whole number\n"),
    ],
)
def test_what_is_wrong_is_one_sentence(verify, capsys, arguments, sentence):
    capsys.readouterr()
    assert verify(*arguments) == 2
    error = capsys.readouterr().err
    assert error.endswith(sentence) and error.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("system", CHARTS)
def test_training_is_repeatable(tmp_path, monkeypatch, capsys, system):
    toy_settings(monkeypatch, config.with_settings(toy.SMALL, ["training.max_updates=500"]), tmp_path)
    assert study("reproduce", "--lang", "toy", "--systems", system, "--seeds", "1", home=tmp_path / "home") == 0
    assert study("verify", "--lang", "toy", "--system", system, "--seed", "1", home=tmp_path / "home") == 0
    out = capsys.readouterr().out
    assert "; all are the same\n" in out and ": the same\n" in out


@pytest.mark.slow
@pytest.mark.parametrize("system", CHARTS)
def test_the_records_are_repeated_where_they_were_made(tmp_path, capsys, system):
    """A machine like that of the record makes the same evaluations in 500 updates on Hungarian."""
    if "UD" not in os.environ:
        pytest.skip("needs real treebanks: make test UD=folder")
    record = records.read(records.file_of(records.RESULTS, "hu"))["", system, 5]
    there, here = record["machines"][0], machine()
    vectors = [{flag for flag in str(one.get("flags")).split() if flag in ("fma", "avx2", "avx512f")} for one in (there, here)]
    if there["processor"] != here["processor"] or vectors[0] != vectors[1]:
        pytest.skip("the record was made on another kind of machine")
    shutil.copytree(records.RESULTS / "trees" / "hu", tmp_path / "results" / "trees" / "hu")
    shutil.copy(records.RESULTS / "hu.jsonl", tmp_path / "results")
    words = ["--lang", "hu", "--system", system, "--seed", "5", "--updates", "500", "--ud", os.environ["UD"]]
    assert study("verify", *words, home=tmp_path) == 0, capsys.readouterr().out
