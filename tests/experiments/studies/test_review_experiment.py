"""``make review`` on the toy treebank: errors are inserted, and the counts of found errors agree with the parser."""

import json
from dataclasses import replace

import numpy as np
import pytest
import toy
from samples import as_conllu, study, toy_settings

import mh4
from experiments.studies.review import NOT_ASKED, found_first, later_heads, margins, with_errors
from mh4.annotating import review as reviewing
from mh4.data import conllu, treebanks
from mh4.parser import config

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def gold():
    return conllu.read(str(treebanks.locate("toy")["test"]))


def test_errors_keep_trees_trees(gold):
    trees = [sentence.heads for sentence in gold]
    changed = with_errors(trees, 5, np.random.default_rng(1))
    words = sum(map(len, gold))
    assert sum(int((a != b).sum()) for a, b in zip(changed, trees)) == round(0.05 * words)
    for tree, before in zip(changed, trees):
        assert np.array_equal(tree == 0, before == 0)  # its single root
        reached = {0}
        for _ in tree:
            reached |= {m for m in range(1, len(tree)) if tree[m] in reached}
        assert len(reached) == len(tree)


def test_average_precision_and_first_words():
    wrong, doubts = np.zeros(60, dtype=bool), np.zeros(60)
    wrong[[3, 7, 50]] = True
    doubts[[7, 9, 3]] = 0.9, 0.8, 0.7  # word 50, without doubt, comes after all words before it
    found = found_first(wrong, doubts)
    assert found["precision"] == pytest.approx((1 / 1 + 2 / 3 + 3 / 51) / 3)
    assert (found["25"], found["50"], found["100"]) == (2, 2, 3)


def test_heads_that_a_later_release_changed(tmp_path):
    then = [("a", 2, "det"), ("b", 0, "root"), (",", 2, "punct"), ("c", 2, "conj"), ("d", 4, "cc")]
    now = [("a", 2, "det"), ("b", 0, "root"), (",", 4, "punct"), ("c", 1, "conj"), ("d", 2, "cc")]
    (tmp_path / "xx-ud-test.conllu").write_text(as_conllu(*then) + as_conllu(("gone", 0, "root")))
    others = [("a", 4, "det"), ("b", 4, "conj"), (",", 4, "punct"), ("c", 0, "root"), ("d", 2, "cc")]  # less similar
    (tmp_path / "xx-later-train.conllu").write_text(as_conllu(*others) + as_conllu(*now))
    first, gone = later_heads(conllu.read(str(tmp_path / "xx-ud-test.conllu")), tmp_path, "xx")
    assert first[1:].tolist() == [2, 0, NOT_ASKED, 1, NOT_ASKED] and gone[1:].tolist() == [NOT_ASKED]


@pytest.mark.slow
def test_the_records_the_page_and_the_plot(tmp_path, monkeypatch, capsys, gold):
    toy_settings(monkeypatch, config.with_settings(toy.SMALL, ["encoder.units=32"]), tmp_path)
    later = tmp_path / "later"
    later.mkdir()
    moved = with_errors([sentence.heads for sentence in gold], 10, np.random.default_rng(2))
    toy.write_conllu(later / "toy-later-test.conllu", [replace(one, heads=tree) for one, tree in zip(gold, moved)])
    home, arguments = tmp_path / "home", ["--langs", "toy", "--rows", "errors-5 later", "--systems", "mst", "--updates", "40"]
    assert study("review", *arguments, home=home) == 2
    assert "review: LATER is missing: row later needs the files of a later release\n" in capsys.readouterr().err
    assert study("review", *arguments, "--later", str(later), home=home) == 0
    records = {one["row"]: one for one in map(json.loads, (home / "results" / "review" / "toy.jsonl").read_text().splitlines())}
    page = (home / "results" / "toy-review.md").read_text(encoding="utf-8")
    for row, record in records.items():
        folder = home / "data" / "review" / "toy" / row / "seed1"
        test = folder / "toy-ud-test.conllu" if row != "later" else treebanks.locate("toy")["test"]
        blocks = list(conllu.blocks(str(test)))
        correct = [one.heads for one in gold] if row != "later" else moved
        parser = mh4.load(str(home / "models" / "review" / "toy" / row / "mst" / "seed1"))
        ranked = sorted(
            (one.heads[m], place, m)
            for place, one in enumerate(reviewing.review(parser, [("", k, block) for k, block in enumerate(blocks)]))
            for m, label in enumerate(one.block.sentence.deprels, start=1)
            if row != "later" or label not in ("punct", "cc")
        )
        errors = [blocks[k].sentence.heads[m] != correct[k][m] for _, k, m in ranked]
        assert record["found"]["all"]["words"] == len(errors) and record["found"]["all"]["errors"] == sum(errors) > 10
        proposals = [one.heads for one in parser.parse([block.sentence for block in blocks])]
        corrected = [proposals[k][m] == correct[k][m] for (_, k, m), error in zip(ranked, errors) if error]
        assert record["found"]["all"]["proposed"] == sum(corrected) > 0
        assert record["found"]["probability"]["50"] == sum(errors[:50])
        assert record["found"]["probability"]["precision"] > record["found"]["disagreement"]["precision"]
        shown = row, record["dev_uas"], 100 * sum(errors) / len(errors)
        assert "| toy | %s | mst | probability | 1 | %.1f | %.1f |" % shown in page
    assert (home / "results" / "toy-review.png").read_bytes().startswith(b"\x89PNG")
    # The best tree with an arc is the best one if the arc has a score beyond all others.
    sentences = [block.sentence for block in blocks][:10]
    of_sentences = margins(parser, sentences)
    for batch, scores in parser.model.score(sentences):
        for k, (arcs,) in zip(batch, (tensors.values() for tensors in scores.trees.arrays())):
            heads, best = sentences[k].heads, parser.decode(arcs, single_root=True)
            for m in range(1, len(heads)):
                forced = arcs.astype(np.float64)
                forced[heads[m], m] += 1e4
                loss = best.score - (parser.decode(forced, single_root=True).score - 1e4)
                assert of_sentences[k][m] == pytest.approx(loss, abs=1e-3)
    assert study("review", *arguments[:2], "--rows", "later", *arguments[4:], "--later", str(later), home=home) == 0
    assert "0 to train, 1 already finished" in capsys.readouterr().out
