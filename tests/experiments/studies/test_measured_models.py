"""``make calibration`` and ``make search`` on models of the toy treebank agree with the parser."""

import numpy as np
import pytest
from samples import study, tables, trained

import mh4
from mh4.analysis.attachment import attachment_scores
from mh4.analysis.reliability import expected_calibration_error
from mh4.data import conllu, treebanks
from mh4.parser.parsing import Parser
from mh4.training.calibration import calibrate
from mh4.training.trainer import evaluate

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """An mh4-hybrid and an mst, briefly trained, and an unfinished mh4-hybrid."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        trained(patch, home, ("mh4-hybrid", 1), ("mst", 1))
        (home / "models" / "toy" / "mh4-hybrid" / "seed2").mkdir()
        yield home


@pytest.mark.slow
def test_calibration(home, capsys):
    assert study("calibration", "--lang", "toy", home=home) == 0
    results, out = home / "results", capsys.readouterr().out
    table, shares = ({row["system"]: row for row in rows} for rows in tables(results / "toy-calibration.md")[:2])
    assert list(table) == list(shares) == ["mh4-hybrid", "mst"]
    dev = conllu.read(str(treebanks.locate("toy")["dev"]))
    for system, row in table.items():
        parser = mh4.load(str(home / "models" / "toy" / system / "seed1"))
        parser.model.temperature = calibrate(parser, dev[1::2]).temperature
        assert row["temp."] == "%.3f" % parser.model.temperature and float(row["NLL"]) < float(row["NLL, 1"])
        parsed = parser.parse(dev[::2], confidence=True)
        assert row["UAS"] == "%.2f" % attachment_scores(dev[::2], parsed)["uas"] == shares[system]["100 %"]
        mbr = Parser(parser.model, "mbr").parse(dev[::2])
        scores = attachment_scores(dev[::2], mbr)
        assert (row["mbr UAS"], row["mbr LAS"]) == ("%(uas).2f" % scores, "%(las).2f" % scores)
        probabilities = np.concatenate([sentence.probabilities[1:] for sentence in parsed])
        correct = np.concatenate([a.heads[1:] == b.heads[1:] for a, b in zip(parsed, dev[::2])])
        assert float(row["ECE"]) == pytest.approx(100 * expected_calibration_error(probabilities, correct), abs=0.006)
        assert float(shares[system]["50 %"]) > float(row["UAS"])
    page = (results / "toy-calibration.md").read_text(encoding="utf-8")
    assert "make calibration LANG=toy" in page and "| 0.9 to 1.0 |" in page
    assert "toy-calibration.png" in page and str(home) not in page
    assert (results / "toy-calibration.png").read_bytes().startswith(b"\x89PNG")
    assert "toy-calibration.md" in out


@pytest.mark.slow
def test_search(home, capsys):
    assert study("search", "--lang", "toy", "--seeds", "1", home=home) == 0
    results, out = home / "results", capsys.readouterr().out
    table = {row["decoding"]: row for row in tables(results / "toy-search.md")[0]}
    assert list(table) == ["exact", "greedy", "beam 2", "beam 4", "beam 8", "beam 16", "beam 64"]
    dev = conllu.read(str(treebanks.locate("toy")["dev"]))
    folder = str(home / "models" / "toy" / "mh4-hybrid" / "seed1")
    for name, how in (("exact", ("exact",)), ("greedy", ("greedy",)), ("beam 8", ("beam", 8))):
        uas = evaluate(Parser.load(folder, *how), dev)["uas"]
        assert table[name]["dev UAS"] == "%.2f" % uas
    assert (table["exact"]["optimum found"], table["exact"]["beyond the chart"]) == ("100.0 %", "0.0 %")
    for column in ("mean score", "optimum found"):
        greedy, few, many = (float(table[name][column].split()[0]) for name in ("greedy", "beam 8", "beam 64"))
        assert greedy <= few <= many != greedy
    page = (results / "toy-search.md").read_text(encoding="utf-8")
    assert "## mh4-hybrid\n" in page and 'make search LANG=toy SEEDS="1"' in page
    assert "mh4-hybrid, seed 1: trained at commit unknown" in page and "| 1 to 10 | 67 |" in page
    assert "toy-search.png" in page and str(home) not in page
    assert (results / "toy-search.png").read_bytes().startswith(b"\x89PNG")
    assert "beam 64" in out and "toy-search.md" in out
