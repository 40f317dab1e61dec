"""Damaged models and trainings: each is rejected in one sentence, or works as if it were intact."""

import json
import os
import random
import re
import shutil
import socket
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import toy
from click.testing import CliRunner
from damage import damages
from running import refused, refuses

import mh4
from mh4 import cli
from mh4.errors import InputError
from mh4.parser import config
from mh4.training import card
from mh4.training.trainer import Trainer

pytestmark = pytest.mark.slow

TINY = config.with_settings(toy.SMALL, ["training.max_updates=20", "training.evaluate_updates=10", "encoder.units=16"])


def trainer(sentences, folder, system="mh4-hybrid", settings=TINY, **options):
    return Trainer(system, settings, sentences[:30], sentences[30:40], str(folder), **options)


SOURCES = {"train": {"file": "a.conllu", "git_blob": "0" * 40}}


@pytest.fixture(scope="module")
def intact(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    trainer(sentences, folder, sources=SOURCES).run()
    return folder


@pytest.fixture
def model(intact, tmp_path):
    return Path(shutil.copytree(intact, tmp_path / "model"))


def parsed(folder, sentences):
    found = mh4.load(str(folder)).parse(sentences[:20], tags=True)
    return [(s.heads.tolist(), s.deprels, s.upos, s.xpos, s.feats) for s in found]


def info(folder):
    """Return the exit code of `mh4 info`, and its output or the one sentence of its error."""
    done = CliRunner().invoke(cli.main, ["info", str(folder)])
    assert done.exit_code in (0, 2), done.output
    if done.exit_code == 2:
        assert done.output.startswith("mh4: ") and done.output.count("\n") == 1
    return done.exit_code, done.output


def arrays(folder):
    """Return the weights without checksums."""
    with np.load(folder / "weights.npz") as file:
        return {name: array for name, array in file.items() if name not in ("checksum", "vocabulary")}


def old(folder, **changed):
    """Save the weights, some of them changed, without checksums, as an earlier version did."""
    np.savez(folder / "weights.npz", **{**arrays(folder), **changed})


DAMAGES = {one.name: one for one in damages()}
# Damages that cannot be noticed in models of an earlier version, which saved no checksums.
UNNOTICED = "reordered|negated|exchanged|all zero|e.38|float16|aaaa"
MESSAGES = {
    'config.toml: format = "2"': "a model of format '2', but",
    "config.toml: seed = -1": "the seed cannot be -1",
    "config.toml: system = 1": "no system 1; there are mh3, ",
    "config.toml: units = 20000": "encoder.units cannot be 20000, expected an even number from 2 to 10000",
    "config.toml: learning_rate = nan": "training.learning_rate cannot be nan",
    "config.toml: unknown section": "no section 'nonsense'",
    "config.toml: a key of 30,000 parts": "not TOML: a line of 60003 characters",
    "config.toml: a megabyte of comments": "damaged: larger than 64 KB",
    "vocabulary.json: labels reordered": "vocabulary.json is damaged, or does not belong to these weights",
    "weights.npz: p0 negated": "its content does not match its checksum",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage(model, intact, sentences, name):
    """A damaged model is rejected by `load` and by `info`, or parses as before; `make sweep` tries all commands."""
    one = DAMAGES[name]
    one.apply(model)
    try:
        assert parsed(model, sentences) == parsed(intact, sentences) and one.sound is not False
        code, said = info(model)
        assert code == 0 or one.sound is None and name.partition(":")[0] + ": " in said
    except InputError:
        assert not one.sound
        said = refused(lambda: mh4.load(str(model)))
        assert str(model) in said and MESSAGES.get(name, "") in said
        assert info(model) == (2, "mh4: %s\n" % said)


@pytest.mark.parametrize(
    "name", [name for name in DAMAGES if re.match(r"(vocabulary.json|weights.npz): (p0|all|label|a label)", name)]
)
def test_damage_of_models_without_checksums(model, name):
    old(model)
    assert info(model)[0] == 0
    DAMAGES[name].apply(model)
    try:
        mh4.load(str(model))
    except InputError as error:
        assert str(model) in str(error) and not re.search(UNNOTICED, name)
    else:
        assert re.search(UNNOTICED, name)


def test_what_is_no_damage(model, intact, sentences):
    """Weights without checksums and other white space in the vocabulary are valid."""
    old(model)
    tables = json.loads((model / "vocabulary.json").read_text(encoding="utf-8"))
    (model / "vocabulary.json").write_text(json.dumps(tables), encoding="utf-8")
    assert (model / "vocabulary.json").read_bytes() != (intact / "vocabulary.json").read_bytes()
    assert parsed(model, sentences) == parsed(intact, sentences)


@pytest.mark.parametrize("name", ["config.toml", "vocabulary.json", "weights.npz"])
def test_random_damage_is_noticed_or_does_not_matter(model, intact, sentences, name):
    """With bytes changed, lost, added or cut off, the parses are the same, or the model is rejected."""
    expected, content, draw = parsed(intact, sentences), (intact / name).read_bytes(), random.Random(1)
    noticed = 0
    # Not in the last section of config.toml: other weights of tags are valid there, and 0 turns their prediction off.
    most = content.index(b"[training]") if name == "config.toml" else len(content)
    for trial in range(60):
        at = draw.randrange(most)
        damaged = bytearray(content)
        if trial % 4 == 0:
            damaged[at] ^= 1 << draw.randrange(8)
        elif trial % 4 == 1:
            del damaged[at : at + draw.randrange(1, 40)]
        elif trial % 4 == 2:
            damaged[at:at] = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 40)))
        else:
            del damaged[at:]
        (model / name).write_bytes(damaged)
        try:
            assert parsed(model, sentences) == expected
        except InputError as error:
            assert str(model) in str(error)
            noticed += 1
        assert info(model)[0] in (0, 2)
    assert noticed > 20


def test_settings_from_a_pipe(tmp_path):
    """--config may be a pipe, as in `--config <(...)`, of limited size."""
    assert refuses("train", *TRAIN, "--config", "/dev/zero").startswith("mh4: /dev/zero: cannot be read: not a file")
    os.mkfifo(tmp_path / "fifo")
    for text, said in (("[nonsense]\n", "no section 'nonsense'"), ("#" * 10**6, "larger than 64 KB")):
        writer = threading.Thread(target=write, args=(tmp_path / "fifo", text))
        writer.start()
        assert said in refuses("train", *TRAIN, "--config", str(tmp_path / "fifo"))
        writer.join()


TRAIN = ["--system", "mst", "--train", "none", "--dev", "none", "--model", "none"]


def write(path, text):
    with suppress(BrokenPipeError):
        path.write_text(text)


@pytest.mark.parametrize(
    "change", [{"updates": float("inf")}, {"sources": None}, {"sources": {"train": "x"}}, {"dev_uas": None}, {"updates": "many"}]
)
def test_info_and_pack_survive_a_record_of_wrong_types(model, change):
    summary = json.loads((model / "summary.json").read_text())
    (model / "summary.json").write_text(json.dumps({**summary, **change}))
    code, said = info(model)
    assert code == 2 and "summary.json: damaged" in said
    if "updates" not in change:  # a model card has no number of updates
        assert refused(lambda: card.pack(str(model), str(model / "packed"), {})) == "%s: damaged" % (model / "summary.json")


NEVER_END = {
    "a FIFO": os.mkfifo,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a folder": os.mkdir,
    "a socket": lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path)),
}


@pytest.mark.parametrize("name", ["summary.json", "metrics.jsonl"])
@pytest.mark.parametrize("kind", NEVER_END)
def test_records_that_never_end(model, sentences, monkeypatch, name, kind):
    """Records of training that might never end are neither read nor written, by `info` or by training."""
    monkeypatch.chdir(model)
    (model / "summary.json").unlink()
    (model / name).unlink(missing_ok=True)
    NEVER_END[kind](model / name)
    code, said = info(model)
    assert code == 2 and re.search(name + ": cannot be read: (not a file|Is a directory|No such device or address)\n", said)
    assert name + ": cannot be read: " in refused(trainer(sentences, model, sources=SOURCES).run)


def test_info_of_a_run_whose_last_line_is_being_written(model):
    (model / "summary.json").unlink()
    with open(model / "metrics.jsonl", "a") as file:
        file.write('{"evaluation": 3, "upd')
    code, said = info(model)
    assert code == 0 and "in training: 20 updates" in said


def test_scores_that_are_not_numbers(model, sentences):
    """Weights so large that the network overflows, possible without a checksum, are reported."""
    everything = arrays(model)
    old(model, **{name: np.full_like(array, 3e38) for name, array in everything.items()})
    assert "the scores of %s cannot be decoded" % model in refused(lambda: parsed(model, sentences))


def test_a_damaged_model_does_not_harm_others(model, intact, sentences, tmp_path):
    """NaN that a damaged model leaves in DyNet's memory does not affect other models."""
    settings = config.with_settings(toy.SMALL, ["training.max_updates=10", "training.evaluate_updates=5"])

    def train(name):
        learner = trainer(sentences, tmp_path / name, "1ec", settings)
        learner.run()
        return learner.model._arrays()

    expected, before = parsed(intact, sentences), train("before")
    for value in (3e38, 1e30, -3e38):
        weights = {name: np.full_like(array, value) for name, array in arrays(model).items()}
        old(model, **weights)
        refused(lambda: parsed(model, sentences))
        assert parsed(intact, sentences) == expected
    after = train("after")
    assert all((before[name] == after[name]).all() for name in before)


def test_a_damaged_run_is_not_resumed(sentences, tmp_path):
    """A run with a damaged checkpoint, weights or record is not resumed; a damaged vocabulary is made again."""

    def learner(folder, **options):
        return trainer(sentences, folder, "mst", config.with_settings(TINY, ["training.max_updates=30"]), **options)

    with pytest.raises(KeyboardInterrupt):
        learner(tmp_path / "cut", listener=toy.Cut(evaluations=2)).run()
    whole = learner(tmp_path / "whole").run()

    def cut_off(path):
        path.write_bytes(path.read_bytes()[:-200])

    for name, message in (
        ("checkpoint.npz", "checkpoint.npz: damaged"),
        ("weights.npz", "weights.npz: damaged"),
        ("metrics.jsonl", "metrics.jsonl: damaged: expected 2 lines, one for each evaluation so far"),
    ):
        folder = Path(shutil.copytree(str(tmp_path / "cut"), str(tmp_path / name)))
        cut_off(folder / name)
        assert message in refused(learner(folder).run)
        (folder / name).unlink()
        if name != "checkpoint.npz":
            assert name in refused(learner(folder).run)
    folder = Path(shutil.copytree(str(tmp_path / "cut"), str(tmp_path / "vocabulary")))
    cut_off(folder / "vocabulary.json")
    assert learner(folder).run()["dev_uas"] == whole["dev_uas"]
    assert parsed(folder, sentences) == parsed(tmp_path / "whole", sentences)
