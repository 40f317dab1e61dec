"""Treebanks of one's own, and runs that are compared with recorded ones, with the stand-in."""

import shutil
import sys

import pytest
from samples import STAND_IN, as_conllu, calls, kept, record, recorded, rewrite, study

from experiments.__main__ import main
from experiments.engine import records
from experiments.engine.provenance import commit, machine
from experiments.engine.workplace import Bench


@pytest.fixture
def mine(tmp_path):
    """A folder with a treebank that is not in the paper."""
    folder = tmp_path / "UD_Klingon-Small"
    folder.mkdir()
    for split, word in (("train", "a"), ("dev", "b"), ("test", "c")):
        (folder / ("tlh_small-ud-%s.conllu" % split)).write_text(as_conllu((word, 0, "root"), ("x", 1, "obj")))
    return folder


def test_any_treebank_is_trained_and_tabulated(run, mine, tmp_path, capsys):
    asked = ("--TREEBANK=%s" % mine, "--NAME=mine", "--systems", "mh3 mst", "--seeds", "1 2")
    assert run(*asked) == 0
    out, results = capsys.readouterr().out, tmp_path / "home" / "results"
    assert "83.15 ± 0.07" in out and "dev UAS" in out and "test LAS" in out and "paper" not in out
    page = (results / "mine.md").read_text(encoding="utf-8")
    assert "| mst | 1 2 | 82.65 ± 0.07 |" in page.splitlines() and "| mine | mst | 2 | 82.70 | 77.70 | 100.00 | 50.00 |" in page
    assert "paper" not in page and "conll17" not in page
    assert recorded(results, "mine/mst-seed2")["reproduce"] == (
        'make reproduce TREEBANK=UD_Klingon-Small NAME=mine SYSTEMS="mh3 mst" SEEDS="1 2"'
    )
    assert run(*asked) == 0 and "0 to train, 4 already finished" in capsys.readouterr().out


def test_its_name_is_by_default_that_of_its_files(run, mine, tmp_path):
    (mine / "tlh_small-ud-test.conllu").unlink()  # optional
    for path in (mine, mine / "tlh_small-ud-"):
        assert run("--treebank", str(path), "--systems", "mst", "--seeds", "1") == 0
        given = 'make reproduce TREEBANK=%s SYSTEMS="mst" SEEDS="1"' % path.name
        assert kept(tmp_path, path.name.rstrip("-") + "/mst-seed1")["reproduce"] == given
    assert records.names(tmp_path / "home" / "results") == ["UD_Klingon-Small", "tlh_small-ud"]


def test_its_table_for_a_paper(run, mine, tmp_path, capsys):
    asked = ("--treebank", str(mine), "--name", "mine", "--systems", "mh3 mst", "--seeds", "1 2")
    assert run(*asked, "--FORMAT=latex") == 0
    results = tmp_path / "home" / "results"
    note, _, table = (results / "mine-table.tex").read_text(encoding="utf-8").partition("\n\n")
    assert (
        "% UAS and LAS on mine (own files) in percent, of all words, with punctuation: " in note and "gold segmentation" in note
    )
    few = "mst: seeds 1 2\nFewer than 5 seeds are few for a mean and a standard deviation."
    assert note.endswith("\n% " + few.replace("\n", "\n% "))
    assert r"mst & 2 & 82.65 $\pm$ 0.07 & 77.65 $\pm$ 0.07 & 100.00 $\pm$ 0.00 & 50.00 $\pm$ 0.00 \\" in table.splitlines()
    out = capsys.readouterr().out
    assert table in out and few in out
    assert run(*asked[:-3], "mst", "--seeds=3", "--format=csv") == 0  # all runs and formats so far
    assert "mst: seeds 1 2 3\nNot all systems have the same seeds.\n" in capsys.readouterr().out
    assert "mst,3," in (results / "mine-table.csv").read_text(encoding="utf-8")
    assert "mst & 3 &" in (results / "mine-table.tex").read_text(encoding="utf-8")
    assert run(*asked, "--format", "pdf") == 2
    assert "FORMAT: pdf is not one of text, markdown, csv, latex" in capsys.readouterr().err


def test_sentences_of_train_in_another_split_are_counted(run, mine, capsys):
    text = as_conllu(*((word, 0, "root") if word == "a" else (word, 1, "dep") for word in "abcdefghij"))
    for split in ("train", "test"):
        (mine / ("tlh_small-ud-%s.conllu" % split)).write_text(text)
    assert run("--treebank", str(mine), "--name", "mine", "--systems", "mst", "--seeds", "1") == 0
    assert "train also has 1 of 1 test sentence with 10 words or more, so that scores say little" in capsys.readouterr().err


def test_two_systems_are_compared_on_its_test_set(run, mine, tmp_path, capsys):
    asked = ("--treebank", str(mine), "--name", "mine")
    assert run(*asked, "--systems", "mh3 mst", "--seeds", "1 2") == 0
    compare = ("compare", *asked, "--systems", "mh3 mst", "--SPLIT=test", "--FORMAT=latex")
    assert study(*compare, home=tmp_path / "home") == 0
    results = tmp_path / "home" / "results"
    assert r"UAS (F1) & 100.00 & 100.00 &" in (results / "mine-mh3-mst-test-table.tex").read_text(encoding="utf-8")
    page = (results / "mine-mh3-mst-test.md").read_text(encoding="utf-8")
    assert "on the test set" in page and "- test: tlh_small-ud-test.conllu" in page and "SPLIT=test" in page
    (mine / "tlh_small-ud-test.conllu").unlink()
    assert study(*compare, home=tmp_path / "home") == 2
    assert "compare: SPLIT: mine (own files) has no test set" in capsys.readouterr().err


def test_other_files_do_not_get_a_name_that_is_in_use(run, mine, stand_in, capsys):
    asked = ("--treebank", str(mine), "--name", "mine", "--systems", "mst", "--seeds")
    assert run(*asked, "1") == 0
    (mine / "tlh_small-ud-train.conllu").write_text(as_conllu(("other", 0, "root")))
    assert run(*asked, "2") == 2
    assert "mine.jsonl has runs on other files: choose another NAME" in capsys.readouterr().err
    assert len(calls(stand_in)) == 1


def test_scores_on_different_test_sets_are_not_averaged(run, mine, tmp_path):
    """The table for a paper leaves out scores on test if the test set has changed between the runs."""
    asked = ("--treebank", str(mine), "--name", "mine", "--systems", "mst", "--format", "latex", "--seeds")
    table = tmp_path / "home" / "results" / "mine-table.tex"
    assert run(*asked, "1") == 0 and "test LAS" in table.read_text(encoding="utf-8")
    test = mine / "tlh_small-ud-test.conllu"
    test.write_text(test.read_text(encoding="utf-8") * 2, encoding="utf-8")
    assert run(*asked, "2") == 0
    text = table.read_text(encoding="utf-8")
    assert "test LAS" not in text and "Test scores are left out: not all runs have them on the same files." in text


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"treebank": "none"}, "found none; a treebank is a folder, or how the paths of its files begin"),
        ({"name": "hu"}, "NAME: the treebank cannot be called hu: it has another meaning"),
        ({"name": "toy-mine"}, "cannot be called toy-mine: it has another meaning"),
        ({"name": "mine-authors"}, "cannot be called mine-authors: it has another meaning"),
        ({"name": "../up"}, "cannot be called ../up: expected letters, digits, and - _ ."),
        ({"lang": "hu"}, "TREEBANK stands instead of LANG, UD and CONLL17: omit these"),
        ({"treebank": ""}, "NAME=mine names a treebank of your own: give its files by TREEBANK"),
    ],
)
def test_what_is_wrong_is_named(run, mine, capsys, changed, said):
    given = {"treebank": str(mine), "name": "mine", **changed}
    assert run(*("--%s=%s" % pair for pair in given.items() if pair[1])) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["\udcff", "a\nb"])
def test_names_of_files_that_pages_cannot_show(run, mine, stand_in, tmp_path, capsys, name):
    (tmp_path / (name + ".toml")).write_text("[training]\nclip = 1.0\n")
    asked = ("--treebank", str(mine), "--name", "mine", "--systems", "mst", "--seeds", "1", "--settings")
    assert run(*asked, str(tmp_path / (name + ".toml"))) == 2
    (mine / "tlh_small-ud-train.conllu").rename(mine / (name + "-train.conllu"))
    assert run(*asked, "") == 2
    settings, treebank = capsys.readouterr().err.splitlines()
    assert settings.startswith("reproduce: SETTINGS: the name of the file ") and settings.endswith("UTF-8: rename it")
    assert treebank.startswith("reproduce: TREEBANK: the name of the file ") and "-train.conllu is not printable" in treebank
    assert not calls(stand_in)


def test_several_files_for_a_split_are_listed(run, mine, capsys):
    shutil.copy(mine / "tlh_small-ud-train.conllu", mine / "tlh_big-ud-train.conllu")
    assert run("--treebank", str(mine)) == 2
    assert "found tlh_big-ud-train.conllu, tlh_small-ud-train.conllu; a treebank is" in capsys.readouterr().err


def test_settings_may_be_a_file_of_ones_own(run, mine, tmp_path, capsys):
    (tmp_path / "fast.toml").write_text("[training]\nclip = 1.0\n")
    asked = ("--treebank", str(mine), "--name", "mine", "--systems", "mst", "--seeds", "1")
    assert run(*asked) == 0 and run(*asked, "--settings", str(tmp_path / "fast.toml")) == 0
    (tmp_path / "authors.toml").write_text((tmp_path / "fast.toml").read_text())
    assert run(*asked, "--settings", str(tmp_path / "authors.toml")) == 2
    assert "authors.toml has the name of settings of mh4: rename it" in capsys.readouterr().err
    of_both = [kept(tmp_path, name + "/mst-seed1") for name in ("mine", "mine-fast")]
    assert [one["settings"]["training"]["clip"] for one in of_both] == [5.0, 1.0]
    assert [one.get("settings_of") for one in of_both] == [None, "fast"]
    (tmp_path / "home" / "results" / "mine.jsonl").unlink()
    assert study("compare", "--treebank", str(mine), "--name", "mine", home=tmp_path / "home") == 2
    assert "train one first, with make reproduce, or give the SETTINGS of mine-fast\n" in capsys.readouterr().err
    (tmp_path / "fast.toml").write_text("[training]\nclip = 2.0\n")
    assert run(*asked, "--settings", str(tmp_path / "fast.toml")) == 2
    assert "(training.clip is 1.0 there, 2.0 here): delete" in (said := capsys.readouterr().err)
    assert said.endswith("to train again, or rename fast.toml to keep both\n")
    (tmp_path / "fast.toml").write_text("[training]\nclop = 1.0\n")
    assert run(*asked, "--settings", str(tmp_path / "fast.toml")) == 2
    assert "clop" in capsys.readouterr().err


def test_a_run_is_compared_with_the_recorded_one_and_never_mixed_with_it(run, hungarian, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("CONLL17", raising=False)  # a variable of `make test`
    asked = ("--lang", "hu", "--systems", "mst", "--seeds", "1", "--ud", str(hungarian))
    assert run(*asked) == 0
    theirs, results = tmp_path / "recorded", tmp_path / "home" / "results"
    mine, elsewhere = kept(tmp_path, "hu/mst-seed1"), {**machine(), "processor": "an abacus"}
    capsys.readouterr()
    for changes, said in (
        ({}, "mst seed 1: dev UAS 82.60, the same as recorded\n"),
        (
            {"dev_uas": 81.25, "machines": [elsewhere]},
            "mst seed 1: dev UAS 82.60 here, 81.25 recorded: other processor (%s, recorded an abacus)\n" % machine()["processor"],
        ),
        ({"dev_uas": 81.25, "machines": None}, "82.60 here, 81.25 recorded: the recorded machine is unknown\n"),
        ({"dev_uas": 81.25, "commit": "abc"}, "81.25 recorded: other commit (%s, recorded abc)\n" % commit()),
    ):
        rewrite(theirs, "hu/mst-seed1", {name: value for name, value in {**mine, **changes}.items() if value is not None})
        record(theirs, "hu", "mst", 2, 50.0, train=mine["train"]["git_blob"])
        before = (theirs / "hu.jsonl").read_bytes()
        bench = {"obj": Bench(tmp_path / "home", [sys.executable, str(STAND_IN)], theirs), "prog_name": "experiments"}
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", *asked], **bench)
        assert not ended.value.code
        assert said in capsys.readouterr().out
        assert (theirs / "hu.jsonl").read_bytes() == before and len(records.read(results / "hu.jsonl")) == 1
