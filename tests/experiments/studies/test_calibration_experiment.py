"""``make calibration`` on models of the toy treebank: its measurements agree with the parser."""

import csv
import re

import numpy as np
import pytest
from samples import study, trained

import mh4
from mh4.analysis.attachment import attachment_scores
from mh4.analysis.reliability import expected_calibration_error
from mh4.data import conllu, treebanks
from mh4.parser.parsing import Parser
from mh4.training.calibration import calibrate

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """An mh4-hybrid and an mst, barely trained."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        trained(patch, home, ("mh4-hybrid", 1), ("mst", 1))
        yield home


@pytest.mark.slow
def test_the_table_the_page_and_the_plot(home, capsys):
    assert study("calibration", "--lang", "toy", home=home) == 0
    results, out = home / "results", capsys.readouterr().out
    with open(results / "toy-calibration.csv", encoding="utf-8", newline="") as lines:
        table = {row["system"]: row for row in csv.DictReader(lines)}
    assert list(table) == ["mh4-hybrid", "mst"]
    dev = conllu.read(str(treebanks.locate("toy")["dev"]))
    for system, row in table.items():
        parser = mh4.load(str(home / "models" / "toy" / system / "seed1"))
        parser.model.temperature = calibrate(parser, dev[1::2]).temperature
        assert float(row["temperature"]) == pytest.approx(parser.model.temperature, abs=1e-4)
        assert float(row["nll_calibrated"]) < float(row["nll"])
        parsed = parser.parse(dev[::2], confidence=True)
        assert float(row["uas"]) == pytest.approx(attachment_scores(dev[::2], parsed)["uas"], abs=1e-3)
        mbr = Parser(parser.model, "mbr").parse(dev[::2])
        assert float(row["uas_mbr"]) == pytest.approx(attachment_scores(dev[::2], mbr)["uas"], abs=1e-3)
        probabilities = np.concatenate([sentence.probabilities[1:] for sentence in parsed])
        correct = np.concatenate([a.heads[1:] == b.heads[1:] for a, b in zip(parsed, dev[::2])])
        assert float(row["ece_calibrated"]) == pytest.approx(100 * expected_calibration_error(probabilities, correct), abs=1e-3)
        assert float(row["accuracy_at_1"]) == pytest.approx(float(row["uas"]), abs=1e-3)
        assert float(row["accuracy_at_0.5"]) > float(row["uas"])
    page = (results / "toy-calibration.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\| mst \| 1 \| ([0-9.]+) \|", page, re.MULTILINE)[:1]
    assert float(shown) == pytest.approx(float(table["mst"]["temperature"]), abs=1e-3) and "make calibration LANG=toy" in page
    assert "| 0.9 to 1.0 |" in page and "toy-calibration.png" in page and str(home) not in page
    assert (results / "toy-calibration.png").read_bytes().startswith(b"\x89PNG")
    assert "toy-calibration.md" in out
