"""The systems of the shared task: their scores, records and comparison with the paper."""

import pytest
from samples import as_conllu, assert_nothing_of_this_machine, fake_manifest, row, study
from tiny import blob_id

from experiments import published
from experiments.engine import shared_task
from mh4.data import conll17, treebanks
from mh4.errors import InputError

GOLD = ("a", 0, "root"), ("b", 1, "det"), ("c", 1, "dep"), ("d", 3, "dep")
SYSTEMS = {  # LAS is 75, 50 and 25
    "stanford": (*GOLD[:3], ("d", 1, "dep")),
    "c2l2": (GOLD[0], ("b", 1, "obj"), GOLD[2], ("d", 1, "dep")),
    "udpipe": (GOLD[0], ("b", 1, "obj"), ("c", 2, "dep"), ("d", 1, "dep")),
}


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Folders of test sets and outputs, whose Hungarian files count as released; the paper has 75.00 and 50.01."""
    ud, outputs = tmp_path / "ud", tmp_path / "outputs"
    ud.mkdir()
    outputs.mkdir()
    (ud / "hu-ud-test.conllu").write_text(as_conllu(*GOLD))
    (ud / "el-ud-test.conllu").write_text(as_conllu(*GOLD) + "\n")  # not the released one
    known = {}
    for system, words in SYSTEMS.items():
        for lang in ("hu", "el", "got"):
            (outputs / conll17.file_name(lang, system)).write_text("# %s\n" % lang + as_conllu(*words))
            known[blob_id((outputs / conll17.file_name(lang, system)).read_bytes())] = conll17.Output(lang, system, *"rcpf", "id")
    fake_manifest(monkeypatch, {as_conllu(*GOLD): row("hu", "test", "2.0")})
    treebanks.languages()  # read only once
    monkeypatch.setattr(conll17, "identify_blob", known.get)
    numbers = {"stanford": (75.0, None), "c2l2": (50.01, None)}
    monkeypatch.setattr(published, "test_las", lambda lang, release, system: numbers.get(system))
    return ud, outputs


def score(folders, home):
    return study("conll17", "--ud", str(folders[0]), "--conll17", str(folders[1]), home=home)


def kept(home, lang="hu"):
    return shared_task.load(lang, home / "results")


def test_scores_stand_beside_the_papers(folders, tmp_path, capsys):
    home = tmp_path / "home"
    assert score(folders, home) == 0
    out = capsys.readouterr().out
    for line in (
        "hu 75.00 ✓ 50.00 (paper: 50.01) 25.00",
        "Not scored: el (el-ud-test.conllu is not the released file).",
        "Not scored: got (no got-ud-test.conllu).",
        "Not scored: cu (neither test set nor outputs).",
    ):
        assert " ".join(line.split()) in [" ".join(each.split()) for each in out.splitlines()]
    record, c2l2 = kept(home), kept(home)["systems"]["c2l2"]
    assert record["test"] == {"path": "hu-ud-test.conllu", "git_blob": blob_id(as_conllu(*GOLD).encode())}
    assert c2l2["git_blob"] == blob_id((folders[1] / "hu-c2l2.conllu").read_bytes()) and c2l2["scorer"].startswith("udtools ")
    assert (c2l2["uas"], c2l2["las"]) == pytest.approx((75, 50))
    assert_nothing_of_this_machine(home / "results", tmp_path)


def test_what_is_scored_is_not_scored_again_nor_lost(folders, tmp_path, capsys, monkeypatch):
    home = tmp_path / "home"
    assert score(folders, home) == 0
    before = {path.name: path.read_bytes() for path in (home / "results").rglob("*.*")}
    monkeypatch.setattr(shared_task, "official", lambda *_: pytest.fail("it is scored again"))
    assert score(folders, home) == 0
    assert {path.name: path.read_bytes() for path in (home / "results").rglob("*.*")} == before
    (folders[1] / "hu-c2l2.conllu").unlink()
    capsys.readouterr()
    assert score(folders, home) == 0
    assert {path.name: path.read_bytes() for path in (home / "results").rglob("*.*")} == before
    assert "no hu-c2l2" not in capsys.readouterr().out


def test_a_file_that_the_scorer_refuses(folders, tmp_path, capsys, monkeypatch):
    bad = folders[1] / "hu-c2l2.conllu"
    bad.write_text(as_conllu(("a", 0, "root"), ("b", 2, "det"), ("c", 1, "dep"), ("d", 3, "dep")))  # b heads itself
    known = conll17.identify_blob
    hu = conll17.Output("hu", "c2l2", *"rcpf", "id")
    monkeypatch.setattr(conll17, "identify_blob", lambda blob: hu if blob == blob_id(bad.read_bytes()) else known(blob))
    home = tmp_path / "home"
    assert score(folders, home) == 0
    (row, line) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("hu ") or "rejects" in line]
    assert line.startswith("Not scored, as the official scorer rejects it: CoNLL #2 (C2L2) of hu: hu-c2l2.conllu, line 2")
    assert row.split() == ["hu", "75.00", "✓", "25.00"]
    assert "las" not in kept(home)["systems"]["c2l2"]
    assert_nothing_of_this_machine(home / "results", tmp_path)


def test_nothing_to_score(folders, tmp_path, capsys, monkeypatch):
    home = tmp_path / "home"
    assert score((folders[0], tmp_path / "none"), home) == 2
    assert "none is not a folder: fetch a language with `mh4 data hu --conll17`" in capsys.readouterr().err
    assert score((folders[1], folders[0]), home) == 2
    assert capsys.readouterr().err.startswith("conll17: no test set of UD 2.0 in ")

    def no_scorer():
        raise InputError("the official scorer needs udtools")

    monkeypatch.setattr(shared_task, "scorer_name", no_scorer)
    assert score(folders, home) == 2
    assert capsys.readouterr().err == "conll17: the official scorer needs udtools\n" and not home.exists()


DAMAGED = '{"lang": "hu", "test": {"path": "", "git_blob": ""}, "systems": {"c2l2": {"path": "", "git_blob": "", "uas": 1, "las": "x"}}}'


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", DAMAGED, DAMAGED.replace('{"path": "", "git_blob": "", "uas": 1, "las": "x"}', "1")]
)
def test_a_broken_record_is_named(tmp_path, content):
    (tmp_path / "conll17.jsonl").write_text(content + "\n")
    with pytest.raises(InputError, match="conll17.jsonl, line 1: not .*: restore or delete this line"):
        shared_task.load_all(tmp_path)
