"""The toy treebank is the same on every machine, well-formed, and contains trees of every class."""

import collections
import hashlib
import os

import pytest

from mh4 import trees
from mh4.data import conllu, treebanks
from mh4.errors import InputError

DIGESTS = {
    "train": "246fbfd487055b4a9e8253bc894e8c80f415391e41d4f7e22d9861a3690e99f4",
    "dev": "4a3a30c3f4f5747723e36c66c14f5893f8b36d2cbd82ce14bd69e25f3929bcf7",
    "test": "40ee4523c8772ae418ddbaa5272cd656fd00ab5bb89fe0399e7a63e251b55cc3",
}
SIZES = {"train": 320, "dev": 80, "test": 80}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return treebanks.locate("toy", to=str(tmp_path_factory.mktemp("toy")))


def test_it_is_the_same_everywhere(paths):
    assert {split: hashlib.sha256(path.read_bytes()).hexdigest() for split, path in paths.items()} == DIGESTS
    assert all(path.name == "toy-ud-%s.conllu" % split for split, path in paths.items())


def test_only_what_is_missing_is_written(paths, tmp_path):
    again = treebanks.locate("toy", to=str(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in again.values()}
    again["dev"].unlink()
    assert treebanks.locate("toy", to=str(tmp_path)) == again
    assert again["dev"].read_bytes() == paths["dev"].read_bytes()
    assert again["train"].stat().st_mtime_ns == before[again["train"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in again.values())
    again["test"].write_text("changed")
    with pytest.raises(InputError, match="toy-ud-test.conllu exists but is not the file of the toy treebank: move it away"):
        treebanks.locate("toy", to=str(tmp_path))
    assert again["test"].read_text() == "changed"


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder: this folder cannot be created: Not a directory"):
        treebanks.locate("toy", to=str(tmp_path / "file" / "folder"))


def test_something_else_in_its_place(tmp_path):
    os.mkfifo(tmp_path / "toy-ud-dev.conllu")
    with pytest.raises(InputError, match="toy-ud-dev.conllu exists but is not the file of the toy treebank: move it away"):
        treebanks.locate("toy", to=str(tmp_path))


@pytest.mark.parametrize("split", SIZES)
def test_every_kind_of_tree(paths, split):
    kinds = collections.Counter()
    for sentence in conllu.read(str(paths[split])):
        heads = sentence.heads
        assert 3 <= len(sentence) <= 14
        assert list(heads[1:]).count(0) == 1
        kinds[tuple(trees.in_class(heads, name) for name in ("projective", "mh4", "1ec"))] += 1
    assert sum(kinds.values()) == SIZES[split]
    fortieth = SIZES[split] // 40
    assert kinds == {
        (True, True, True): 27 * fortieth,
        (False, True, True): 9 * fortieth,
        (False, True, False): 2 * fortieth,
        (False, False, True): fortieth,
        (False, False, False): fortieth,
    }


@pytest.mark.slow
def test_the_official_validator_accepts_it(paths):
    from udtools import Validator

    state = Validator(lang="ud", level=2).validate_files([str(path) for path in paths.values()])
    assert state.passed(), str(state)
