"""``make text``: the raw text is that of the shared task, and the scores those of the parsed text."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from samples import study, tables, trained

import mh4
from experiments.engine.treebank import located
from experiments.engine.workplace import Bench
from experiments.studies import text as raw_text
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu, segmenter, treebanks

TREEBANK = """# newdoc
1-2\tvamos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tva\t_\t_\t_\t_\t0\tx\t_\tSpaceAfter=No
2\tmos\t_\t_\t_\t_\t1\tx\t_\t_
3\t,\t_\t_\t_\t_\t1\tx\t_\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_
4\tal\t_\t_\t_\t_\t1\tx\t_\tA=B|SpaceAfter=No
5\t.\t_\t_\t_\t_\t1\tx\t_\t_

1\tfin\t_\t_\t_\t_\t0\tx\t_\t_

# newpar id = 2
1\tsi\t_\t_\t_\t_\t0\tx\t_\t_

"""


def test_text_of_a_treebank(tmp_path, monkeypatch):
    path = tmp_path / "a.conllu"
    path.write_text(TREEBANK, encoding="utf-8")
    assert raw_text.raw_text(conllu.blocks(str(path))) == "vamos, al. fin\n\nsi\n\n"
    monkeypatch.setattr(raw_text, "LINE", 8)
    assert raw_text.raw_text(conllu.blocks(str(path))) == "vamos,\nal. fin\n\nsi\n\n"


def test_text_is_that_of_the_shared_task():
    """As far as the SpacesAfter of the baseline's output tell it; Hungarian is one paragraph."""
    if not os.environ.get("UD") or not os.environ.get("CONLL17"):
        pytest.skip("UD and CONLL17 do not name folders with treebanks and with outputs of the shared task")
    gold, output = Path(os.environ["UD"], "hu-ud-test.conllu"), Path(os.environ["CONLL17"], "hu-udpipe.conllu")
    if not gold.is_file() or not output.is_file():
        pytest.skip("no Hungarian in the folders UD and CONLL17")
    text = ""
    for block in conllu.blocks(str(output), trees=False):
        for form, misc in zip(block.sentence.words, block.column(conllu.MISC)):
            space = {"_": " ", "SpaceAfter=No": ""}.get(misc) if "SpacesAfter" not in misc else misc.partition("=")[2]
            text += form + space.replace("\\n", "\n").replace("\\s", " ")
    assert raw_text.raw_text(conllu.blocks(str(gold), trees=False)).strip() == text.strip()


@pytest.mark.slow
def test_the_table_and_the_page(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    monkeypatch.setattr(segmenter, "train", partial(segmenter.train, epochs=1))
    paths = treebanks.locate("toy")
    trained(monkeypatch, tmp_path, ("mh4-hybrid", 1))
    folder = str(tmp_path / "models" / "toy" / "mh4-hybrid" / "seed1")
    assert study("text", "--lang", "toy", home=tmp_path) == 0
    table = {row["segmentation"]: row for row in tables(tmp_path / "results" / "toy-text.md")[0]}
    assert list(table) == ["raw text", "gold"]
    test = conllu.read(str(paths["test"]))
    scores = attachment_scores(test, mh4.load(folder).parse(test))
    assert list(table["gold"].values())[3:] == ["%.2f" % score for score in (100, 100, scores["uas"], scores["las"])]
    assert 95 < float(table["raw text"]["Words"]) <= 100 and float(table["raw text"]["UAS"]) <= scores["uas"] + 1
    page = (tmp_path / "results" / "toy-text.md").read_text(encoding="utf-8")
    assert "make text LANG=toy" in page and str(tmp_path) not in page and "toy-text.md" in capsys.readouterr().out
    assert (tmp_path / "models" / "toy" / "segmenter.udpipe").exists()


def test_a_segmenter_made_from_something_else_is_trained_again(tmp_path, monkeypatch):
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    trained = []

    def train(train_file, dev_file, path, report):
        trained.append(path)
        Path(path).write_text("segmenter %d" % len(trained))

    monkeypatch.setattr(segmenter, "train", train)
    bank, bench = located("toy", None), Bench(home=tmp_path)
    path = tmp_path / "models" / "toy" / "segmenter.udpipe"
    path.parent.mkdir(parents=True)
    path.write_text("not made here")
    for change in (lambda: None, lambda: monkeypatch.setattr(raw_text, "EPOCHS", 30), lambda: path.write_text("another")):
        before = len(trained)
        change()
        for _ in range(2):
            assert raw_text.trained_segmenter(bank, bench) == path and len(trained) == before + 1
    raw_text.trained_segmenter(replace(bank, blobs={**bank.blobs, "train": "other"}), bench)
    assert path.read_text() == "segmenter 4"
