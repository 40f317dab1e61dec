"""Requests of the page on which trees are corrected: trees around heads, the best trees, and the file to correct."""

import re

import pytest
from asking import ask, refusal, result, rows, served

from mh4.annotating.correction import Changed, Correction
from mh4.errors import InputError
from mh4.serving.correcting import Correcting


@pytest.fixture(scope="module")
def app(abilities):
    return served(abilities)


def test_heads_of_the_data_are_kept(app):
    asked = {"parser": "", "heads": "", "confidence": ""}
    found = [line.split("\t") for line in result(app, data=rows(3, "_", "_", 2), **asked).splitlines()[:4]]
    assert [row[6] for row in found][::3] == ["3", "2"] and {row[7] for row in found}.isdisjoint("_")
    assert all(re.fullmatch(r"A=B\|ArcProb=1.0000\|LabelProb=[01]\.\d{4}", row[9]) for row in found[::3])
    complete = rows(2, 0, 2, deprel="x")
    assert result(app, data=complete, parser="", heads="", keep_deps="") == complete
    assert result(app, data=rows(2, 1, "_"), **asked).startswith("# mh4 = skipped, word 1 is on a cycle")
    crossing = result(app, data=rows(3, 4, "_", 0), model="toy-mh3", parser="", heads="")
    assert crossing.startswith("# mh4 = mst of probabilities, no projective tree has the heads given up to word 2\n")


@pytest.mark.parametrize("path, more", [("/process", {"parser": "", "output": "svg"}), ("/process", {"parser": "", "output": "page"}),
                                        ("/view", {}), ("/download", {"output": "svg"})])  # fmt: skip
def test_no_picture_of_heads_that_no_tree_has(app, path, more):
    message = refusal(app, 400, path, data=rows(2, 1, "_"), heads="", **more)
    assert message.startswith("data, line 1, sentence 1: word 1 is on a cycle")


def test_the_best_trees(app):
    trees = result(app, data="# sent_id = x\n" + rows(*"__2_"), parser="", heads="", best="3").split("\n\n")[:-1]
    assert [re.findall("# (?:sent_id|mh4) = ([^,\n]*)", tree) for tree in trees] == [
        ["x" + end, "tree %d of 3" % k] for k, end in enumerate(("", "-tree2", "-tree3"), start=1)
    ]
    heads = [tuple(re.findall(r"(?m)^\d.*\t(\d)\t\w+\t_\t", tree)) for tree in trees]
    assert len(set(heads)) == 3 and {of_tree[2] for of_tree in heads} == {"2"}
    assert result(app, data=rows(*"__"), parser="", best="1") == result(app, data=rows(*"__"), parser="")


@pytest.fixture
def correction(tmp_path):
    (tmp_path / "old.conllu").write_text("\ufeff" + rows(*"___") + rows(0, 1), encoding="utf-8")
    return Correction(str(tmp_path / "old.conllu"), str(tmp_path / "new.conllu"))


def test_the_new_file(correction, tmp_path):
    new = tmp_path / "new.conllu"
    text, version = correction.read()
    assert text == (tmp_path / "old.conllu").read_text(encoding="utf-8") and not new.exists()
    for wrong in (rows(2, 0, 2), text.replace("w1", "w9"), text + rows(0), "", text.replace("\t0\t", "\t7\t")):
        with pytest.raises(InputError):
            correction.save(wrong, version)
        assert not new.exists()
    better = rows(2, 0, 2) + rows(0, 1)
    second = correction.save(better, version)
    assert new.read_text() == better and correction.read() == (better, second) and second != version
    with pytest.raises(InputError, match="was saved from another page meanwhile"):
        correction.save(text, version)
    assert new.read_text() == better


def test_no_file_is_overwritten(correction, tmp_path):
    (tmp_path / "new.conllu").write_text("mine")
    with pytest.raises(Changed, match="new.conllu was created or changed outside of this page"):
        correction.save(*correction.read())
    with pytest.raises(InputError, match="new.conllu exists: name a new file"):
        Correction(correction.path, correction.output)
    assert (tmp_path / "new.conllu").read_text() == "mine"
    replacing = Correction(correction.path, correction.output, replaces=True)
    replacing.save(*replacing.read())
    assert (tmp_path / "new.conllu").read_text() == correction.read()[0]
    (tmp_path / "new.conllu").write_text("mine")  # after it was saved
    with pytest.raises(Changed, match="new.conllu was created or changed outside of this page"):
        replacing.save(*replacing.read())
    (tmp_path / "new.conllu").rename(tmp_path / "mine.conllu")
    replacing.save(*replacing.read())
    assert (tmp_path / "new.conllu").read_text() == correction.read()[0]


@pytest.mark.parametrize(
    "status, headers",
    [
        (200, {}), (403, {"authorization": "Bearer x"}), (403, {"authorization": ""}), (403, {"sec-fetch-site": "cross-site"}),
        (403, {"sec-fetch-site": "same-site"}), (200, {"sec-fetch-site": "same-origin"}), (200, {"sec-fetch-site": "none"}),
        (412, {"if-match": '"7"'}), (412, {"if-match": ""}),
    ],
)  # fmt: skip
def test_who_can_save(correction, status, headers, tmp_path):
    correcting = Correcting(correction, 60)
    app = served({"toy": ["parser"]}, correcting=correcting)
    given = {"authorization": "Bearer " + correcting.key, "if-match": correction.read()[1], **headers}
    more = [(name.encode(), value.encode()) for name, value in given.items()]
    found, answered, body = ask(app, "/file", more=more)
    assert found == (403 if status == 403 else 200) and (body.decode() == correction.read()[0]) == (found == 200)
    found, answered, body = ask(app, "/file", rows(2, 0, 2).encode() + rows(0, 1).encode(), "text/plain", more=more)
    assert found == status and body.count(b"\n") == (status != 200) and (tmp_path / "new.conllu").exists() == (status == 200)
    if status == 200:
        assert answered["etag"] == correction.read()[1] != given["if-match"]


def test_what_cannot_be_saved(correction):
    correcting = Correcting(correction, 60)
    app = served({"toy": ["parser"]}, correcting=correcting)
    more = [(b"authorization", b"Bearer " + correcting.key.encode()), (b"if-match", correction.read()[1].encode())]
    for status, body in ((400, b"\xff"), (400, b"x"), (413, b"x" * 10**6)):
        found, _, said = ask(app, "/file", body, "text/plain", more=more)
        assert found == status and said.count(b"\n") == 1
    assert ask(app, "/file", host="", version="1.0", more=more)[0] == 200
    assert ask(served({"toy": ["parser"]}), "/file")[0] == 404
