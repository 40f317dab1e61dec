"""Predictions of finished models: on the development set, and on the test set with the shared task's segmentation."""

import pytest
from samples import as_conllu, assert_nothing_of_this_machine, calls, fake_manifest, kept, row, toy, trees, trees_file

from experiments.engine import shared_task
from mh4.data import conll17, treebanks
from mh4.errors import InputError
from mh4.util.files import git_blob_id


def of_hungarian(folder, *more):
    return ("--lang", "hu", "--systems", "mh3", "--seeds", "1", "--ud", str(folder)) + more


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False])
def test_a_finished_model_parses_the_shared_tasks_segmentation(run, stand_in, hungarian, segmented, tmp_path, named, capsys):
    """The segmentation is that in the given folder or, by default, in the data folder."""
    if not named:
        (tmp_path / "data").mkdir()
        segmented = segmented.rename(tmp_path / "data" / "conll17")
    assert run(*of_hungarian(hungarian, *(("--conll17", str(segmented)) if named else ()))) == 0
    assert capsys.readouterr().err == ""
    assert [(call["run"], call["file"]) for call in calls(stand_in, "parses")] == [
        ("mh3-1", "hu-ud-dev.conllu"),
        ("mh3-1", "hu-udpipe.conllu"),
    ]
    assert all(call["env"]["OMP_NUM_THREADS"] == "1" for call in calls(stand_in, "parses"))
    record = kept(tmp_path)
    # Of 3 predicted and 4 gold words, a and b are the same and have the correct heads; only a has the correct label.
    assert (record["test_uas"], record["test_las"]) == pytest.approx((100 * 2 * 2 / (3 + 4), 100 * 2 * 1 / (3 + 4)))
    test, words = hungarian / "hu-ud-test.conllu", segmented / "hu-udpipe.conllu"
    assert record["test"] == {"path": test.name, "git_blob": git_blob_id(test)}
    assert record["segmentation"] == {"path": words.name, "git_blob": git_blob_id(words)}
    assert trees(trees_file(tmp_path / "home" / "results", "hu/mh3-seed1")).splitlines() == [
        "# dev hu-ud-dev.conllu " + git_blob_id(hungarian / "hu-ud-dev.conllu"), "0\troot", "1\tdep", "",
        "# test hu-udpipe.conllu " + git_blob_id(words), "0\troot", "1\tdep", "1\tdep", "",
    ]  # fmt: skip
    assert " | 28.57 | " in (tmp_path / "home" / "results" / "hu.md").read_text(encoding="utf-8")
    assert ("CONLL17=conll17" in record["reproduce"]) == named
    assert_nothing_of_this_machine(tmp_path / "home" / "results", tmp_path)


@pytest.mark.slow
def test_a_segmentation_that_comes_later_or_is_another_is_parsed_then(run, stand_in, hungarian, segmented, tmp_path):
    assert run(*of_hungarian(hungarian)) == 0 and "test_las" not in kept(tmp_path)
    for _ in range(2):  # parsed once
        assert run(*of_hungarian(hungarian, "--conll17", str(segmented))) == 0
    before, path = kept(tmp_path), segmented / "hu-udpipe.conllu"
    assert before["test_las"] == pytest.approx(100 * 2 * 1 / (3 + 4)) and len(calls(stand_in)) == 1
    assert [call["file"] for call in calls(stand_in, "parses")].count("hu-udpipe.conllu") == 1
    path.write_text(as_conllu(*(("%s" % word, 0, "_") for word in "abcd")).replace("\t0\t", "\t_\t"))  # now as the gold one
    assert run(*of_hungarian(hungarian, "--conll17", str(segmented))) == 0
    assert kept(tmp_path)["segmentation"]["git_blob"] == git_blob_id(path) and len(calls(stand_in)) == 1
    assert kept(tmp_path)["test_las"] == pytest.approx(100 * 2 / 4)  # "c" is a "dep" of "a" in both


@pytest.fixture
def downloads(hungarian, segmented, monkeypatch):
    """The files that can be downloaded, by name, which are those in two folders, and the list of requested names."""
    for system in ("stanford", "c2l2"):
        (segmented / conll17.file_name("hu", system)).write_text(as_conllu(("a", 0, "root"), ("b", 1, "det"), ("cd", 1, "dep")))
    there = {path.name: path for folder in (hungarian, segmented) for path in folder.iterdir()}
    asked = []

    def get(name):
        asked.append(name)
        if name not in there:
            raise InputError("no connection to mh4.invalid")
        return there[name]

    monkeypatch.setattr(treebanks._COLLECTION, "fetch", lambda row, *rest: get(row.file))
    monkeypatch.setattr(
        conll17, "download", lambda lang, systems: {system: get(conll17.file_name(lang, system)) for system in systems}
    )
    return there, asked


def test_what_to_test_on_is_downloaded_as_the_treebank_is(run, downloads, tmp_path, capsys):
    assert run("--lang", "hu", "--systems", "mh3", "--seeds", "1") == 0
    asked = ["hu-ud-train", "hu-ud-dev", "hu-udpipe", "hu-stanford", "hu-c2l2", "hu-ud-test"]
    assert downloads[1] == [name + ".conllu" for name in asked]
    assert kept(tmp_path)["test_las"] == pytest.approx(100 * 2 * 1 / (3 + 4)) and capsys.readouterr().err == ""
    assert "test LAS |" in (tmp_path / "home" / "results" / "hu.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["hu-udpipe.conllu", "hu-ud-test.conllu"])
def test_a_failed_download_does_not_stop_the_training(run, downloads, tmp_path, capsys, name):
    del downloads[0][name]
    assert run("--lang", "hu", "--systems", "mh3", "--seeds", "1") == 0
    output = capsys.readouterr()
    assert output.err == "no scores on the test set: no connection to mh4.invalid\n"
    assert "83.10" in output.out and "test LAS" not in output.out and "test_las" not in kept(tmp_path)
    assert "## LAS on the test set" not in (tmp_path / "home" / "results" / "hu.md").read_text(encoding="utf-8")
    assert ("hu-c2l2.conllu" in downloads[1]) == (name == "hu-ud-test.conllu")  # the segmentation comes first


def test_a_folder_without_the_test_set(run, stand_in, hungarian, segmented, tmp_path, capsys):
    """The test set is optional, unless a segmentation is given."""
    (hungarian / "hu-ud-test.conllu").unlink()
    assert run(*of_hungarian(hungarian, "--conll17", str(segmented))) == 2
    assert capsys.readouterr().err == "reproduce: %s has no hu-ud-test.conllu\n" % hungarian
    (tmp_path / "data").mkdir()
    segmented.rename(tmp_path / "data" / "conll17")
    assert not calls(stand_in) and run(*of_hungarian(hungarian)) == 0
    assert capsys.readouterr().err == "no scores on the test set: %s has no hu-ud-test.conllu\n" % hungarian


def released(monkeypatch, folder):
    """Make all files in the folder count as UD 2.0."""
    texts = {split: (folder / ("hu-ud-%s.conllu" % split)).read_text() for split in treebanks.SPLITS}
    fake_manifest(monkeypatch, {text: row("hu", split, "2.0") for split, text in texts.items()})


def test_a_scorer_that_is_not_there_does_not_stop_the_training(run, hungarian, segmented, tmp_path, capsys, monkeypatch):
    def no_scorer(*_):
        raise InputError("the official scorer needs udtools")

    released(monkeypatch, hungarian)
    monkeypatch.setattr(conll17, "identify_blob", lambda blob: conll17.Output("hu", "udpipe", *"rcpf", blob))
    monkeypatch.setattr(shared_task, "scorer_name", no_scorer)
    assert run(*of_hungarian(hungarian, "--conll17", str(segmented))) == 0
    assert capsys.readouterr().err == "the shared task's systems are not scored: the official scorer needs udtools\n"
    assert not (tmp_path / "home" / "results" / "conll17.jsonl").exists() and kept(tmp_path)["dev_uas"] == pytest.approx(83.1)


def test_the_segmentation_must_be_in_the_folder_that_is_named(run, stand_in, hungarian, tmp_path, capsys):
    assert run(*of_hungarian(hungarian, "--conll17", str(hungarian))) == 2
    assert capsys.readouterr().err == "reproduce: CONLL17: %s has no hu-udpipe.conllu\n" % hungarian
    assert not calls(stand_in) and not (tmp_path / "home").exists()


@pytest.mark.slow
def test_a_model_that_cannot_parse_has_no_test_scores(run, stand_in, tmp_path, capsys):
    (stand_in / "mute").write_text("mst-1")
    results = tmp_path / "home" / "results"
    of_mst, of_mh3 = (trees_file(results, "toy/%s-seed1" % system) for system in ("mst", "mh3"))
    of_mst.write_bytes(b"trees of another model")
    assert run(*toy("--seeds", "1")) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mst seed 1: ")
    assert line.endswith("mst/seed1 cannot parse toy-ud-dev.conllu: mh4: weights.npz is damaged")
    mst, mh3 = kept(tmp_path, "toy/mst-seed1"), kept(tmp_path, "toy/mh3-seed1")
    assert mst["dev_uas"] == pytest.approx(82.6) and not {"test", "segmentation", "test_uas", "test_las"} & set(mst)
    assert "test_las" in mh3 and not of_mst.exists()
    assert "| mst | 1 |" in (results / "toy.md").read_text(encoding="utf-8")

    (stand_in / "mute").unlink()  # then it can
    assert run(*toy("--seeds", "1")) == 0
    assert len(calls(stand_in)) == 2 and [call["run"] for call in calls(stand_in, "parses")].count("mh3-1") == 2
    assert kept(tmp_path, "toy/mst-seed1")["test_las"] == mh3["test_las"]
    assert trees(of_mst) == trees(of_mh3)

    (stand_in / "mute").write_text("mst-1")  # then it cannot
    of_mst.unlink()
    assert run(*toy("--seeds", "1")) == 1
    assert not {"trees_git_blob", "test_las"} & set(kept(tmp_path, "toy/mst-seed1"))


@pytest.mark.slow
def test_a_model_parses_once_unless_its_trees_are_lost(run, stand_in, tmp_path):
    def again():
        assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
        assert len(calls(stand_in)) == 1
        return len(calls(stand_in, "parses"))

    assert again() == again() == 2
    record, path = kept(tmp_path, "toy/mh3-seed1"), trees_file(tmp_path / "home" / "results", "toy/mh3-seed1")
    before = path.read_bytes()
    path.unlink()
    assert again() == again() == 4
    (tmp_path / "home" / "models" / "toy" / "mh3" / "seed1" / "predicted.json").unlink()  # as if stopped before
    assert again() == again() == 6
    path.write_bytes(path.read_bytes() + path.read_bytes())  # as if replaced
    assert again() == again() == 8
    assert path.read_bytes() == before and kept(tmp_path, "toy/mh3-seed1") == record
