"""``make likelihood`` on the toy treebank: trains with both losses, and its measurements agree with the parser."""

import pytest
import toy
from samples import study, tables, toy_settings, trees_file

import mh4
from experiments.engine import predictions
from experiments.engine.run import Run
from experiments.studies.calibration import measure
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu, treebanks
from mh4.errors import InputError
from mh4.parser import config


@pytest.mark.slow
def test_both_losses(tmp_path, monkeypatch):
    short = config.with_settings(toy.SMALL, ["training.max_updates=30", "training.evaluate_updates=15", "encoder.units=32"])
    toy_settings(monkeypatch, short, tmp_path)
    home = tmp_path / "home"
    arguments = ["--lang", "toy", "--systems", "mh3 mst", "--seeds", "1", "--jobs", "1"]
    assert study("likelihood", *arguments, home=home) == 0
    results = home / "results"
    table = {(row["system"], row["loss"]): row for row in tables(results / "toy-likelihood.md")[0]}
    assert list(table) == [(system, loss) for system in ("mh3", "mst") for loss in ("hinge", "likelihood")]
    dev = conllu.read(str(treebanks.locate("toy")["dev"]))
    for (system, loss), row in table.items():
        model = Run.at(home / "models" / "toy", system + ("-likelihood" if loss == "likelihood" else ""), 1)
        parser = mh4.load(str(model.folder))
        assert parser.model.config.training.loss == loss and parser.model.system.name == system
        scores = attachment_scores(dev, parser.parse(dev))
        assert (row["dev UAS"], row["dev LAS"]) == ("%(uas).2f" % scores, "%(las).2f" % scores)
        found = measure(model, dev).scores
        assert row["mbr"] == "%(las_mbr).2f" % found  # of LAS, as the last column
        assert row["NLL"] == "%(nll_calibrated).3f" % found
    page = (results / "toy-likelihood.md").read_text(encoding="utf-8")
    assert "| likelihood | " in page.split("## Ensembles")[1] and "- mst-likelihood, seed 1: trained" in page
    assert 'make likelihood LANG=toy SYSTEMS="mh3 mst" SEEDS="1"' in page and str(home) not in page
    assert "mst-likelihood" in (results / "toy.md").read_text(encoding="utf-8")  # as a row of Table 4
    pages = {path: path.read_bytes() for path in results.glob("toy-likelihood*")}
    trees_file(results, "toy/mst-seed1").unlink()

    def fail(*arguments):
        raise InputError("no memory")

    monkeypatch.setattr(predictions, "parse", fail)
    for path in pages:
        path.unlink()
    assert study("likelihood", *arguments, home=home) == 1  # as the record lacks what is parsed
    assert {path: path.read_bytes() for path in results.glob("toy-likelihood*")} == pages
