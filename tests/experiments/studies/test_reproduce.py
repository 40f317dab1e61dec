"""make reproduce: runs of a treebank are trained, resumed and reported, with the stand-in."""

import os

import pytest
from samples import assert_nothing_of_this_machine, calls, kept, record, recorded, study, toy

from experiments.engine import records
from mh4.data import treebanks
from mh4.util.files import git_blob_id


@pytest.mark.slow
def test_every_run_is_trained_and_reported(run, stand_in, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LANG", "toy")
    monkeypatch.setenv("LC_TIME", "C")
    assert run(*toy("--seeds", "1 2")) == 0
    assert sorted(call["run"] for call in calls(stand_in)) == ["mh3-1", "mh3-2", "mst-1", "mst-2"]
    for call in calls(stand_in):
        assert call["argv"][0] == "train" and "--config" in call["argv"]
        assert call["env"]["OMP_NUM_THREADS"] == call["env"]["MKL_NUM_THREADS"] == call["env"]["OPENBLAS_NUM_THREADS"] == "1"
        assert "LANG" not in call["env"] and call["env"]["LC_TIME"] == "C"
    out = capsys.readouterr().out
    assert "83.15 ± 0.07" in out and "not the paper's data" in out
    results = tmp_path / "home" / "results"
    assert "| mh3 | 1 2 | 83.15 ± 0.07 |" in (results / "toy.md").read_text(encoding="utf-8").splitlines()
    pairs = [(system, seed) for system in ("mh3", "mst") for seed in (1, 2)]
    assert list(records.read(results / "toy.jsonl")) == [("", *pair) for pair in pairs]
    assert sorted(path.name for path in (results / "trees" / "toy").iterdir()) == ["%s-seed%d.trees.gz" % pair for pair in pairs]
    summary = recorded(results, "toy/mh3-seed1")
    assert len(summary["curve"]) == 3
    paths = treebanks.locate("toy")
    assert summary["train"] == {"path": paths["train"].name, "git_blob": git_blob_id(paths["train"])}
    assert summary["reproduce"] == 'make reproduce LANG=toy SYSTEMS="mh3 mst" SEEDS="1 2"'
    assert summary["command"].startswith("mh4 train --system mh3 --train toy-ud-train.conllu ")
    assert "--seed 1" in summary["command"]
    assert_nothing_of_this_machine(results, tmp_path)


@pytest.mark.parametrize("name", ["a b", "a$b", "\udcff", "é", "[red]", "%s", "{0}", "it's", "-x", "~"])
def test_folders_may_have_any_name(run, hungarian, tmp_path, monkeypatch, capfdbinary, name):
    folder = hungarian.rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # "~" is a folder here
    assert run("--lang", "hu", "--systems", "mst", "--seeds", "1", "--ud=" + name) == 0
    assert kept(tmp_path, "hu/mst-seed1")["reproduce"].startswith("make reproduce LANG=hu")
    capfdbinary.readouterr()
    assert run("--lang", "hu", "--systems", "mst", "--seeds", "1", "--ud", str(folder / "none\n\x1b[31m")) == 2
    error = capfdbinary.readouterr().err
    assert error.count(b"\n") == 1 and b"\\n\\x1b[31m is not a folder" in error


@pytest.mark.slow
def test_a_model_of_other_settings_is_for_the_trainer_to_judge(run, stand_in, tmp_path):
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    settings = tmp_path / "home" / "models" / "toy" / "mh3" / "seed1" / "config.toml"
    text = settings.read_text()
    for clip, trained in (("5.0", 1), ("1.0", 2)):  # the default, and one of another version
        settings.write_text(text.replace("clip = 5.0", "clip = " + clip))
        assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
        assert len(calls(stand_in)) == trained


@pytest.mark.slow
def test_records_of_other_settings_are_named_before_training(call, stand_in, hungarian, tmp_path, capsys):
    """Records of other settings, with any seed, are errors, as they would be averaged with new runs of the system."""
    record(tmp_path / "home" / "results", "hu", "1ec", 1, 80.0, changed={"training": {"clip": 2.0}})
    record(tmp_path / "home" / "results", "hu", "mh4-two", 7, 80.0, changed={"training": {"clip": 1.0}})
    asked = ("--lang", "hu", "--seeds", "1", "--ud", str(hungarian))
    for words in (("reproduce", "--systems", "mh4-two mst"), ("features",)):
        assert call(*words, *asked) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        named = "hu.jsonl: mh4-two seed 7 is of a run with other settings (training.clip is 1.0 there, 5.0 here): "
        assert named + "delete this line" in said
    assert not calls(stand_in)


@pytest.mark.slow
def test_a_failing_run_is_reported_and_the_others_go_on(run, stand_in, tmp_path, capsys):
    (stand_in / "fail").write_text("mst-1")
    assert run(*toy("--seeds", "1 2")) == 1
    out = capsys.readouterr().out
    assert "mst seed 1 failed: ended with exit code 2" in out
    assert "    mh4: hu-ud-train.conllu, line 7: a cycle\n" in out and "    loading\n" in out
    assert sorted(call["run"] for call in calls(stand_in)) == ["mh3-1", "mh3-2", "mst-1", "mst-2"]
    table = tmp_path / "home" / "results" / "toy.md"
    assert "| mh3 | 1 2 |" in table.read_text(encoding="utf-8") and "| mst | 2 | 82.70 |" in table.read_text(encoding="utf-8")
    (stand_in / "fail").unlink()
    assert run(*toy("--seeds", "1 2")) == 0
    assert [call["run"] for call in calls(stand_in)[4:]] == ["mst-1"]
    assert "| mst | 1 2 |" in table.read_text(encoding="utf-8")


def test_a_run_that_ends_well_without_a_summary_has_failed(stand_in, tmp_path, capsys):
    assert study("reproduce", "--lang", "toy", "--systems", "mh3", "--seeds", "1", trainer=["true"], home=tmp_path / "home") == 1
    assert "ended without finishing its training" in capsys.readouterr().out


@pytest.mark.slow
def test_ud_2_0_files_stand_beside_the_paper_and_settings_apart(run, stand_in, hungarian, tmp_path, capsys):
    """Runs, records and pages of other settings have other names, and the same numbers of the paper."""
    asked = ("--lang", "hu", "--systems", "mh4-hybrid", "--seeds", "1 2", "--ud", str(hungarian))
    assert run(*asked) == 0 and "84.59 ± 0.50" in capsys.readouterr().out
    assert run(*asked, "--settings", "authors") == 0
    results = tmp_path / "home" / "results"
    row = "| mh4-hybrid | 1 2 | 84.65 ± 0.07 | 84.59 ± 0.50 | +0.06 |"
    assert row in (results / "hu.md").read_text(encoding="utf-8").splitlines()
    assert records.names(results) == ["hu", "hu-authors"]
    assert "settings_of" not in kept(tmp_path, "hu/mh4-hybrid-seed1")
    record = kept(tmp_path, "hu-authors/mh4-hybrid-seed1")
    assert record["settings_of"] == "authors"
    page = (results / "hu-authors.md").read_text(encoding="utf-8")
    assert page.startswith("# hu (UD 2.0, settings: authors)\n") and "84.59 ± 0.50" in page
    given = [call["argv"] for call in calls(stand_in) if "authors" in str(call["argv"])]
    assert len(given) == 2 and all("settings/authors.toml" in " ".join(argv) for argv in given)
    assert "--config" not in next(call["argv"] for call in calls(stand_in) if "authors" not in str(call["argv"]))
