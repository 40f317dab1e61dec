"""The settings of the authors' runs: each has its effect, and parsers learn with all of them."""

import functools
import json
from dataclasses import replace
from itertools import product

import brute
import numpy as np
import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st

import mh4
from mh4 import transitions, trees
from mh4.data.sentence import Sentence
from mh4.decoders.mh4 import first_found
from mh4.parser import authors, config, systems
from mh4.parser.ensemble import Ensemble
from mh4.parser.model import Model
from mh4.parser.network.graph import dy, forward
from mh4.parser.parsing import Parser
from mh4.parser.vocabulary import Vocabulary
from mh4.training.loss import minibatch_loss
from mh4.training.trainer import Trainer
from mh4.transitions import LA, RA, SH
from mh4.util.batching import shuffled_minibatches

AUTHORS = toy.ROOT / "experiments" / "settings" / "authors.toml"
seeds = st.integers(0, 2**32 - 1)


def model(sentences, system="mh4-hybrid", *assignments):
    settings = toy.small(*assignments)
    return Model(system, settings, Vocabulary.of(authors.learned(sentences, settings), settings), 1)


def trainer(sentences, folder, system="mh4-hybrid", *assignments):
    return Trainer(system, toy.small(*assignments), sentences, sentences[:5], str(folder))


def trees_of(n):
    return [np.array(tree, dtype=np.int32) for tree in brute.all_trees(n)]


# Files of settings


def test_tables_of_systems_override_those_for_all(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("[scorer]\nsingle_root = false\n[mh3.scorer]\nsingle_root = true\n[1ec.training]\npatience = 4\n")
    read = {name: systems.settings([str(path)], name) for name in ("mh3", "mst", "1ec")}
    assert [read[name].scorer.single_root for name in read] == [True, False, False]
    assert [read[name].training.patience for name in read] == [10, 10, 4]


def test_tables_of_other_systems_are_checked_too(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("[mh3.scorer]\nsingle_roots = true\n")
    with pytest.raises(mh4.errors.InputError, match="no setting 'scorer.single_roots'; did you mean single_root?"):
        systems.settings([str(path)], "mst")
    path.write_text("[mh33.scorer]\nsingle_root = true\n")
    with pytest.raises(mh4.errors.InputError, match="no section 'mh33'"):
        systems.settings([str(path)], "mst")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, system in systems.SYSTEMS.items() if system.in_paper])
def test_every_system_learns_with_the_authors_settings(name, sentences, tmp_path):
    """Every system learns to parse its training data, of which an untrained parser has an eighth of the arcs right."""
    some = [sentence for sentence in sentences if trees.is_projective(sentence.heads)][:30]
    small = ["training.max_updates=80", "training.evaluate_updates=40", "training.learning_rate=0.005"]
    settings = config.with_settings(systems.settings([str(AUTHORS)], name, toy.SMALL), small)
    summary = Trainer(name, settings, some, some, str(tmp_path)).run()
    assert summary["dev_uas"] > (25 if name == "greedy-mh4-two" else 70)
    assert "dev_feats" not in summary and "dev_xpos" in summary
    (parsed,) = mh4.load(str(tmp_path)).parse(some[:1], tags=True)
    assert not any("|" in tag for tag in parsed.xpos) and not any(":" in label for label in parsed.deprels)


# The encoder


def test_an_embedding_by_itself(sentences):
    """The input of a word is its embedding plus its spelling, or only one of both."""
    words = [sentences[0].words[0], "neverseen"]
    for how in ("sum", "embedding"):
        found = model(sentences, "mst", "encoder.word_input='%s'" % how)
        dy.renew_cg()
        inputs = found.encoder._words([Sentence(words)], None)
        spelled = found.encoder._spell(words, None)
        row = found.vocabulary.words[words[0].lower()] + 1
        embedding = found.encoder.word_embeddings.as_array()[row]
        forward(dy.zeros(1))
        expected = embedding + (spelled.npvalue()[:, 0] if how == "sum" else 0)
        np.testing.assert_allclose(inputs.npvalue()[:, 0], expected, atol=1e-6)
        np.testing.assert_allclose(inputs.npvalue()[:, 1], spelled.npvalue()[:, 1], atol=1e-6)


def test_the_range_of_embeddings(sentences):
    """Embeddings are drawn up to sqrt(3 / dimensions) by rows, or up to sqrt(6 / (rows + columns)) by tables."""
    for how in ("row", "table"):
        found = model(sentences, "mst", "encoder.embeddings='%s'" % how).encoder
        for table in (found.word_embeddings.as_array(), found.char_embeddings.as_array()):
            most = np.sqrt(3 / table.shape[1] if how == "row" else 6 / sum(table.shape))
            assert 0.98 * most < abs(table).max() <= most * (1 + 1e-6)


def test_word_boundaries_are_characters(sentences):
    found = model(sentences, "mst", "encoder.word_boundaries=true", "dropout.char=1e30")
    plain = model(sentences, "mst")
    characters = len(found.vocabulary.chars)
    assert found.encoder.char_embeddings.shape()[0] == plain.encoder.char_embeddings.shape()[0] + 2
    assert found.encoder._spelling("ab").tolist()[::3] == [characters, characters + 1] and len(plain.encoder._spelling("ab")) == 2
    assert found.encoder._chars_kept[-2:].tolist() == [1, 1] and found.encoder._chars_kept[:-2].max() < 1e-20


def test_inputs_are_scaled_where_words_are_dropped(sentences):
    sentence, values = sentences[0], []
    for scaled in ("false", "true"):
        found = model(sentences, "mst", "dropout.word=0.5", "dropout.word_scaled=" + scaled)
        dy.renew_cg()
        values.append(found.encoder._words([sentence], np.random.default_rng(1)).npvalue())
    np.testing.assert_allclose(values[1], 2 * values[0], rtol=1e-6)
    assert (values[0] == 0).all(axis=0).any() and (values[0] != 0).any()


@pytest.mark.parametrize("system, before", [("mh3", True), ("mh4-hybrid", False), ("1ec", False), ("greedy-mh4", False)])
def test_learned_vectors_of_the_end(system, before, sentences):
    """The sentence LSTM does not read the end, which has a learned vector by position, before or after the MLPs."""
    found = model(sentences, system, "scorer.end='learned'")
    dy.renew_cg()
    scores = found.build(sentences[:3])
    scores.last.forward()
    ends = [stop - 1 for _, stop in scores._columns]
    vectors = scores._vectors.npvalue()
    assert not vectors[:, ends].any() and vectors.any(axis=0).sum() == vectors.shape[1] - 3
    scorer = found.scorer
    assert bool(scorer.before.vectors) == before and bool(scorer.after.vectors) != before
    for position, vector in scorer.after.vectors.items():
        at = scores.trees.positions[position].npvalue()[:-1, ends]
        np.testing.assert_array_equal(at, np.repeat(vector.as_array(), 3, axis=1))
    if system == "1ec":
        assert set(scorer.after.vectors) == {"g", "si"}
    lengths = [len(sentence) + 1 for sentence in sentences[:3]]
    alone = [found.build([sentence]) for sentence in sentences[2:3]]
    alone[0].last.forward()
    np.testing.assert_allclose(alone[0]._vectors.npvalue(), vectors[:, ends[1] + 1 :], atol=1e-5)
    assert vectors.shape[1] == sum(lengths) + 3


# The scorers


def test_bilinear_scores_of_arcs(sentences):
    found = model(sentences, "mst", "scorer.arcs=bilinear")
    scores = found.build(sentences[:1])
    scores.last.forward()
    (arcs,) = [each["arcs"] for each in scores.trees.arrays()]
    h, m = (scores.trees.positions[position].npvalue()[:-1, :-1] for position in ("h", "m"))
    weights = found.scorer.layers["arcs"].weights.as_array()
    np.testing.assert_allclose(arcs, h.T @ (weights[:, :-1] @ m + weights[:, -1:]), atol=1e-4)
    picked = found.scorer.layers["arcs"].picked(
        (scores.trees.positions["h"], scores.trees.positions["m"]), np.array([[0, 1, 2]]), np.ones(1)
    )
    assert picked.value() == pytest.approx(arcs[1, 2], abs=1e-4)


@pytest.mark.parametrize("bilinear", [False, True])
def test_orthogonal_matrices(bilinear):
    biaffine = authors.AuthorsBiaffine(3, 10, dy.ParameterCollection(), bilinear, True)
    after, side = biaffine.weights.as_array(), biaffine.rows
    for block in np.split(after, 3):
        np.testing.assert_allclose(block[:, :side] @ block[:, :side].T, np.eye(side), atol=1e-5)
    assert side == 10 + (not bilinear) and np.abs(after[:, -1]).max() > 0


@pytest.mark.parametrize("system", ["greedy-mh4", "greedy-mh4-three", "greedy-mh4-two"])
def test_joint_scores_are_those_that_search_uses(system, sentences):
    found = model(sentences, system, "scorer.greedy='joint'", "scorer.end='learned'")
    scores = found.build(sentences[:3])
    scores.last.forward()
    arrays, decode = scores.trees.arrays(), Parser(found).decode
    derivations = [decode(**tensors, single_root=True) for tensors in arrays]
    sequences = [authors.rows(derivation.transitions[:, 0]) for derivation in derivations]
    values = scores.trees.scores_of(dict(enumerate(sequences))).npvalue()
    start = 0
    for derivation, rows in zip(derivations, sequences):
        n = len(derivation.heads) - 1
        own = values[:, start : start + 2 * n]
        start += 2 * n
        np.testing.assert_array_equal(transitions.run(derivation.transitions, n), derivation.heads)
        assert (derivation.heads[1:] == 0).sum() == 1
        allowed = transitions.legal(rows[1:, 1:], n, single_root=True)
        assert np.where(allowed, own, -np.inf).argmax(axis=0).tolist() == rows[1:, 0].tolist()
        assert derivation.score == pytest.approx(own[rows[1:, 0], np.arange(2 * n)].sum(), abs=1e-3)


def test_joint_search_needs_words_for_a_single_root():
    with pytest.raises(ValueError, match="single root"):
        authors.joint_search(b0=np.zeros((2, 3)), output=np.zeros((7, 3)), bias=np.zeros(7), single_root=True)
    with pytest.raises(ValueError, match="nan"):
        authors.joint_search(b0=np.full((3, 3), np.nan), output=np.zeros((7, 3)), bias=np.zeros(7))


def test_joint_search_makes_no_illegal_transition_even_if_all_others_score_minus_infinity():
    found = authors.joint_search(b0=np.zeros((4, 3)), output=np.zeros((7, 3)), bias=np.array([0, *[-np.inf] * 6]))
    np.testing.assert_array_equal(transitions.run(found.transitions, 2), found.heads)


def test_what_is_learned_and_written(sentences):
    sentence = Sentence(["a", "b"], ["N", "V"], ["NN", "VB|x"], ["_", "_"], ["nmod:poss", "root"], np.array([-1, 2, 0]))
    settings = config.with_settings(config.Config(), ["scorer.xpos_with_upos=true", "scorer.label_subtypes=false"])
    (found,) = authors.learned([sentence], settings)
    assert found.xpos == ["N|NN", "V|VB|x"] and found.deprels == ["nmod", "root"]
    assert authors.learned([sentence], config.Config()) == [sentence]
    found = model(sentences, "mst", "scorer.xpos_with_upos=true", "training.feats_weight=0")
    (parsed,) = Parser(found).parse(sentences[:1], tags=True)
    assert set(parsed.xpos) <= {tag for s in sentences for tag in s.xpos} and parsed.feats == sentences[0].feats


def test_members_that_predict_other_strings_have_no_say_in_these(sentences):
    """Models that predict pairs of UPOS and XPOS do not vote for XPOS, and those without subtypes not for labels."""
    ours = Parser(model(sentences, "mst"))
    theirs = Parser(model(sentences, "mh3", "scorer.xpos_with_upos=true", "scorer.label_subtypes=false"))
    alone, both = theirs.parse(sentences, tags=True), Ensemble([theirs, ours]).parse(sentences, tags=True)
    for column in ("xpos", "deprels"):
        assert [getattr(s, column) for s in both] == [getattr(s, column) for s in alone]
    for column in ("upos", "feats"):
        assert [getattr(s, column) for s in both] != [getattr(s, column) for s in alone]


def test_a_column_that_a_treebank_lacks_is_not_predicted(sentences):
    """A missing column stays as it is in a parse, and other members of an ensemble predict it."""
    lacking = [replace(s, xpos=["_"] * len(s), feats=["_"] * len(s)) for s in sentences]
    ours = Parser(model(sentences, "mst"))
    for changed in ([], ["scorer.xpos_with_upos=true"]):
        found = model(lacking, "mst", *changed)
        assert found.learned_tags == ["upos", "xpos", "feats"] and found.predicted_tags == ["upos"]
        parsed = Parser(found).parse(sentences[:5], tags=True)
        assert [(s.xpos, s.feats) for s in parsed] == [(s.xpos, s.feats) for s in sentences[:5]]
        expected, voted = ours.parse(sentences[:5], tags=True), Ensemble([Parser(found), ours]).parse(sentences[:5], tags=True)
        assert [(s.xpos, s.feats) for s in voted] == [(s.xpos, s.feats) for s in expected]


# What is learned of trees


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_the_late_sequence(n):
    """The sequence shifts unless the buffer is empty, the head of b0 is below s0, or b0 heads a node of the stack."""
    for heads in trees_of(n):
        rows = authors.late(heads)
        assert (rows is not None) == trees.is_projective(heads)
        if rows is None:
            continue
        np.testing.assert_array_equal(transitions.run(rows[:, [0, 2, 3, 4]], n), heads)
        stack = []
        for code, _, _, s0, b0 in rows.tolist():
            reduce = b0 == n + 1 or heads[b0] in stack[:-1] or any(heads[node] == b0 for node in stack)
            assert code == ((LA if heads[s0] == b0 else RA) if reduce and stack else SH)
            stack = stack + [b0] if code == SH else stack[:-1]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_the_chart_sequence(n):
    for heads in trees_of(n):
        rows = authors.first_of_chart(heads)
        assert (rows is not None) == trees.in_class(heads, "mh4")
        if rows is not None:
            np.testing.assert_array_equal(transitions.run(rows[:, [0, 2, 3, 4]], n), heads)


def first_by_definition(arcs, single_root):
    """Return the score and heads of the first best derivation, by recursion in the order of candidates."""
    n = len(arcs) - 1

    def arc(h, m, end, last=False):
        if h > n or single_root and h == 0 and not (last and end == n + 1):
            return -np.inf
        return float(arcs[h, m])

    @functools.lru_cache(None)
    def item(*nodes):
        i, end = nodes[0], nodes[-1]
        candidates = []  # score, and arcs
        if len(nodes) == 2:
            if end == i + 1:
                return 0.0, ()
            for j in range(i + 1, end):
                candidates += [(item(i, j, end), (h, j), arc(h, j, end, True)) for h in (i, end)]
        elif len(nodes) == 3:
            j = nodes[1]
            for q in range(i + 1, j):
                candidates += [(item(i, q, j, end), (h, q), arc(h, q, end)) for h in (i, j, end)]
            (a, x), (b, y) = item(i, j), item(j, end)
            candidates.append(((a + b, x + y), None, 0.0))
            for k in range(j + 1, end):
                candidates += [(item(i, j, k, end), (h, k), arc(h, k, end)) for h in (i, j, end)]
        else:
            _, j, k, _ = nodes
            for left, right in ((item(i, j, k), item(k, end)), (item(i, j), item(j, k, end))):
                candidates.append(((left[0] + right[0], left[1] + right[1]), None, 0.0))
        best = (-np.inf, ())
        for (score, made), new, gain in candidates:
            if score + gain > best[0]:
                best = score + gain, made + ((new,) if new else ())
        return best

    score, made = item(0, n + 1)
    return score, {m: h for h, m in made}


@given(seeds)
def test_the_first_of_the_best_derivations(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    arcs = rng.integers(0, 2, size=(n + 1, n + 1)).astype(np.float32)
    single_root = bool(rng.random() < 0.5)
    score, made = first_by_definition(arcs, single_root)
    heads, codes = first_found(arcs, single_root)
    assert heads.tolist() == [-1, *(made[m] for m in range(1, n + 1))]
    assert arcs[heads[1:], np.arange(1, n + 1)].sum() == score
    np.testing.assert_array_equal(transitions.run(authors.rows(codes)[:, [0, 2, 3, 4]], n), heads)
    zero = np.zeros((n + 2, n + 2), np.float32)
    exact = mh4.decoders.mh4.decode(zero, np.zeros((6, n + 2, n + 2), np.float32), arcs=arcs, single_root=single_root)
    assert exact.score == score


@pytest.mark.parametrize("name", ["projective", "mh4", "1ec"])
@pytest.mark.parametrize("single_root", [False, True])
def test_the_first_of_the_nearest_trees(name, single_root):
    """The tree found keeps the most arcs; a tree of the class stays as it is."""
    for heads in [tree for n in range(1, 6) for tree in trees_of(n)][:: 1 if name == "projective" else 3]:
        found = authors.nearest(heads, name, single_root=single_root)
        near = trees.nearest(heads, name, single_root=single_root or name == "projective" and not trees.is_projective(heads))
        assert trees.in_class(found, name) and (found == heads).sum() == (near == heads).sum()
        if trees.in_class(heads, name) and not (single_root and (heads[1:] == 0).sum() != 1):
            np.testing.assert_array_equal(found, heads)
        assert not single_root or (found[1:] == 0).sum() == 1


def test_eisner_has_the_smallest_split_points():
    """The best tree is found; of equally good ones, that with each span split as far to the left as possible."""
    assert authors.eisner(np.zeros((5, 5))).tolist() == [-1, 0, 1, 2, 3]
    rng = np.random.default_rng(1)
    for n in range(1, 6):
        arcs = rng.normal(size=(n + 1, n + 1))
        possible = [tree for tree in brute.class_trees(n, "projective") if brute.has_single_root(tree)]
        best = max(possible, key=lambda tree: sum(arcs[tree[m], m] for m in range(1, n + 1)))
        assert authors.eisner(arcs).tolist() == list(best)


def test_a_fixed_derivation_of_mh3(sentences, tmp_path):
    """The target is the late sequence for any scores, so the violation is at least that of the best derivation."""
    projective = next(s for s in sentences if trees.is_projective(s.heads) and len(s) > 4)
    best, late = (authors.parts(systems.get("mh3"), toy.small(*how)).system for how in ((), ("training.sequences=late",)))
    n, rng = len(projective), np.random.default_rng(1)
    for _ in range(20):
        tensors = {"shift": rng.normal(size=(n + 2, n + 2)), "reduce_s0b0": rng.normal(size=(2, n + 2, n + 2))}
        tensors = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
        values = []
        for system in (best, late):
            found = system.violation(tensors, projective.heads, True)
            used = [sum(tensors[name][tuple(rows.T)].sum() for name, rows in parts.items()) for parts in found[:2]]
            values.append(used[0] - used[1] + found.cost)
            if system is late:
                steps = authors.late(projective.heads)[1:, [0, 3, 4]].tolist()
                shift, reduce = tensors["shift"], tensors["reduce_s0b0"]
                scored = (reduce[code - 1, s0, b0] if code else shift[s0, b0] for code, s0, b0 in steps)
                assert used[1] == pytest.approx(sum(scored), abs=1e-4)
        assert values[1] >= values[0] - 1e-4
    learner = trainer([projective] * 3, tmp_path, "mh3", "training.sequences=late")
    learner.learn([0, 1])


def test_illegal_rivals(sentences):
    """Illegal transitions compete with the gold one only with illegal_rivals, and only in MH4."""
    heads = next(s.heads for s in sentences if len(s) > 4)
    for name, illegal in product(("greedy-mh3", "greedy-mh4"), (False, True)):
        settings = toy.small("training.illegal_rivals=%s" % str(illegal).lower())
        system = authors.parts(systems.get(name), settings).system
        rows, rivals = system.steps(trees.nearest(heads, system.tree_class, single_root=True), True)
        assert rivals.all() == (illegal and name == "greedy-mh4") and rivals[rows[1:, 0], np.arange(rivals.shape[1])].all()


def test_long_sentences_are_not_learned(sentences, tmp_path):
    longest = max(map(len, sentences[:20])) - 1
    learner = trainer(sentences[:20], tmp_path, "mh4-hybrid", "training.longest=%d" % longest)
    too_long = [k for k, sentence in enumerate(sentences[:20]) if len(sentence) > longest]
    assert [k for k, tree in enumerate(learner.trees) if tree is None] == too_long
    with_trees = trainer(sentences[:20], tmp_path / "b", "mh4-hybrid")
    losses = []
    for each in (learner, with_trees):
        given = [each.train[k] for k in too_long]
        losses.append(minibatch_loss(each.model, each.settings, given, [each.trees[k] for k in too_long]).value())
    assert 0 < losses[0] < losses[1]
    learner.learn(too_long)
    joint_learner = trainer(
        sentences[:20], tmp_path / "c", "greedy-mh4", "training.longest=%d" % longest, "scorer.greedy='joint'"
    )
    joint_learner.learn(too_long)


# The training loop


def test_minibatches_of_any_length():
    lengths = list(range(1, 101)) * 3
    spread = {}
    for similar in (True, False):
        found = shuffled_minibatches(lengths, 100, np.random.default_rng(1), similar)
        assert sorted(k for batch in found for k in batch) == list(range(300))
        spread[similar] = np.mean([np.std([lengths[k] for k in batch]) for batch in found])
    assert spread[False] > 2 * spread[True]


def test_dense_updates_change_all_embeddings(sentences, tmp_path):
    changed = {}
    for sparse in ("true", "false"):
        learner = trainer(sentences[:30], tmp_path / sparse, "mst", "training.sparse_updates=" + sparse)
        learner.learn(list(range(15)))
        table = learner.model.encoder.char_embeddings
        before = table.as_array()
        short = min(range(30), key=lambda k: len(learner.train[k]))
        learner.learn([short])
        changed[sparse] = int((table.as_array() != before).any(axis=1).sum())
    assert changed["false"] > changed["true"]


def test_the_rate_falls_before_training_ends(sentences, tmp_path):
    """The rate is divided by 4 after `patience` evaluations without improvement; training ends after the last fall."""
    settings = ["training.evaluate_updates=1", "training.patience=2", "training.rate_falls=2", "training.learning_rate=1e-12"]
    learner = trainer(sentences[:10], tmp_path, "mst", *settings, "training.batch_tokens=1000", "training.averaged_updates=1")
    summary = learner.run()
    assert learner.progress.falls == 2 and learner.optimizer.learning_rate == pytest.approx(1e-12 / 16)
    assert summary["evaluations"] == 1 + 3 * 2


@pytest.mark.slow
def test_resuming_after_the_rate_fell(sentences, tmp_path):
    settings = ["training.evaluate_updates=1", "training.patience=1", "training.rate_falls=3", "training.max_updates=20"]
    settings += ["training.learning_rate=0.05"]
    settings += ["training.best_by=las", "training.keep_last=true", "dropout.lstm=0.3", "training.batches=any"]
    whole = trainer(sentences[:20], tmp_path / "whole", "mst", *settings)
    whole.run()
    assert whole.progress.falls > 0
    for cut in (3, 6):
        first = trainer(sentences[:20], tmp_path / str(cut), "mst", *settings)
        first.listener = toy.Cut(evaluations=cut)
        with pytest.raises(KeyboardInterrupt):
            first.run()
        second = trainer(sentences[:20], tmp_path / str(cut), "mst", *settings)
        second.run()
        assert second.progress.falls == whole.progress.falls
        for name, array in second.model._arrays().items():
            np.testing.assert_array_equal(array, whole.model._arrays()[name])


@pytest.mark.parametrize("keep_last", ["false", "true"])
def test_which_evaluation_is_the_best(keep_last, sentences, tmp_path, monkeypatch):
    scores = iter([(50, 40), (60, 30), (40, 40), (70, 20)])

    def scored(gold, parsed, tags):
        uas, las = next(scores)
        return {"uas": uas, "las": las, "upos": 0.0, "xpos": 0.0, "feats": 0.0}

    monkeypatch.setattr("mh4.training.trainer.attachment_scores", scored)
    settings = [
        "training.evaluate_updates=1",
        "training.max_updates=4",
        "training.best_by=las",
        "training.keep_last=" + keep_last,
    ]
    summary = trainer(sentences[:10], tmp_path, "mst", *settings).run()
    assert summary["best_evaluation"] == (3 if keep_last == "true" else 1)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["best_dev_uas"] for line in lines] == ([50, 50, 40, 40] if keep_last == "true" else [50] * 4)
