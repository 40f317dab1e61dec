"""Fixtures for studies in a separate folder, with a stand-in for mh4."""

import sys
from functools import partial

import pytest
from samples import STAND_IN, as_conllu, fake_manifest, row, study

from experiments.engine import executor
from mh4.data import treebanks


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """The folder with instructions for the stand-in and its records of calls."""
    folder = tmp_path / "stand_in"
    folder.mkdir()
    monkeypatch.setenv("STAND_IN", str(folder))
    monkeypatch.setattr(executor, "POLL_SECONDS", 0.02)  # trainings are short here
    return folder


@pytest.fixture
def call(stand_in, tmp_path):
    """A function that calls a study with the stand-in; all output is in tmp_path / "home"."""
    return partial(study, trainer=[sys.executable, str(STAND_IN)], home=tmp_path / "home")


@pytest.fixture
def run(call):
    """A function that calls make reproduce with the stand-in."""
    return partial(call, "reproduce")


@pytest.fixture
def hungarian(tmp_path, monkeypatch):
    """A folder whose train and dev sets count as UD 2.0; the data folder has no segmentation of the test set."""
    folder = tmp_path / "ud"
    folder.mkdir()
    texts = {"train": as_conllu(("a", 0, "root"), ("b", 1, "obj")), "dev": as_conllu(("b", 0, "root"), ("a", 1, "obj"))}
    for split, text in texts.items():
        (folder / ("hu-ud-%s.conllu" % split)).write_text(text)
    fake_manifest(monkeypatch, {text: row("hu", split, "2.0") for split, text in texts.items()})
    treebanks.manifest()  # read only once
    monkeypatch.setattr(treebanks, "DATA", tmp_path / "data")
    return folder


@pytest.fixture
def segmented(hungarian, tmp_path):
    """A folder with another segmentation of the Hungarian test set, into four words."""
    words = ("a", 0, "root"), ("b", 1, "det"), ("c", 1, "dep"), ("d", 3, "dep")
    (hungarian / "hu-ud-test.conllu").write_text(as_conllu(*words))
    folder = tmp_path / "conll17"
    folder.mkdir()
    (folder / "hu-udpipe.conllu").write_text(as_conllu(("a", 0, "_"), ("b", 0, "_"), ("cd", 0, "_")).replace("\t0\t", "\t_\t"))
    return folder
