"""Writing and reading the records of finished runs."""

import json
import signal
import subprocess
import sys

import pytest
from samples import ROOT, calls, kept, record, recorded, rewrite, settings, trees_file

from experiments.engine import records, treebank
from experiments.tables import paper_tables as pages
from mh4.data import treebanks
from mh4.errors import InputError


def test_runs_on_different_files_are_not_averaged(tmp_path):
    record(tmp_path, "eu", "mh3", 1, 80.0)
    record(tmp_path, "eu", "mh3", 2, 80.0, train="cc")
    with pytest.raises(InputError, match="different files"):
        pages.write("eu", tmp_path)
    assert not (tmp_path / "eu.md").exists()


def test_runs_with_different_settings_are_not_averaged(tmp_path):
    """Runs of one system with different settings are an error, except for a limit of updates that was not reached."""
    for seed, limit in enumerate((1000000, 100000), start=1):
        changed = {"training": {"max_updates": limit}, "model": {"seed": seed}}
        record(tmp_path, "eu", "mh3", seed, 80.0, updates=30000, changed=changed)
    record(tmp_path, "eu", "mst", 1, 80.0, changed={"training": {"clip": 1.0}})
    assert len(records.load("eu", tmp_path)) == 3
    said = "the runs of mh3 in .* were trained with different settings .training.%s is %s.: delete the records of one"
    for setting, value, both in (("max_updates", 20000, "1000000 or 20000"), ("clip", 1.0, "5.0 or 1.0")):
        record(tmp_path, "eu", "mh3", 2, 80.0, updates=20000, changed={"training": {setting: value}})
        with pytest.raises(InputError, match=said % (setting, both)):
            pages.write("eu", tmp_path)


@pytest.mark.parametrize(
    "damage, said",
    [
        ({"dev_uas": "99.1"}, "dev_uas is '99.1'"),
        ({"dev_uas": float("nan")}, "dev_uas is nan"),
        ({"seed": "1"}, "seed is '1'"),
        ({"dev": {"path": "d.conllu"}}, "dev is {'path': 'd.conllu'}"),
        ({"updates": 1.5}, "updates is 1.5"),
        ({"date": 5}, "date is 5"),
        ({"members": [1]}, "members is [1]"),
        ({"settings": {"training": 1}}, "settings is {'training': 1}"),
        ({"differs_from": {"dev_uas": 80, "machines": 1}}, "differs_from is {'dev_uas': 80, 'machines': 1}"),
        ({"curve": [{"updates": 500, "dev_uas": "x"}]}, "curve is [{'updates': 500, 'dev_uas': 'x'}]"),
    ],
)
def test_a_wrong_field_is_named(tmp_path, damage, said):
    record(tmp_path, "eu", "mh3", 1, 80.0)
    whole = recorded(tmp_path, "eu/mh3-seed1")
    (tmp_path / "eu.jsonl").write_text(json.dumps({**whole, **damage}) + "\n")
    with pytest.raises(InputError) as error:
        records.load("eu", tmp_path)
    assert str(error.value).endswith("eu.jsonl, line 1: %s: restore or delete this line" % said)


def test_a_writer_that_is_killed_leaves_the_records(tmp_path):
    """A writer that is killed at any step leaves the old file."""
    record(tmp_path, "hu", "mst", 1, 80.0)
    before = (tmp_path / "hu.jsonl").read_bytes()
    code = "import os, signal\nfrom pathlib import Path\nfrom experiments.engine import lines, records\n"
    code += "step = {step!r}\nwhole = getattr(os, step)\n"
    code += "def killed(*arguments):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    code += "setattr(os, step, killed)\n"
    code += "with lines.changed(Path({path!r}), records.key, records.complaint) as found:\n"
    code += "    [one] = found.values()\n    found['', 'mst', 2] = {{**one, 'seed': 2}}\n"
    for step in ("fsync", "replace"):
        script = code.format(step=step, path=str(tmp_path / "hu.jsonl"))
        done = subprocess.run([sys.executable, "-c", script], cwd=str(ROOT))
        assert done.returncode == -signal.SIGKILL and (tmp_path / "hu.jsonl").read_bytes() == before
        assert records.names(tmp_path) == ["hu"]


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("metrics.jsonl", b'{"updates": 500, "dev_', "metrics.jsonl does not have the evaluations of a run: "),
        ("metrics.jsonl", b"garbage\n", "metrics.jsonl does not have the evaluations of a run: "),
        ("metrics.jsonl", b"\xff\n", "metrics.jsonl does not have the evaluations of a run: "),
        ("summary.json", b'{"finished": true}', "seed1: no record can be made of this (no dev_uas)"),
    ],
)
def test_what_is_damaged_in_a_model_replaces_no_record(run, tmp_path, capsys, name, content, said):
    again = "--lang", "toy", "--systems", "mh3", "--seeds", "1"
    assert run(*again) == 0
    results = {path: path.read_bytes() for path in (tmp_path / "home" / "results").rglob("*.*")}
    folder = tmp_path / "home" / "models" / "toy" / "mh3" / "seed1"
    with open(folder / "metrics.jsonl", "a") as metrics:  # as if trained again
        metrics.write(json.dumps({"updates": 500, "dev_uas": 1.0, "seconds": 1.0}) + "\n")
    damaged = folder / name
    damaged.write_bytes((damaged.read_bytes() if name == "metrics.jsonl" else b"") + content)
    capsys.readouterr()
    assert run(*again) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert {path: path.read_bytes() for path in (tmp_path / "home" / "results").rglob("*.*")} == results


def test_no_runs_no_table(tmp_path):
    with pytest.raises(InputError, match="no finished run of eu"):
        pages.write("eu", tmp_path)


def test_which_treebanks_have_records(tmp_path):
    record(tmp_path, "hu", "mh3", 1, 80.0)
    record(tmp_path, "eu-ud1.4", "mh3", 1, 80.0)
    (tmp_path / "conll17.jsonl").write_text("{}")  # of no treebank
    (tmp_path / "toy.jsonl").write_text("")
    assert records.names(tmp_path) == ["eu-ud1.4", "hu"]


def test_what_was_kept_of_older_settings_of_the_toy_treebank_goes(run, tmp_path):
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1 2") == 0
    results = tmp_path / "home" / "results"
    for seed, clip in ((1, 5.0), (2, 1.0)):
        found = kept(tmp_path, "toy/mh3-seed%d" % seed)
        ensemble = {**found, "system": "ensemble", "members": [found]}
        changed = settings("mh3", "toy", training={"clip": clip})
        rewrite(results, "toy/mh3-seed%d" % seed, {**found, "settings": changed})
        rewrite(results, "toy/ensemble-seed%d" % seed, ensemble)
        trees_file(results, "toy/ensemble-seed%d" % seed).write_bytes(b"its trees")
    assert run("--lang", "toy", "--systems", "mst", "--seeds", "1") == 0
    assert list(records.read(results / "toy.jsonl")) == [("", "ensemble", 1), ("", "mh3", 1), ("", "mst", 1)]
    assert sorted(path.name for path in (results / "trees" / "toy").glob("e*")) == ["ensemble-seed1.trees.gz"]


@pytest.mark.parametrize(
    "system, changed, same",
    [
        ("mst", {}, True),
        ("mst", {"model": {"seed": 7}}, True),
        ("mst", {"training": {"clip": 1.0}}, False),
        ("mst", {"training": {"max_updates": 1000000}}, True),  # not reached
        ("mst", {"training": {"max_updates": 2000}}, False),  # reached
        ("mst", {"training": {"removed": 1}}, False),
        ("mst", {"training": {"loss": "likelihood"}}, False),
        ("mst-likelihood", {}, True),
        ("mst-likelihood", {"training": {"loss": "hinge"}}, False),
    ],
)
def test_a_record_counts_for_the_settings_that_it_lists(system, changed, same):
    found = {"system": system, "settings": settings(system, **changed), "updates": 2000}
    assert records.made_with(found, treebank.Treebank("hu", "hu", "UD 2.0", {}, {})) is same


@pytest.mark.parametrize("without", [("encoder", "embeddings"), ("training", "max_updates"), None])
def test_a_record_does_not_count_for_a_setting_that_it_does_not_list(tmp_path, without):
    """A setting that a record does not list is unknown: its default may have changed."""
    bank = treebank.Treebank("hu", "hu", "UD 2.0", {}, {"train": "aa", "dev": "bb"})
    listed = settings("mst") if without else {}
    if without:
        del listed[without[0]][without[1]]
    record(tmp_path, "hu", "mst", 1, 80.0, settings=listed)
    assert not records.made_with(records.load("hu", tmp_path)[0], bank)
    with pytest.raises(InputError, match="other settings .*is not recorded there"):
        records.Records(tmp_path, bank).check_settings(["mst"])


@pytest.mark.parametrize(
    "changed, counts, said",
    [
        ({"seconds": 1.0}, True, []),
        ({"dev_uas": 81.0}, False, ["hu ensemble seed 1: of another mst seed 1."]),
        ({"commit": "def"}, False, ["hu ensemble seed 1: of another mst seed 1."]),  # the UAS may be the same
        ({"changed": {"training": {"clip": 1.0}}}, False, []),  # reported for the run itself
        ({"dev": {"path": "d.conllu", "git_blob": "cc"}}, False, []),
        (None, False, []),  # to be made again
    ],
)
def test_an_ensemble_counts_while_its_members_are_those_that_are_recorded(tmp_path, capsys, changed, counts, said):
    mine = records.Records(tmp_path, treebank.Treebank("hu", "hu", "UD 2.0", {}, {"train": "aa", "dev": "bb"}))
    members = [{"system": system, "seed": 1, "dev_uas": 80.0, "commit": "abc"} for system in ("mst", "mh3")]
    record(tmp_path, "hu", "ensemble", 1, 82.0, members=members)
    for system in ("mst", "mh3"):
        record(tmp_path, "hu", system, 1, 80.0)
    assert mine.of("ensemble", 1) and records.outdated("hu", records.load("hu", tmp_path)) == []
    if changed is None:
        mine.forget("mst", 1)
    else:
        record(tmp_path, "hu", "mst", 1, 80.0, **changed)
    mine.name_outdated()
    named = ["combined before its members were trained again: " + each for each in said]
    assert (mine.of("ensemble", 1) is not None, capsys.readouterr().err.splitlines()) == (counts, named)


def test_the_committed_ensembles_are_of_the_committed_runs():
    """All committed records count for today's settings, so that `make paper` repeats none."""
    for name, runs in records.load_all(records.RESULTS).items():
        blobs = {split: file["git_blob"] for split, file in records.files(runs[0]).items()}
        bank = treebank.Treebank(runs[0]["lang"], name, runs[0]["release"], {}, blobs, settings=treebank.settings_of(name))
        mine = records.Records(records.RESULTS, bank)
        assert all(mine.of(run["system"], run["seed"]) == run for run in runs)


def test_results_without_models_are_trained_again(run, stand_in, tmp_path):
    """Without models, as in a new clone, runs are trained again. Results of another toy treebank are removed."""
    paths = treebanks.locate("toy")
    bank = treebank.identified("toy", {split: paths[split] for split in ("train", "dev")})
    results, toy = tmp_path / "home" / "results", {"lang": "toy", "release": "toy treebank"}
    files = {"train": bank.blobs["train"], "dev": {"path": "d.conllu", "git_blob": bank.blobs["dev"]}}
    record(results, "toy", "mh3", 1, 12.34, **files, **toy)
    record(results, "toy", "mst", 1, 12.34, **toy)
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    assert len(calls(stand_in)) == 1
    assert list(records.read(results / "toy.jsonl")) == [("", "mh3", 1)]
    assert kept(tmp_path, "toy/mh3-seed1")["dev_uas"] == pytest.approx(83.1)
