"""The predicted trees of a finished model: saved without words, merged into their file, and rejected for another file."""

import gzip
import re
import subprocess
import sys

import numpy as np
import pytest
import toy

from experiments.engine import predictions
from mh4.data import conllu
from mh4.data.cells import DEPREL, DEPS, HEAD
from mh4.errors import InputError
from mh4.util.files import git_blob_id

COMMAND = [sys.executable, "-m", "experiments", "predictions"]
LABELS = ("nsubj", "nmod:poss", "obl:tmod", "punct")


@pytest.fixture(scope="module")
def files(treebank):
    """The dev and test sets of the toy treebank, the latter with Windows line ends."""
    paths = {split: treebank / ("toy-ud-%s.conllu" % split) for split in ("dev", "test")}
    paths["test"].write_bytes(paths["test"].read_bytes().replace(b"\n", b"\r\n"))
    return paths


@pytest.fixture(scope="module")
def parsed(files):
    """The files with random trees and labels in the form of `mh4 parse`."""
    rng, parsed = np.random.default_rng(1), {}
    for split, path in files.items():
        parsed[split] = path.with_name(split + ".conllu")
        with open(parsed[split], "w", encoding="utf-8", newline="") as file:
            for block in conllu.blocks(str(path), trees=False):
                heads = [str(rng.integers(m)) for m in range(1, len(block.sentence) + 1)]  # to the left: no cycles
                labels = rng.choice(LABELS, len(heads)).tolist()
                file.write(block.text({HEAD: heads, DEPREL: labels, DEPS: ["_"] * len(heads)}))
    return parsed


@pytest.fixture(scope="module")
def trees(files, parsed):
    path = files["dev"].with_name("mst-seed1.trees.gz")
    predictions.keep(path, files, parsed)
    return path


def restored(trees, file):
    """Run the command that restores the trees."""
    return subprocess.run([*COMMAND, str(trees), str(file)], cwd=str(toy.ROOT), capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("split", ["dev", "test"])
def test_trees_come_back_as_they_were(files, parsed, trees, split):
    done = restored(trees, files[split])
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout == parsed[split].read_bytes() != files[split].read_bytes()
    path = files[split].with_name("restored.conllu")
    path.write_bytes(done.stdout)
    for one, two in zip(conllu.read(str(path)), conllu.read(str(parsed[split]))):
        assert one.heads.tolist() == two.heads.tolist() and one.deprels == two.deprels
    before = re.sub(rb"(?m)^\d+\.\d+\t.*\n", b"", files[split].read_bytes()).split(b"\n")
    after = done.stdout.split(b"\n")
    assert len(before) == len(after)
    for one, two in zip(before, after):  # only HEAD, DEPREL and DEPS of words differ
        one, two = one.split(b"\t"), two.split(b"\t")
        assert one == two or one[0].isdigit() and one[:6] == two[:6] and two[8] == b"_" and one[9:] == two[9:]


def test_no_word_is_kept(files, trees):
    text = gzip.decompress(trees.read_bytes()).decode("utf-8")
    lines = [line for line in text.splitlines() if line]
    assert lines[0] == "# dev toy-ud-dev.conllu " + git_blob_id(files["dev"])
    sentences = [sentence for path in files.values() for sentence in conllu.read(str(path))]
    assert len(lines) == len(files) + sum(map(len, sentences))
    words = {word for sentence in sentences for word in sentence.words}
    assert "." in words and not words & set(text.split())
    assert all(line.startswith("# ") or set(line.split("\t")[1:]) <= set(LABELS) for line in lines)


def test_the_same_trees_are_the_same_bytes(files, parsed, trees, tmp_path, monkeypatch):
    """The file does not depend on the time or its name."""
    monkeypatch.setattr(gzip.time, "time", lambda: 1.5e9)
    predictions.keep(tmp_path / "other.gz", files, parsed)
    assert (tmp_path / "other.gz").read_bytes() == trees.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["other.gz"]


def test_another_file_is_refused(files, trees, tmp_path):
    edited = tmp_path / "toy-ud-dev.conllu"
    edited.write_bytes(files["dev"].read_bytes() + b"\n")
    done = restored(trees, edited)
    assert done.returncode == 2 and done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("predictions: %s has no trees for %s (git blob %s)" % (trees, edited, git_blob_id(edited)))
    assert "only for dev toy-ud-dev.conllu %s, test toy-ud-test.conllu " % git_blob_id(files["dev"]) in line


def test_trees_that_are_none_are_refused(files, trees, tmp_path):
    """Files with invalid trees and a valid checksum of gzip are errors."""
    text, damaged = gzip.decompress(trees.read_bytes()).decode("utf-8"), tmp_path / "damaged.gz"
    first, head = text.split("\n")[0], text.split("\n")[1].partition("\t")[0]
    sentences = text.split("\n\n")
    for bad in [
        first + "\n",
        "\n\n".join(sentences[:3]) + "\n\n",
        text.replace("\n\n", "\n", 1),
        text.replace("\n%s\t" % head, "\n%s\n" % head, 1),
        text.replace("\n\n", "\n1\tdep\n\n", 1),
        *(text.replace("\n%s\t" % head, "\n%s\t" % other, 1) for other in ("x", "-1", "1", "9999", "99999999999999999999", "")),
    ]:
        damaged.write_bytes(gzip.compress(bad.encode("utf-8")))
        with pytest.raises(InputError, match="damaged.gz does not have a (tree|head and a relation) for every ") as error:
            predictions.restored(damaged, files["dev"])
        assert "\n" not in str(error.value)


def test_a_parser_that_fails_without_a_word(files, tmp_path):
    with pytest.raises(InputError, match="cannot parse toy-ud-dev.conllu: it exited with code 1$"):
        predictions.parse(["false"], tmp_path, files, {})


def test_single_roots(files, tmp_path):
    """All roots but the first become dependents of the first. A file of single roots is not copied."""
    sentence = "".join("%d\tw\t_\t_\t_\t_\t%d\tx\t_\t_\n" % word for word in [(1, 3), (2, 0), (3, 0), (4, 2), (5, 0)]) + "\n"
    path = tmp_path / "parsed.conllu"
    path.write_text(sentence + sentence.replace("\t0\t", "\t1\t", 1).replace("\t3\t", "\t0\t", 1), encoding="utf-8")
    copy = predictions.single_roots(path)
    assert [s.heads[1:].tolist() for s in conllu.read(str(copy))] == [[3, 0, 2, 2, 2], [0, 1, 1, 2, 1]]
    assert predictions.single_roots(copy) == copy and copy != path
    assert predictions.single_roots(files["dev"]) == files["dev"]
