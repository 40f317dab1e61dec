"""Vectors of words: all formats are read; models with vectors train, are saved, and parse words unseen in training."""

import bz2
import gzip
import os
import pickle
import re
import shutil
import threading
from contextlib import suppress

import numpy as np
import pytest
import toy
from running import refuses, succeeds

import mh4
from mh4.errors import InputError
from mh4.parser.model import Model
from mh4.parser.model_files import Folder, opened
from mh4.parser.parsing import Parser
from mh4.parser.vectors import Vectors
from mh4.parser.vocabulary import Vocabulary
from mh4.training import card
from mh4.training.trainer import Trainer

WORDS = ["the", "Ez", "az", "Az", "szó", "ház", "000"]
MATRIX = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)


def lines(words=WORDS, matrix=MATRIX):
    return ["%s %s" % (word, " ".join(map(str, vector.tolist()))) for word, vector in zip(words, matrix)]


def word2vec(words=WORDS, matrix=MATRIX, end=""):
    return "\n".join(["%d %d" % matrix.shape, *(line + end for line in lines(words, matrix))]) + "\n"


def binary(words=WORDS, matrix=MATRIX, between=b"\n"):
    rows = [word.encode() + b" " + vector.tobytes() + between for word, vector in zip(words, matrix)]
    return b"%d %d\n" % matrix.shape + b"".join(rows)


FORMATS = {
    "text.vec": word2vec().encode(),
    "fasttext.vec": word2vec(end=" ").encode(),
    "windows.vec": word2vec(end=" \r").encode(),
    "glove.txt": ("\n".join(lines()) + "\n").encode(),
    "marked.vec": word2vec().encode("utf-8-sig"),
    "marked.txt": ("\n".join(lines()) + "\n").encode("utf-8-sig"),
    "binary.bin": binary(),
    "packed.bin": binary(between=b""),
    "text.vec.gz": gzip.compress(word2vec().encode()),
    "binary.bin.bz2": bz2.compress(binary()),
}


def read(path, train=("az", "ház"), dev=("Szó",), most=100):
    return Vectors.read(str(path), train, dev, most)


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name, tmp_path):
    (tmp_path / name).write_bytes(FORMATS[name])
    found = read(tmp_path / name)
    assert sorted(found.words) == sorted(WORDS) and found.words[: found.learned] == ["az", "ház"]
    assert found.matrix.dtype == np.float32 and not found.matrix[0].any()
    for word, vector in zip(WORDS, MATRIX):
        assert np.array_equal(found.matrix[found.row(word)], vector)


def test_forms_of_words(tmp_path):
    (tmp_path / "v").write_bytes(FORMATS["text.vec"])
    found = read(tmp_path / "v")
    assert found.row("Az") != found.row("az") == found.row("AZ") != 0
    assert found.row("Ház") == found.row("ház") and found.row("123") == found.row("000") != 0
    assert found.row("ez") == found.row("unknown") == found.row("") == 0


def test_the_first_words_and_those_of_the_treebanks_are_kept(tmp_path):
    (tmp_path / "v").write_bytes(FORMATS["binary.bin"])
    assert read(tmp_path / "v", most=2).words == ["az", "ház", "the", "Ez", "szó"]
    (tmp_path / "v").write_text(word2vec(["a", "b", "a"], MATRIX[:3]))
    found = read(tmp_path / "v", train="b")
    assert found.words == ["b", "a"] and np.array_equal(found.matrix[1:], MATRIX[[1, 0]])


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "line 1: not a word and its vector"),
        (b"2 3\n", "has 0 vectors, but 2 according to line 1"),
        (b"just a text\nof words\n", "line 1: not a vector of numbers"),
        (b"1 0\n", "line 1: "),
        (b"2 3\nda 1 2\nb 1 2 3\n", "line 2: expected a word and 3 numbers, but there are 2"),
        (b"2 3\nNew York 1 2 3\nx 1 2 3\n", "has no vector of any word of the training treebank"),
        (b"2 2\na 1 1e39\nb 1 2\n", "line 2: a vector with numbers that are infinite or NaN"),
        (b"2 2\na 1 2\nb 1\n", "line 3: expected a word and 2 numbers, but there are 1"),
        (b"2 2\na 1 2\nb 1 x\n", "line 3: not a vector of numbers"),
        (b"2 2\na 1 2\nb 1 nan\n", "line 3: a vector with numbers that are infinite or NaN"),
        (b"2 2\na 1 2\n 1 2\n", "line 3: a vector without a word"),
        (b"3 2\na 1 2\nb 1 2\n", "has 2 vectors, but 3 according to line 1"),
        (b"2 2\nx 1 2\ny 1 2\n", "has no vector of any word of the training treebank"),
        (binary()[:-9], "word 7: cut off, or not vectors in 5 dimensions"),
        (binary()[: len(binary()) // 2], "cut off, or not vectors in 5 dimensions"),
        (b"7 99999999\n" + binary(), "cannot be"),
        (bytes.fromhex("ba164f2f") + bytes(100), "a model of fastText, not vectors"),
        (binary().replace(b"az ", b"a\nz "), "a line break in a word"),
        (b"2 3\na 1 2 3\nb " + (1 << 20) * b"1 ", "line 3: more than 1 MB in one line"),
        (b"a 1 2 3\nb " + (1 << 20) * b"1 ", "line 2: more than 1 MB in one line"),
    ],
)
def test_other_files_are_refused(content, message, tmp_path):
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(InputError) as error:
        read(tmp_path / "v", train=["a", "b", "az"])
    assert re.match(
        r"%s(: [^:]*$|: (a model of|has )|, (line|word) [0-9]+: )" % re.escape(str(tmp_path / "v")), str(error.value)
    ) and message in str(error.value)
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none")


def test_a_word_that_does_not_end(tmp_path):
    """A file without a line break is rejected before more than the longest possible word is read."""
    os.mkfifo(tmp_path / "v")
    written = []

    def write():
        with suppress(BrokenPipeError), open(tmp_path / "v", "wb", buffering=0) as file:
            file.write(b"2 3\n")
            written.append(sum(file.write(b"x" * (1 << 16)) for _ in range(400)))

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(InputError, match="word 1: cut off, or not vectors in 3 dimensions"):
        read(tmp_path / "v")
    writer.join()
    assert not written


# ----------------------------------------------------------------------------------------------------------- in a model


def settings(how, *more):
    return toy.small("encoder.vectors=" + how, "encoder.units=32", *more)


@pytest.fixture(scope="module")
def vectors(sentences):
    words = sorted({word for sentence in sentences[:40] for word in sentence.words})
    matrix = np.random.default_rng(2).normal(size=(len(words) + 2, 6)).astype(np.float32)
    matrix[0] = 0
    return Vectors([*words, "zebra"], matrix, len(words))


def trained(how, vectors, sentences, folder, updates=30):
    chosen = settings(how, "training.max_updates=%d" % updates, "training.evaluate_updates=%d" % updates)
    Trainer("mh4-hybrid", chosen, sentences[:30], sentences[30:40], str(folder), vectors=vectors).run()
    return Parser.load(folder)


def shifts(model, sentence):
    return toy.tensors(model, [sentence])[0]["shift"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["frozen", "tuned"])
def test_models(how, vectors, sentences, tmp_path):
    """Copies of a model parse words unseen in training as the model does. Only tuned vectors are learned."""
    parser = trained(how, vectors, sentences, tmp_path)
    unseen = [["zebra", *sentences[0].words[1:]]]
    found = parser.parse(unseen)[0].heads.tolist()
    card.pack(str(tmp_path), str(tmp_path / "m.mh4"), {})
    for copy in (Parser.load(tmp_path / "m.mh4"), pickle.loads(pickle.dumps(parser))):
        assert copy.parse(unseen)[0].heads.tolist() == found
        assert np.array_equal(shifts(copy.model, sentences[0]), shifts(parser.model, sentences[0]))
    lookup = [array for array in parser.model._arrays().values() if array.shape == (vectors.learned, 6)]
    assert len(lookup) == (how == "tuned")
    for array in lookup:
        assert not np.allclose(array, vectors.matrix[1 : vectors.learned + 1])
    assert np.array_equal(parser.model.vectors.matrix, vectors.matrix)


@pytest.mark.parametrize("how", ["frozen", "tuned"])
def test_vectors_are_the_input(how, vectors, sentences):
    """Scores of untrained models depend on the vectors. Frozen vectors of zeros are the same as no vectors."""
    chosen, vocabulary = settings(how), Vocabulary.of(sentences[:30], toy.SMALL)
    other = Vectors(vectors.words, 2 * vectors.matrix, vectors.learned)
    none = Vectors(["of no sentence"], vectors.matrix[:2].copy(), 1)
    with_zeros = Vectors(vectors.words, 0 * vectors.matrix, vectors.learned)
    scores = [shifts(Model("mh4-hybrid", chosen, vocabulary, 1, v), sentences[0]) for v in (vectors, other, none, with_zeros)]
    frozen = shifts(Model("mh4-hybrid", settings("frozen"), vocabulary, 1, vectors), sentences[0])
    assert how == "tuned" or np.array_equal(scores[0], frozen)
    assert not np.allclose(scores[0], scores[1])
    assert how == "tuned" or np.array_equal(scores[2], scores[3])


def test_models_without_their_vectors(vectors, sentences, tmp_path):
    vocabulary = Vocabulary.of(sentences[:30], toy.SMALL)
    Model("mst", settings("frozen"), vocabulary, 1, vectors).save(str(tmp_path))
    shutil.copytree(tmp_path, tmp_path / "other")
    Vectors(vectors.words, 2 * vectors.matrix, vectors.learned).save(str(tmp_path / "other"))
    with pytest.raises(InputError, match="vectors.npz is damaged, or does not belong to these weights"):
        Model.load(tmp_path / "other")
    content = bytearray((tmp_path / "vectors.npz").read_bytes())
    content[len(content) // 2] ^= 255
    (tmp_path / "other" / "vectors.npz").write_bytes(content)
    with pytest.raises(InputError, match="vectors.npz: damaged"):
        Model.load(tmp_path / "other")
    (tmp_path / "other" / "vectors.npz").unlink()
    with pytest.raises(InputError, match="no vectors of words there"):
        Model.load(tmp_path / "other")
    assert isinstance(opened(str(tmp_path)), Folder)


@pytest.mark.slow
def test_training_by_name(sentences, treebank, tmp_path):
    """mh4.train infers the settings of vectors. Missing and unsuitable files are errors."""
    words = sorted({word for sentence in sentences for word in sentence.words})
    path = tmp_path / "toy.vec"
    path.write_text("\n".join(lines(words, np.random.default_rng(3).normal(size=(len(words), 3)))) + "\n")
    files = {"train": treebank / "toy-ud-dev.conllu", "dev": treebank / "toy-ud-test.conllu"}
    few = {"training": {"max_updates": 4, "evaluate_updates": 4}, "encoder": {"units": 16, "char_units": 16}}
    parser = mh4.train(**files, model=tmp_path / "a", system="mst", config=few, vectors=path)
    assert parser.model.config.encoder.vectors == "frozen" and parser.model.vectors.dimensions == 3
    said = succeeds("info", str(tmp_path / "a")).decode()
    assert "vectors of %d words, %d of them in the training treebank\n" % (len(words), parser.model.vectors.learned) in said
    begun = mh4.train(**files, model=tmp_path / "b", config={"training": {"max_updates": 8}}, init=tmp_path / "a")
    assert begun.model.vectors.words == parser.model.vectors.words
    command = ["parse", "--model", tmp_path / "a", treebank / "toy-ud-test.conllu", "-o", tmp_path / "a" / "vectors.npz"]
    assert "would overwrite" in refuses(*map(str, command))
    with pytest.raises(InputError, match="cannot be given with init, the model to begin with"):
        mh4.train(**files, model=tmp_path / "c", init=tmp_path / "a", vectors=path)
    for setting, message in (("vectors=tuned", "--vectors FILE"), ("contextual=3", "--contextual FILE")):
        with pytest.raises(InputError, match="needs .*" + message):
            mh4.train(**files, model=tmp_path / "c", system="mst", settings=["encoder." + setting])
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match="fifo: not a regular file, so it cannot be read more than once"):
        mh4.train(**files, model=tmp_path / "c", system="mst", config=few, vectors=tmp_path / "fifo")
    path.write_text(path.read_text() + "another 1 2 3\n")
    with pytest.raises(InputError, match="trained on other files"):
        mh4.train(**files, model=tmp_path / "a", system="mst", config=few, vectors=path)
    assert not (tmp_path / "c").exists()
