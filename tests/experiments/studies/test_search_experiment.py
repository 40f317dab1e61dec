"""``make search`` on models of the toy treebank: its measurements agree with the parser."""

import pytest
from samples import study, tables, trained

from mh4.data import conllu, treebanks
from mh4.parser.parsing import Parser
from mh4.training.trainer import evaluate

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """An mh4-hybrid, barely trained, and an unfinished one."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        trained(patch, home, ("mh4-hybrid", 1))
        (home / "models" / "toy" / "mh4-hybrid" / "seed2").mkdir()
        yield home


@pytest.mark.slow
def test_the_table_the_page_and_the_plot(home, capsys):
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
