"""Outputs survive a loss of power: commands write, sync and rename files, and sync folders, in the right order.

A preloaded library (calls.cpp) records these calls.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import toy
from running import preloading

from mh4.util import files

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")]
SMALL = "encoder.units=16 encoder.char_units=8 scorer.mlp_units=8 training.max_updates=6 training.evaluate_updates=2"


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    """The environment of processes whose calls are recorded."""
    return preloading(Path(__file__).with_name("calls.cpp"), tmp_path_factory.mktemp("library"))


class Recorded:
    """The calls of a command for files in a folder, and the problems that a loss of power could cause.

    renamed: the new names of files. problems: descriptions of files and folders that were not synced in time.
    """

    def __init__(self, recorder, folder, *arguments):
        log = folder.parent / (folder.name + ".log")
        log.write_text("")
        environment = {**recorder, "SYNCING": str(log)}
        done = subprocess.run([sys.executable, *map(str, arguments)], stdout=-1, stderr=-1, env=environment)
        assert done.returncode == 0, done.stderr.decode()
        self.events = [line.split("\t") for line in log.read_text().splitlines()]
        self.renamed = [Path(to).name for what, _, to in self.events if what == "rename" and to.startswith(str(folder))]
        self.problems = list(self._problems(str(folder)))

    def _problems(self, folder):
        contents, names = set(), set()  # files and folders with changes that may not be on the disk
        known = set()
        for what, path, to in self.events:
            if not path.startswith(folder):
                continue
            if what == "write":
                contents.add(path)
                if not path.endswith(".part") and path not in known:
                    names.add(os.path.dirname(path))
                known.add(path)
            elif what == "sync":
                contents.discard(path)
                names.discard(path)
            elif what == "mkdir":
                names.add(os.path.dirname(path.rstrip("/")))
            elif what == "rename":
                # All earlier writes must be synced, too, such as the metrics that a checkpoint counts.
                yield from ("%s is renamed to %s before %s is synced" % (path, to, one) for one in contents)
                names.add(os.path.dirname(to))
                known.add(to)
            elif what == "unlink":
                contents.discard(path)
                if not path.endswith(".part"):
                    yield from ("%s is deleted before %s is synced" % (path, one) for one in contents | names)
        yield from ("%s is never synced" % one for one in contents | names)


@pytest.fixture
def recorded(recorder, tmp_path):
    folder = tmp_path / "place"
    folder.mkdir()

    def run(*arguments):
        return Recorded(recorder, folder, "-m", "mh4", *arguments)

    run.folder = folder
    return run


@pytest.fixture(scope="module")
def dev(treebank):
    path = treebank / "toy-ud-dev.conllu"
    path.write_text(toy.beginning(path, 10), encoding="utf-8")
    return path


def training(dev, folder):
    settings = [part for setting in SMALL.split() for part in ("--set", setting)]
    return ["train", "--system", "mst", "--train", dev, "--dev", dev, "--model", folder, *settings]


@pytest.fixture(scope="module")
def model(dev, treebank):
    arguments = [sys.executable, "-m", "mh4", *training(dev, treebank / "model")]
    subprocess.run(list(map(str, arguments)), check=True, stdout=-1)
    return treebank / "model"


def test_a_training(recorded, dev):
    """Training into a folder inside a new folder is durable."""
    found = recorded(*training(dev, recorded.folder / "new" / "model"))
    assert found.problems == []
    assert found.renamed[:3] == ["vocabulary.json", "config.toml", "weights.npz"]
    assert found.renamed.count("checkpoint.npz") == 3 and found.renamed[-2:] == ["calibration.json", "summary.json"]


@pytest.mark.parametrize(
    "command, renamed",
    [
        ("parse --model MODEL DEV -o PLACE/out", ["out"]),
        ("parse --model MODEL DEV OTHER -o PLACE/new/folder/", ["toy-ud-dev.conllu", "other.conllu"]),
        ("ensemble --vote DEV DEV -o PLACE/voted", ["voted"]),
        ("view DEV --html PLACE/page.html", ["page.html"]),
        ("view DEV --sentence 1 --svg PLACE/tree.svg", ["tree.svg"]),
        *(("coverage DEV --plot PLACE/plot." + kind, ["plot." + kind]) for kind in ("png", "pdf", "svg")),
        ("compare DEV DEV DEV --plot PLACE/compared.svg", ["compared.svg"]),
        ("data toy --to PLACE/new/toy", ["toy-ud-%s.conllu" % split for split in ("train", "dev", "test")]),
        ("segmenter train DEV --dev DEV --epochs 1 -o PLACE/segmenter", ["segmenter"]),
    ],
)
def test_outputs(recorded, dev, model, command, renamed):
    pytest.importorskip("matplotlib" if "--plot" in command else "ufal.udpipe" if command.startswith("segmenter") else "os")
    other = recorded.folder.parent / "other.conllu"
    other.write_bytes(dev.read_bytes())
    for name, path in {"MODEL": model, "DEV": dev, "OTHER": other, "PLACE": recorded.folder}.items():
        command = command.replace(name, str(path))
    found = recorded(*command.split())
    assert found.problems == [] and sorted(found.renamed) == sorted(renamed)


# ------------------------------------------------------------------------------------------------- unusual file systems


@pytest.mark.parametrize("number", ["EINVAL", "ENOTSUP"])
def test_a_file_system_that_cannot_sync_folders(tmp_path, monkeypatch, number):
    sync = os.fsync

    def fsync(handle):
        if os.path.isdir("/proc/self/fd/%d" % handle):
            raise OSError(getattr(files.errno, number), "cannot")
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    files.make_folder(tmp_path / "a" / "b")
    files.write_text(str(tmp_path / "a" / "b" / "c"), "text")
    files.append_line(str(tmp_path / "a" / "b" / "d"), "line")
    assert (tmp_path / "a" / "b" / "c").read_text() == "text" and (tmp_path / "a" / "b" / "d").read_text() == "line\n"


def test_macos_flushes_the_memory_of_the_disk(tmp_path, monkeypatch):
    flushed, synced, full = [], [], 51
    monkeypatch.setattr(files.fcntl, "F_FULLFSYNC", full, raising=False)
    monkeypatch.setattr(files.fcntl, "fcntl", lambda handle, command: flushed.append(command))
    monkeypatch.setattr(os, "fsync", synced.append)
    files.write_text(str(tmp_path / "a"), "text")
    assert set(flushed) == {full} and len(flushed) == 2 and not synced  # the content and the name

    def cannot(handle, command):
        raise OSError(files.errno.ENOTTY, "cannot")

    monkeypatch.setattr(files.fcntl, "fcntl", cannot)
    files.write_text(str(tmp_path / "a"), "text")
    assert len(synced) == 2
