"""``make compare`` on recorded trees has the counts of `mh4 compare`, summed over the seeds."""

import csv
import shutil
import sys

import pytest
from samples import record, study, trees_file

from experiments.engine import predictions, records
from experiments.studies import compare
from mh4.analysis import comparison
from mh4.analysis.attachment import attachment_scores
from mh4.data import conllu, treebanks
from mh4.data.cells import DEPREL, HEAD
from mh4.util.files import git_blob_id

SEEDS = (1, 2)


@pytest.fixture
def home(tmp_path):
    """Records of mh3 (seeds 1 and 2) and mst (seeds 1 to 3) on the toy treebank, whose trees are chains from a root."""
    dev = treebanks.locate("toy", splits=("train", "dev"))
    for system, seeds in (("mh3", SEEDS), ("mst", (*SEEDS, 3))):
        for seed in seeds:
            parsed = tmp_path / ("%s-%d.conllu" % (system, seed))
            _write_chains(dev["dev"], parsed, 1 if system == "mh3" else seed)
            results = tmp_path / "home" / "results"
            uas = attachment_scores(conllu.read(str(dev["dev"])), conllu.read(str(parsed)))["uas"]
            trees = trees_file(results, "toy/%s-seed%d" % (system, seed))
            predictions.keep(trees, {"dev": dev["dev"]}, {"dev": parsed})
            record(results, "toy", system, seed, uas, lang="toy", release="toy treebank", trees_git_blob=git_blob_id(trees))
    return tmp_path / "home"


def _write_chains(path, parsed, first):
    """Write trees whose root is word number `first`; the head of every other word is its neighbour towards the root."""
    with open(parsed, "w", encoding="utf-8", newline="") as file:
        for block in conllu.blocks(str(path), trees=False):
            n = len(block.sentence)
            root = min(first, n)
            heads = [str(0 if m == root else m - 1 if m > root else m + 1) for m in range(1, n + 1)]
            file.write(block.text({HEAD: heads, DEPREL: ["root" if head == "0" else "dep" for head in heads]}))


@pytest.mark.slow
def test_it_counts_what_mh4_compare_counts(home, tmp_path, capsys):
    assert study("compare", "--lang", "toy", "--systems", "mh3 mst", home=home) == 0
    out = capsys.readouterr().out
    dev = str(treebanks.locate("toy", splits=("train", "dev"))["dev"])
    files = [[str(tmp_path / ("%s-%d.conllu" % (system, k))) for k in SEEDS] for system in ("mh3", "mst")]
    single = [comparison.compare(dev, *pair) for pair in zip(*files)]
    with open(home / "results" / "toy-mh3-mst.csv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {row["seeds"] for row in rows} == {"1 2"}
    counted = {(row["dimension"], row["group"], row["system"], row["labelled"]): row for row in rows}
    for dimension in comparison.DIMENSIONS:
        for number, group in enumerate(dimension.names):
            for which, system in enumerate(("mh3", "mst")):
                for kind, labelled in enumerate(("no", "yes")):
                    expected = [
                        sum(counts) for counts in zip(*(c.systems[which].groups[dimension.key][number][kind] for c in single))
                    ]
                    row = counted[dimension.key, group, system, labelled]
                    assert [int(row[name]) for name in ("gold", "predicted", "recalled", "precise")] == expected
    pooled = comparison.compare(dev, *files).differences["uas"]
    assert pooled.a == pytest.approx(sum(c.differences["uas"].a for c in single) / 2)  # the same words in every run
    assert pooled.b == pytest.approx(sum(c.differences["uas"].b for c in single) / 2)
    assert single[0].differences["uas"].difference == 0 != pooled.difference  # with seed 1, both have the same trees
    page = (home / "results" / "toy-mh3-mst.md").read_text(encoding="utf-8")
    assert "| UAS (F1) | %.2f | %.2f |" % (pooled.a, pooled.b) in page
    assert 'make compare LANG=toy SYSTEMS="mh3 mst"' in page and "toy-mh3-mst.png" in page and str(home) not in page
    left_out = "fewer than 5 seeds, both are too small.\nLeft out, as the other system has no such seed: mst seed 3.\n"
    assert left_out in out and left_out in page and str(tmp_path) not in out.partition("Written: ")[0]
    assert (home / "results" / "toy-mh3-mst.png").read_bytes().startswith(b"\x89PNG") and "toy-mh3-mst.md" in out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--systems", "mh3 1ec"], "compare: no finished run of 1ec in the results: train it first, with make reproduce\n"),
        (["--systems", "mh3 mh4hybrid"], "compare: SYSTEMS: no system 'mh4hybrid'; did you mean mh4-hybrid? there are "),
        (["--systems", "mh3 mst", "--seeds", "2 3"], "compare: no finished run of mh3 with seed 3 in the results: "),
    ],
)
def test_runs_that_are_not_recorded(home, arguments, message, capsys):
    assert study("compare", "--lang", "toy", *arguments, home=home) == 2
    said = capsys.readouterr().err
    assert said.startswith(message) and said.count("\n") == 1


def test_a_system_that_finds_no_arc_of_a_group_has_an_f1_of_0(tmp_path):
    header, *lines = (records.RESULTS / "got-mh4-hybrid-1ec.csv").read_text(encoding="utf-8").splitlines()
    cells = [line.split(",") for line in lines]
    of_1ec = [row for row in cells if row[3:6] == ["length", "root", "1ec"]]
    for row in of_1ec:
        row[-2:] = "0", "0"
    changed = tmp_path / "got.csv"
    changed.write_text("\n".join([header, *map(",".join, cells)]) + "\n", encoding="utf-8")
    *_, before = compare.f1_by_group(records.RESULTS / "got-mh4-hybrid-1ec.csv", "length")
    *_, after = compare.f1_by_group(changed, "length")
    assert len(of_1ec) == 2 and after == {**before, "root": (before["root"][0], 0.0)}


def test_the_table_for_a_paper_names_its_seeds_and_is_never_older_than_the_page(home, capsys):
    paper = home / "results" / "toy-mh3-mst-table.tex"
    for form, seed in (("latex", 1), ("csv", 2), ("", 1)):
        asked = ("--systems=mh3 mst", "--format=" + form, "--seeds=%d" % seed)
        assert study("compare", "--lang=toy", *asked, home=home) == 0
        out, written = capsys.readouterr().out, paper.read_text(encoding="utf-8")
        assert written.startswith("% toy (toy treebank): mh3 and mst on the development set.\n% In percent, ")
        few = "by bootstrap over gold sentences, so they do not allow for other seeds.\n"
        for text in (out, written):
            assert "runs of seed %d of both systems" % seed in text and few in text and "Left out" not in text
        assert written.count("tabular") == 2
    assert paper.with_suffix(".csv").read_text(encoding="utf-8").startswith(",mh3,mst,diff.,")


@pytest.mark.parametrize("of_another_run", [False, True])
def test_trees_that_are_missing_or_of_another_run(home, capsys, of_another_run):
    one, two = (trees_file(home / "results", "toy/mst-seed%d" % seed) for seed in SEEDS)
    one.unlink()
    if of_another_run:
        shutil.copy(two, one)
    assert study("compare", "--lang", "toy", "--systems", "mh3 mst", home=home) == 2
    said = capsys.readouterr().err
    assert "mst-seed1.trees.gz does not have the trees of mst seed 1: restore them, or" in said and said.count("\n") == 1


def test_it_needs_matplotlib_from_the_start(home, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert study("compare", "--lang", "toy", "--systems", "mh3 mst", home=home) == 2
    assert "a plot needs matplotlib" in capsys.readouterr().err
    assert sorted(path.name for path in (home / "results").iterdir()) == ["toy.jsonl", "trees"]
