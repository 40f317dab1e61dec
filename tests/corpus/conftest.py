"""A trained model, and a folder with it and files to parse."""

import os

import corpora
import pytest

from mh4.data import text_lines


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return corpora.train(tmp_path_factory.mktemp("model"))


@pytest.fixture
def folder(tmp_path, model, monkeypatch):
    """A current folder with the model, and files of two and of five portions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(text_lines, "PORTION", 7000)
    os.symlink(model, "model")
    dev = (tmp_path / "model" / "toy-ud-dev.conllu").read_bytes()
    os.mkdir("in")
    (tmp_path / "in" / "a b\n.conllu").write_bytes(dev[: dev.index(b"\n\n", 10_000) + 2])
    (tmp_path / "in" / "long.conllu").write_bytes(dev.replace(b"\n", b"\r\n"))
    corpora.pool(monkeypatch)
    return tmp_path
