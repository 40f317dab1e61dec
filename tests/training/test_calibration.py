"""Probabilities of arcs: in parsing, on the command line, calibrated on dev, and for minimum-Bayes-risk decoding."""

import json
import os
import warnings
from dataclasses import replace

import brute
import numpy as np
import pytest
import toy
from common import rng_for
from running import mh4 as run
from running import refuses, succeeds

import mh4
from mh4.analysis.reliability import accuracy_at_coverage, expected_calibration_error, reliability
from mh4.data import conllu
from mh4.errors import InputError
from mh4.parser import long_sentences
from mh4.parser.ensemble import Ensemble
from mh4.parser.model import Model
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS, with_marginals
from mh4.parser.temperatures import FILE, at_temperature
from mh4.training import trainer
from mh4.training.calibration import calibrate
from mh4.training.trainer import Trainer

QUICK = ["training.max_updates=40", "training.evaluate_updates=20"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a quickly trained parser in model/, and the toy treebank."""
    folder = tmp_path_factory.mktemp("calibration")
    train, dev = toy.sentences(folder)[:100], toy.sentences(folder, "dev")[:40]
    Trainer("mh4-hybrid", toy.small(*QUICK), train, dev, str(folder / "model")).run()
    return folder


@pytest.mark.parametrize("name", with_marginals())
@pytest.mark.parametrize("single_root", [False, True])
def test_minimum_bayes_risk(name, single_root):
    """The tree found has the highest sum of marginals of all trees of the class."""
    system = SYSTEMS[name]
    for n in (1, 2, 3, 4, 5):
        trees = brute.class_trees(n, {"any": "all"}.get(system.tree_class, system.tree_class))
        trees = [tree for tree in trees if not single_root or brute.has_single_root(tree)]
        for draw in range(3):
            scores = toy.scores(system, n, rng_for(name, n, draw))
            marginals = system.marginals(**scores, single_root=single_root)
            expected = max(brute.Candidates(trees).scores({"arcs": marginals.arcs}))
            found = system.decoder("mbr")(**scores, single_root=single_root)
            assert tuple(found.heads.tolist()) in trees
            assert marginals.arcs[found.heads[1:], np.arange(1, n + 1)].sum() == pytest.approx(expected, abs=1e-5)
            assert found.score == pytest.approx(expected, abs=1e-5)


def test_probabilities_of_parsed_arcs(trained):
    """Probabilities are marginals of scores divided by the temperature. The trees are those of a plain parse."""
    parser = mh4.load(str(trained / "model"))
    temperature = parser.model.temperature
    assert temperature != 1
    sentences = toy.sentences(trained, "dev")[:12]
    plain, sure = parser.parse(sentences), parser.parse(sentences, confidence=True)
    for without, having, tensors in zip(plain, sure, toy.tensors(parser.model, sentences)):
        tempered = {name: tensor.astype(np.float64) / temperature for name, tensor in tensors.items()}
        arcs = parser.model.system.marginals(**tempered, single_root=True).arcs
        expected = [arcs[head, word + 1] for word, head in enumerate(having.heads[1:])]
        np.testing.assert_allclose(having.probabilities[1:], expected, rtol=1e-4)
        assert without.probabilities is None and having.probabilities[0] == 1
        assert without.heads.tolist() == having.heads.tolist() and without.deprels == having.deprels


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mh5-hybrid", "greedy-mh4"])
def test_systems_without_probabilities_say_so(name, tmp_path):
    sentences = toy.sentences(tmp_path)[:5]
    folder = str(tmp_path / "model")
    parser = Parser(toy.untrained(name, sentences, folder))
    for attempt in (lambda: parser.parse(sentences, confidence=True), lambda: Parser(parser.model, "mbr")):
        with pytest.raises(InputError, match=name):
            attempt()
    file = str(tmp_path / "toy-ud-test.conllu")
    said = refuses("parse", "--model", folder, "--confidence", file)
    assert said == "mh4: %s gives no probabilities of arcs; the systems that do are %s" % (name, ", ".join(with_marginals()))
    assert "no mbr decoding" in refuses("parse", "--model", folder, "--decode", "mbr", file)


@pytest.mark.slow
def test_confidence_on_the_command_line(trained, tmp_path):
    """ArcProb and LabelProb are added to MISC, where they replace earlier ones; nothing else changes."""
    model, file = str(trained / "model"), tmp_path / "in.conllu"
    text = (trained / "toy-ud-test.conllu").read_text()
    lines = text.splitlines(keepends=True)
    word = next(k for k, line in enumerate(lines) if line.startswith("1\t"))
    lines[word] = lines[word].rsplit("\t", 1)[0] + "\tArcProb=0.1|Gloss=x|LabelProb=0.2\n"
    file.write_text("".join(lines))
    plain = succeeds("parse", "--model", model, str(file)).decode().splitlines()
    for jobs in ("1", "2"):
        sure = succeeds("parse", "--model", model, "--confidence", "--jobs", jobs, str(file)).decode().splitlines()
        assert len(plain) == len(sure)
        probabilities = []
        for before, after in zip(plain, sure):
            if not before[:1].isdigit() or "." in before.split("\t")[0] or "-" in before.split("\t")[0]:
                assert before == after
                continue
            *same, misc = before.split("\t")
            *columns, now = after.split("\t")
            *kept, of_arc, of_label = now.split("|")
            assert columns == same
            assert kept == [a for a in misc.split("|") if a != "_" and "Prob=" not in a]
            probabilities.append((of_arc, of_label))
        expected = [word for sentence in mh4.load(model).parse(conllu.read(str(file)), confidence=True) for word in sentence]
        assert probabilities == [
            ("ArcProb=%.4f" % word.probability, "LabelProb=%.4f" % word.label_probability) for word in expected
        ]


@pytest.mark.slow
def test_without_calibration_the_temperature_is_1_and_it_says_so(trained, tmp_path):
    sentences = toy.sentences(trained)[:5]
    folder = tmp_path / "model"
    model = toy.untrained("mst", sentences, folder)
    assert Model.load(str(folder)).temperature is None
    said = "%s has no calibration.json, so its probabilities are at temperature 1" % folder
    for command in (
        ["parse", "--confidence"],
        ["parse", "--decode", "mbr", "--jobs", "2"],
        ["test", "--decode", "mbr"],
        ["view"],
    ):
        done = run(*command, "--model", str(folder), str(trained / "toy-ud-test.conllu"))
        assert done.returncode == 0 and done.stderr.decode() == "mh4: %s\n" % said
    assert run("parse", "--confidence", "--quiet", "--model", str(folder), str(trained / "toy-ud-test.conllu")).stderr == b""
    for parser, options in ((mh4.load(folder), {"confidence": True}), (mh4.load(folder, "mbr"), {})):
        for given in (parser, Ensemble([parser])):
            with pytest.warns(RuntimeWarning) as warned:
                given.parse(sentences, **options)
            assert {str(warning.message) for warning in warned} == {said}
    with pytest.warns(RuntimeWarning, match="the model has no calibration.json"):
        parsed = Parser(model).parse(sentences, confidence=True)
    model.temperature = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Parser(model).parse(sentences, confidence=True)
    assert [s.probabilities.tolist() for s in parsed] == [s.probabilities.tolist() for s in again]


@pytest.mark.slow
def test_training_ends_with_calibration(trained):
    """The temperatures are the best ones for gold arcs and labels of dev. Systems without marginals have none."""
    folder = str(trained / "model")
    with open(os.path.join(folder, FILE)) as file:
        found = json.load(file)
    assert found["nll"] < found["uncalibrated_nll"]
    assert b"probabilities at temperature %.3f, of labels %.3f" % (found["temperature"], found["label_temperature"]) in succeeds(
        "info", folder
    )
    model, dev = Model.load(folder), toy.sentences(trained, "dev")[:40]
    assert model.temperature == found["temperature"]
    for factor in (0.9, 1, 1.1):
        of_gold = []
        for sentence, tensors in zip(dev, toy.tensors(model, dev)):
            arcs = model.system.marginals(**at_temperature(tensors, factor * model.temperature), single_root=True).arcs
            of_gold += arcs[sentence.heads[1:], np.arange(1, len(sentence) + 1)].tolist()
        nll = -np.log(np.maximum(of_gold, 1e-3)).mean()
        assert nll == pytest.approx(found["nll"], rel=1e-4) if factor == 1 else nll > found["nll"]
    nll_of_labels = {}
    for factor in (0.9, 1, 1.1):
        model.label_temperature = factor * found["label_temperature"]
        nll_of_labels[factor] = -np.log(np.maximum(toy.probabilities_of_labels(Parser(model), dev), 1e-3)).mean()
    assert min(nll_of_labels.values()) == nll_of_labels[1]
    assert calibrate(Parser(toy.untrained("mh5-hybrid", dev)), dev) is None


def test_sentences_that_would_take_minutes_are_no_part_of_it(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(trainer, "calibrate", lambda parser, sentences: seen.extend(map(len, sentences)))
    monkeypatch.setitem(long_sentences.MARGINALS, "mst", 6)
    sentences = toy.sentences(tmp_path)[:40]
    settings = replace(toy.SMALL, training=replace(toy.SMALL.training, max_updates=1, evaluate_updates=1))
    (tmp_path / "model").mkdir()
    trainer.Trainer("mst", settings, sentences, sentences, str(tmp_path / "model")).run()
    assert max(seen) == 9 < max(map(len, sentences))


def test_reliability():
    probabilities = np.array([0.05, 0.15, 0.18, 0.95, 1.0, 0.9, 0.999])
    correct = np.array([False, True, False, True, True, False, True])
    low, next_, high = reliability(probabilities, correct)
    assert (low.arcs, low.confidence, low.accuracy) == (1, 0.05, 0)
    assert (next_.low, next_.high, next_.arcs, next_.accuracy) == (0.1, 0.2, 2, 0.5)
    assert next_.confidence == pytest.approx(0.165) and high.arcs == 4 and high.accuracy == 0.75
    error = (0.05 + 2 * (0.5 - 0.165) + abs(0.95 + 1.0 + 0.9 + 0.999 - 3)) / 7
    assert expected_calibration_error(probabilities, correct) == pytest.approx(error)
    assert accuracy_at_coverage(probabilities, correct, 3 / 7) == 1
    assert accuracy_at_coverage(probabilities, correct, 4 / 7) == 0.75
    assert accuracy_at_coverage(probabilities, correct, 1) == pytest.approx(4 / 7)
