"""Parsing with given heads."""

import re
from dataclasses import replace

import brute
import numpy as np
import pytest
import toy
from conllu import parse as token_lists
from running import refused

from mh4 import trees
from mh4.data.sentence import Sentence
from mh4.decoders import arguments
from mh4.errors import InputError
from mh4.parser import kept_heads, long_sentences
from mh4.parser.ensemble import Ensemble
from mh4.parser.parsing import Parser


@pytest.fixture(scope="module")
def gold(sentences):
    return [s for s in sentences if len(s) > 3][:30]


@pytest.fixture(scope="module")
def parsers(gold):
    """Untrained parsers, whose trees have little in common with gold."""
    return {name: Parser(toy.untrained(name, gold)) for name in ("mh3", "mh4-hybrid", "mst", "1ec")}


def test_a_word_labelled_as_root_is_one(parsers, gold):
    """A word without a head that is labelled root becomes the root; two such words are an error."""
    for sentence in gold[:10]:
        for word in (1, len(sentence)):
            labels = ["root" if m == word else "_" for m in range(1, len(sentence) + 1)]
            (found,) = parsers["mst"].parse([replace(sentence, heads=None, deprels=labels)], keep_heads=True)
            assert np.flatnonzero(found.heads == 0).tolist() == [word] and found.deprels.count("root") == 1
    heads = gold[0].heads.copy()
    heads[heads == 0] = -1
    (found,) = parsers["mst"].parse([replace(gold[0], heads=heads)], keep_heads=True)
    assert found.heads.tolist() == gold[0].heads.tolist() and found.note == ""  # so HEAD is written
    two = replace(gold[0], heads=None, deprels=["root", "root", *["_"] * (len(gold[0]) - 2)])
    assert "words 1 and 2 are both given as roots" in refused(lambda: parsers["mst"].parse([two], keep_heads=True))


@pytest.mark.parametrize("name", ["mh4-hybrid", "mst", "1ec"])
def test_a_word_with_another_label_is_not_the_root(parsers, gold, name):
    """The tree is the best of those in which the word with another label is not the root."""
    parser = parsers[name]
    for sentence in gold[:10]:
        (free,) = parser.parse([replace(sentence, heads=None, deprels=None)], keep_heads=True)
        root = int(np.flatnonzero(free.heads == 0)[0])
        given = replace(sentence, heads=None, deprels=["conj" if m == root else "_" for m in range(1, len(sentence) + 1)])
        (found,) = parser.parse([given], keep_heads=True)
        cost = np.zeros((len(given) + 1, len(given) + 1), dtype=np.float32)
        cost[0, root] = -1000
        (tensors,) = toy.tensors(parser.model, [given])
        assert found.heads.tolist() == parser.decode(**tensors, cost=cost, single_root=True).heads.tolist()
        assert found.deprels[root - 1] == "conj" and found.heads[root] > 0


@pytest.mark.parametrize("name", ["mh4-hybrid", "mst", "1ec"])
def test_what_is_given_stays_and_the_rest_is_the_best_tree_around_it(parsers, gold, name):
    parser, rng = parsers[name], np.random.default_rng(1)
    given = [toy.partly(s, rng) for s in gold if trees.in_class(s.heads, parser.model.system.tree_class)]
    with pytest.warns(RuntimeWarning, match="temperature 1"):
        found = parser.parse(given, keep_heads=True, confidence=True)
    free = parser.parse([replace(s, heads=None, deprels=None) for s in given])
    changed = 0
    for before, after, without, scores in zip(given, found, free, toy.tensors(parser.model, given)):
        fixed = before.heads >= 0
        assert (after.heads[fixed] == before.heads[fixed]).all() and (after.heads[1:] >= 0).all()
        assert all(old in ("", new) for old, new in zip(before.deprels, after.deprels)) and "" not in after.deprels
        expected = parser.decode(**scores, heads=before.heads, single_root=True)
        assert (after.heads == expected.heads).all()
        assert after.probabilities[fixed] == pytest.approx(1)
        marginals = parser.model.system.marginals(**scores, heads=before.heads, single_root=True).arcs
        words = np.arange(1, len(before) + 1)
        np.testing.assert_allclose(after.probabilities[1:], marginals[after.heads[1:], words], rtol=1e-3, atol=1e-5)
        changed += not (after.heads == np.where(fixed, before.heads, without.heads)).all()
    assert changed  # given heads change the heads of other words


def test_complete_trees_stay_whatever_their_class(parsers):
    crossing = Sentence(["a", "b", "c", "d"], heads=np.array([-1, 3, 0, 2, 1]), deprels=["x", "root", "y", "z"])
    assert not trees.is_projective(crossing.heads)
    (found,) = parsers["mh3"].parse([crossing], keep_heads=True)
    assert found.heads.tolist() == [-1, 3, 0, 2, 1] and found.deprels == crossing.deprels
    (found,) = parsers["mh3"].parse([replace(crossing, deprels=["x", "", "y", "z"])], keep_heads=True)
    assert found.deprels == crossing.deprels


@pytest.mark.parametrize("beyond", [None, "skip"])
def test_complete_trees_stay_whatever_their_length(parsers, gold, beyond):
    """Complete trees of any length are kept without a note, and get the tags of a parse."""
    sentence, parser = gold[0], parsers["mh4-hybrid"]
    bare = replace(sentence, upos=None, xpos=None, feats=None)
    (found,) = parser.parse([bare], keep_heads=True, tags=True, longest=2, beyond=beyond)
    (tagged,) = parser.parse([bare], tags=True)
    assert found.heads.tolist() == sentence.heads.tolist() and found.deprels == sentence.deprels and not found.note
    assert found.upos == tagged.upos and set(found.upos) != {None}


CROSSING = [-1, 3, 4, -1, 0]  # 3->1 and 4->2 cross
IMPOSSIBLE = {
    "no projective tree has the heads given up to word 2": CROSSING,
    "word 1 is on a cycle or below one": [-1, 2, 1, -1, 0],
    "word 2 is on a cycle or below one": [-1, -1, 2, -1, 0],
    "words 1 and 4 are both given as roots": [-1, 0, -1, -1, 0],
    "no word can be the root, as each has a head or another label": [-1, -1, 1, -1, 1],
}


@pytest.mark.parametrize("why", IMPOSSIBLE)
def test_heads_that_cannot_be_kept(parsers, why):
    given = Sentence(["a", "b", "c", "d"], heads=np.array(IMPOSSIBLE[why]), deprels=["_"] * 4, name="here")
    if "label" in why:
        given.deprels = ["x", "_", "y", "_"]
    if IMPOSSIBLE[why] is CROSSING:
        (found,) = parsers["mh3"].parse([given], keep_heads=True)
        assert found.note == "mst of probabilities, " + why and found.heads[[1, 2, 4]].tolist() == [3, 4, 0]
    else:
        with pytest.raises(InputError, match="here: " + why):
            parsers["mh3"].parse([given], keep_heads=True)
    (found,) = parsers["mh3"].parse([given], keep_heads=True, beyond="skip")
    assert found.heads is None and found.note.startswith("skipped, " + why)


@pytest.mark.parametrize("single_root", [True, False])
def test_heads_that_no_tree_has_and_the_first_in_the_way(single_root):
    """Heads have an obstacle if no tree has them; without the head that is named, there is a tree."""
    rng = np.random.default_rng(3)
    every = [np.array(tree) for tree in brute.all_trees(6) if not single_root or brute.has_single_root(tree)]
    of_class = {name: np.array([t for t in every if trees.in_class(t, name)]) for name in ("any", "projective", "mh4", "1ec")}
    found = dict.fromkeys(["", *of_class], 0)
    for _ in range(400):
        heads = np.array([-1, *np.where(rng.random(6) < 0.3, rng.choice([-1, -2], 6), rng.integers(0, 7, 6))], dtype=np.int32)
        if kept_heads.whole(heads):
            assert bool(kept_heads.obstacle(heads, single_root)) != (every == heads).all(axis=1).any()
            continue
        for name, some in of_class.items():
            has = (heads == -1) | (some == heads) | (heads == -2) & (some > 0)
            why = kept_heads.obstacle(heads, single_root) if name == "any" else kept_heads.outside(heads, name, single_root)
            assert bool(why) != has.all(axis=1).any()
            found[name if why else ""] += 1
            if why and name == "any":
                break
            if why:
                word = int(why.split()[-1])
                assert has[:, :word].all(axis=1).any() and not has[:, : word + 1].all(axis=1).any()
    assert all(number > 5 for number in found.values()), found


def test_token_lists(parsers):
    text = "1\ta\t_\t_\t_\t_\t2\tx:y\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n3\tc\t_\t_\t_\t_\t2\tz\t_\t_\n\n"
    (found,) = parsers["mh4-hybrid"].parse(token_lists(text), keep_heads=True)
    assert [token["head"] for token in found] == [2, 0, 2]
    assert [token["deprel"] for token in found][::2] == ["x:y", "z"]


def test_what_is_no_head_is_refused(parsers, gold):
    for heads in ([-1, 1], [-1, 5, 0], [-1.0, 0, 1], "none"):
        with pytest.raises(InputError, match="sentence 1: its heads are"):
            parsers["mst"].parse([Sentence(["a", "b"], heads=heads)], keep_heads=True)
    for deprels in (["x"], ["x", "y", "z"], ["x", 1], 7):
        for heads in (None, [-1, 0, -1], [-1, 2, 0]):
            with pytest.raises(InputError, match="sentence 1: its deprels are .*, expected a list of one string per word"):
                parsers["mst"].parse([Sentence(["a", "b"], heads=heads, deprels=deprels)], keep_heads=True)
    with pytest.raises(InputError, match="beam decoding cannot keep heads, only exact and mbr can"):
        Parser(parsers["mh4-hybrid"].model, "beam").parse([["a"]], keep_heads=True)
    greedy = Parser(toy.untrained("greedy-mh4", gold))
    with pytest.raises(InputError, match="^greedy decoding cannot keep heads, and greedy-mh4 has no decoding that can$"):
        greedy.parse([["a"]], keep_heads=True)
    with pytest.raises(InputError, match="beam cannot keep heads: choose mst or skip"):
        long_sentences.parse(parsers["mst"], [Sentence(["a"])], keep_heads=True, beyond="beam")
    for beyond in (None, "skip"):
        with pytest.raises(InputError, match="an ensemble cannot keep heads: choose a parser"):
            Ensemble([parsers["mst"]]).parse([["a"]], keep_heads=True, beyond=beyond)


@pytest.mark.parametrize("name", ["mh4-hybrid", "mst", "1ec"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_windows_keep_heads_within_and_across_them(parsers, gold, monkeypatch, name, share):
    """Sentences that are parsed in windows keep given heads, also across windows, and a root in a later window."""
    monkeypatch.setattr(long_sentences, "window", lambda parser: 30)
    monkeypatch.setattr(long_sentences, "default", lambda *arguments, **options: 40)
    rng = np.random.default_rng(6)
    words = [word for sentence in gold for word in sentence.words][:100]
    for _ in range(3):
        tree = np.array(brute.random_tree(100, rng, single_root=True), dtype=np.int32)
        labels = ["x%d" % m for m in range(100)]
        given = toy.partly(Sentence(words, heads=tree, deprels=labels), rng, share)
        given.heads[1 + np.flatnonzero((rng.random(100) < 0.5) & (tree[1:] > 0))] = -1  # labelled, so not roots
        (found,) = long_sentences.parse(parsers[name], [given], keep_heads=True)
        assert " in windows of up to " in found.note
        arguments.tree(found.heads, 100)
        fixed = given.heads >= 0
        assert (found.heads[fixed] == given.heads[fixed]).all() and (found.heads[1:] == 0).sum() == 1
        assert all(old in ("", new) for old, new in zip(given.deprels, found.deprels)) and "" not in found.deprels
        assert fixed[found.heads == 0] or given.deprels[int(np.flatnonzero(found.heads == 0)[0]) - 1] == ""


def test_the_best_trees_with_their_probabilities(parsers, gold):
    """All trees of a short sentence are found in order, with the joint probabilities of their arcs, whose sum is 1."""
    for name in ("mh4-hybrid", "mst", "1ec"):
        given = [Sentence(gold[0].words[:3]), Sentence(gold[0].words[:4], heads=np.array([-1, -1, 0, -1, 2]), deprels=["x"] * 4)]
        with pytest.warns(RuntimeWarning, match="temperature 1"):
            found = parsers[name].parse(given, keep_heads=True, best=1000)
        for before, best in zip(given, found):
            every = [best, *best.alternatives]
            assert len({tuple(tree.heads) for tree in every}) == len(every) == (9 if before is given[0] else 8)
            notes = [re.fullmatch("tree ([0-9]+) of %d, score (.*), probability (.*)" % len(every), tree.note) for tree in every]
            assert [int(note[1]) for note in notes] == list(range(1, len(every) + 1))
            scores, probabilities = ([float(note[k]) for note in notes] for k in (2, 3))
            assert scores == sorted(scores, reverse=True) and sum(probabilities) == pytest.approx(1, abs=1e-3)
            if name != "mh4-hybrid":  # whose scores are those of derivations
                ratios = np.exp(np.array(scores) - scores[0])
                np.testing.assert_allclose(probabilities, ratios / ratios.sum(), atol=1e-3)
        (alone,) = parsers[name].parse([given[1]], keep_heads=True)
        assert alone.heads.tolist() == found[1].heads.tolist() and alone.deprels == found[1].deprels == ["x"] * 4
        assert alone.alternatives is None
        with pytest.warns(RuntimeWarning, match="temperature 1"):
            (many,) = parsers[name].parse([["a"] * 20], best=2)
        assert 0 < float(many.note.split()[-1]) < 1e-4  # not written as 0
    whole = Sentence(["a", "b"], heads=np.array([-1, 2, 0]), deprels=["", "x"])
    with pytest.warns(RuntimeWarning, match="temperature 1"):
        (only,) = parsers["mh4-hybrid"].parse([whole], keep_heads=True, best=2)
    assert only.note == "tree 1 of 1" and only.heads.tolist() == [-1, 2, 0] and only.alternatives == []
    (long,) = parsers["mh4-hybrid"].parse([["a", "b", "c", "d"]], best=2, longest=3)
    assert long.alternatives == []
    given = token_lists("1\ta" + 8 * "\t_" + "\n\n")
    with pytest.raises(InputError, match="best: a TokenList has no place for other trees"):
        parsers["mst"].parse(given, best=2)
    given[0][0]["head"] = 99
    with pytest.raises(InputError, match="the head of word 1 is 99, expected 0 to 1, or None"):
        parsers["mst"].parse(given, keep_heads=True)
    for best in (0, 1001, "2", True, 1.0):
        with pytest.raises(InputError, match="best is .*, expected 1 to 1000"):
            parsers["mst"].parse([["a"]], best=best)
    with pytest.raises(InputError, match="greedy decoding finds one tree"):
        Parser(parsers["mh4-hybrid"].model, "greedy").parse([["a"]], best=2)
