"""Packed models: one file has the same parser and a card; damaged and hostile files are errors of one sentence."""

import json
import os
import shutil
import stat
import subprocess
import zipfile

import pytest
import toy
from running import COMMAND, refused, refuses, succeeds

import mh4
from mh4.parser import checksums, model_files
from mh4.training import card
from mh4.training.trainer import Trainer

ABOUT = {"name": "Toy: a “test”", "language": "qtx", "treebank": "Toy 1.0", "licence": "CC0 1.0"}


@pytest.fixture(scope="module")
def folder(treebank, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    settings = toy.small("training.max_updates=20", "training.evaluate_updates=10", "encoder.units=16")
    sentences = toy.sentences(treebank)
    sources = {"train": {"file": "some folder/a.conllu", "git_blob": "0" * 40}}
    Trainer("mh4-hybrid", settings, sentences[:30], sentences[30:40], str(folder), sources=sources).run()
    return folder


@pytest.fixture(scope="module")
def packed(folder, treebank, tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "toy.mh4"
    card.pack(str(folder), str(path), ABOUT, str(treebank / "toy-ud-dev.conllu"))
    return path


def rewritten(packed, path, change):
    """Write a copy of a packed model with changed members, and return its path."""
    with zipfile.ZipFile(packed) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return str(path)


@pytest.mark.slow
def test_parses_as_the_folder_does(folder, packed, treebank):
    arguments = ["--confidence", "--tags", treebank / "toy-ud-dev.conllu"]
    expected = succeeds("parse", "--model", folder, *arguments)
    assert b"ArcProb=" in expected
    assert succeeds("parse", "--model", packed, *arguments) == expected
    assert succeeds("parse", "--model", packed, "--jobs", "2", *arguments) == expected
    assert succeeds("test", "--model", packed, arguments[-1]) == succeeds("test", "--model", folder, arguments[-1])
    assert mh4.load(packed).model.temperature == mh4.load(folder).model.temperature is not None
    ensemble = ["ensemble", "--quiet", arguments[-1], "--model", folder]
    assert succeeds(*ensemble, "--model", packed) == succeeds(*ensemble, "--model", folder) != b""


def test_is_the_same_every_time(folder, packed, treebank, tmp_path):
    again = tmp_path / "again.mh4"
    options = [word for name, value in ABOUT.items() for word in ("--" + name, value)]
    done = succeeds("pack", folder, "-o", again, *options, "--test", treebank / "toy-ud-dev.conllu").decode()
    assert done.splitlines()[-1] == "Written: %s" % again
    assert again.read_bytes() == packed.read_bytes()
    command = [*COMMAND, "pack", folder, "-o", "/dev/stdout", *options, "--test", treebank / "toy-ud-dev.conllu"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == packed.read_bytes()


def test_names_of_several_lines_are_refused(folder, tmp_path):
    """Line breaks, which would break the card's header for model hubs, are errors."""
    said = refuses("pack", folder, "-o", tmp_path / "toy.mh4", "--licence", "CC0\n1.0")
    assert "licence: expected a single line without control characters, got 'CC0\\n1.0'" in said
    assert not (tmp_path / "toy.mh4").exists()


def test_the_card(folder, packed, treebank):
    assert json.loads(succeeds("info", "--card", "--json", packed))["language"] == "qtx"
    page = succeeds("info", "--card", packed).decode()
    summary = json.loads((folder / "summary.json").read_text())
    lines = page.splitlines()
    assert lines[:7] == ["---", 'library_name: "mh4"', 'tags: ["dependency-parsing", "universal-dependencies"]', 'language: "qtx"',
                         'license: "other"', 'license_name: "CC0 1.0"', "---"]  # fmt: skip
    assert "# Toy: a “test”" in lines and "| treebank | Toy 1.0 |" in lines
    assert "| train file | some folder/a.conllu (git blob %s) |" % ("0" * 40) in lines
    scores = [line.split(" | ") for line in lines if line.startswith(("| dev |", "| test |"))]
    assert scores[0][1:3] == ["%.2f" % summary["dev_uas"], "%.2f" % summary["dev_las"]]
    tested = succeeds("test", "--model", folder, treebank / "toy-ud-dev.conllu").decode()
    assert "UAS %s  LAS %s " % (scores[1][1], scores[1][2]) in tested
    (command,) = [line for line in lines if line.startswith("    mh4 train")]
    expected = "mh4 train --system mh4-hybrid --train 'some folder/a.conllu' --seed 1 --config config.toml --model FOLDER"
    assert command.strip() == expected
    assert (folder / "config.toml").read_text().rstrip("\n") in page
    with zipfile.ZipFile(packed) as file:
        assert file.read("card.md").decode() == page
        assert {stat.S_IMODE(member.external_attr >> 16) for member in file.infolist()} == {0o644}


def test_the_card_of_a_reproduced_model(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "model")
    origin = {"command": "make reproduce LANG=toy", "commits": ["abc", "def"]}
    (tmp_path / "model" / "origin.json").write_text(json.dumps(origin))
    made = card.pack(str(tmp_path / "model"), str(tmp_path / "m.mh4"), {})
    assert made["command"] == "make reproduce LANG=toy" and made["commit"] == "abc, def"
    page = card.markdown(made)
    assert "--contextual" not in page
    odd = card.markdown({**made, "name": "<b>", "treebank": "a|b <img src=x> `c` &amp; UD_X"})
    assert "| treebank | a\\|b \\<img src=x\\> \\`c\\` \\&amp; UD_X |\n" in odd and "# \\<b\\>\n" in odd
    assert "    mh4 parse --model FILE --contextual VECTORS input.conllu" in card.markdown(
        {**made, "sources": {**made["sources"], "contextual": [{"file": "v", "git_blob": "0"}]}}
    )
    assert "| commit | abc, def |" in page and "license" not in page and "| test |" not in page


def test_what_cannot_be_packed(folder, packed, tmp_path, monkeypatch):
    out = str(tmp_path / "m.mh4")
    monkeypatch.setattr(card, "evaluate", None)  # errors come before the test set is parsed
    assert "cannot be read: Is a directory" in refused(lambda: card.pack(str(folder), out, {}, str(tmp_path)))
    os.mkfifo(tmp_path / "fifo")
    assert "fifo: not a regular file" in refused(lambda: card.pack(str(folder), out, {}, str(tmp_path / "fifo")))
    assert refused(lambda: card.pack(str(packed), out, {})) == "%s: not the folder of a trained model" % packed
    assert "no config.toml there" in refused(lambda: card.pack(str(tmp_path), out, {}))
    shutil.copytree(folder, tmp_path / "model")
    (tmp_path / "model" / "summary.json").unlink()
    assert refused(lambda: card.pack(str(tmp_path / "model"), out, {})).startswith(
        "%s: no summary.json there" % (tmp_path / "model")
    )
    (tmp_path / "model" / "checkpoint.npz").touch()
    assert "its training has not ended" in refused(lambda: card.pack(str(tmp_path / "model"), out, {}))
    assert not (tmp_path / "m.mh4").exists()
    for name in ("origin.json", "checkpoint.npz"):  # which do not exist
        line = refuses("pack", str(folder), "-o", str(folder / name))
        assert line.endswith("would overwrite %s, which is read: choose another output" % (folder / name))
    assert refused(lambda: card.card_of(model_files.opened(str(folder)))).startswith("%s: no card there" % folder)


def test_damaged_files(packed, tmp_path):
    content = packed.read_bytes()
    path = tmp_path / "m.mh4"
    for damaged in (b"", b"PK", content[:1000], content[:-10], b"x" * 1000, content[:5000] + b"\0" * 100 + content[5100:]):
        path.write_bytes(damaged)
        assert str(path) in refused(lambda: mh4.load(path))
    assert str(path) in refuses("info", path)


@pytest.mark.parametrize("method", (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, 9))  # 9: deflate64
@pytest.mark.parametrize("damaged", (False, True))
def test_other_compression(packed, tmp_path, method, damaged):
    path = tmp_path / "m.mh4"
    with zipfile.ZipFile(packed) as file, zipfile.ZipFile(path, "w", method if method != 9 else zipfile.ZIP_DEFLATED) as other:
        for name in file.namelist():
            other.writestr(name, file.read(name))
        start = other.infolist()[0].header_offset + 30 + len(other.namelist()[0])
    content = bytearray(path.read_bytes())
    if method == 9:
        for signature, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
            content[content.index(signature) + place] = 9
    if damaged:
        content[start + 20 : start + 60] = bytes(40)
    path.write_bytes(content)
    assert refused(lambda: mh4.load(path)).endswith("made by mh4 pack")


@pytest.mark.parametrize(
    "member, old, new, said",
    [
        ("config.toml", b"seed = 1", b"seed = 2", "/config.toml: damaged: its content does not match its checksum"),
        ("manifest.json", b'"format": 1', b'"format": 2', ": packed in format 2, but this mh4 reads format 1; use the "),
    ],
    ids=["another content", "another format"],
)
def test_changed_members(packed, tmp_path, member, old, new, said):
    def change(members):
        members[member] = members[member].replace(old, new)

    path = rewritten(packed, tmp_path / "m.mh4", change)
    assert refused(lambda: mh4.load(path)).startswith(path + said)


@pytest.mark.slow
def test_hostile_files(packed, tmp_path):
    """Files with other members of any path, and small files that would fill the memory, are errors."""

    def add(name, content=b""):
        return lambda members: members.update({name: content})

    for name in ("../../outside", "/tmp/outside", "sub/config.toml", "origin.json"):
        assert refused(lambda name=name: mh4.load(rewritten(packed, tmp_path / "m.mh4", add(name)))).endswith("made by mh4 pack")
    for name in ("manifest.json", "vocabulary.json", "config.toml", "weights.npz"):
        path = tmp_path / "bomb.mh4"
        with zipfile.ZipFile(packed) as file, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
            for member in file.namelist():
                bomb.writestr(member, bytes(1 << 27) if member == name else file.read(member))
        assert path.stat().st_size < 10**6
        message = refused(lambda path=path: mh4.load(path))
        assert message.startswith("%s/%s: damaged: larger than" % (path, name)), message
        if name != "manifest.json":  # the members are not read
            assert checksums.of_model(str(path)) == checksums.of_model(str(packed))
    for manifest in (b"{}", b"[]", b"[" * 100_000, b'{"format": 1, "sha256": 3}', b'{"format": 1, "sha256": {"card.md": ""}}'):
        path = rewritten(packed, tmp_path / "m.mh4", add("manifest.json", manifest))
        assert refused(lambda path=path: mh4.load(path)).endswith("made by mh4 pack")
    path = rewritten(packed, tmp_path / "m.mh4", lambda members: members.pop("manifest.json"))
    assert "no manifest.json there" in refused(lambda: mh4.load(path))


def test_the_card_says_if_training_was_resumed_with_other_settings(folder, tmp_path):
    other = tmp_path / "resumed"
    shutil.copytree(folder, other)
    summary = json.loads((other / "summary.json").read_text())
    summary["changes"] = [{"updates": 10, "training.patience": 1, "training.max_updates": 20}]
    (other / "summary.json").write_text(json.dumps(summary))
    card.pack(str(other), str(tmp_path / "resumed.mh4"), {})
    said = "resumed after 10 updates with training.patience=1, training.max_updates=20"
    page = succeeds("info", "--card", tmp_path / "resumed.mh4").decode()
    assert "It was %s. So the command alone may make another model." % said in page
    assert said in succeeds("info", other).decode().splitlines()
