"""``make partial`` on the toy treebank: rows annotate the right share, and the scores agree with the parser."""

import json

import pytest
import toy
from samples import study, toy_settings

import mh4
from experiments.studies.partial import ROWS, annotated
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu, treebanks
from mh4.data.cells import DEPREL, HEAD
from mh4.parser import config

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("row", ROWS)
def test_how_much_is_annotated(row):
    sentences = conllu.read(str(treebanks.locate("toy")["train"]))
    what, _, percent = row.partition("-")
    columns, words = annotated(sentences, row, 1), sum(map(len, sentences))
    assert columns == annotated(sentences, row, 1)
    if what == "words":
        cells = [(mine[HEAD][m], mine[DEPREL][m]) for mine in columns for m in range(len(mine[HEAD]))]
        gold = [(str(one.heads[m + 1]), one.deprels[m]) for one in sentences for m in range(len(one))]
        assert all(cell in (expected, ("_", "_")) for cell, expected in zip(cells, gold, strict=True))
        assert len(cells) - cells.count(("_", "_")) == round(words * int(percent) / 100)
        assert columns != annotated(sentences, row, 2)
        return
    lengths = [len(one) for one, mine in zip(sentences, columns, strict=True) if mine == {}]
    assert len(lengths) + columns.count(None) == len(sentences)
    assert int(percent) - 1 < 100 * sum(lengths) / words <= int(percent)
    if what == "short":
        assert max(lengths) <= min(len(one) for one, mine in zip(sentences, columns) if mine is None)


@pytest.mark.slow
def test_the_records_the_page_and_the_plot(tmp_path, monkeypatch, capsys):
    toy_settings(monkeypatch, config.with_settings(toy.SMALL, ["encoder.units=32"]), tmp_path)
    home, rows = tmp_path / "home", ("words-25", "short-25")
    assert study("partial", "--langs", "toy", "--rows", " ".join(rows), "--updates", "40", home=home) == 0
    dev = conllu.read(str(treebanks.locate("toy")["dev"]))
    page = (home / "results" / "toy-partial.md").read_text(encoding="utf-8")
    for record in map(json.loads, (home / "results" / "partial" / "toy.jsonl").read_text().splitlines()):
        parser = mh4.load(str(home / "models" / "partial" / "toy" / record["row"] / "mh4-hybrid" / "seed1"))
        parsed, short = parser.parse(dev), [k for k, one in enumerate(dev) if len(one) <= 10]
        assert record["found"]["all"] == pytest.approx(attachment_scores(dev, parsed))
        expected = attachment_scores([dev[k] for k in short], [parsed[k] for k in short])
        assert record["found"]["1-10"] == pytest.approx(expected) and "--partial" in record["command"]
        assert record["dev_uas"] == pytest.approx(record["found"]["all"]["uas"])
        assert "| %s | 25 | mh4-hybrid | 1 | %.2f |" % (record["row"].split("-")[0], record["dev_uas"]) in page
    assert (home / "results" / "toy-partial.png").read_bytes().startswith(b"\x89PNG")
    for given, said in ((["--rows", "words-3"], "ROWS: no row words-3; "), (["--updates", "2"], "UPDATES: 2 is not a whole ")):
        assert study("partial", "--langs", "toy", *given, home=home) == 2
        assert "partial: " + said in capsys.readouterr().err
