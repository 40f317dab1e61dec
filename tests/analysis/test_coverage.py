"""Coverage, checked against its definition over all small trees, and the command `mh4 coverage`."""

import json
import sys
from collections import Counter

import brute
import numpy as np
import pytest
from running import refuses, succeeds
from test_trees import naive_crossings, naive_gap_degree, naive_well_nested
from tiny import CROSSING, NEITHER, PROJECTIVE, as_conllu, int32

from mh4.analysis import coverage
from mh4.errors import InputError
from mh4.util.plots import check_plot


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_text(as_conllu(PROJECTIVE, CROSSING, NEITHER))
    return str(path)


# -------------------------------------------------------------------------------------------------------------- counting


@pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_counts_over_all_trees(n):
    found = coverage.measure_coverage(map(int32, brute.all_trees(n)))
    assert (found.sentences, found.words) == (len(brute.all_trees(n)), n * len(brute.all_trees(n)))
    for name in coverage.CLASSES:
        candidates = np.array(brute.class_trees(n, name))
        assert found.covered[name] == len(candidates)
        assert found.kept[name] == sum((candidates[:, 1:] == tree[1:]).sum(axis=1).max() for tree in brute.all_trees(n))
    assert found.crossings == Counter(map(naive_crossings, brute.all_trees(n)))
    assert found.gap_degree == Counter(map(naive_gap_degree, brute.all_trees(n)))
    assert found.well_nested == sum(map(naive_well_nested, brute.all_trees(n)))


def test_percentages_and_sums():
    parts = [coverage.measure_coverage([int32(tree)]) for tree in (PROJECTIVE, CROSSING, NEITHER)]
    whole = coverage.total([("", part) for part in parts])
    assert whole == coverage.measure_coverage(map(int32, (PROJECTIVE, CROSSING, NEITHER)))
    assert parts[0] + coverage.Coverage() == parts[0]
    assert [whole.sentence_coverage(name) for name in coverage.CLASSES] == pytest.approx([100 / 3] + 3 * [200 / 3])
    assert [whole.edge_coverage(name) for name in coverage.CLASSES] == pytest.approx([100 * 7 / 11] + 3 * [100 * 10 / 11])
    empty = coverage.Coverage()
    assert empty.sentence_coverage("mh4") == empty.edge_coverage("mh4") == empty.share(0) == 0
    for share in (whole.sentence_coverage, whole.edge_coverage):
        with pytest.raises(ValueError, match="no class 'MH4' is counted; there are projective, mh4, 1ec, mh5"):
            share("MH4")


@pytest.mark.slow
def test_trees_with_too_large_a_core_are_left_out(tmp_path):
    """Trees with a core of over 200 words, such as two interleaved chains, are left out, but not all long trees."""

    def two_chains(n):
        return (-1, 0, 0, *range(1, n - 1))

    path = tmp_path / "bank.conllu"
    path.write_text(as_conllu(two_chains(1000), PROJECTIVE, (-1, *range(1000)), two_chains(201), two_chains(10)))
    first, *_, said = succeeds("coverage", str(path)).decode().split("\n\n")
    assert first.splitlines()[2].split()[:3] == ["bank.conllu", "3", "1013"]
    assert said.startswith("Sentences left out, as arcs of more than 200 words") and said.endswith(": 2 of bank.conllu\n")
    found = json.loads(succeeds("coverage", str(path), "--json"))["total"]
    assert (found["sentences"], found["left_out"], found["classes"]["mh5"]["sentences"]) == (3, 2, 3)
    assert coverage.measure_coverage([int32(two_chains(200))]).left_out == 0


def test_groups_of_numbers():
    counts = Counter({0: 5, 1: 1, 4: 2, 5: 3, 9: 4, 10: 1, 77: 1})
    assert coverage.group_names((0, 1, 2, 5, 10)) == ["0", "1", "2-4", "5-9", "10+"]
    assert coverage.grouped(counts, (0, 1, 2, 5, 10)) == [5, 1, 2, 7, 2]


# ------------------------------------------------------------------------------------------------------------ the command


def test_the_tables(bank):
    printed = succeeds("coverage", bank).decode()
    sentences, arcs, gaps, crossings = ([line.split() for line in part.splitlines()[1:]] for part in printed.split("\n\n"))
    classes = ["projective", "MH4", "1EC", "MH5"]
    assert sentences == [["sentences", "words", *classes], ["bank.conllu", "3", "11", "33.33", "66.67", "66.67", "66.67"]]
    assert arcs[0] == classes and arcs[1][0] == "bank.conllu"
    assert gaps[0][3:] == ["0", "1", "2", "3+", "well-nested"] and gaps[1][:2] == ["bank.conllu", "33.33"]
    assert crossings[0][3:] == ["0", "1", "2", "3", "4", "5-9", "10+"]
    assert sum(map(float, gaps[1][1:5])) == pytest.approx(100, abs=0.02) == sum(map(float, crossings[1][1:]))
    assert max(map(len, printed.splitlines())) < 80


@pytest.mark.slow
def test_json(bank, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text(as_conllu(PROJECTIVE))
    one = json.loads(succeeds("coverage", "--json", bank))
    assert one == {"files": [{"file": bank, **one["total"]}], "total": one["total"]}
    found = json.loads(succeeds("coverage", bank, str(other), "--json"))
    assert [file["file"] for file in found["files"]] == [bank, str(other)]
    assert found["files"][0] == one["files"][0]
    total = found["total"]
    assert (total["sentences"], total["words"]) == (4, 14)
    assert list(total["classes"]) == ["projective", "mh4", "1ec", "mh5"]
    assert total["classes"]["mh4"] == {"sentences": 3, "edges": 13, "sentence_coverage": 75.0, "edge_coverage": 100 * 13 / 14}
    assert total["gap_degree"] == {"0": 2, "1": 2} and total["block_degree"] == {"1": 2, "2": 2}
    assert total["crossings"]["0"] == 2 and sum(total["crossings"].values()) == 4 and 0 < total["well_nested"] <= 4


# --------------------------------------------------------------------------------------------------------------- the plot


@pytest.mark.slow
def test_a_plot(bank, tmp_path):
    pytest.importorskip("matplotlib")
    image = tmp_path / "out.png"
    assert succeeds("coverage", bank, bank, "--plot", str(image)) == succeeds("coverage", bank, bank)
    assert image.read_bytes().startswith(b"\x89PNG")
    drawing = tmp_path / "out.svg"
    coverage.plot(str(drawing), [("$a_1^$ ф", coverage.measure_coverage([int32(CROSSING)]))])
    assert "<svg" in drawing.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bank.conllu", "out.png", "out.svg"]


@pytest.mark.slow
def test_no_plot_of_that_name(bank, tmp_path):
    pytest.importorskip("matplotlib")
    assert "a name that ends in .png" in refuses("coverage", bank, "--plot", str(tmp_path / "out"))
    assert "a name that ends in .png" in refuses("coverage", bank, "--plot", str(tmp_path / "out.txt"))
    bad = tmp_path / "bad.conllu"
    bad.write_text(as_conllu((-1, 2, 1)))
    assert "cycle" in refuses("coverage", str(bad), "--plot", str(tmp_path / "out.png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.conllu", "bank.conllu"]
    (tmp_path / "folder.png").mkdir()
    assert "it is a folder" in refuses("coverage", bank, "--plot", str(tmp_path / "folder.png"))
    (tmp_path / "full.pdf").symlink_to("/dev/full")
    assert "No space left on device" in refuses("coverage", bank, "--plot", str(tmp_path / "full.pdf"))


def test_no_matplotlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install 'matplotlib>=3.7'"):
        check_plot(str(tmp_path / "out.png"))
