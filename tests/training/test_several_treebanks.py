"""Several treebanks, models that begin with others, settings that change, and mh4.train."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import toy
from test_training import SHORT, weights

import mh4
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.errors import InputError, shown
from mh4.parser import config
from mh4.parser.model import Model
from mh4.parser.vocabulary import Vocabulary, normalised
from mh4.training import card, train
from mh4.training.trainer import Trainer
from mh4.util.files import git_blob_id, write_text
from mh4.util.progress import Listener

TIMING = ("seconds", "cpu_seconds", "tokens_per_second")


def without_times(record):
    return {name: value for name, value in record.items() if name not in TIMING}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Treebanks a and b for training, of which b has a word, tag and label that a lacks; c and d for development."""
    folder = tmp_path_factory.mktemp("files")
    sentences = toy.sentences(folder)
    for k, name in enumerate("abcd"):
        text = "".join(sentence.to_conllu() for sentence in sentences[40 * k : 40 * k + 40 - 10 * k])
        if name == "b":
            text = text.replace("\tdet\t", "\tart\t").replace("\tDET\t", "\tART\t").replace("\tta\t", "\tşa\t")
        (folder / (name + ".conllu")).write_text(text, encoding="utf-8")
    return {name: str(folder / (name + ".conllu")) for name in "abcd"}


@pytest.fixture(scope="module")
def two(files, tmp_path_factory):
    """The folder of a model of both treebanks, the metrics of its evaluations, and its parser."""
    folder, said = str(tmp_path_factory.mktemp("two") / "model"), []
    parser = mh4.train([files["a"], files["b"]], [files["c"], files["d"]], folder, "mst", SHORT, progress=said.append)
    return folder, said, parser


def test_several_treebanks_are_learned_as_one(two, files, tmp_path):
    folder, said, parser = two
    together = [[s for name in names for s in conllu.read(files[name])] for names in ("ab", "cd")]
    summary = Trainer("mst", SHORT, *together, str(tmp_path)).run()
    assert weights(tmp_path) == weights(folder)
    with open(folder + "/summary.json") as file:
        found = json.load(file)
    of_treebanks, sources = found.pop("dev_treebanks"), found.pop("sources")
    summary.pop("sources")
    assert without_times(found) == without_times(summary)
    assert [(s["file"], s["sentences"]) for s in sources["train"]] == [("a.conllu", 40), ("b.conllu", 30)]
    assert [s["words"] for s in sources["dev"]] == [sum(map(len, conllu.read(files[name]))) for name in "cd"]
    for name, scores in zip("cd", of_treebanks, strict=True):
        assert scores["file"] == name + ".conllu"
        assert {k: scores[k] for k in ("uas", "las")} == parser.test(files[name])
    words = [source["words"] for source in sources["dev"]]
    assert np.average([s["uas"] for s in of_treebanks], weights=words) == pytest.approx(found["dev_uas"])
    assert [metrics["updates"] for metrics in said] == [5, 10, 15, 20] and said[0]["dev_treebanks"]
    assert repr(parser).startswith("<mh4.Parser mst, exact decoding, trained on a.conllu + b.conllu; ")


def test_treebanks_of_the_same_name_keep_their_folders(files, tmp_path):
    said = []
    for name in "cd":
        (tmp_path / name).mkdir()
        shutil.copy(files[name], tmp_path / name / "dev.conllu")
    same = [str(tmp_path / name / "dev.conllu") for name in "cd"]
    mh4.train(files["a"], same, str(tmp_path / "model"), "mst", SHORT, progress=said.append)
    assert [scores["file"] for scores in said[0]["dev_treebanks"]] == ["c/dev.conllu", "d/dev.conllu"]
    packed = card.pack(str(tmp_path / "model"), str(tmp_path / "packed.mh4"), {})
    assert " --train a.conllu --dev c/dev.conllu --dev d/dev.conllu " in packed["command"]


@pytest.fixture(scope="module", params=[False, True], ids=["", "word_boundaries"])
def first(request, files, tmp_path_factory):
    """The folder of a model of the first treebank."""
    settings = config.override(SHORT, {"encoder": {"word_boundaries": request.param}}, "")
    folder = tmp_path_factory.mktemp("first") / "model"
    mh4.train(files["a"], files["c"], folder, "mst", settings)
    return str(folder)


def test_a_model_begins_with_the_weights_of_another(first, files, tmp_path):
    old = Model.load(first)
    new = Trainer("mst", old.config, conllu.read(files["b"]), [], str(tmp_path), init=first).model
    of_b = Vocabulary.of(conllu.read(files["b"]), old.config)
    for name in ("words", "chars", "upos", "labels"):
        before, after, other = (getattr(vocabulary, name) for vocabulary in (old.vocabulary, new.vocabulary, of_b))
        assert after.strings[: len(before)] == before.strings and set(after.strings) == {*before.strings, *other.strings}
        assert len(after) > len(before) or name == "words"
        for string in after.strings[1:]:
            counts = (table.counts[table[string]] for table in (before, other))
            assert after.counts[after[string]] == sum(counts)
    fresh, kept = new._arrays(), old._arrays()
    grown = 0
    for name, array in kept.items():
        if fresh[name].shape == array.shape:
            assert (fresh[name] == array).all()
            continue
        grown += 1
        ends = 2 if name == "l0" and old.config.encoder.word_boundaries else 0
        middle = len(array) - ends
        assert (fresh[name][:middle] == array[:middle]).all() and (fresh[name][len(fresh[name]) - ends :] == array[middle:]).all()
        assert fresh[name].ndim == 1 or fresh[name][middle : len(fresh[name]) - ends].all()
    assert grown >= 5
    # Sentences of known words are parsed as before.
    known = [
        {normalised(word): m.vocabulary.words[normalised(word)] for s in toy.sentences(tmp_path) for word in s.words}
        for m in (old, new)
    ]
    same = {word for word in known[0] if known[0][word] == known[1][word]}
    sentences = [s for s in conllu.read(files["c"]) if same.issuperset(map(normalised, s.words))]
    assert len(sentences) >= 2
    for one, other in zip(mh4.Parser(old).parse(sentences), mh4.Parser(new).parse(sentences)):
        assert one.heads.tolist() == other.heads.tolist()


def test_what_a_model_cannot_begin_with(first, files, tmp_path):
    def refused(message, **options):
        given = {"train": files["b"], "dev": files["d"], "model": tmp_path / "new", "init": first, **options}
        with pytest.raises(InputError, match=message):
            mh4.train(**given)

    refused(r"model: training can only begin with .* \(encoder.units is 64 there, 32 here\)", settings=["encoder.units=32"])
    refused(r"\(system is 'mst' there, 'mh3' here\)", system="mh3")
    refused("with the model that it writes", model=first)
    refused("no config.toml there", init=tmp_path)
    refused("this file is given twice as a treebank of train", train=[files["a"], files["b"], files["a"]])
    refused("this file is given twice as a file of contextual vectors", contextual=[files["a"], files["a"]])
    refused("expected the path of a file, or several", dev=[])
    refused("no system to train", init=None)
    refused("no section trainin|no section 'trainin'", config={"trainin": {}})
    refused("training is 3, expected a section of settings", config={"training": 3})
    for wrong in (1.5, -1, 2**31, 2**64, "x", True):
        refused("the seed cannot be %s, expected a whole number from 0 to 2\\*\\*31 - 1$" % shown(wrong), seed=wrong)
    for wrong in (3, "", [{}, 3], [None]):
        refused("config cannot be .*, expected a path, a dictionary of settings or a Config, or a list of these$", config=wrong)
    refused("partial is 'no', expected True or False", partial="no")
    refused("settings cannot be 3, expected strings such as training.max_updates=500", settings=3)
    refused("training.clip cannot be", config={"training": {"clip": np.ones(2)}})
    refused(r"no system \['mst'\]", system=["mst"])
    for progress in (3, True, Listener):
        refused("progress cannot be .*, expected a function or a Listener", progress=progress)
    assert not (tmp_path / "new").exists()


def test_labels_of_a_treebank_that_calls_roots_otherwise(first, files, tmp_path):
    """The label root is not tied to the root of trees if a second treebank has another label there."""
    for name in "bd":
        text = Path(files[name]).read_text(encoding="utf-8").replace("\troot\t", "\tpred\t")
        (tmp_path / name).write_text(text, encoding="utf-8")
    parser = mh4.train(tmp_path / "b", tmp_path / "d", tmp_path / "model", init=first)
    assert not parser.model.config.scorer.root_label and parser.model.vocabulary.labels["root"]
    roots = [label for s in parser.parse(conllu.read(files["d"])) for label, head in zip(s.deprels, s.heads[1:]) if head == 0]
    assert set(roots) != {"root"}


def test_how_long_a_resumed_training_goes_on_may_change(files, tmp_path):
    everything = [conllu.read(files[name]) for name in "ac"]

    def trainer(*assignments, listener=None, seed=1):
        return Trainer("mst", config.with_settings(SHORT, assignments), *everything, str(tmp_path), seed, listener=listener)

    with pytest.raises(KeyboardInterrupt):
        trainer(listener=toy.Cut(evaluations=2)).run()
    both = "training.clip is 5.0 there, 1.0 here; training.patience is 10 there, 3 here"
    changed = ["training.clip=1", "training.patience=3"]
    for assignments, seed, message in ((changed, 1, both), ([], 2, "seed is 1 there, 2 here")):
        with pytest.raises(InputError, match=r"other settings \(%s\)" % message):
            trainer(*assignments, seed=seed).run()
    longer = ["training.max_updates=24", "training.evaluate_updates=7"]
    seen = toy.Cut()
    summary = trainer(*longer, listener=seen).run()
    assert [metrics["updates"] for metrics in seen.metrics] == [14, 21, 24]
    assert summary["changes"] == [{"updates": 10, "training.evaluate_updates": 7, "training.max_updates": 24}]
    assert "max_updates = 24\n" in (tmp_path / "config.toml").read_text()
    assert trainer(*longer).run() == summary
    with pytest.raises(InputError, match="a finished model with other settings .*training.max_updates is 24 there, 20 here"):
        trainer("training.evaluate_updates=7").run()


@pytest.mark.parametrize("finished", (False, True))
def test_files_are_known_by_their_content(files, tmp_path, finished):
    """A training resumes with renamed files. Files with other content are an error that names them."""
    given = {"train": [files["a"], files["b"]], "dev": files["c"], "model": tmp_path / "model", "system": "mst", "config": SHORT}
    listener = toy.Cut(evaluations=99 if finished else 1)
    with nullcontext() if finished else pytest.raises(KeyboardInterrupt):
        mh4.train(**given, progress=listener)
    renamed, changed = tmp_path / "renamed.conllu", tmp_path / "changed.conllu"
    shutil.copy(files["b"], renamed)
    changed.write_text(renamed.read_text().replace("\tNOUN\t", "\tX\t", 1))
    blobs = tuple(git_blob_id(path)[:7] for path in (files["b"], changed))
    differing = r"train is b.conllu \(git blob %s\) there, changed.conllu \(git blob %s\) here" % blobs
    for others, message in (([changed], differing), ([], r"train is b.conllu \(.*\) there, missing here")):
        with pytest.raises(InputError, match=r"trained on other files \(%s\); choose" % message):
            mh4.train(**{**given, "train": [files["a"], *others]})
    mh4.train(**{**given, "train": [files["a"], renamed]})
    assert json.loads((tmp_path / "model" / "summary.json").read_text())["updates"] == 20


@pytest.mark.parametrize("again, updates", [(24, 24), (20, 20), (16, 16)])
def test_a_change_that_is_cut_off_is_noted_once(files, tmp_path, monkeypatch, again, updates):
    """A change of settings that is cut off between checkpoint and config.toml is recorded once."""
    everything = [conllu.read(files[name]) for name in "ac"]

    def trainer(most, listener=None):
        changed = config.with_settings(SHORT, ["training.max_updates=%d" % most])
        return Trainer("mst", changed, *everything, str(tmp_path), listener=listener)

    def cut_off(path, text):
        if path.endswith("config.toml"):
            raise KeyboardInterrupt
        write_text(path, text)

    with pytest.raises(KeyboardInterrupt):
        trainer(20, listener=toy.Cut(evaluations=2)).run()
    with monkeypatch.context() as patched:
        patched.setattr("mh4.training.trainer.write_text", cut_off)
        with pytest.raises(KeyboardInterrupt):
            trainer(24).run()
    summary = trainer(again).run()
    noted = [24] if again == 24 else [24, again]
    assert summary["changes"] == [{"updates": 10, "training.max_updates": most} for most in noted]
    assert summary["updates"] == updates and "max_updates = %d\n" % again in (tmp_path / "config.toml").read_text()


def test_sentences_of_dev_that_are_also_in_train(recwarn):
    """Only sentences of ten words or more are counted, as short ones recur in any text."""
    long, other, short = (Sentence(words) for words in (["w"] * 10, ["v"] * 10, ["w"] * 9))
    train.warn_of_overlap([long, short], [other, short], "dev")
    assert not recwarn
    with pytest.warns(RuntimeWarning, match="train also has 1 of 2 dev sentences with 10 words or more"):
        train.warn_of_overlap([long, short], [other, short, long], "dev")
