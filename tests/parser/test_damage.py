"""Damaged models: each is refused in one sentence, or parses as if it were intact; none is believed."""

import io
import json
import os
import random
import re
import shutil
import socket
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import toy
from click.testing import CliRunner

import mh4
from mh4 import cli
from mh4.errors import InputError
from mh4.parser import config
from mh4.training import card
from mh4.training.trainer import Trainer
from mh4.util.progress import Listener

pytestmark = pytest.mark.slow

FILES = ("config.toml", "vocabulary.json", "weights.npz", "summary.json", "metrics.jsonl")


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    return toy.sentences(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def intact(sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    settings = config.with_settings(toy.SMALL, ["training.max_updates=20", "training.evaluate_updates=10", "encoder.units=16"])
    sources = {"train": {"file": "a.conllu", "git_blob": "0" * 40}}
    Trainer("mh4-hybrid", settings, sentences[:30], sentences[30:40], str(folder), sources=sources).run()
    return folder


@pytest.fixture
def model(intact, tmp_path):
    for name in FILES:
        shutil.copy(str(intact / name), str(tmp_path))
    return tmp_path


def parsed(folder, sentences):
    return [
        (s.heads.tolist(), s.deprels, s.upos, s.xpos, s.feats) for s in mh4.load(str(folder)).parse(sentences[:20], tags=True)
    ]


def refused(call):
    """The message of an InputError, in one line."""
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    return str(error.value)


def info(folder):
    """The exit code of `mh4 info`, and its output or the one sentence that it says instead."""
    done = CliRunner().invoke(cli.main, ["info", str(folder)])
    assert done.exit_code in (0, 2), done.output
    if done.exit_code == 2:
        assert done.output.startswith("mh4: ") and done.output.count("\n") == 1
    return done.exit_code, done.output


def arrays(folder, *without):
    with np.load(folder / "weights.npz") as file:
        return {name: array for name, array in file.items() if name not in without}


def old(folder, **changed):
    """Weights as an earlier version saved them, without checksums; some of them changed."""
    np.savez(folder / "weights.npz", **{**arrays(folder, "checksum", "vocabulary"), **changed})


def edit(folder, name, *replacements):
    text = (folder / name).read_text(encoding="utf-8")
    for before, after in replacements:
        assert before in text
        text = text.replace(before, after, 1)
    (folder / name).write_text(text, encoding="utf-8")


def edit_vocabulary(folder, change):
    tables = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    tables = change(tables) or tables
    (folder / "vocabulary.json").write_text(json.dumps(tables), encoding="utf-8")


def renamed(table, string):
    """A change of the vocabulary that renames the first string of a table."""

    def change(tables):
        strings = list(tables[table])
        tables[table] = {string if key == strings[0] else key: count for key, count in tables[table].items()}

    return change


def reordered(tables):
    tables["labels"] = dict(reversed(list(tables["labels"].items())))


def p0(folder, change):
    array = arrays(folder)["p0"].copy()
    return change(array)


def with_nan(value):
    def change(array):
        array[1, 2] = value
        return array

    return change


def npz(**content):
    file = io.BytesIO()
    np.savez(file, **content)
    return file.getvalue()


def bomb(folder):
    """A small file with an array that would fill the memory."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 31,)})
    with zipfile.ZipFile(folder / "weights.npz", "w", zipfile.ZIP_DEFLATED) as file, file.open("p0.npy", "w") as member:
        member.write(header.getvalue())
        for _ in range(64):
            member.write(bytes(1 << 20))


NESTED = "[" * 100_000
CONFIG = {
    "a format in quotes": ([("format = 2", 'format = "2"')], "a model of format '2', but"),
    "a format with a point": ([("format = 2", "format = 2.0")], "a model of format 2.0, but"),
    "no format": ([("format = 2\n", "")], "a model of format unknown, but"),
    "no table": ([("[model]\nformat = 2", "model = 3\nformat = 2")], "a model of format unknown, but"),
    "a seed in quotes": ([("seed = 1", 'seed = "1"')], "the seed cannot be '1'"),
    "a seed of a truth value": ([("seed = 1", "seed = true")], "the seed cannot be True"),
    "a negative seed": ([("seed = 1", "seed = -1")], "the seed cannot be -1"),
    "a huge seed": ([("seed = 1", "seed = 0x" + "f" * 3900)], "the seed cannot be such a large value"),
    "no seed": ([("seed = 1\n", "")], "the seed cannot be None"),
    "a system that is a number": ([('"mh4-hybrid"', "4")], "no system 4; there are mh3, "),
    "a system that is a list": ([('"mh4-hybrid"', '["mst"]')], "no system ['mst']; there are mh3, "),
    "no such system": ([('"mh4-hybrid"', '"mh9"')], "no system 'mh9'; there are mh3, "),
    "another system": ([('"mh4-hybrid"', '"mst"')], "not the weights of this model"),
    "more units": ([("\nunits = 16", "\nunits = 18")], "not the weights of this model"),
    "many units": (
        [("\nunits = 16", "\nunits = 20000")],
        "encoder.units cannot be 20000, expected an even number from 2 to 10000",
    ),
    "very many units": ([("\nunits = 16", "\nunits = 1000000000000")], "encoder.units cannot be 1000000000000"),
    "as many units as allowed": ([("\nunits = 16", "\nunits = 10000")], "a network of these sizes has "),
    "units with a point": ([("\nunits = 16", "\nunits = 1e12")], "encoder.units cannot be 1000000000000.0"),
    "many layers": ([("\nlayers = 2", "\nlayers = 1000")], "encoder.layers cannot be 1000"),
    "one layer": ([("\nlayers = 2", "\nlayers = 1")], "not the weights of this model"),
    "a rate that is not a number": ([("learning_rate = 0.005", "learning_rate = nan")], "training.learning_rate cannot be nan"),
    "an infinite rate": ([("learning_rate = 0.005", "learning_rate = inf")], "training.learning_rate cannot be inf"),
    "a section that is a number": ([("[encoder]", "encoder = 4\n[encoding]")], "no section"),
    "a strange section": ([("[encoder]", "[__class__]")], "no section '__class__'"),
    "a strange setting": ([("\nunits = 16", "\nunit = 16")], "no setting 'encoder.unit'; did you mean units? there are"),
    "a date": ([("\nunits = 16", "\nunits = 1979-05-27")], "encoder.units cannot be datetime.date(1979, 5, 27)"),
    "no date": ([("\nunits = 16", "\nunits = 1979-99-27")], "not TOML"),
    "a number of digits": ([("\nunits = 16", "\nunits = 1" + "0" * 5000)], "config.toml: "),
    "a nest": ([("\nunits = 16", "\nunits = " + NESTED)], "damaged: larger than 64 KB"),
    "a small nest": ([("\nunits = 16", "\nunits = " + NESTED[:3000])], "not TOML"),
    "a key of many parts": ([("\nunits = 16", "\n%s = 16" % ".".join("a" * 30_000))], "not TOML: a line of 60004 characters"),
    "many keys of many parts": ([("\nunits = 16", ("\n" + ".".join("a" * 1900) + " = 16") * 16)], "not TOML"),
    "a key of very many parts": ([("\nunits = 16", "\n%s = 16" % ".".join("a" * 200_000))], "damaged: larger than 64 KB"),
    "a comment of 100 KB": ([("\nunits = 16", "\n# %s\nunits = 16" % ("x" * 100_000))], "damaged: larger than 64 KB"),
}


@pytest.mark.parametrize("name", CONFIG)
def test_config(model, name):
    replacements, message = CONFIG[name]
    edit(model, "config.toml", *replacements)
    said = refused(lambda: mh4.load(str(model)))
    assert message in said and str(model) in said
    assert info(model) == (2, "mh4: %s\n" % said)


VOCABULARY = {
    "reordered labels": reordered,
    "a label with a tab": renamed("labels", "a\tb"),
    "a label with a line end": renamed("labels", "a\nb"),
    "a label that is not Unicode": renamed("labels", "\ud800"),
    "another label": renamed("labels", "other"),
    "a tag with a tab": renamed("upos", "A\tB"),
    "another word": renamed("words", "other"),
    "a count with a point": lambda tables: tables["words"].update(other=1.5),
    "a count of a truth value": lambda tables: tables["labels"].update(root=True),
    "a count in quotes": lambda tables: tables["labels"].update(root="1"),
    "a huge count": lambda tables: tables["labels"].update(root=10**300),
    "no count": lambda tables: tables["labels"].update(root=None),
    "a count of 0": lambda tables: tables["labels"].update(root=0),
    "another count": lambda tables: tables["labels"].update(root=1234),
    "one more word": lambda tables: tables["words"].update(another=1),
    "one word less": lambda tables: tables["words"].popitem() and None,
    "no labels": lambda tables: tables.pop("labels") and None,
    "empty labels": lambda tables: tables.update(labels={}),
    "labels in a list": lambda tables: tables.update(labels=list(tables["labels"])),
    "a list": lambda tables: [tables],
    "a word": lambda tables: "tables",
    "nothing": lambda tables: {"": None},
}


@pytest.mark.parametrize("checksums", [True, False])
@pytest.mark.parametrize("name", VOCABULARY)
def test_vocabulary(model, name, checksums):
    """Without checksums, nothing shows that another string of the same table was meant."""
    if not checksums:
        old(model)
    edit_vocabulary(model, VOCABULARY[name])
    if not checksums and name in ("reordered labels", "another label", "another word", "another count"):
        assert info(model)[0] == 0
        return
    said = refused(lambda: mh4.load(str(model)))
    assert "vocabulary.json is damaged" in said or "weights.npz: damaged, or not the weights" in said
    assert info(model) == (2, "mh4: %s\n" % said)


@pytest.mark.parametrize("text", ["", "{", NESTED, '{"words": ' + NESTED, "NaN", "\x00", "null", '"' + "x" * 10**6])
def test_vocabulary_that_is_not_json(model, text):
    (model / "vocabulary.json").write_text(text)
    assert "vocabulary.json is damaged" in refused(lambda: mh4.load(str(model)))


WEIGHTS = {
    "not a number": with_nan(np.nan),
    "infinite": with_nan(-np.inf),
    "too large": with_nan(1e300),
    "complex": lambda array: array.astype(complex),
    "whole numbers": lambda array: array.astype(int),
    "truth values": lambda array: array > 0,
    "strings": lambda array: array.astype(str),
    "one row less": lambda array: array[1:],
    "as a row": lambda array: array.ravel(),
    "transposed": lambda array: array.T,
    "none": lambda array: array[:0],
    "one number": lambda array: array[0, 0],
}


@pytest.mark.parametrize("checksums", [True, False])
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(model, name, checksums):
    changed = p0(model, WEIGHTS[name])
    if checksums:
        np.savez(model / "weights.npz", **{**arrays(model), "p0": changed})
    else:
        old(model, p0=changed)
    assert "weights.npz: damaged" in refused(lambda: mh4.load(str(model)))
    assert info(model)[0] == 2


def test_another_number_does_not_match_the_checksum(model):
    np.savez(model / "weights.npz", **{**arrays(model), "p0": p0(model, with_nan(0.125))})
    assert "its content does not match its checksum" in refused(lambda: mh4.load(str(model)))


def test_weights_of_another_vocabulary(model):
    """With tables of the same sizes, as those of two parts of a treebank may have."""
    edit_vocabulary(model, reordered)
    assert "vocabulary.json is damaged, or not that of these weights" in refused(lambda: mh4.load(str(model)))


def test_models_without_checksums_load(model, intact, sentences):
    old(model)
    assert parsed(model, sentences) == parsed(intact, sentences) and info(model)[0] == 0


def test_spaces_in_the_vocabulary_are_no_damage(model, intact, sentences):
    edit_vocabulary(model, lambda tables: tables)
    assert (model / "vocabulary.json").read_bytes() != (intact / "vocabulary.json").read_bytes()
    assert parsed(model, sentences) == parsed(intact, sentences)


NO_ARCHIVE = {
    "empty": lambda folder: (folder / "weights.npz").write_bytes(b""),
    "zeros": lambda folder: (folder / "weights.npz").write_bytes(bytes(10**5)),
    "text": lambda folder: (folder / "weights.npz").write_text("weights"),
    "one array": lambda folder: np.save(open(folder / "weights.npz", "wb"), np.zeros(9)),
    "objects": lambda folder: (folder / "weights.npz").write_bytes(npz(p0=np.array([{}], dtype=object))),
    "an empty archive": lambda folder: (folder / "weights.npz").write_bytes(npz()),
    "another archive": lambda folder: (folder / "weights.npz").write_bytes(npz(a=np.zeros(9))),
    "a bomb": bomb,
    "a folder": lambda folder: ((folder / "weights.npz").unlink(), (folder / "weights.npz").mkdir()),
    "a FIFO": lambda folder: ((folder / "weights.npz").unlink(), os.mkfifo(folder / "weights.npz")),
    "a link into nowhere": lambda folder: ((folder / "weights.npz").unlink(), (folder / "weights.npz").symlink_to("none")),
    "one array more": lambda folder: old(folder, p999=np.zeros((2, 2))),
    "a member that is no array": lambda folder: add(folder, "p0", b"not an array"),
    "another member that is no array": lambda folder: add(folder, "notes.txt", b""),
    "an array that is no file of numpy": lambda folder: add(folder, "notes.npy", b"x" * 1000),
    "many members": lambda folder: add(folder, *["%d" % k for k in range(3000)]),
    "very many members": lambda folder: add(folder, *["%d" % k for k in range(30_000)]),
}


def add(folder, *names_and_content):
    """Add a member with this content to the archive, or empty ones with these names."""
    *names, content = names_and_content if isinstance(names_and_content[-1], bytes) else (*names_and_content, b"")
    with zipfile.ZipFile(folder / "weights.npz", "a") as file:
        for name in names:
            file.writestr(name, content)


@pytest.mark.parametrize("name", NO_ARCHIVE)
def test_weights_that_are_none(model, name):
    NO_ARCHIVE[name](model)
    assert "weights.npz: " in refused(lambda: mh4.load(str(model)))
    assert info(model)[0] == 2


@pytest.mark.parametrize("name", ["config.toml", "vocabulary.json"])
def test_files_that_are_none(model, name):
    for damage in (lambda path: path.write_bytes(b"\xff\xfe\x00"), lambda path: path.unlink(), os.mkdir):
        damage(model / name)
        assert name in refused(lambda: mh4.load(str(model)))
        assert info(model)[0] == 2


@pytest.mark.parametrize("name", ["config.toml", "vocabulary.json", "weights.npz"])
def test_random_damage_is_noticed_or_does_not_matter(model, intact, sentences, name):
    """A byte changed, bytes lost or added, the rest cut off: the parses are the same, or there are none."""
    expected, content, draw = parsed(intact, sentences), (intact / name).read_bytes(), random.Random(1)
    noticed = 0
    # In the last section of settings, that of training, any weight of tags may be meant, and 0 says that they are not predicted.
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


SUMMARY = ["", "[]", "{}", "null", NESTED, '{"dev_uas": "x"}', "\udcff", '{"sources": 3}']


@pytest.mark.parametrize("text", SUMMARY)
def test_info_and_pack_survive_any_record(model, text):
    (model / "summary.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    code, said = info(model)
    assert code == 2 and "summary.json: damaged" in said
    assert "summary.json: damaged" in refused(lambda: card.pack(str(model), str(model / "packed"), {}))
    (model / "summary.json").unlink()
    (model / "metrics.jsonl").write_text(text + "\n", encoding="utf-8", errors="surrogateescape")
    code, said = info(model)
    assert code == 2 and "metrics.jsonl: damaged" in said


# By name: what a file of a model may be instead of a file, or of a reasonable one.
NO_FILE = {
    "a FIFO": os.mkfifo,
    "a folder": os.mkdir,
    "a device that never ends": lambda path: os.symlink("/dev/zero", path),
    "an empty device": lambda path: os.symlink("/dev/null", path),
    "a link to itself": lambda path: os.symlink(os.path.basename(path), path),
    "a huge file": lambda path: sparse(path, 1 << 40),
    "not UTF-8": lambda path: Path(path).write_bytes(b"\xff"),
    "empty": lambda path: Path(path).write_bytes(b""),
    "a nest": lambda path: Path(path).write_text(NESTED),
    "a nest of objects": lambda path: Path(path).write_text('{"a":' * 100_000),
    "a number": lambda path: Path(path).write_text("9" * 5000),
}


def sparse(path, size):
    with open(path, "wb") as file:
        file.truncate(size)


@pytest.mark.parametrize("damage", NO_FILE)
@pytest.mark.parametrize("name", ["config.toml", "vocabulary.json", "weights.npz", "calibration.json"])
def test_no_file_of_a_model(model, name, damage):
    """Refused at once: nothing waits for the end of a device, or for a writer."""
    with suppress(FileNotFoundError):
        (model / name).unlink()
    NO_FILE[damage](str(model / name))
    message = refused(lambda: mh4.load(model))
    assert name in message or "a model of format unknown" in message
    assert info(model) == (2, "mh4: %s\n" % message)


@pytest.mark.parametrize("damage", NO_FILE)
@pytest.mark.parametrize("name", ["summary.json", "metrics.jsonl"])
def test_no_file_of_a_record(model, name, damage):
    (model / "summary.json").unlink()
    with suppress(FileNotFoundError):
        (model / name).unlink()
    NO_FILE[damage](str(model / name))
    code, said = info(model)
    if (name, damage) in {("metrics.jsonl", what) for what in ("empty", "a nest", "a nest of objects", "a number")}:
        assert code == 0 and "no record of its training" in said  # there is no whole line
    else:
        assert code == 2 and name in said


CALIBRATION = {
    "a list": "[1, 2, 3]",
    "nothing": "{}",
    "strings": '{"temperature": "1", "nll": "1", "uncalibrated_nll": "1"}',
    "lists": '{"temperature": 1, "nll": [], "uncalibrated_nll": {}}',
    "a truth value": '{"temperature": true, "nll": 1, "uncalibrated_nll": 1}',
    "no number": '{"temperature": NaN, "nll": 1, "uncalibrated_nll": 1}',
    "infinity": '{"temperature": Infinity, "nll": 1, "uncalibrated_nll": 1}',
    "nothing to divide by": '{"temperature": 0, "nll": 1, "uncalibrated_nll": 1}',
    "too little": '{"temperature": 1e-300, "nll": 1, "uncalibrated_nll": 1}',
    "too much": '{"temperature": 1e300, "nll": 1, "uncalibrated_nll": 1}',
    "more": '{"temperature": 1, "nll": 1, "uncalibrated_nll": 1, "more": 1}',
}


@pytest.mark.parametrize("what", CALIBRATION)
def test_calibration(model, what):
    (model / "calibration.json").write_text(CALIBRATION[what])
    assert refused(lambda: mh4.load(model)) == "%s: damaged" % (model / "calibration.json")


def test_settings_from_a_pipe(tmp_path):
    """As in `--config <(...)`; bounded, too."""
    assert (
        CliRunner()
        .invoke(cli.main, ["train", *TRAIN, "--config", "/dev/zero"])
        .output.startswith("mh4: /dev/zero: cannot be read: not a file")
    )
    os.mkfifo(tmp_path / "fifo")
    for text, said in (("[nonsense]\n", "no section 'nonsense'"), ("#" * 10**6, "larger than 64 KB")):
        writer = threading.Thread(target=write, args=(tmp_path / "fifo", text))
        writer.start()
        message = CliRunner().invoke(cli.main, ["train", *TRAIN, "--config", str(tmp_path / "fifo")]).output
        writer.join()
        assert said in message and message.count("\n") == 1


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
    if "updates" not in change:  # of which a card has nothing
        assert refused(lambda: card.pack(str(model), str(model / "packed"), {})) == "%s: damaged" % (model / "summary.json")


HUGE = ["Infinity", "-Infinity", "NaN", "1e999", "1" + "0" * 400, "1" + "0" * 5000, "true", '"x"', "[]", "{}", "null"]


@pytest.mark.parametrize("number", HUGE, ids=lambda number: number[:12])
@pytest.mark.parametrize("name", ["dev_uas", "updates", "evaluations", "mh4", "sources"])
def test_info_survives_any_number(model, name, number):
    summary = json.loads((model / "summary.json").read_text())
    text = json.dumps({**summary, name: "HERE"}).replace('"HERE"', number)
    (model / "summary.json").write_text(text)
    info(model)
    (model / "summary.json").unlink()
    metrics = {"updates": 10, "best_dev_uas": 50.0, **({"best_dev_uas": "HERE"} if name == "dev_uas" else {"updates": "HERE"})}
    (model / "metrics.jsonl").write_text(json.dumps(metrics).replace('"HERE"', number) + "\n")
    info(model)


NEVER_END = {
    "a FIFO": os.mkfifo,
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a folder": os.mkdir,
    "a socket": lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path)),
}


@pytest.mark.parametrize("name", ["summary.json", "metrics.jsonl"])
@pytest.mark.parametrize("kind", NEVER_END)
def test_records_that_never_end(model, sentences, monkeypatch, name, kind):
    """Neither read nor written to, whether the model is described or trained."""
    monkeypatch.chdir(model)
    (model / "summary.json").unlink()
    (model / name).unlink(missing_ok=True)
    NEVER_END[kind](model / name)
    code, said = info(model)
    assert code == 2 and re.search(name + ": cannot be read: (not a file|Is a directory|No such device or address)\n", said)
    settings = config.with_settings(toy.SMALL, ["training.max_updates=20", "training.evaluate_updates=10", "encoder.units=16"])
    sources = {"train": {"file": "a.conllu", "git_blob": "0" * 40}}
    trainer = Trainer("mh4-hybrid", settings, sentences[:30], sentences[30:40], str(model), sources=sources)
    assert name + ": cannot be read: " in refused(trainer.run)


def test_info_of_a_run_whose_last_line_is_being_written(model):
    (model / "summary.json").unlink()
    with open(model / "metrics.jsonl", "a") as file:
        file.write('{"evaluation": 3, "upd')
    code, said = info(model)
    assert code == 0 and "in training: 20 updates" in said


def test_scores_that_are_not_numbers(model, sentences):
    """Of weights that are numbers, but so large that the network overflows, as they may be without a checksum."""
    everything = arrays(model, "checksum", "vocabulary")
    old(model, **{name: np.full_like(array, 3e38) for name, array in everything.items()})
    assert "the scores of %s cannot be decoded" % model in refused(lambda: parsed(model, sentences))


def test_a_damaged_model_does_not_harm_others(model, intact, sentences, tmp_path):
    """DyNet multiplies with what is in memory, where the damaged model has left numbers that are none."""
    settings = config.with_settings(toy.SMALL, ["training.max_updates=10", "training.evaluate_updates=5"])

    def train(name):
        trainer = Trainer("1ec", settings, sentences[:30], sentences[30:40], str(tmp_path / name))
        trainer.run()
        return trainer.model._arrays()

    expected, before = parsed(intact, sentences), train("before")
    for value in (3e38, 1e30, -3e38):
        weights = {name: np.full_like(array, value) for name, array in arrays(model, "checksum", "vocabulary").items()}
        old(model, **weights)
        refused(lambda: parsed(model, sentences))
        assert parsed(intact, sentences) == expected
    after = train("after")
    assert all((before[name] == after[name]).all() for name in before)


def test_a_damaged_run_is_not_resumed(sentences, tmp_path):
    """Nor does it end as if nothing had happened: the checkpoint, the best weights and the record must be intact."""

    class Cut(Exception):
        pass

    class Until(Listener):
        def evaluation(self, metrics):
            if metrics["evaluation"] == 2:
                raise Cut

    settings = config.with_settings(toy.SMALL, ["training.max_updates=30", "training.evaluate_updates=10", "encoder.units=16"])

    def trainer(folder, **options):
        return Trainer("mst", settings, sentences[:30], sentences[30:40], str(folder), **options)

    with pytest.raises(Cut):
        trainer(tmp_path / "cut", listener=Until()).run()
    whole = trainer(tmp_path / "whole").run()

    def cut_off(path):
        path.write_bytes(path.read_bytes()[:-200])

    for name, message in (
        ("checkpoint.npz", "checkpoint.npz: damaged"),
        ("weights.npz", "weights.npz: damaged"),
        ("metrics.jsonl", "metrics.jsonl: damaged: expected a line for each of the 2 evaluations"),
    ):
        folder = Path(shutil.copytree(str(tmp_path / "cut"), str(tmp_path / name)))
        cut_off(folder / name)
        assert message in refused(trainer(folder).run)
        (folder / name).unlink()
        if name != "checkpoint.npz":
            assert name in refused(trainer(folder).run)
    folder = Path(shutil.copytree(str(tmp_path / "cut"), str(tmp_path / "vocabulary")))
    cut_off(folder / "vocabulary.json")
    assert trainer(folder).run()["dev_uas"] == whole["dev_uas"]  # the training data say what it is
    assert parsed(folder, sentences) == parsed(tmp_path / "whole", sentences)
