"""Print tables as text, Markdown, CSV and LaTeX."""

import csv
import io
import shutil
import subprocess

import pytest

from mh4.util.text_tables import Table, written

TABLE = Table(
    ["system", "seeds", "UAS", "p", "commit"],
    [["mh3_x", "1 2", "84.00 ± 0.50", "-", "abc"], ["50 % & more", "1", "9.50", "-0.25", "d"]],
    2,
    4,
)
GROUPED = Table.grouped(
    "", [("", ["gold"]), ("LAS F1, %", ["a", "b"])], ["det", "a\x1b[31m"], [["1", "2.5", "-"], ["10", "+1", "3"]]
)


def test_text():
    assert TABLE.text().splitlines() == [
        "system       seeds           UAS      p  commit",
        "mh3_x        1 2    84.00 ± 0.50      -  abc",
        "50 % & more  1              9.50  -0.25  d",
    ]
    assert GROUPED.text().splitlines() == [
        "                 LAS F1, %",
        "           gold       a  b",
        "det           1     2.5  -",
        "a\\x1b[31m    10      +1  3",
    ]


def test_markdown_names_the_group_of_a_column():
    assert GROUPED.markdown().splitlines()[:2] == ["|  | gold | LAS F1, %: a | LAS F1, %: b |", "| --- | ---: | ---: | ---: |"]
    assert Table(["x|y"], [["a\nb"]], 1).markdown().splitlines() == [r"| x\|y |", "| --- |", r"| a\nb |"]


def test_csv_has_columns_for_spreads_and_no_number_where_there_is_none():
    assert list(csv.reader(io.StringIO(TABLE.csv()))) == [
        ["system", "seeds", "UAS", "UAS ±", "p", "commit"],
        ["mh3_x", "1 2", "84.00", "0.50", "", "abc"],
        ["50 % & more", "1", "9.50", "", "-0.25", "d"],
    ]


def test_names_stay_as_they_are():
    """In columns of names, "-", "±" and minus signs are text and not numbers."""
    names = ["-", "hu-2017-06", "a ± -1", "2-4"]
    table = Table(["file", "LAS"], [[name, "-1.5"] for name in names], 1)
    assert [row[0] for row in csv.reader(io.StringIO(table.csv()))][1:] == names
    assert [line.partition(" & ")[0] for line in table.latex().splitlines()[4:8]] == ["-", "hu-2017-06", r"a $\pm$ -1", "2--4"]


def test_latex():
    assert TABLE.latex().splitlines() == [
        r"\begin{tabular}{llrrl}",
        r"\toprule",
        r"system & seeds & UAS & p & commit \\",
        r"\midrule",
        r"mh3\_x & 1 2 & 84.00 $\pm$ 0.50 & - & abc \\",
        r"50 \% \& more & 1 & 9.50 & $-$0.25 & d \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert GROUPED.latex().splitlines()[2:4] == [r"&  & \multicolumn{2}{c}{LAS F1, \%} \\", r"\cmidrule(lr){3-4}"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_compiles(tmp_path):
    text = r"\documentclass{article}\usepackage[utf8]{inputenc}\usepackage{booktabs}\begin{document}%s\end{document}"
    (tmp_path / "table.tex").write_text(text % written([TABLE, "said", GROUPED], "latex").replace("\x1b", ""))
    subprocess.run(["pdflatex", "-halt-on-error", "table.tex"], cwd=tmp_path, check=True)


def test_paragraphs_between_tables():
    parts = [GROUPED, "two\nlines", TABLE]
    assert written(parts) == "\n\n".join([GROUPED.text(), "two\nlines", TABLE.text()])
    assert "\n\n% two\n% lines\n\n" in written(parts, "latex") and "two" not in written(parts, "csv")
    assert "\n\ntwo\\\nlines\n\n" in written(parts, "markdown")  # not in one line
