"""What a finished model predicts: the development set, and the test set on the segmentation of the shared task."""

import pytest

from mh4 import conllu, treebanks
from samples import assert_nothing_of_this_machine, calls, kept, toy, trees


def of_hungarian(folder, *more):
    return ("--lang", "hu", "--systems", "mh3", "--seeds", "1", "--ud", str(folder)) + more


@pytest.mark.parametrize("named", [True, False])
def test_a_finished_model_parses_the_shared_tasks_segmentation(run, told, hungarian, segmented, tmp_path, named, capsys):
    """In the folder that is named, or else in our own data folder."""
    if not named:
        (tmp_path / "data").mkdir()
        segmented = segmented.rename(tmp_path / "data" / "conll17")
    assert run(*of_hungarian(hungarian, *(("--conll17", str(segmented)) if named else ()))) == 0
    assert capsys.readouterr().err == ""
    assert [(call["run"], call["file"]) for call in calls(told, "parses")] == [("mh3-1", "hu-ud-dev.conllu"), ("mh3-1", "hu-udpipe.conllu")]
    assert all(call["env"]["OMP_NUM_THREADS"] == "1" for call in calls(told, "parses"))
    record = kept(tmp_path)
    # Of 3 words predicted and 4 gold ones, a and b are the same, and have the right heads; only a has the right label.
    assert record["test_uas"] == pytest.approx(100 * 2 * 2 / (3 + 4)) and record["test_las"] == pytest.approx(100 * 2 * 1 / (3 + 4))
    test, words = hungarian / "hu-ud-test.conllu", segmented / "hu-udpipe.conllu"
    assert record["test"] == {"path": test.name, "git_blob": treebanks.git_blob_id(test)}
    assert record["segmentation"] == {"path": words.name, "git_blob": treebanks.git_blob_id(words)}
    assert trees(tmp_path / "home" / "results" / "hu" / "mh3-seed1.trees.gz").splitlines() == [
        "# dev hu-ud-dev.conllu " + treebanks.git_blob_id(hungarian / "hu-ud-dev.conllu"), "0\troot", "1\tdep", "",
        "# test hu-udpipe.conllu " + treebanks.git_blob_id(words), "0\troot", "1\tdep", "1\tdep", "",
    ]  # fmt: skip
    assert " | 28.57 | " in (tmp_path / "home" / "results" / "hu.md").read_text(encoding="utf-8")
    assert ("CONLL17=conll17" in record["reproduce"]) == named
    assert_nothing_of_this_machine(tmp_path / "home" / "results", tmp_path)


def test_without_the_segmentation_there_are_trees_of_dev_only(run, told, hungarian, tmp_path):
    assert run(*of_hungarian(hungarian)) == 0
    assert [call["file"] for call in calls(told, "parses")] == ["hu-ud-dev.conllu"]
    assert not {"test", "segmentation", "test_uas", "test_las"} & set(kept(tmp_path))
    text = trees(tmp_path / "home" / "results" / "hu" / "mh3-seed1.trees.gz")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("#")] == ["dev"]


def test_test_scores_of_the_toy_treebank(run, tmp_path):
    """They are in percent of its words, which are the same in the segmentation: it is the same file."""
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    path = treebanks.locate("toy")["test"]
    sentences = conllu.read(str(path))
    words, roots = sum(map(len, sentences)), sum(sentence.heads[1] == 0 for sentence in sentences)
    others = sum((sentence.heads[2:] == 1).sum() for sentence in sentences)  # the right heads of words that are never "dep"
    record = kept(tmp_path, "toy/mh3-seed1")
    assert record["test_uas"] == pytest.approx(100 * (roots + others) / words)
    assert record["test_las"] == pytest.approx(100 * roots / words) and 0 < record["test_las"] < record["test_uas"]
    assert record["test"] == record["segmentation"] == {"path": path.name, "git_blob": treebanks.git_blob_id(path)}


def test_a_segmentation_that_comes_later_is_parsed_then(run, told, hungarian, segmented, tmp_path):
    assert run(*of_hungarian(hungarian)) == 0 and "test_las" not in kept(tmp_path)
    for _ in range(2):  # and only once
        assert run(*of_hungarian(hungarian, "--conll17", str(segmented))) == 0
    assert kept(tmp_path)["test_las"] == pytest.approx(100 * 2 * 1 / (3 + 4)) and len(calls(told)) == 1
    assert [call["file"] for call in calls(told, "parses")].count("hu-udpipe.conllu") == 1


def test_the_segmentation_must_be_in_the_folder_that_is_named(run, told, hungarian, tmp_path, capsys):
    assert run(*of_hungarian(hungarian, "--conll17", str(hungarian))) == 2
    assert capsys.readouterr().err == "reproduce: CONLL17: %s has no hu-udpipe.conllu\n" % hungarian
    assert not calls(told) and not (tmp_path / "home").exists()


def test_a_model_that_cannot_parse_has_no_test_scores(run, told, tmp_path, capsys):
    (told / "mute").write_text("mst-1")
    results = tmp_path / "home" / "results" / "toy"
    results.mkdir(parents=True)
    (results / "mst-seed1.trees.gz").write_bytes(b"trees of another model")
    assert run(*toy("--seeds", "1")) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mst seed 1: ") and line.endswith("mst/seed1 cannot parse toy-ud-dev.conllu: mh4: weights.npz is damaged")
    mst, mh3 = kept(tmp_path, "toy/mst-seed1"), kept(tmp_path, "toy/mh3-seed1")
    assert mst["dev_uas"] == pytest.approx(82.6) and not {"test", "segmentation", "test_uas", "test_las"} & set(mst)
    assert "test_las" in mh3 and not (results / "mst-seed1.trees.gz").exists()
    assert "mst,1," in (results.parent / "toy.csv").read_text(encoding="utf-8")

    (told / "mute").unlink()  # the next time it can
    assert run(*toy("--seeds", "1")) == 0
    assert len(calls(told)) == 2 and [call["run"] for call in calls(told, "parses")].count("mh3-1") == 2
    assert kept(tmp_path, "toy/mst-seed1")["test_las"] == mh3["test_las"]
    assert trees(results / "mst-seed1.trees.gz") == trees(results / "mh3-seed1.trees.gz")


def test_a_model_parses_once_unless_its_trees_are_lost(run, told, tmp_path):
    def again():
        assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
        assert len(calls(told)) == 1
        return len(calls(told, "parses"))

    assert again() == again() == 2
    record, path = kept(tmp_path, "toy/mh3-seed1"), tmp_path / "home" / "results" / "toy" / "mh3-seed1.trees.gz"
    before = path.read_bytes()
    path.unlink()
    assert again() == again() == 4
    (tmp_path / "home" / "runs" / "toy" / "mh3" / "seed1" / "predicted.json").unlink()  # as if it was stopped before
    assert again() == 6
    assert path.read_bytes() == before and kept(tmp_path, "toy/mh3-seed1") == record
