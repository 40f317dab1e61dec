"""Damage to the folder of a corpus: nothing is overwritten, and damaged files are reported or made again."""

import errno
import json
import os
import re
import shutil

import corpora
import pytest
from corpora import mh4, parse, pool, same_as_mh4_parse

from mh4 import version
from mh4.corpus.folder import Corpus
from mh4.errors import InputError
from mh4.parser import checksums

pytestmark = pytest.mark.slow

pytest.importorskip("mh4.corpus.workers", reason="Dask is not installed", exc_type=ImportError)

FAILED = 2
READING = (["status", "out"], ["verify", "out"], ["join", "out", "-o", "joined"])


def change(path, **entries):
    """Change entries of a JSON file; None removes an entry."""
    found = {**json.loads(path.read_text()), **entries}
    path.write_text(json.dumps({name: value for name, value in found.items() if value is not None}))


def test_outputs_that_would_overwrite_something(folder):
    before = {path.name: path.read_bytes() for path in (folder / "in").iterdir()}
    assert "in is the folder of the input" in mh4("corpus", "parse", "in", "-o", "in", "--model", "model", code=FAILED)
    parse("--rejects")
    for output, message in (
        ("in", "would overwrite a file that was parsed"),
        ("out/shards", "is in the folder of the corpus itself"),
    ):
        assert message in mh4("corpus", "join", "out", "-o", output, code=FAILED)
    os.mkdir("joined")
    os.symlink("long.conllu", "joined/a b\n.conllu")
    assert "would be written twice" in mh4("corpus", "join", "out", "-o", "joined", code=FAILED)
    assert "would be written twice" in mh4("corpus", "join", "out", "-o", "new", "--rejects", "new/long.conllu", code=FAILED)
    assert "both a file and a folder" in mh4("corpus", "join", "out", "-o", "new", "--rejects", "new", code=FAILED)
    assert not (folder / "new").exists() and os.listdir("joined") == ["a b\n.conllu"]
    os.unlink("joined/a b\n.conllu")
    os.mkdir("joined/long.conllu")
    assert "joined/long.conllu would be both a file and a folder" in mh4("corpus", "join", "out", "-o", "joined", code=FAILED)
    assert os.listdir("joined") == ["long.conllu"]
    assert {path.name: path.read_bytes() for path in (folder / "in").iterdir()} == before


def refuse(monkeypatch, refused):
    """Deny this process the permission to open a file."""

    def open_(path, *options, **more):
        if os.path.abspath(path) == str(refused):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, *options, **more)

    opened = os.open
    monkeypatch.setattr(os, "open", open_)


def test_a_file_that_cannot_be_read(folder, monkeypatch):
    """A file that cannot be read is reported once, the others are parsed, and the next run tries it again."""
    refuse(monkeypatch, folder / "in" / "long.conllu")
    said = parse(code=1)
    assert said.count("long.conllu") == 1 and "long.conllu: cannot be read: Permission denied\n" in said
    assert ": 2 shards, " in said
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    parse()


@pytest.mark.parametrize("extension", [".json", ".conllu"])
def test_shards_that_cannot_be_read(folder, monkeypatch, extension):
    """Shards that cannot be read are reported and kept; they are neither missing nor parsed again."""
    parse()
    record = corpora.records(folder / "out")[2]
    refused = record.with_suffix(extension)
    refuse(monkeypatch, refused)
    said = "%s: cannot be read: Permission denied" % refused
    if extension == ".json":
        problem = parse(code=1)
        assert said in problem and "changed" not in problem
        for command in READING:
            assert mh4("corpus", *command, code=FAILED) == "mh4: %s\n" % said
    else:
        assert said in mh4("corpus", "join", "out", "-o", "joined", code=1)
        pool(monkeypatch)
        assert said in mh4("corpus", "verify", "out", code=1)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert record.exists() and same_as_mh4_parse(folder)


def test_a_lock_that_cannot_be_written(folder):
    os.makedirs("out/lock")
    assert "out/lock: cannot be written: Is a directory" in parse(code=FAILED)
    os.rmdir("out/lock")
    (folder / "mine").write_text("mine")
    os.symlink(folder / "mine", "out/lock")
    assert "out/lock: cannot be written: Too many levels of symbolic links" in parse(code=FAILED)
    assert (folder / "mine").read_text() == "mine"
    os.unlink("out/lock")
    parse()
    os.unlink("out/lock")
    os.mkfifo("out/lock")
    assert "nobody is at work" in mh4("corpus", "status", "out")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_folder_of_another_user(folder):
    os.mkdir("out")
    os.chmod("out", 0o777)
    os.chown("out", 65534, 65534)
    assert "out: belongs to another user, and everybody can write to it: name another folder" in parse(code=FAILED)
    os.chmod("out", 0o775)
    parse()


def test_two_kinds_of_workers(folder):
    assert "choose one of them" in parse("--scheduler", "tcp://x:1", "--slurm", "", code=FAILED)


@pytest.mark.parametrize(
    "entries",
    [
        {"options": {}},
        {"seconds": None},
        {"parsed_words": "7"},
        {"output_sha256": None},
        {"output_bytes": 1},
        {"rejects_sha256": None},
        {"rejects_bytes": 1},
        {"sha256": "0"},
        {"fallbacks": {"beam": "x"}},
        {"warnings": [5]},
        {"seconds": float("nan")},
        {"seconds": 1e300},
        {"parsed_words": 10**400},
    ],
)
def test_damaged_records(folder, monkeypatch, entries):
    """A shard with a damaged record is parsed again."""
    options = ["--rejects"] if any(name.startswith("rejects") for name in entries) else []
    parse(*options)
    change(corpora.records(folder / "out")[2], **entries)
    assert ": shards done: 7 of 8;" in mh4("corpus", "status", "out")
    assert "so nothing is written for in/" in mh4("corpus", "join", "out", "-o", "joined", code=1)
    worked_on = []
    pool(monkeypatch, worked_on.append)
    parse(*options)
    assert len(worked_on) == 1 and same_as_mh4_parse(folder)


FILE = {"number": 0, "path": "/x", "given": "x", "name": "x"}


@pytest.mark.parametrize(
    "entries",
    [
        {"inputs": []},
        {"inputs": ["x"]},
        {"inputs": [FILE, FILE]},
        {"removed": 5},
        {"removed": [FILE]},
        {"inputs": [{**FILE, "number": -1}]},
        {"inputs": [{**FILE, "name": "a/../../x"}]},
        {"inputs": [{**FILE, "name": "/x"}]},
        {"inputs": [{**FILE, "path": "\0"}]},
        {"removed": [{**FILE, "number": 9, "name": "\ud800"}]},
        {"settings": 5},
        {"model": 5},
        {"model": "\0"},
        {"segmenter": []},
        {"segmenter": "\ud800"},
        {"tags": None},
        {"beam": True},
        {"decode": ["exact"]},
        {"beyond": "x"},
    ],
)
def test_damaged_settings(folder, entries):
    """Damaged entries for input files or settings are reported by every command."""
    parse()
    path = folder / "out" / "corpus.json"
    settings = {"settings": {**json.loads(path.read_text())["settings"], **entries}}
    change(path, **(entries if {*entries} <= {"inputs", "removed", "settings"} else settings))
    for command in READING:
        assert "corpus.json: damaged, or made by another version" in mh4("corpus", *command, code=FAILED)
    assert "corpus.json: damaged" in parse(code=FAILED)


@pytest.mark.parametrize("line", ["nonsense", "[" * 100_000, '{"file": 1}', "{}", '{"shards": 2}', ""])
def test_damaged_plans(folder, line):
    """A damaged plan is used up to the damaged line, and completed."""
    parse()
    plan = folder / "out" / "plan" / "00001.jsonl"
    lines = plan.read_text().split("\n")
    for at in (0, 1, 3):
        plan.write_text("\n".join([*lines[:at], line, *lines[at + 1 :]]))
        parse()
        assert plan.read_text().split("\n") == lines
    assert same_as_mh4_parse(folder)


def test_what_is_no_file(folder):
    """A FIFO, which might never end, in place of a plan or of an input file is rejected."""
    parse()
    (folder / "out/plan/00001.jsonl").rename("plan")
    os.mkfifo("out/plan/00001.jsonl")
    for command in READING:
        assert "00001.jsonl: cannot be read: not a file" in mh4("corpus", *command, code=FAILED)
    os.replace("plan", "out/plan/00001.jsonl")
    os.unlink("in/long.conllu")
    os.mkfifo("in/long.conllu")
    assert "long.conllu: cannot be read: not a file" in mh4("corpus", "verify", "out", code=1)


def test_rejects_that_are_gone_or_changed(folder):
    with open("in/long.conllu", "a") as file:
        file.write("1\tnot\t_\n\n")
    parse("--rejects")
    (rejects,) = (path for path in (folder / "out").glob("shards/*/*/*.rejects*") if path.stat().st_size)
    content = rejects.read_bytes()
    for damaged in (content.upper(), None):
        rejects.unlink() if damaged is None else rejects.write_bytes(damaged)
        said = mh4("corpus", "join", "out", "-o", "joined", "--rejects", "all", code=1)
        assert ("%s: damaged: its content does not match" % rejects in said) == bool(damaged)
        assert "nothing is written for in/long.conllu" in said
        assert os.listdir("joined") == ["a b\n.conllu"] and (folder / "all").read_bytes() == b""
        mh4("corpus", "join", "out", "-o", "joined", "--rejects", "all", code=1)
        mh4("corpus", "verify", "out", code=1)
        parse("--rejects")
        assert rejects.read_bytes() == content


def test_another_program(folder, monkeypatch):
    """A corpus begun by other source files of the same version is neither continued nor verified."""
    parse()
    monkeypatch.setattr(checksums, "of_program", lambda: "0" * 64)
    assert "begun with the source files of mh4 with checksum " in parse(code=FAILED)
    message = "this process cannot verify it: its mh4 %s has other source files" % version.__version__
    assert message in mh4("corpus", "verify", "out", code=FAILED)


def test_a_model_that_cannot_parse_so(folder):
    """A model that does not fit the options, or is damaged, is reported once, before the folder is made."""
    assert "mh3 has no scores of arcs, which beyond=mst needs" in parse("--beyond", "mst", code=FAILED)
    shutil.copytree("model", "damaged")
    with open("damaged/weights.npz", "r+b") as file:
        file.truncate(1000)
    assert "damaged" in parse(model="damaged", code=FAILED) and not (folder / "out").exists()


def test_a_model_that_is_moved_is_known_from_then_on(folder):
    """A new path of the model is stored for commands without --model."""
    parse()
    os.rename("model", "moved")
    parse(model="moved")
    assert Corpus.load("out").settings.model == str(folder / "moved")


def test_verifying_that_ends_early_takes_nothing_back(folder, monkeypatch):
    """Shards that `verify` cannot check, because the worker or the input is gone, stay valid."""

    def killed(shard):
        raise InputError("its worker was killed")

    parse()
    pool(monkeypatch, killed)
    assert "its worker was killed" in mh4("corpus", "verify", "out", code=1)
    pool(monkeypatch)
    os.rename("in", "elsewhere")
    assert "cannot be read: No such file or directory" in mh4("corpus", "verify", "out", code=1)
    os.rename("elsewhere", "in")
    assert len(corpora.records(folder / "out")) == 8 and same_as_mh4_parse(folder)


def test_a_sample_that_cannot_be_parsed(folder):
    content = (folder / "in" / "long.conllu").read_bytes()
    with open("in/long.conllu", "wb") as file:
        file.write(b"1\tnot\t_\n\n" + content)
    said = parse("--plan", code=FAILED)
    assert re.fullmatch(r"mh4: in/long\.conllu, line 1, sentence 1: 3 columns, .*\n", said), said
