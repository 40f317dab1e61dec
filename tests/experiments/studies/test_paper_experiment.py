"""make paper: its defaults, which runs and ensembles it makes, and its failures."""

import os

import pytest
from samples import calls, kept, record, rewrite, study, trees_file

from experiments import published
from experiments.engine import records
from experiments.engine.command import requests
from experiments.engine.workplace import Bench
from experiments.studies import paper as workflow
from experiments.studies import report
from mh4.data import treebanks
from mh4.errors import InputError


@pytest.fixture
def make(call):
    """A function that calls make paper with the stand-in, by default for the toy treebank."""
    return lambda *arguments, langs="toy": call("paper", "--langs", langs, "--jobs", "2", *arguments)


def test_by_default_it_is_the_whole_paper():
    asked = {one.lang: one for one in requests()}
    assert list(asked) == treebanks.languages() and len(asked) == 20
    of_table_4 = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec", "greedy-mh3", "greedy-mh4")
    assert {one.systems for lang, one in asked.items() if lang not in published.coverage()} == {of_table_4}
    assert asked["hu"].systems == (*of_table_4, "greedy-mh4-two", "greedy-mh4-three")
    assert {one.seeds for one in asked.values()} == {(1, 2, 3, 4, 5)}
    assert requests(langs="toy")[0].seeds == (1, 2)


def test_slurm_that_does_not_answer(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "sinfo").write_text("#!/bin/sh\necho 'slurm_load_partitions: Unable to contact' >&2; exit 1\n")
    (tmp_path / "sinfo").chmod(0o755)
    assert study("paper", "--langs", "toy", "--slurm=--partition=main", home=tmp_path) == 2
    assert capsys.readouterr().err == "paper: SLURM: Slurm does not answer: slurm_load_partitions: Unable to contact\n"


def test_that_records_cannot_be_written_is_noticed_before_training(tmp_path, stand_in, monkeypatch, capsys):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # as on a read-only file system
    assert study("paper", "--langs", "toy", home=tmp_path) == 2
    assert "conll17.jsonl: cannot be written" in capsys.readouterr().err and not calls(stand_in)


def test_which_ensembles_are_combined(hungarian, tmp_path, capsys):
    """Ensembles whose members were trained again are combined again; if the models are missing, they are named."""
    members = "mh4-hybrid", "1ec", "mst"
    asked = requests(langs="hu", systems=" ".join(members), seeds="1 2 3", ud=str(hungarian))
    [one], _ = workflow.found(asked, "make paper", Bench(tmp_path))
    files = {"train": one.bank.blobs["train"], "dev": {"path": "hu-ud-dev.conllu", "git_blob": one.bank.blobs["dev"]}}
    for seed in (1, 2, 3):
        made_of = [{"system": system, "seed": seed, "dev_uas": 80.0, "commit": "abc"} for system in members]
        for system in members:
            record(tmp_path / "results", "hu", system, seed, 80.0, **files)
        record(tmp_path / "results", "hu", "ensemble", seed, 82.0, members=made_of, **files)
    assert all(one.records.of(run.system, run.seed) for run in one.runs) and workflow._to_combine(one) == []
    for seed in (1, 2):
        record(tmp_path / "results", "hu", "mst", seed, 81.0, **files)  # trained again
    for system in members:
        folder = tmp_path / "models" / "hu" / system / "seed1"
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text('{"finished": true}')
        (folder / "config.toml").write_text(one.bank.config(system).to_toml())
    capsys.readouterr()
    assert workflow._to_combine(one) == [1]
    assert capsys.readouterr().err == "no ensemble of hu with seed 2: not all models are here\n"


@pytest.mark.slow
def test_a_damaged_record_is_named_before_training(make, stand_in, tmp_path, capsys):
    """Any damaged record is an error before training, as the report needs all records."""
    results, words = tmp_path / "home" / "results", ["--systems", "mst", "--seeds", "1"]
    assert make(*words) == 0
    record(results, "hu", "mh3", 1, 80.0)
    capsys.readouterr()
    for path in (results / "toy.jsonl", results / "hu.jsonl"):
        whole = path.read_text()
        path.write_text(whole[:100])
        assert make(*words) == 2
        said = capsys.readouterr().err
        assert "%s, line 1: not JSON: " % path.name in said and said.count("\n") == 1
        path.write_text(whole)
    record(results, "hu", "mst", 1, 80.0, train="other")
    assert make(*words) == 2
    assert "hu.jsonl were trained or evaluated on different files" in capsys.readouterr().err
    assert len(calls(stand_in)) == 1


@pytest.mark.slow
def test_failed_runs_are_named_even_if_the_pages_cannot_be_written(make, stand_in, capsys, monkeypatch):
    def fail(*arguments):
        raise InputError("the disk is full")

    (stand_in / "fail").write_text("mst-2")
    monkeypatch.setattr(report, "write_all", fail)
    assert make("--systems", "mst", "--seeds", "1 2") == 2
    out, error = capsys.readouterr()
    assert "mst seed 2 failed: ended with exit code 2 (" in out and error.endswith("paper: the disk is full\n")


@pytest.mark.slow
def test_a_treebank_that_cannot_be_had_is_left_out_and_a_failure(make, hungarian, capsys):
    words = ["--systems", "mst", "--seeds", "1", "--ud", str(hungarian)]
    assert make(*words, langs="got toy") == 1
    error = capsys.readouterr().err
    assert error.startswith("left out: got: ") and "has no got-ud-train.conllu and no got-ud-dev.conllu" in error


@pytest.mark.slow
def test_what_is_recorded_anywhere_is_not_made_again(make, stand_in, tmp_path):
    assert make("--systems", "mst", "--seeds", "1") == 0
    made = kept(tmp_path, "toy/mst-seed1")
    rewrite(tmp_path / "home" / "results", "toy/mst-seed2", {**made, "seed": 2})
    assert make("--systems", "mst", "--seeds", "1 2 3") == 0
    assert [call["run"] for call in calls(stand_in)] == ["mst-1", "mst-3"] and kept(tmp_path, "toy/mst-seed1") == made


@pytest.mark.slow
def test_a_record_says_where_and_how_it_was_made(make, tmp_path):
    assert make("--systems", "mst", "--seeds", "3") == 0
    made = kept(tmp_path, "toy/mst-seed3")
    assert made["reproduce"] == 'make paper LANGS="toy" SYSTEMS="mst" SEEDS="3"' and (made["system"], made["seed"]) == ("mst", 3)
    [machine] = made["machines"]
    assert {"processor", "cores", "system", "python", "numpy"} <= set(machine)
    assert os.uname().nodename not in machine.values()


@pytest.mark.slow
def test_what_has_a_record_has_all_else_of_it(make, monkeypatch, tmp_path):
    """Trees are written before the record, so that a run is made again if it is stopped between both."""

    def fail(*arguments, **options):
        raise InputError("the disk is full")

    monkeypatch.setattr(records.lines, "changed", fail)
    assert make("--systems", "mst", "--seeds", "1") == 2
    assert not kept(tmp_path, "toy/mst-seed1") and trees_file(tmp_path / "home" / "results", "toy/mst-seed1").exists()


@pytest.mark.slow
def test_a_record_that_differs_from_one_of_the_same_inputs_is_reported(run, tmp_path, capsys):
    words = "--lang", "toy", "--systems", "mst", "--seeds", "1"
    assert run(*words) == 0
    results = tmp_path / "home" / "results"
    assert run(*words) == 0 and "differs" not in capsys.readouterr().err
    rewrite(results, "toy/mst-seed1", {**kept(tmp_path, "toy/mst-seed1"), "dev_uas": 82.0, "commit": "abc"})
    assert run(*words) == 0
    assert "mst seed 1 differs from the record of the same inputs, of commit abc on " in capsys.readouterr().err
    made = kept(tmp_path, "toy/mst-seed1")
    assert made["dev_uas"] == pytest.approx(82.6) and made["differs_from"]["dev_uas"] == 82.0
    assert run(*words) == 0  # the difference is still recorded
    assert kept(tmp_path, "toy/mst-seed1")["differs_from"]["dev_uas"] == 82.0
