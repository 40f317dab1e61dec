"""`mh4 compare`, on files counted by hand and, against the official scorer, on random files."""

import json
import tempfile

import pytest
import segmented
from hypothesis import given, settings
from running import mh4, refuses, succeeds
from test_chunks import written

import mh4 as mh4_package
from mh4.analysis import comparison, significance
from mh4.analysis.comparison import Group
from mh4.analysis.evaluation import official


@pytest.fixture
def tests_of_few_sentences(monkeypatch):
    """Allow significance tests of as few sentences as can be counted by hand."""
    monkeypatch.setattr(significance, "FEWEST", 1)


# For A and B of segmented.py: unlabelled and, where different, labelled counts (gold, system, recalled, precise).
# All other groups are empty.
GROUPS = {
    "length": {
        "root": [((2, 2, 2, 2),), ((2, 2, 1, 1),)],
        "1": [((2, 3, 2, 2), (2, 3, 1, 1)), ((2, 2, 0, 0),)],
        "2": [((2, 1, 1, 1),), ((2, 1, 0, 0),)],
    },
    "crossed": {"no": [((3, 6, 3, 5), (3, 6, 2, 4)), ((3, 5, 0, 1),)], "yes": [((3, 0, 2, 0),), ((3, 0, 1, 0),)]},
    "depth": {
        "1": [((2, 2, 2, 2),), ((2, 2, 1, 1),)],
        "2": [((3, 4, 3, 3), (3, 4, 2, 2)), ((3, 3, 0, 0),)],
        "3": [((1, 0, 0, 0),), ((1, 0, 0, 0),)],
    },
    "sentence_length": {"1-10": [((6, 6, 5, 5), (6, 6, 4, 4)), ((6, 5, 1, 1),)]},
}


def groups_by_hand(k):
    empty = 2 * [((0, 0, 0, 0),)]
    return {
        key: [(Group(*counts[k][0]), Group(*counts[k][-1])) for counts in (GROUPS[key].get(name, empty) for name in names)]
        for names, key in ((dimension.names, dimension.key) for dimension in comparison.DIMENSIONS)
    }


def test_counts_by_hand(paths):
    found = comparison.compare(*paths)
    a, b = found.systems
    assert (found.sentences, found.words) == (2, 6)
    assert (a.words, a.aligned, b.words, b.aligned) == (6, 6, 5, 4)
    assert a.groups == groups_by_hand(0)
    assert b.groups == groups_by_hand(1)
    # By sentence: correct unlabelled and labelled arcs, of the words in gold and system; exact match, 1 of 2 (F1).
    assert a.sentences[0].tolist() == [[[3, 8], [2, 8], [0, 2], [0, 2]], [[2, 4], [2, 4], [1, 2], [1, 2]]]
    assert b.sentences[0].tolist() == [[[1, 8], [1, 8], [0, 2], [0, 2]], [[0, 3], [0, 3], [0, 2], [0, 2]]]


def test_significance_by_hand(paths, tests_of_few_sentences):
    """UAS is 10/12 for A and 2/11 for B: p-values and intervals follow from the four samples of two sentences.

    Resamples give differences of 50 (1/4), 65.15 (1/2) and 100 (1/4): none is as far from 65.15 as that is from 0.
    Exchanging none or both of the sentences makes a difference as large; exchanging only one makes a difference of 4.55.
    """
    uas = comparison.compare(*paths).differences["uas"]
    assert (uas.a, uas.b, uas.difference) == pytest.approx((1000 / 12, 200 / 11, 1000 / 12 - 200 / 11))
    assert (uas.low, uas.high) == pytest.approx((50, 100))
    assert uas.p_bootstrap == 1 / (1 + significance.SAMPLES)
    assert uas.p_randomisation == pytest.approx(1 / 2, abs=0.025)
    exact = comparison.compare(*paths).differences["exact_labelled"]
    assert (exact.a, exact.b, exact.low, exact.high) == (50, 0, 0, 100)


def test_groups_begin_where_they_say(tmp_path):
    """Arcs are counted in the right groups, for a chain of 60 words and for arcs from the first word to all others."""
    chain = [("w", m, "dep" if m else "root") for m in range(60)]
    star = [("w", min(m, 1), "dep" if m else "root") for m in range(60)]
    for name, sentence in (("chain", chain), ("star", star), ("ten", chain[:10]), ("eleven", chain[:11])):
        (tmp_path / name).write_text(segmented.as_conllu([sentence]))

    def gold_counts(name, key):
        path = str(tmp_path / name)
        return [pair[0].gold for pair in comparison.compare(path, path, path).systems[0].groups[key]]

    assert gold_counts("star", "length") == [1, 1, 1, 2, 5, 5, 45]
    assert gold_counts("chain", "length") == [1, 59, 0, 0, 0, 0, 0]
    assert gold_counts("chain", "depth") == [1, 1, 1, 1, 2, 3, 51]
    assert gold_counts("star", "depth") == [1, 59, 0, 0, 0, 0, 0]
    assert gold_counts("star", "sentence_length") == [0, 0, 0, 0, 0, 60]
    assert gold_counts("ten", "sentence_length") == [10, 0, 0, 0, 0, 0]
    assert gold_counts("eleven", "sentence_length") == [0, 11, 0, 0, 0, 0]


# ------------------------------------------------------------------------------------------------------------ properties


def agrees_with_the_scorer(gold, a, b):
    """Check that arcs over groups and correct arcs over gold sentences add up to the official counts."""
    found = comparison.compare(gold, a, b)
    for letter, system, path in zip("ab", found.systems, (a, b)):
        scores = official(gold, path)
        for k, metric in enumerate(("UAS", "LAS")):
            right, there = system.sentences[0, :, k].sum(axis=0).tolist()
            assert there == found.words + system.words
            difference = found.differences[metric.lower()]
            assert 200 * right / there == pytest.approx(scores[metric].f1) == pytest.approx(getattr(difference, letter))
            for groups in system.groups.values():
                sums = [sum(pair[k][column] for pair in groups) for column in range(4)]
                assert sums == [found.words, system.words, right, right]
        (sentences,) = system.sentences
        assert (2 * sentences[:, :2, 0] <= sentences[:, :2, 1]).all()
        unlabelled, labelled = sentences[:, 2, 0], sentences[:, 3, 0]
        assert (labelled <= unlabelled).all() and set(unlabelled.tolist()) <= {0, 1}
        assert (sentences[unlabelled == 1, 0, 0] * 2 == sentences[unlabelled == 1, 0, 1]).all()
    return found


@pytest.mark.slow
@settings(max_examples=100)
@given(segmented.same_text(systems=2))
def test_any_segmentation(texts):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance.compare, "__defaults__", (200, significance.SEED))
        patch.setattr(significance, "FEWEST", 1)
        gold, a, b = written(folder, texts)
        agrees_with_the_scorer(gold, a, b)
        for one in comparison.compare(gold, gold, b).differences.values():
            assert one.a == 100


# ----------------------------------------------------------------------------------------------------------- the command


def test_the_tables(paths):
    out = succeeds("compare", *paths).decode()
    files, differences, said, *tables = out.rstrip("\n").split("\n\n")
    assert files.splitlines() == [
        "gold  gold.conllu: 2 sentences, 6 words",
        "A     a.conllu: 6 words, 6 of them aligned with gold",
        "B     b.conllu: 5 words, 4 of them aligned with gold",
    ]
    rows = [line.split() for line in differences.splitlines()[2:]]
    assert rows[0] == ["UAS", "(F1)", "83.33", "18.18", "+65.15", "-", "-", "-"]
    assert rows[3] == ["exact,", "labelled", "50.00", "0.00", "+50.00", "-", "-", "-"]
    assert said == "2 sentences are too few for a test, which needs 30"
    assert [table.splitlines()[1].split("  ")[0] for table in tables[::2]] == [d.title for d in comparison.DIMENSIONS]
    lengths, labelled = ({line.split()[0]: line.split()[1:] for line in table.splitlines()[2:]} for table in tables[:2])
    assert lengths["1"] == "2 3 2 100.0 0.0 +100.0 66.7 0.0 +66.7".split()
    assert labelled["1"] == "2 3 2 50.0 0.0 +50.0 33.3 0.0 +33.3".split()
    assert "15+" not in lengths  # none of the files has arcs of this length
    (crossed,) = [line.split() for line in tables[2].splitlines() if line.startswith("yes")]
    assert crossed == "yes 3 0 0 66.7 33.3 +33.3 - - -".split()
    assert max(len(line) for table in tables for line in table.splitlines()) <= 80


def test_the_tests_are_explained(paths, tests_of_few_sentences):
    found = comparison.compare(*paths)
    _, differences, said, *_ = comparison.table(found).split("\n\n")
    assert differences.splitlines()[2].split()[5:9] == ["+50.00", "to", "+100.00", "0.0001"]
    assert "p: how often a difference as large" in said and "10,000 times" in said and "10,000 bootstrap samples" in said
    assert max(map(len, (differences + "\n" + said).splitlines())) <= 85


def test_several_runs_of_each(paths, tests_of_few_sentences):
    """Scores of several runs are means; here the runs of A are a and b, and the only run of B is b."""
    gold, a, b = paths
    found, single = comparison.compare(gold, [a, b], b), comparison.compare(gold, a, b)
    for key, one in found.differences.items():
        assert one.a == pytest.approx((single.differences[key].a + single.differences[key].b) / 2)
        assert one.b == single.differences[key].b and one.p_randomisation is None and one.low <= one.difference <= one.high
    of_runs, (of_a, of_b) = found.systems[0], single.systems
    assert (of_runs.paths, of_runs.words) == ((a, b), of_a.words + of_b.words)
    for key, counts in of_runs.counts.items():
        assert (counts == of_a.counts[key] + of_b.counts[key]).all()
    text = succeeds("compare", gold, "--a", a, "--a", b, "--b", b).decode()
    assert ": 2 runs, 11 words, 10 of them aligned with gold" in text
    assert "and other seeds of A, but not of B, of which there is one run; of two" in text.replace("\n", " ")
    assert "randomisation" not in text
    assert "each of which draws\ngold sentences, runs of A and runs of B" in comparison.table(found)
    assert mh4_package.compare(gold, [a, b], b).differences == found.differences


def test_json(paths):
    found = json.loads(succeeds("compare", "--json", *paths))
    assert found["gold"] == {"file": paths[0], "sentences": 2, "words": 6}
    assert found["b"] == {"files": [paths[2]], "words": 5, "aligned": 4}
    assert (found["samples"], found["seed"]) == (10000, significance.SEED)
    assert list(found["scores"]) == ["uas", "las", "exact_unlabelled", "exact_labelled"]
    las = found["scores"]["las"]
    assert las["a"] == pytest.approx(800 / 12)
    assert [las[name] for name in ("low", "high", "p_bootstrap", "p_randomisation")] == 4 * [None]
    assert {key: [row["group"] for row in rows] for key, rows in found["arcs"].items()} == {
        dimension.key: list(dimension.names) for dimension in comparison.DIMENSIONS
    }
    row = found["arcs"]["depth"][1]
    assert row["gold"] == 3 and row["a"]["system"] == 4
    assert row["a"]["labelled"] == {"recalled": 2, "precise": 2, "recall": pytest.approx(200 / 3), "precision": 50}
    empty = found["arcs"]["crossed"][1]["b"]["unlabelled"]
    assert empty == {"recalled": 1, "precise": 0, "recall": pytest.approx(100 / 3), "precision": None}


@pytest.mark.slow
def test_bad_input_is_one_sentence(paths, tmp_path):
    gold, a, _ = paths
    assert "cannot be read" in refuses("compare", gold, a, str(tmp_path / "none"), "--plot", str(tmp_path / "out.svg"))
    assert not (tmp_path / "out.svg").exists()
    done = mh4("compare", gold, a)
    assert done.returncode == 2 and b"B.conllu" in done.stderr
    (tmp_path / "link.conllu").symlink_to(a)
    for again in (a, str(tmp_path / "link.conllu")):
        assert " is named as the output of two runs" in refuses("compare", gold, "--a", gold, "--b", a, "--b", again)
    for runs in (["--a", a], ["--a", a, "--b", a, a, a]):
        assert "expected A.conllu and B.conllu, or the runs of both by --a and --b" in refuses("compare", gold, *runs)
