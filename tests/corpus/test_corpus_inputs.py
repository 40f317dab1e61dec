"""Find the files to parse, and name their parses."""

import os
import subprocess
import sys

import pytest

from mh4.corpus.inputs import inputs
from mh4.errors import InputError


def make(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")


def test_folders_and_files_of_any_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(
        tmp_path,
        "in/b.conllu",
        "in/a/c d\n.conllu",
        "in/a/e.conllu.gz",
        "in/notes.txt",
        "in/out/shards/0.conllu",
        "x/b.conllu",
        "b.txt",
    )
    make(tmp_path, os.fsdecode(b"in/\xff.conllu"))
    found = inputs(["in", "x/b.conllu", "b.txt", "in/b.conllu"], False, "in/out")
    assert [one.given for one in found] == [
        "in/a/c d\n.conllu", "in/a/e.conllu.gz", "in/b.conllu", os.fsdecode(b"in/\xff.conllu"), "x/b.conllu", "b.txt",
    ]  # fmt: skip
    assert all(one.path == os.path.abspath(one.given) for one in found)
    assert [one.folder for one in found] == [str(tmp_path / "in")] * 4 + [""] * 2
    assert [one.name for one in found] == [
        "a/c d\n.conllu", "a/e.conllu.gz", "b.conllu", os.fsdecode(b"\xff.conllu"), "b-2.conllu", "b-3.conllu",
    ]  # fmt: skip
    assert [one.name for one in inputs(["in", "b.txt"], True, "out")] == ["notes.conllu", "b.conllu"]


def test_links_and_hidden_files(tmp_path, monkeypatch):
    """Folders are entered through links, but only once; hidden files, such as an editor's, are ignored."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path, "in/a/b.conllu", "in/a/.b.conllu", "in/.hidden/c.conllu", "far/d.conllu", "omitted/e.conllu")
    os.symlink("../far", "in/to")
    os.symlink("../in", "far/back")
    os.symlink("../../omitted", "in/a/out")
    assert [one.given for one in inputs(["in"], False, "omitted")] == ["in/a/b.conllu", "in/to/d.conllu"]
    assert [one.name for one in inputs(["in"], False, "elsewhere")] == ["a/b.conllu", "a/out/e.conllu", "to/d.conllu"]


def test_each_folder_is_read_once(tmp_path, monkeypatch):
    """Each folder is read once, under its own name; links between ten folders would lead to millions of paths."""
    monkeypatch.chdir(tmp_path)
    names = ["%d" % k for k in range(10)]
    for one in names:
        make(tmp_path, "in/%s/x.conllu" % one)
        for other in names:
            os.symlink("../" + other, "in/%s/to%s" % (one, other))
    os.symlink("../far", "in/z")
    os.symlink("../far", "in/y")
    longest = 101 if sys.platform == "darwin" else 1101  # paths are shorter there
    folders = ["far/" + "d/" * depth for depth in range(longest)]
    try:
        for one in folders:
            os.mkdir(one)
        make(tmp_path, folders[-1] + "y.conllu")
        expected = [*("in/%s/x.conllu" % one for one in names), "in/y/%sy.conllu" % folders[-1].removeprefix("far/")]
        assert [one.given for one in inputs(["in"], False, "out")] == expected
    finally:
        subprocess.run(["rm", "-rf", "far"], check=True)  # it is too deep for pytest to delete


def test_compressed_files_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(tmp_path, "a.conllu", "b/a.conllu.xz", "c/a.conllu.xz", "d/a.txt.gz")
    found = inputs(["a.conllu", "b", "c", "d/a.txt.gz"], False, "out")
    assert [one.name for one in found] == ["a.conllu", "a.conllu.xz", "a-2.conllu.xz", "a.conllu.gz"]


def test_a_file_called_as_a_folder(tmp_path, monkeypatch):
    """A parse whose name is also that of a folder of parses is renamed, whichever comes first."""
    monkeypatch.chdir(tmp_path)
    make(tmp_path, "texts/a.conllu/b.txt", "texts/a.txt", "x/a.conllu")
    assert [one.name for one in inputs(["texts"], True, "out")] == ["a.conllu/b.conllu", "a-2.conllu"]
    make(tmp_path, "y/a.conllu/b.conllu")
    assert [one.name for one in inputs(["x", "y"], False, "out")] == ["a-2.conllu", "a.conllu/b.conllu"]


def test_what_cannot_be_parsed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(tmp_path, "empty/readme.txt")
    os.mkfifo("fifo")
    make(tmp_path, "odd/a.conllu")
    os.symlink("gone", "odd/b.conllu")
    os.symlink("../fifo", "odd/c.conllu")
    with pytest.warns(RuntimeWarning, match=r"left out: b.conllu \(not a file\), c.conllu \(not a file\)$"):
        assert [one.given for one in inputs(["odd"], False, "out")] == ["odd/a.conllu"]
    os.unlink("odd/a.conllu")
    for given, message in (
        ("odd", r"^odd: no \.conllu files in this folder$"),
        ("odd/b.conllu", "^odd/b.conllu: cannot be read: No such file or directory$"),
        ("empty", r"^empty: no \.conllu files in this folder$"),
        ("none", "^none: cannot be read: No such file or directory$"),
        ("fifo", "^fifo: cannot be read: not a file$"),
    ):
        with pytest.raises(InputError, match=message):
            inputs([given], False, "out")
