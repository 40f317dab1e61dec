"""`mh4 view`: the layout of trees, drawings in the terminal and as SVG, the transitions shown, and the command line."""

import gzip
import os
import re
import shlex
import shutil
import unicodedata
from xml.dom import minidom

import brute
import numpy as np
import pytest
import tiny
import toy
from click.testing import CliRunner
from rich.cells import cell_len
from running import COMMAND, refuses

from mh4 import cli, trees
from mh4.data import conllu
from mh4.data.sentence import Sentence
from mh4.drawing import layout, svg
from mh4.errors import InputError
from mh4.parser import config
from mh4.parser.parsing import Parser
from mh4.training.trainer import Trainer
from mh4.transitions import Configuration
from mh4.viewing import analyses, page, terminal

CROSSING = """# sent_id = crossing
# text = Folka kalum dorpit berodo.
1\tfolko\tfolk\tADJ\tJJ\tCase=Acc\t4\tamod\t_\tArcProb=0.25
2\tkaluma\tkalum\tNOUN\tNN\tCase=Nom\t3\tnsubj\t_\tX=Y|ArcProb=0.9
3\tdorpit\tdorp\tVERB\tVB\t_\t0\troot\t_\t_
4\tberodo\tberod\tNOUN\tNN\tCase=Acc\t3\tobj\t_\tArcProb=1.5
5\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\tArcProb=x

"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "crossing.conllu"
    path.write_text(CROSSING, encoding="utf-8")
    return str(path)


def run(*arguments, **options):
    return CliRunner().invoke(cli.main, ["view", *map(str, arguments)], **options)


# -------------------------------------------------------------------------------------------------------------- layout


@pytest.mark.parametrize("seed", range(30))
def test_arcs_and_labels_do_not_touch(seed):
    """Arcs on one level do not overlap, longer arcs are above shorter ones inside them, and texts have enough room."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    heads = np.array(brute.random_tree(n, rng))
    words, labels = (["x" * int(k) for k in rng.integers(1, 12, size=n)] for _ in range(2))
    (placed,) = layout.place(words, [(heads, labels)])
    spans = [(min(h, m), max(h, m), placed.levels[m - 1]) for m, h in enumerate(heads[1:], start=1)]
    for i, (a, b, level) in enumerate(spans):
        for c, d, other in spans[:i]:
            if a and c and max(a, c) < min(b, d):
                assert level != other
                if (a <= c and d <= b) != (c <= a and b <= d):  # one within the other
                    assert (level > other) == (b - a > d - c)
        if not a:
            assert level == max(placed.levels)

    def apart(intervals):
        ends = sorted(intervals)
        return all(right <= left + 1 for (_, right), (left, _) in zip(ends, ends[1:]))  # positions are whole pixels

    def widths(middles, texts, size):
        return [(x - layout.text_width(t, size) / 2, x + layout.text_width(t, size) / 2) for x, t in zip(middles, texts)]

    of_words = widths(placed.words, words, layout.WORD_SIZE)
    of_labels = widths((placed.heads + placed.dependents) / 2, labels, layout.LABEL_SIZE)
    assert apart(of_words)
    for level in set(placed.levels):
        assert apart([interval for interval, one in zip(of_labels, placed.levels) if one == level])
    assert min(left for left, _ in of_words + of_labels) >= 0
    assert max(right for _, right in of_words + of_labels) <= placed.width
    legs = {(m, int(x)) for m, x in enumerate(placed.dependents)} | {
        (h - 1, int(x)) for h, x in zip(heads[1:], placed.heads) if h
    }
    assert len(legs) >= n  # arcs end at different places
    for m, x in legs:
        assert abs(x - placed.words[m]) <= (of_words[m][1] - of_words[m][0] + layout.GAP) / 2


@pytest.mark.parametrize("seed", range(10))
def test_trees_together_share_their_words(seed):
    """Words have the same place in all trees, never left of their place in a single tree, and tags do not overlap."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    words, tags = (["x" * int(k) for k in rng.integers(1, 12, size=n)] for _ in range(2))
    drawn = [(np.array(brute.random_tree(n, rng)), ["x" * int(k) for k in rng.integers(1, 12, size=n)]) for _ in range(3)]
    together = layout.place(words, drawn, tags=[tags, [""] * n])
    assert len({(tuple(one.words), one.width) for one in together}) == 1
    for one, (heads, labels) in zip(together, drawn):
        (alone,) = layout.place(words, [(heads, labels)])
        assert (one.words >= alone.words).all() and (one.levels == alone.levels).all() and one.height > alone.height
        assert np.abs((one.dependents - one.words) - (alone.dependents - alone.words)).max() <= 1  # rounding
    ends = [
        (x - layout.text_width(t, layout.TAG_SIZE) / 2, x + layout.text_width(t, layout.TAG_SIZE) / 2)
        for x, t in zip(together[0].words, tags)
    ]
    assert all(right <= left for (_, right), (left, _) in zip(ends, ends[1:])) and ends[-1][1] <= together[0].width


@pytest.mark.parametrize(
    "words, direction",
    [(["abc", "!"], "ltr"), (["אבג", "a", "12"], "rtl"), (["ابج"], "rtl"), (["12", "."], "ltr"), (["ひ"], "ltr")],
)
def test_direction(words, direction):
    assert layout.direction_of(words) == direction


# ------------------------------------------------------------------------------------------------------------ analyses


def test_what_a_file_says(file):
    (shown,) = analyses.read(file)
    (tree,) = shown.analyses
    assert (shown.number, shown.sent_id, shown.text) == (1, "crossing", "Folka kalum dorpit berodo.")
    assert (shown.lemmas[0], tree.upos[0], tree.xpos[0], tree.feats[0]) == ("folk", "ADJ", "JJ", "Case=Acc")
    assert tree.deprels[0] == "amod"
    assert tree.probabilities[:3].tolist() == [1, 0.25, 0.9] and np.isnan(tree.probabilities[3:]).all()


def test_transitions_shown_make_the_tree(tmp_path):
    """The transitions of MH4, or of MH5 for trees outside MH4, derive the tree."""
    sources = set()
    for sentence in toy.sentences(tmp_path):
        codes, source = page.transitions(sentence)
        sources.add(source)
        configuration = Configuration(len(sentence))
        for code in codes:
            configuration.apply(code)
        assert configuration.is_final() and configuration.heads.tolist() == sentence.heads.tolist()
    assert sources == {1, 2}


@pytest.mark.parametrize("name, longest, reason", [("mh5", 12, "outside MH5"), ("mh4", 11, "more than 80 words")])
def test_a_tree_without_transitions(monkeypatch, name, longest, reason):
    """No transitions are shown for a tree outside MH5, or for one outside MH4 that is too long for MH5."""
    rng = np.random.default_rng(1)
    heads = next(heads for _ in range(100) if not trees.in_class(heads := np.array(brute.random_tree(12, rng)), name))
    monkeypatch.setattr(page, "_LONGEST_FOR_MH5", longest)
    codes, source = page.transitions(Sentence(["x"] * 12, heads=heads))
    assert codes == [] and reason in page._SOURCES[source]


def test_the_model_shows_its_own_derivation(file, tmp_path):
    sentences = toy.sentences(tmp_path)[:20]
    folder = tmp_path / "model"
    settings = config.with_settings(toy.SMALL, ["training.max_updates=10", "training.evaluate_updates=10"])
    Trainer("mh4-hybrid", settings, sentences, sentences, str(folder)).run()
    (shown,) = analyses.read(file, model=str(folder))
    (parsed,) = Parser.load(str(folder)).parse([shown.words], confidence=True)
    own, of_model = shown.analyses
    assert own.heads.tolist() == [-1, 4, 3, 0, 3, 3] and of_model.heads.tolist() == parsed.heads.tolist()
    assert of_model.probabilities == pytest.approx(parsed.probabilities)
    codes, source = page.transitions(of_model)
    configuration = Configuration(5)
    for code, s1, s0, b0 in of_model.transitions.tolist():
        assert (s1, s0, b0) == (configuration.s1, configuration.s0, configuration.b0)
        configuration.apply(code)
    assert source == 0 and codes == of_model.transitions[:, 0].tolist() and configuration.heads.tolist() == parsed.heads.tolist()


# ------------------------------------------------------------------------------------------------------------ drawings

DRAWN = """# 1  crossing
# Folka kalum dorpit berodo.
─┮
 │                       ╭─╼ folko ADJ amod
 │ ╭─╼ kaluma NOUN nsubj │
 ╰─┾ dorpit VERB root    │
   ┡─────────────────────┶ berodo NOUN obj
   ╰─╼ . PUNCT punct

"""


def test_a_tree_in_the_terminal(file):
    assert run(file).output == run(file, "--sentence", "1").output == run(file, "--sentence", "crossing").output == DRAWN


def test_two_trees_side_by_side(file, tmp_path):
    other = tmp_path / "other.conllu"
    other.write_text(CROSSING.replace("\t4\tamod", "\t3\tamod").replace("\tnsubj", "\tcsubj"), encoding="utf-8")
    lines = run(file, other).output.splitlines()
    assert lines[2].split() == ["crossing.conllu", "other.conllu"]
    marked = [line for line in lines[:-2] if "≠" in line or "≈" in line]
    assert "**folko ADJ amod**" in marked[0] and "≠" in marked[0]  # another head
    assert "**kaluma" in marked[1] and "≈" in marked[1]  # only another relation
    assert all(line.count("**") == 4 for line in marked) and lines[-2].startswith("# 2 of 5 arcs differ (≠")
    (first, *_), (second, *_) = (line.replace("≈", "≠").split("≠") for line in marked)
    assert len(first) == len(second)
    assert "# no arcs differ" in run(file, file).output


def test_two_trees_too_wide_for_the_terminal(file):
    """Trees too wide for the terminal are drawn one below the other, with the same marks."""
    (shown,) = analyses.read(file, file)
    shown.analyses[1].deprels[0] = "det"
    beside = terminal.draw(shown, ["a", "b"])
    width = max(map(cell_len, beside.splitlines()[2:-1]))
    assert terminal.draw(shown, ["a", "b"], columns=width) == beside
    lines = terminal.draw(shown, ["a", "b"], columns=width - 1).replace("**", "").splitlines()
    tree = DRAWN.splitlines()[2:-1]
    assert lines[2:9] == ["a", *tree] and lines[9:11] == ["b", tree[0]] and lines[11].endswith("folko ADJ det  ≈")
    assert lines[12:] == [*tree[2:], beside.splitlines()[-1]]


def test_a_tree_too_wide_for_the_terminal(file):
    """A tree too wide for the terminal is drawn more narrowly."""
    (shown,) = analyses.read(file)
    usual, narrow = (terminal.draw(shown, ["a"], columns=columns).splitlines()[2:] for columns in (60, 24))
    assert usual == DRAWN.splitlines()[2:-1] and max(map(cell_len, usual)) > 24 >= max(map(cell_len, narrow))
    texts = [[re.findall(r"\w+ \w+ \w+|\. .*", line) for line in lines] for lines in (usual, narrow)]
    assert texts[0] == texts[1]


def test_wide_characters_and_escapes(tmp_path):
    path = tmp_path / "odd.conllu"
    path.write_text(CROSSING.replace("folko\tfolk", "日本\x1b[31m\tfolk"), encoding="utf-8")
    lines = run(path, path).output.splitlines()
    assert "\x1b" not in "".join(lines) and "日本\\x1b[31m" in "".join(lines)
    roots = [cell_len(line[: line.rindex(" │ ")]) for line in lines if line.startswith(" │ ")]  # the second tree's left edge
    assert roots == [lines[3].rindex("─┮")] * 2


def test_pictures_are_xml_with_the_crossed_arcs_marked(tmp_path, file):
    for sentence in toy.sentences(tmp_path)[:60]:
        drawn = minidom.parseString(svg.picture(sentence.words, sentence.heads, sentence.deprels))
        texts = [node.firstChild.data for node in drawn.getElementsByTagName("text")]
        assert texts == [*sentence.deprels, *sentence.words]
        crossed = [node for node in drawn.getElementsByTagName("g") if node.getAttribute("class") == "crossed"]
        assert len(crossed) == 2 * trees.crossed_arcs(sentence.heads).sum()  # an arc and its label
    hostile = Sentence(["<script>", '"&\x00\x0b', "]]>"], heads=np.array([-1, 0, 1, 1]), deprels=["root", "<a>", "'b'"])
    drawn = minidom.parseString(svg.picture(hostile.words, hostile.heads, hostile.deprels))
    assert [node.firstChild.data for node in drawn.getElementsByTagName("text")][3] == "<script>"
    out = file.replace(".conllu", ".svg.gz")
    assert run(file, "--sentence", "crossing", "--svg", out).exit_code == 0
    with gzip.open(out, "rt", encoding="utf-8") as written:
        drawing = written.read()
    assert ' opacity="%.2f"' % (layout.PALEST + (1 - layout.PALEST) * 0.25) in drawing and drawing.count('"line doubtful"') == 1


def test_a_page_that_is_compressed(file, tmp_path):
    for name in ("page.html", "page.html.gz"):
        assert run(file, "--html", tmp_path / name).exit_code == 0
    assert gzip.decompress((tmp_path / "page.html.gz").read_bytes()) == (tmp_path / "page.html").read_bytes()


def test_a_sentence_in_a_notebook(file):
    (sentence,) = conllu.read(file)
    assert sentence._repr_html_().count("<path") == 10
    assert Sentence(["not", "parsed"])._repr_html_() is None
    for labels in (None, [None, None]):
        assert Sentence(["no", "labels"], heads=[-1, 2, 0], deprels=labels)._repr_html_().count("<path") == 4
    assert Sentence([], heads=[-1])._repr_html_() is None
    for heads in ([-1, -1, 0], [-1, None, 0], [-1, 2, 1]):  # not a tree: the notebook shows its repr
        assert Sentence(["a", "b"], heads=heads)._repr_html_() is None
    with pytest.raises(InputError, match="the sentence: its heads are"):
        Sentence(["too", "few"], heads=[-1, 0])._repr_html_()


# ------------------------------------------------------------------------------------------------------------- command


def test_a_sentence_by_number_or_name(tmp_path):
    """--sentence prefers numbers of sentences to names, and compares names as a whole."""
    texts = [CROSSING.replace("kaluma", "word%d" % k) for k in range(1, 4)]
    for k, name in enumerate(("3", "7", "x" * 200)):
        texts[k] = texts[k].replace("sent_id = crossing", "sent_id = " + name)
    path = tmp_path / "named.conllu"
    path.write_text("".join(texts), encoding="utf-8")
    for wanted, found in (("1", "word1"), ("3", "word3"), ("7", "word2"), ("x" * 200, "word3")):
        done = run(path, "--sentence", wanted)
        assert [word for word in ("word1", "word2", "word3") if word in done.output] == [found], wanted
    assert "no sentence %s" % ("x" * 100) in run(path, "--sentence", "x" * 100).output


def test_bad_input(file, tmp_path):
    out = tmp_path / "out.html"

    def refused(*arguments):
        message = refuses("view", *map(str, arguments))
        assert not out.exists()
        return message

    assert "no sentence 2, expected a number from 1 to 1 or a sent_id" in refused(file, "--sentence", "2")
    assert "choose a second file or --model, not both" in refused(file, file, "--model", "x")
    assert "--svg draws one tree" in refused(file, "--svg", tmp_path / "out.svg")
    assert "--svg draws one tree" in refused(file, file, "--sentence", "1", "--svg", tmp_path / "out.svg")
    other = tmp_path / "other.conllu"
    other.write_text(CROSSING.replace("kaluma", "berod"), encoding="utf-8")
    assert "word 2 is 'berod', but 'kaluma' in" in refused(file, other, "--html", out)
    pair = [tmp_path / name for name in ("NFC", "NFD")]
    for path in pair:
        path.write_text(CROSSING.replace("kaluma", unicodedata.normalize(path.name, "málo")), encoding="utf-8")
    assert "(the same characters in different normal forms of Unicode, such as NFC and NFD)" in refused(*pair, "--html", out)
    other.write_text(CROSSING * 2, encoding="utf-8")
    assert "expected the end of the file" in refused(file, other, "--html", out)
    other.write_text(tiny.as_conllu((-1, *range(1000))), encoding="utf-8")
    assert run(other, "--html", out).exit_code == 0 and out.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "heads, reason",
    [
        (range(1000), "a tree 1000 arcs deep"),
        ([0] + 20_000 * [1], "20001 words"),
        ([*3000 * [0], *range(1, 3001)], "arcs over 9003000 words in all"),
    ],
)
def test_a_tree_too_large_for_text(tmp_path, heads, reason):
    """A tree too large for text is replaced by a line with the reason, and the next tree is drawn."""
    big = tmp_path / "big.conllu"
    big.write_text(tiny.as_conllu((-1, *heads)) + CROSSING, encoding="utf-8")
    line = "# not drawn: %s, too large for a drawing in text; --html and --svg draw it" % reason
    shown = run(big)
    assert shown.exit_code == 0
    first, second = shown.output.split("\n\n", 1)
    assert first.splitlines()[2:] == [line] and second == run(big, "--sentence", "2").output
    assert run(big, big).output.split("\n\n", 1)[0].splitlines()[2:] == [line, "# no arcs differ"]


@pytest.fixture
def in_pager(monkeypatch):
    """A function that runs `mh4 view` with this PAGER on a terminal of 24 lines, without the user's options of less."""
    pexpect = pytest.importorskip("pexpect")
    for name in ("LESS", "PAGER", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def start(pager, *arguments, piped=None, **variables):
        if pager and not shutil.which(pager.split()[0]):
            pytest.skip("there is no %s" % pager)
        environment = {**os.environ, "TERM": "xterm", **({"PAGER": pager} if pager else {}), **variables}
        line = ("cat %s | " % piped if piped else "exec ") + shlex.join([*COMMAND, "view", *arguments])
        return pexpect.spawn("sh", ["-c", line], env=environment, dimensions=(24, 100), timeout=30)

    return start


@pytest.mark.slow
@pytest.mark.parametrize(
    "pager, variables, colour",
    [
        (None, {}, True),
        ("less", {"LESS": "iM"}, True),
        ("less -S", {}, True),
        (None, {"LESS": "-+R"}, None),  # the user's choice
        (None, {"NO_COLOR": "1"}, False),
        (None, {"LC_ALL": "C"}, True),
        ("cat", {}, True),
        ("cat", {"TERM": "dumb"}, False),
    ],
)
def test_a_tree_that_fits_on_the_screen_stays_there(file, in_pager, pager, variables, colour):
    """For a tree that fits, the pager ends by itself without the alternate screen; colours are shown or left out."""
    child = in_pager(pager, file, **variables)
    child.expect(pytest.importorskip("pexpect").EOF)
    assert b"kaluma" in child.before and "╰─".encode() in child.before and b"\x1b[?1049h" not in child.before
    if colour is not None:
        assert (b"\x1b[3" in child.before) == colour and b"ESC" not in child.before


@pytest.mark.slow
@pytest.mark.parametrize("pager, colour", [(None, True), ("more", False)])
@pytest.mark.parametrize("piped", [False, True])
def test_longer_output_waits_in_the_pager(tmp_path, in_pager, pager, colour, piped):
    path = tmp_path / "long.conllu"
    path.write_text(20 * CROSSING, encoding="utf-8")
    child = in_pager(pager, piped=path) if piped else in_pager(pager, str(path))
    child.expect("kaluma")
    child.send(" q")
    child.expect(pytest.importorskip("pexpect").EOF)
    shown = child.before
    assert b"# 20" not in shown and b"ESC" not in shown and (b"\x1b[3" in shown) == colour


def test_a_pager_that_is_not_a_command(file, in_pager):
    child = in_pager(None, file, PAGER="less '")
    child.expect("mh4: PAGER=less ' is not a command: ")
    child.expect(pytest.importorskip("pexpect").EOF)
    child.close()
    assert child.exitstatus == 2


def test_the_terminal_marks_with_colours(file):
    (shown,) = analyses.read(file, file)
    shown.analyses[1].deprels[0] = "det"
    text = terminal.draw(shown, ["a", "b"], color=True)
    assert text.count("\x1b[7m") >= 2 and "**" not in text
