"""`mh4 curves`: find trainings, plot them, and reject damaged metrics."""

import json
from xml.etree import ElementTree

import pytest
from running import refuses, succeeds

from mh4.analysis import curves
from mh4.errors import InputError


def training(folder, evaluations=3, more=""):
    folder.mkdir(parents=True)
    lines = [{"updates": 500 * k, "seconds": 60.0 * k, "dev_uas": 70.0 + k, "loss": 1 / k} for k in range(1, evaluations + 1)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + more)


def test_a_folder_stands_for_the_trainings_below_it(tmp_path):
    for name in ("mst/seed1", "mst/seed2", "mh3/seed1"):
        training(tmp_path / "models" / name)
    assert list(curves.runs([str(tmp_path)])) == ["mh3/seed1", "mst/seed1", "mst/seed2"]
    assert list(curves.runs([str(tmp_path / "models" / "mst" / "seed2")])) == ["seed2"]
    two = curves.runs([str(tmp_path / "models" / name) for name in ("mst/seed1", "mh3/seed1", "mst/seed1")])
    assert list(two) == ["mst/seed1", "mh3/seed1"] and two["mh3/seed1"][-1]["dev_uas"] == 73.0


def test_a_training_that_is_running(tmp_path):
    training(tmp_path / "run", 2, '{"updates": 15')
    training(tmp_path / "new", 0, '{"updates": 15')
    (run,) = curves.runs([str(tmp_path)]).values()
    assert [one["updates"] for one in run] == [500, 1000]
    with pytest.raises(InputError, match="no training has been evaluated there"):
        curves.runs([str(tmp_path / "new")])


@pytest.mark.parametrize(
    "line", ["{}", "[]", "no", '{"updates": 1, "seconds": 1, "dev_uas": NaN, "loss": 1}', '{"updates": %s}' % ("9" * 400)]
)
def test_damaged_lines_are_named(tmp_path, line):
    training(tmp_path / "run", 2, line + "\n")
    with pytest.raises(
        InputError, match=r"metrics.jsonl, line 3: damaged: expected an evaluation with updates, seconds, dev_uas"
    ):
        curves.runs([str(tmp_path)])


@pytest.mark.parametrize("kind, begin", [("svg", b"<?xml"), ("html", b"<!DOCTYPE html>"), ("png", b"\x89PNG")])
def test_the_plot(tmp_path, kind, begin):
    pytest.importorskip("matplotlib")
    for name in ("a", "_b\x1b"):
        training(tmp_path / "runs" / name)
    output = tmp_path / ("plot." + kind)
    curves.plot(str(output), curves.runs([str(tmp_path / "runs")]))
    assert output.read_bytes().startswith(begin)
    if kind == "svg":
        ElementTree.parse(output)
        assert all("<!-- %s -->" % name in output.read_text() for name in ("a", r"./_b\x1b"))
    if kind == "html":
        page = output.read_text()
        assert page.count("<svg") == page.count("</svg>") == 1 and "<?xml" not in page


def test_the_command(tmp_path):
    pytest.importorskip("matplotlib")
    training(tmp_path / "run")
    succeeds("curves", str(tmp_path / "run"), "-o", str(tmp_path / "plot.svg"))
    assert (tmp_path / "plot.svg").stat().st_size
    assert "none: cannot be read: No such file or directory" in refuses("curves", str(tmp_path / "none"), "-o", "x.svg")
    assert "expected a name that ends in" in refuses("curves", str(tmp_path / "run"), "-o", "x.txt")
