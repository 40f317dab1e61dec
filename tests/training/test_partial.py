"""Training on partly annotated trees."""

import json
from dataclasses import replace

import brute
import numpy as np
import pytest
import toy
from common import rng_for
from running import mh4, refuses

import mh4 as package
from mh4 import trees
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu
from mh4.data.cells import DEPREL, HEAD
from mh4.data.sentence import Sentence
from mh4.errors import InputError
from mh4.parser import kept_heads
from mh4.parser.parsing import Parser
from mh4.parser.systems import SYSTEMS
from mh4.training import calibration
from mh4.training.trainer import Trainer


@pytest.mark.parametrize("name", ["mh3", "mh4-hybrid", "mst", "1ec", "mh5-hybrid"])
@pytest.mark.parametrize("n", range(1, 6))
def test_losses_are_those_over_all_completions(name, n):
    """The hinge compares the best tree with cost to the best completion. The likelihood is that of all completions."""
    system, rng = SYSTEMS[name], rng_for("partial", n)
    every = [np.array(t) for t in brute.all_trees(n) if brute.has_single_root(t)]
    every = every[::6] if name == "mh5-hybrid" and n == 5 else every
    for _ in range(3):
        tensors = toy.scores(system, n, rng)
        tree = every[int(rng.integers(len(every)))]
        heads = np.where(rng.random(n + 1) < 0.5, -1, tree).astype(np.int32)
        heads = system.training_tree(heads, True) if (heads[1:] < 0).any() else heads
        if (heads[1:] >= 0).all():
            continue
        decode, scores, probable = system.decoders["exact"], {}, {}
        for candidate in every:
            try:
                scores[tuple(candidate)] = decode(**tensors, heads=candidate, single_root=True).score
                if system.marginals:
                    probable[tuple(candidate)] = system.marginals(**tensors, heads=candidate, single_root=True).log_partition
            except ValueError:  # not in the class
                continue
        agrees = {t: all(h in (-1, own) for own, h in zip(t[1:], heads[1:])) for t in scores}
        wrong = {t: sum(h not in (-1, own) for own, h in zip(t[1:], heads[1:])) for t in scores}
        violation = system.violation(tensors, heads, True)
        value = violation.cost + sum(
            sign * tensors[part][tuple(rows.T)].astype(float).sum()
            for sign, parts in ((1, violation.predicted), (-1, violation.target))
            for part, rows in parts.items()
        )
        best = max(scores[t] for t in scores if agrees[t])
        if name != "mh5-hybrid" or n < 5:
            assert value == pytest.approx(max(scores[t] + wrong[t] for t in scores) - best, abs=1e-3)
        if system.marginals:
            sums = [np.logaddexp.reduce([v for t, v in probable.items() if all_ or agrees[t]]) for all_ in (True, False)]
            assert system.likelihood(tensors, heads, True).value == pytest.approx(sums[0] - sums[1], abs=1e-4)


@pytest.mark.parametrize("name", ["projective", "mh4", "1ec"])
def test_heads_to_learn_are_as_many_as_one_tree_of_the_class_has(name):
    rng = np.random.default_rng(5)
    candidates = [np.array(t) for t in brute.all_trees(4) if trees.in_class(np.array(t), name) and brute.has_single_root(t)]
    fewer = 0
    for tree in map(np.array, brute.all_trees(4)):
        heads = np.where(rng.random(5) < 0.3, -1, tree).astype(np.int32)
        found = kept_heads.learnable(heads, name, True)
        assert ((found == heads) | (found == -1)).all() and not kept_heads.obstacle(np.append(found, -1).astype(np.int32), True)
        most = max(int((c[1:] == heads[1:]).sum()) for c in candidates)
        assert (found[1:] >= 0).sum() == most
        fewer += (found != heads).any()
    assert fewer


@pytest.fixture(scope="module")
def gold(sentences):
    return sentences[:60]


@pytest.mark.parametrize("loss", ["hinge", "likelihood"])
@pytest.mark.parametrize("name", ["mh4-hybrid", "mst"])
def test_what_is_annotated_is_learned(gold, tmp_path, name, loss):
    """A parser learns the annotated words and labels, without having seen the others."""
    rng = np.random.default_rng(1)
    given = [toy.partly(sentence, rng) for sentence in gold[:40]]
    settings = replace(toy.SMALL, training=replace(toy.SMALL.training, max_updates=120, loss=loss, evaluate_updates=60))
    Trainer(name, settings, given, given, str(tmp_path)).run()
    parser = Parser.load(str(tmp_path))
    assert "_" not in parser.model.vocabulary.labels.strings
    free = [replace(sentence, heads=None, deprels=None) for sentence in given]
    assert attachment_scores(given, parser.parse(free))["las"] > 85


def test_only_annotated_words_are_scored(gold):
    rng = np.random.default_rng(2)
    given = [toy.partly(sentence, rng) for sentence in gold]
    assert attachment_scores(given, gold) == {"uas": 100, "las": 100}
    wrong = [replace(s, heads=np.where(g.heads >= 0, g.heads, 0), deprels=["x"] * len(s)) for s, g in zip(gold, given)]
    assert attachment_scores(given, wrong) == {"uas": 100, "las": 0}
    head_only = [replace(s, deprels=[""] * len(s)) for s in given if (s.heads[1:] < 0).any()]
    others = [s for s, g in zip(wrong, given) if (g.heads[1:] < 0).any()]
    assert attachment_scores(head_only, others) == {"uas": 100, "las": 100}
    with pytest.raises(ValueError, match="no words to score"):
        attachment_scores(
            [Sentence(["a"], heads=np.array([-1, -1]), deprels=[""])], [Sentence(["a"], heads=np.array([-1, 0]), deprels=["x"])]
        )


def test_labels_that_are_open_are_not_learned_even_of_whole_trees(gold, tmp_path):
    """Open labels, of words with heads or of open words, are neither learned nor scored."""
    rng, path = np.random.default_rng(4), tmp_path / "train.conllu"
    given = [
        replace(s, deprels=["_"] * len(s)) if k % 3 == 0 else toy.partly(s, rng, 0.3 * (k % 3 == 1)) for k, s in enumerate(gold)
    ]
    toy.write_conllu(path, given)
    small = {"encoder": {"units": 16, "char_units": 8}, "training": {"max_updates": 8, "batch_tokens": 1}}
    parser = package.train(str(path), str(path), str(tmp_path / "model"), "mst", small, partial=True)
    assert "_" not in parser.model.vocabulary.labels.strings
    read = list(conllu.blocks(str(path), partial=True))
    perfect = [replace(s.sentence, heads=g.heads, deprels=g.deprels) for s, g in zip(read, gold)]
    assert attachment_scores([block.sentence for block in read], perfect) == {"uas": 100, "las": 100}


def test_sentences_without_heads_are_not_scored(gold, tmp_path, monkeypatch):
    """A treebank of dev that has no heads has no scores, and temperatures are fitted on sentences that have heads."""
    monkeypatch.setattr(calibration, "_SENTENCES", 2)  # of which every other has heads
    open_one = [replace(s, heads=np.full(len(s) + 1, -1, np.int32), deprels=[""] * len(s)) for s in gold[:4]]
    for name, some in (("dev", [open_one[0], gold[1], open_one[2], gold[3]]), ("open", open_one)):
        toy.write_conllu(tmp_path / (name + ".conllu"), some)
    dev = [str(tmp_path / (name + ".conllu")) for name in ("dev", "open")]
    small = {"encoder": {"units": 16, "char_units": 8}, "training": {"max_updates": 4, "evaluate_updates": 2}}
    package.train(dev[0], dev, str(tmp_path / "model"), "mst", small, partial=True)
    (first, _) = map(json.loads, (tmp_path / "model" / "metrics.jsonl").read_text().splitlines())
    assert [one["file"] for one in first["dev_treebanks"]] == ["dev.conllu"]
    assert json.loads((tmp_path / "model" / "calibration.json").read_text())["nll"] > 0


@pytest.mark.slow
def test_the_command(gold, tmp_path):
    rng = np.random.default_rng(3)
    for name, part in (("partial", gold[:30]), ("dev", gold[30:])):
        toy.write_conllu(tmp_path / (name + ".conllu"), [toy.partly(sentence, rng, 0.3) for sentence in part])
    small = ["--set", "training.max_updates=10", "--set", "encoder.units=16", "--set", "encoder.char_units=8", "--quiet"]
    files = ["--train", str(tmp_path / "partial.conllu"), "--dev", str(tmp_path / "dev.conllu")]
    command = ["train", "--system", "mst", "--model", str(tmp_path / "model"), *files, *small]
    assert "no HEAD, expected a number" in refuses(*command)
    labels = tmp_path / "labels.conllu"
    labels.write_text("".join(sentence.to_conllu() for sentence in gold).replace("\tdet\t", "\t_\t"), encoding="utf-8")
    some = [*command[:5], "--train", str(labels), "--dev", str(labels), *small]
    assert "has no DEPREL, but others have one; partly annotated trees are for `mh4 train --partial`" in refuses(*some)
    done = mh4(*command, "--partial")
    assert done.returncode == 0, done.stderr
    packed = str(tmp_path / "packed.mh4")
    assert mh4("pack", str(tmp_path / "model"), "-o", packed).returncode == 0
    assert " --system mst --partial --train partial.conllu --dev dev.conllu " in mh4("info", "--card", packed).stdout.decode()
    greedy = ["train", "--system", "greedy-mh3", "--model", str(tmp_path / "greedy"), *files, *small, "--partial"]
    assert "only learned by systems with exact decoding" in refuses(*greedy)
    block = next(conllu.blocks(str(tmp_path / "partial.conllu"), partial=True))
    n, partial = len(block.sentence), (tmp_path / "partial.conllu").read_text(encoding="utf-8")
    dev = (tmp_path / "dev.conllu").read_text(encoding="utf-8")
    for name, rest in (("partial", "_"), ("partial", "0"), ("dev", "_")):
        cycle = block.text({HEAD: ["2", "1", rest, *["3"] * (n - 3)], DEPREL: ["x"] * n})
        (tmp_path / (name + ".conllu")).write_text(cycle if name == "partial" else dev + cycle, encoding="utf-8")
        assert "word 1 is on a cycle" in refuses(*command[:3], "--model", str(tmp_path / "other"), *files, *small, "--partial")
        (tmp_path / "partial.conllu").write_text(partial, encoding="utf-8")
    (tmp_path / "partial.conllu").write_text(cycle, encoding="utf-8")
    with pytest.raises(InputError, match="cycle"):
        package.train(str(tmp_path / "partial.conllu"), str(tmp_path / "dev.conllu"), str(tmp_path / "o"), "mst", partial=True)


def test_no_model_among_the_files_of_a_treebank(gold, tmp_path):
    """The folder of a treebank is rejected: it would become the folder of a model, whose CoNLL-U files are not read."""
    path, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    toy.write_conllu(path, gold[:30])
    toy.write_conllu(dev, gold[30:])
    command = ["train", "--system", "mst", "--model", str(tmp_path), "--train", str(path), "--dev", str(dev)]
    assert "contains CoNLL-U files, which are no part of a model; choose another folder" in refuses(*command)
    assert {one.name for one in tmp_path.iterdir()} == {path.name, dev.name}
    (tmp_path / "config.toml").write_text("")
    assert "would overwrite" in refuses("parse", "--model", "m", "--rejects", str(path), str(tmp_path))


def test_nothing_to_learn_or_to_score_is_said_at_once(gold, tmp_path):
    headless = [replace(sentence, heads=np.full(len(sentence) + 1, -1), deprels=["x"] * len(sentence)) for sentence in gold[:3]]
    none, some, model = (str(tmp_path / name) for name in ("none.conllu", "some.conllu", "model"))
    toy.write_conllu(none, headless)
    toy.write_conllu(some, gold[:3])
    command = ["train", "--partial", "--system", "mst", "--model", model]
    assert "train: no word has both a HEAD and a DEPREL" in refuses(*command, "--train", none, "--dev", some)
    assert "dev: no word has a HEAD" in refuses(*command, "--train", some, "--dev", none)
