"""``make mh5`` on recorded trees for the toy treebank, some of whose sentences are outside MH4."""

import pytest
from samples import record, study, tables, trees_file

from experiments.engine import predictions
from mh4 import trees
from mh4.data import conllu, treebanks
from mh4.util.files import git_blob_id


@pytest.fixture
def home(tmp_path):
    """Records of an mh4-hybrid that finds the nearest MH4 trees (but with seed 2, gold in the first sentence outside MH4), and of
    an mh5-hybrid that finds gold."""
    dev = treebanks.locate("toy")["dev"]
    gold = conllu.read(str(dev))
    outside = next(k for k, sentence in enumerate(gold) if not trees.in_class(sentence.heads, "mh4"))
    for system, seed in (("mh4-hybrid", 1), ("mh4-hybrid", 2), ("mh4-hybrid", 3), ("mh5-hybrid", 1)):
        parsed = tmp_path / "parsed.conllu"
        with open(parsed, "w", encoding="utf-8", newline="") as file:
            for k, block in enumerate(conllu.blocks(str(dev), trees=False)):
                right = system == "mh5-hybrid" or (seed, k) == (2, outside)
                heads = gold[k].heads if right else trees.nearest(gold[k].heads, "mh4")
                file.write(block.text({conllu.HEAD: [str(head) for head in heads[1:]]}))
        results = tmp_path / "home" / "results"
        kept = trees_file(results, "toy/%s-seed%d" % (system, seed))
        predictions.keep(kept, {"dev": dev}, {"dev": parsed})
        data = {"lang": "toy", "release": "toy treebank", "trees_git_blob": git_blob_id(kept)}
        record(results, "toy", system, seed, 90.0 + seed, tokens_per_second=1000 * seed, **data)
    return tmp_path / "home"


def test_what_is_outside_mh4(home, capsys):
    assert study("mh5", "--langs", "toy", home=home) == 0
    gold = [sentence.heads for sentence in conllu.read(str(treebanks.locate("toy")["dev"]))]
    nearest = [trees.nearest(heads, "mh4") for heads in gold]
    missing = [int((a != b).sum()) for a, b in zip(gold, nearest)]
    outside = [k for k, number in enumerate(missing) if number]
    words = sum(len(gold[k]) - 1 for k in outside)
    four, five = (list(row.values()) for row in tables(home / "results" / "toy-mh5.md")[0])
    assert four[:3] == ["mh4-hybrid", "1 2", "91.50 ± 0.71"] and five[:5] == ["mh5-hybrid", "1", "91.00", "86.00", "100.00"]
    expected = 100 * (1 - (sum(missing) - missing[outside[0]] / 2) / words)
    assert four[4].startswith("%.2f ± " % expected) and sum(missing) > 1
    assert four[5:] == ["%.1f of %d" % (missing[outside[0]] / 2, sum(missing)), "0.5", "1500", ""]  # there is no model to time
    assert five[5:7] == ["%.1f of %d" % (sum(missing), sum(missing)), "%.1f" % len(outside)]
    page = (home / "results" / "toy-mh5.md").read_text(encoding="utf-8")
    assert "%d of %d sentences are outside MH4, with %d of" % (len(outside), len(gold), words) in page
    assert "- mh5-hybrid instead of mh4-hybrid: -0.50 dev UAS, %+.2f on" % (100 - expected) in page
    assert 'make mh5 LANGS="toy"' in page
    said = capsys.readouterr().out
    assert "toy: no finished run of mh4-arcs, which is omitted" in said and "timing" not in said


def test_without_sentences_outside_mh4(tmp_path, monkeypatch):
    """As in the development sets of ja, zh, pl and he: there is no score on them, rather than one of 0."""
    dev = tmp_path / "toy-ud-dev.conllu"
    blocks = conllu.blocks(str(treebanks.locate("toy")["dev"]))
    inside = [block.text({}) for block in blocks if trees.in_class(block.sentence.heads, "mh4")]
    dev.write_text("".join(inside), encoding="utf-8")
    monkeypatch.setattr(treebanks, "locate", lambda *_, **__: dict.fromkeys(treebanks.SPLITS, dev))
    results = tmp_path / "home" / "results"
    for system, uas in (("mh4-hybrid", 90.0), ("mh5-hybrid", 90.5)):
        kept = trees_file(results, "toy/%s-seed1" % system)
        predictions.keep(kept, {"dev": dev}, {"dev": dev})
        data = {"lang": "toy", "release": "toy treebank", "trees_git_blob": git_blob_id(kept)}
        record(results, "toy", system, 1, uas, **data)
    assert study("mh5", "--langs", "toy", home=tmp_path / "home") == 0
    page = (results / "toy-mh5.md").read_text(encoding="utf-8")
    assert "| mh5-hybrid | 1 | 90.50 | 85.50 |  | 0.0 of 0 | 0.0 |" in page and "\n0 of " in page
    assert "- mh5-hybrid instead of mh4-hybrid: +0.50 dev UAS\n" in page


def test_what_is_wrong_is_one_sentence(home, capsys):
    for arguments, sentence in (
        (["--langs", "toy", "--seeds", "9"], "mh5: toy: none of these systems has a finished run with seed 9\n"),
        (
            ["--langs", "toy", "--seeds", "1 2"],
            "mh5: toy: no finished run of mh5-hybrid with seed 2: train it, or choose other SEEDS\n",
        ),
    ):
        assert study("mh5", *arguments, home=home) == 2
        assert capsys.readouterr().err.startswith(sentence)
