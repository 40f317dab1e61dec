"""Contextual vectors: models train and parse with them; other sentences, dimensions and invalid files are errors."""

import pickle
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import toy
from running import refused
from safetensors.numpy import save_file

import mh4
from mh4.data.sentence import Sentence
from mh4.parser import config, long_sentences
from mh4.parser.contextual_vectors import Contextual, Window, key
from mh4.parser.parsing import Parser
from mh4.training.trainer import Trainer

DIMENSIONS = 4
SETTINGS = toy.small("encoder.contextual=%d" % DIMENSIONS, "encoder.units=32")


def matrices(sentences, dtype=np.float32, seed=1):
    rng = np.random.default_rng(seed)
    return {key(s.words): rng.normal(size=(len(s), DIMENSIONS)).astype(dtype) for s in sentences}


@pytest.fixture(scope="module")
def files(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    save_file(matrices(sentences[:30]), folder / "train.safetensors")
    save_file(matrices(sentences[30:40], np.float16), folder / "dev.safetensors")
    return [str(folder / name) for name in ("dev.safetensors", "train.safetensors")]


def model(sentences, files=()):
    made = toy.untrained("mst", sentences[:30], settings=SETTINGS)
    if files:
        made.read_contextual(files)
    return made


def test_the_matrix_of_a_sentence(sentences, files):
    found = Contextual(files)
    assert found.dimensions == DIMENSIONS
    for sentence, expected in zip(sentences[:30], matrices(sentences[:30]).values()):
        assert np.array_equal(found.of(sentence), expected)
    half = found.of(sentences[35])
    assert half.dtype == np.float32 and half.shape == (len(sentences[35]), DIMENSIONS)


@pytest.mark.slow
def test_models(sentences, tmp_path):
    """Training learns from vectors that contain the heads, of words that are all the same."""
    alike = [replace(s, words=["x"] * len(s)) for s in sentences[:12]]
    kept = list({len(s): s for s in alike}.values())  # sentences of the same words have one matrix
    given = {
        key(s.words): np.stack([np.cos((s.heads[1:] - np.arange(1, len(s) + 1)) * f) for f in (0.1, 0.2, 0.4, 0.8)], 1)
        for s in kept
    }
    save_file({name: matrix.astype(np.float32) for name, matrix in given.items()}, tmp_path / "given.safetensors")
    scores = {}
    for with_vectors in (True, False):
        chosen = config.with_settings(
            SETTINGS if with_vectors else toy.SMALL, ["training.max_updates=100", "training.evaluate_updates=100"]
        )
        paths = [str(tmp_path / "given.safetensors")] if with_vectors else []
        folder = str(tmp_path / str(with_vectors))
        scores[with_vectors] = Trainer("mst", chosen, kept, kept, folder, contextual=paths).run()["dev_uas"]
    assert scores[True] > scores[False] + 5
    parser = mh4.load(tmp_path / "True", contextual=[str(tmp_path / "given.safetensors")])
    parsed = parser.parse(kept)
    by_path = mh4.load(tmp_path / "True", contextual=tmp_path / "given.safetensors")
    assert by_path.parse(kept) == parsed
    assert "with these words, in %s" % (tmp_path / "given.safetensors") in refused(lambda: by_path.parse([["other"]]))
    assert pickle.loads(pickle.dumps(parser)).parse(kept) == parsed


def test_windows_of_long_sentences(sentences, tmp_path, monkeypatch):
    """The words of a window have their vectors in the whole sentence."""
    words = [word for sentence in sentences[:20] for word in sentence.words][:60]
    matrix = np.random.default_rng(2).normal(size=(60, DIMENSIONS)).astype(np.float32)
    pieces = [(words[at : at + 20], matrix[at : at + 20]) for at in (0, 20, 40)]
    save_file({key(words): matrix}, tmp_path / "whole")
    save_file({key(part): rows for part, rows in pieces}, tmp_path / "parts")
    made = model(sentences, [str(tmp_path / "whole")])
    monkeypatch.setattr(long_sentences, "window", lambda parser: 20)
    (found,) = long_sentences.parse(Parser(made), [Sentence(words)], 10, tags=True)
    made.read_contextual([str(tmp_path / "parts")])
    for at, parsed in zip((0, 20, 40), Parser(made).parse([part for part, _ in pieces], tags=True)):
        inside = parsed.heads[1:] > 0
        assert (found.heads[1 + at : 21 + at][inside] == parsed.heads[1:][inside] + at).all()
        assert found.upos[at : at + 20] == parsed.upos


def test_what_is_refused(sentences, files, tmp_path):
    made = model(sentences, files)
    assert "sentence 51" in refused(lambda: Parser(made).parse([sentences[50]]))
    assert "no vectors of this sentence" in refused(lambda: Parser(made).parse([["other", "words"]]))
    assert "the model needs contextual vectors of the sentences" in refused(lambda: Parser(model(sentences)).parse(sentences[:2]))
    save_file({key(["a"]): np.zeros((1, 7), np.float32)}, tmp_path / "seven")
    assert refused(lambda: made.read_contextual([str(tmp_path / "seven")])).endswith("but the model needs 4")
    assert "of 7 dimensions, but %s has 4" % files[0] in refused(lambda: Contextual([files[0], str(tmp_path / "seven")]))
    without = toy.untrained("mst", sentences[:30])
    assert "was trained without contextual vectors" in refused(lambda: without.read_contextual(files))
    assert "No such file" in refused(lambda: Contextual([str(tmp_path / "none")]))
    for path in (5, True, [None], [""], [files[0], 5]):
        assert refused(lambda path=path: Contextual(path)).startswith("contextual cannot be ")
    save_file({}, tmp_path / "empty")
    assert "has no matrices" in refused(lambda: Contextual([str(tmp_path / "empty")]))
    (tmp_path / "text").write_text("Not in this format at all, but long enough for its length to be read")
    assert "damaged, or not in the format safetensors" in refused(lambda: Contextual([str(tmp_path / "text")]))
    words = sentences[0].words
    for matrix, message in (
        (np.zeros((len(words) + 1, DIMENSIONS), np.float32), "of the shape"),
        (np.zeros((len(words), DIMENSIONS), np.int32), "I32 of the shape"),
        (np.full((len(words), DIMENSIONS), np.nan, np.float32), "infinite or NaN"),
        (np.full((len(words), DIMENSIONS), 1e300), "infinite or NaN"),
    ):
        save_file({key(words): matrix}, tmp_path / "bad")
        with warnings.catch_warnings(action="error"):
            assert message in refused(lambda: Contextual([str(tmp_path / "bad")]).of(sentences[0]))


def test_a_sentence_in_several_files(sentences, tmp_path):
    """A sentence with other vectors in another file is an error when its vectors are requested."""
    paths = [str(tmp_path / name) for name in ("one", "two", "three")]
    given = matrices(sentences[:3])
    names = list(given)
    save_file(given, paths[0])
    save_file({names[0]: given[names[0]], names[1]: given[names[1]] + 1}, paths[1])
    save_file({names[0]: given[names[0]].astype(np.float64), names[2]: given[names[2]][:-1].copy()}, paths[2])
    found = Contextual(paths)
    for _ in range(2):
        assert np.array_equal(found.of(sentences[0]), given[names[0]])
        for call in (found.of, found.check):
            said = "%s: vectors of %s: others than in %s" % (paths[1], sentences[1].name, paths[0])
            assert refused(partial(call, sentences[1])) == said
            assert refused(partial(call, sentences[2])).startswith("%s: vectors of %s: F32 of" % (paths[2], sentences[2].name))
    begin = Window(sentences[1].words[:1], whole=sentences[1], start=0)
    assert "others than" in refused(partial(found.of, begin))
    assert np.array_equal(pickle.loads(pickle.dumps(Contextual(paths[:1] * 2))).of(sentences[1]), given[names[1]])
    changed = {**given, names[0]: np.full_like(given[names[0]], np.nan)}
    save_file(changed, paths[1])
    save_file(changed, paths[2])
    assert "others than in %s" % paths[0] in refused(lambda: Contextual(paths[:2]).of(sentences[0]))
    assert "infinite or NaN" in refused(lambda: Contextual(paths[1:]).of(sentences[0]))


def test_training_begins_only_with_vectors_of_all_its_sentences(sentences, files, tmp_path):
    save_file({key(s.words): np.zeros((9, DIMENSIONS), np.float32) for s in sentences[:1]}, tmp_path / "bad")

    def said(train, dev, contextual):
        return refused(lambda: Trainer("mst", SETTINGS, train, dev, str(tmp_path / "model"), contextual=contextual))

    assert "sentence 41 (toy-train-41): no vectors of this sentence" in said(sentences[:30], sentences[30:41], files)
    assert "sentence 41 (toy-train-41): no vectors of this sentence" in said(sentences[:41], sentences[30:40], files)
    assert "of the shape" in said(sentences[:1], sentences[:1], [str(tmp_path / "bad")])
