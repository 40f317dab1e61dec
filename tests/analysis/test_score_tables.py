"""`mh4 evaluate`: one or several systems, by relation, as counts and as JSON."""

import json
import tempfile
import unicodedata
from pathlib import Path

import pytest
import segmented
from hypothesis import given, settings
from running import mh4, refuses, succeeds
from test_chunks import written

from mh4.analysis import arcs, error_tables, evaluation, score_tables
from mh4.analysis.evaluation import Counts


def official_table(gold, system, counts=False):
    from udtools import udeval

    found = udeval.evaluate(udeval.load_conllu_file(gold), udeval.load_conllu_file(system))
    return udeval.build_evaluation_table(found, counts=counts) + "\n"


@pytest.mark.slow
def test_one_system_gets_the_scorers_own_table(paths):
    for system in paths[1:]:
        assert succeeds("evaluate", paths[0], system).decode() == official_table(paths[0], system)
        assert succeeds("evaluate", paths[0], system, "--counts").decode() == official_table(paths[0], system, counts=True)


def test_tags_that_are_those_of_gold_are_pointed_out(paths):
    text = Path(paths[0]).read_text(encoding="utf-8").replace("\t_\t_\n", "other\t_\t_\n")
    Path(paths[1]).write_text(text, encoding="utf-8")
    Path(paths[2]).write_text(text.replace("\tX\t", "\tNOUN\t"), encoding="utf-8")
    for path in paths:
        said = mh4("evaluate", paths[0], path).stderr.decode()
        assert ("%s: all tags are the gold tags; " % path in said) is (path == paths[1])
    assert mh4("evaluate", paths[0], stdin=text).stderr.startswith(b"mh4: standard input: all tags are the gold tags; ")


def test_tables_in_other_forms(paths):
    assert succeeds("evaluate", *paths[:2], "--format", "csv").decode().splitlines()[-1].startswith("BLEX,")
    printed = succeeds("evaluate", *paths, "--by", "deprel", "--format", "latex").decode()
    assert printed.count(r"\begin{tabular}") == 2 and r"LAS F1, \%" in printed
    for command in (["evaluate", *paths], ["compare", *paths], ["coverage", paths[0]]):
        assert "--json and --format exclude each other" in refuses(*command, "--format", "csv", "--json")


def test_by_relation(paths):
    _, relations = succeeds("evaluate", paths[0], paths[1], "--by", "deprel").decode().split("\n\n")
    lines = [line.split() for line in relations.splitlines()]
    assert lines[1:] == [
        "gold predicted correct precision recall F1".split(),
        "punct 2 2 2 100.00 100.00 100.00".split(),
        "root 2 2 2 100.00 100.00 100.00".split(),
        "det 1 1 0 0.00 0.00 0.00".split(),
        "obj 1 0 0 0.00 0.00 0.00".split(),
        "nmod 0 1 0 0.00 0.00 0.00".split(),
        "total 6 6 4 66.67 66.67 66.67".split(),
    ]


@pytest.mark.slow
def test_several_systems_have_a_column_each(paths):
    metrics, relations = succeeds("evaluate", *paths, "--by", "deprel").decode().split("\n\n")
    rows = {line.split()[0]: line.split()[1:] for line in metrics.splitlines()[1:]}
    assert rows.pop("a.conllu") == ["b.conllu"]
    assert list(rows) == evaluation.METRICS
    assert rows["UAS"] == ["83.33", "18.18"] and rows["LAS"] == ["66.67", "18.18"] and rows["Words"] == ["100.00", "72.73"]
    assert [line.split() for line in relations.splitlines()[1:]] == [
        ["gold", "a.conllu", "b.conllu"],
        ["punct", "2", "100.00", "0.00"],
        ["root", "2", "100.00", "50.00"],
        ["det", "1", "0.00", "0.00"],
        ["obj", "1", "0.00", "0.00"],
        ["nmod", "0", "0.00", "0.00"],
        ["total", "6", "66.67", "18.18"],
    ]
    assert succeeds("evaluate", *paths).decode() == metrics + "\n"

    metrics, relations = succeeds("evaluate", *paths, "--by", "deprel", "--counts").decode().split("\n\n")
    assert "LAS 6 6 5 4 1".split() in [line.split() for line in metrics.splitlines()]
    assert "Sentences 2 2 2 2 0".split() in [line.split() for line in metrics.splitlines()]
    assert [line.split() for line in relations.splitlines()[2:]] == [
        "punct 2 2 1 2 0".split(),
        "root 2 2 2 2 1".split(),
        "det 1 1 1 0 0".split(),
        "obj 1 0 1 0 0".split(),
        "nmod 0 1 0 0 0".split(),
        "total 6 6 5 4 1".split(),
    ]


@pytest.mark.slow
def test_json(paths):
    found = json.loads(succeeds("evaluate", "--json", *paths))
    assert found["gold"] == paths[0] and [system["file"] for system in found["systems"]] == paths[1:]
    assert all(sorted(system) == ["file", "metrics"] for system in found["systems"])
    las = found["systems"][1]["metrics"]["LAS"]
    assert [las[name] for name in ("gold", "system", "correct", "aligned")] == [6, 5, 1, 4]
    shares = [las[name] for name in ("precision", "recall", "f1", "aligned_accuracy")]
    assert shares == pytest.approx([100 / 5, 100 / 6, 200 / 11, 100 / 4])
    assert found["systems"][0]["metrics"]["Tokens"]["aligned"] is None
    one = json.loads(succeeds("evaluate", "--json", paths[0], paths[1], "--by", "deprel"))["systems"][0]
    assert one["metrics"] == found["systems"][0]["metrics"]
    obj = {"gold": 1, "system": 0, "correct": 0, "aligned": 1, "precision": 0, "recall": 0, "f1": 0, "aligned_accuracy": 0}
    assert list(one["deprel"]) == ["punct", "root", "det", "obj", "nmod"] and one["deprel"]["obj"] == obj


def test_text_that_differs_at_a_multiword_token(tmp_path):
    """The message names the file with the multiword token, as when only the words of gold were parsed."""
    words = [("de", 2, "case"), ("el", 0, "root")]
    files = [tmp_path / name for name in ("gold.conllu", "parsed.conllu")]
    for file, sentence in zip(files, ([("del", words)], words)):
        file.write_text(segmented.as_conllu([sentence]))
    for pair in (files, files[::-1]):
        said = refuses("evaluate", *map(str, pair))
        assert said.endswith("the same text in both; %s has a multiword token there, and %s words only" % tuple(files))
    files[0].write_text(segmented.as_conllu([[("dos", 2, "case"), ("el", 0, "root")]]))
    assert refuses("evaluate", *map(str, files)).endswith("the same text in both")


def test_text_in_other_normal_forms(tmp_path):
    files = [tmp_path / name for name in ("NFC", "NFD")]
    for file in files:
        file.write_text(segmented.as_conllu([[(unicodedata.normalize(file.name, "vámonos"), 0, "root")]]), encoding="utf-8")
    assert "the same characters in different normal forms of Unicode" in refuses("evaluate", *map(str, files))


def add_up_to_the_counts(gold, system, found):
    """Check that correct arcs, given the alignment, and sums over relations and errors equal the official counts."""
    counts, gold_words = found
    gold_arcs, system_arcs = arcs.Arcs.of(gold.sentences), arcs.Arcs.of(system.sentences)
    correct = arcs.correct_arcs(gold_arcs, system_arcs, gold_words)
    for metric, ours in (("UAS", correct.unlabelled), ("LAS", correct.labelled)):
        assert Counts(len(gold_arcs), len(system_arcs), int(ours.sum()), int((gold_words >= 0).sum())) == counts[metric]
    for ours, theirs in zip(arcs.recovered_arcs(gold_arcs, correct, gold_words), correct):
        assert ours.sum() == theirs.sum()
    pairs = error_tables.count(gold, system, gold_words)
    relations = score_tables.Result("", counts, pairs).relations
    for k in range(4):
        assert sum(relation[k] for relation in relations.values()) == counts["LAS"][k]
    assert error_tables.scores(pairs)["all words"] == {metric: counts[metric] for metric in ("UAS", "LAS")}
    assert sum(kinds["right"] for kinds in error_tables.by_relation(pairs).values()) == counts["LAS"].correct


@pytest.mark.slow
@settings(max_examples=200)
@given(segmented.same_text())
def test_agrees_with_the_scorer_on_any_segmentation(texts):
    with tempfile.TemporaryDirectory() as folder:
        gold_path, system_path = written(folder, texts)
        for gold, (system,) in evaluation.chunks(gold_path, [system_path]):
            add_up_to_the_counts(gold, system, evaluation.evaluate(gold, system))
