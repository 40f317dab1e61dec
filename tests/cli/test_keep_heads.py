"""`mh4 parse --keep-heads` completes partly annotated files."""

import pytest
import tiny
import toy
from running import mh4, refuses, succeeds

from mh4.data import conllu
from mh4.data.cells import DEPREL, DEPS, HEAD, MISC


@pytest.fixture(scope="module")
def model(treebank):
    toy.untrained("mh4-hybrid", toy.sentences(treebank), treebank / "untrained")
    return str(treebank / "untrained")


WORD = "%d\tw%d\t_\t_\t_\t_\t%s\t%s\t%s\t%s\n"


def sentence(*rows, deps="_", misc="_", head=""):
    return head + "".join(WORD % (m, m, *row, deps, misc) for m, row in enumerate(rows, start=1)) + "\n"


COMPLETE = sentence((4, "a"), (3, "b"), (0, "c"), (2, "d"), (1, "e"), deps="0:root", misc="ArcProb=0.5|X=Y", head="# mh4 = old\n")
PARTLY = sentence((2, "a:b"), ("_", "_"), ("_", "c"), (2, "_"), deps="1:a", head="# sent_id = two\n")
CYCLE = sentence((2, "a"), (1, "b"), ("_", "_"))
ROOTS = sentence((0, "root"), (0, "root"))
NEITHER = sentence(*((head, "x") for head in tiny.NEITHER[1:]), ("_", "_"))  # in no class except that of all trees


def test_no_sentence_has_an_enhanced_graph_unless_all_have_theirs(model, tmp_path):
    """DEPS are removed from all sentences, even if kept or skipped: UD's validator expects them in all or in none."""
    path = tmp_path / "given.conllu"
    cycle = sentence((2, "a"), (1, "b"), deps="0:root")
    path.write_text(COMPLETE[:-1] + "5.1\tx" + 6 * "\t_" + "\t1:e\t_\n\n" + PARTLY + cycle, encoding="utf-8")
    command = ["parse", "--model", model, "--keep-heads", str(path)]
    assert set(column(mh4(*command).stdout, DEPS)) == {"_"}
    assert column(mh4(*command, "--keep-deps").stdout, DEPS) == column(path.read_bytes(), DEPS)


def column(text, number):
    return [line.split("\t")[number] for line in text.decode().splitlines() if "\t" in line]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_is_completed(model, tmp_path, jobs):
    path = tmp_path / "given.conllu"
    path.write_text(COMPLETE + PARTLY + CYCLE + NEITHER + ROOTS, encoding="utf-8")
    done = mh4("parse", "--model", model, "--keep-heads", str(path), "--jobs", jobs)
    assert done.returncode == 0
    complete, partly, cycle, neither, roots = done.stdout.decode().split("\n\n")[:-1]
    assert complete + "\n\n" == COMPLETE.replace("0:root", "_")
    rows = [line.split("\t") for line in partly.split("\n")[1:]]
    assert partly.startswith("# sent_id = two\n1")
    assert [row[6] for row in rows][::3] == ["2", "2"] and [row[7] for row in rows][::2] == ["a:b", "c"]
    assert all(row[6] != "_" and row[7] != "_" and row[8] == "_" for row in rows)
    assert cycle == "# mh4 = skipped, word 1 is on a cycle or below one, so this is not a tree\n" + CYCLE.rstrip()
    assert roots == "# mh4 = skipped, words 1 and 2 are both given as roots\n" + ROOTS.rstrip()
    note, *words = neither.split("\n")
    assert note == "# mh4 = mst of probabilities, no MH4 tree has the heads given up to word 4"
    assert [word.split("\t")[6] for word in words[:5]] == [str(head) for head in tiny.NEITHER[1:]]
    said = "mh4: %s: 3 of 5 sentences were not parsed as the others, as comments in them say: " % path
    assert done.stderr.decode() == said + "1 by mst of probabilities, 2 skipped\n"
    again = tmp_path / "again.conllu"
    again.write_bytes(done.stdout.replace(("%s\n\n" % cycle).encode(), b"").replace(("%s\n\n" % roots).encode(), b""))
    assert succeeds("parse", "--model", model, "--keep-heads", str(again), "--jobs", jobs) == again.read_bytes()


@pytest.mark.slow
def test_a_treebank_is_kept_to_the_byte_and_half_of_one_is_completed(model, treebank, tmp_path):
    gold = treebank / "toy-ud-dev.conllu"
    assert succeeds("parse", "--model", model, "--keep-heads", "--keep-deps", str(gold)) == gold.read_bytes()
    half = tmp_path / "half.conllu"
    columns = {HEAD: 6, DEPREL: 7}
    with half.open("w", encoding="utf-8") as file:
        for block in conllu.blocks(str(gold)):
            file.write(block.text({c: [v if k % 2 else "_" for k, v in enumerate(block.column(c))] for c in columns}))
    completed = tmp_path / "completed.conllu"
    completed.write_bytes(succeeds("parse", "--model", model, "--keep-heads", "--confidence", "--quiet", str(half)))
    for block, expected in zip(conllu.blocks(str(completed)), conllu.blocks(str(gold)), strict=True):
        for column in columns:
            assert block.column(column)[1::2] == expected.column(column)[1::2] and "_" not in block.column(column)
        if not block.comment("mh4"):
            assert {misc.split("ArcProb=")[1] for misc in block.column(MISC)[1::2]} <= {"1.0000|LabelProb=1.0000"}


def test_what_cannot_be_kept_is_said(model, tmp_path):
    path = tmp_path / "given.conllu"
    path.write_text(PARTLY, encoding="utf-8")
    command = ["parse", "--model", model, "--keep-heads", str(path)]
    assert "--keep-heads is for CoNLL-U" in refuses(*command, "--input", "vertical")
    assert "greedy decoding cannot keep heads" in refuses(*command, "--decode", "greedy")
    assert "beam cannot keep heads" in refuses(*command, "--beyond", "beam")
    path.write_text(PARTLY.replace("\t2\t", "\t7\t"), encoding="utf-8")
    assert "HEAD is 7, but the last word is 4" in refuses(*command)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_best_trees_follow_one_another(model, tmp_path, jobs):
    path = tmp_path / "given.conllu"
    path.write_text(PARTLY + COMPLETE, encoding="utf-8")
    done = mh4("parse", "--model", model, "--keep-heads", "--best", "3", str(path), "--jobs", jobs)
    *trees, complete = done.stdout.decode().split("\n\n")[:-1]
    assert complete + "\n\n" == COMPLETE.replace("0:root", "_") and len(trees) == 3
    for number, tree in enumerate(trees, start=1):
        first, note, *words = tree.split("\n")
        assert first == "# sent_id = two" + ("-tree%d" % number if number > 1 else "")
        assert note.startswith("# mh4 = tree %d of 3, score " % number) and len(words) == 4
    assert b"not parsed" not in done.stderr
    assert mh4("parse", "--model", model, str(path), "--best", "1").stdout == mh4("parse", "--model", model, str(path)).stdout


def test_the_best_trees_of_a_sentence_with_a_long_run_of_spaces_in_its_name(model, tmp_path):
    """Naming the trees takes linear time; quadratic time would be an hour."""
    path = tmp_path / "in.conllu"
    path.write_text("# sent_id = a%sb  \n1\tw%s\n2\tw%s\n\n" % (" " * 10**6, *2 * [8 * "\t_"]))
    text = mh4("parse", "--model", model, "--best", "2", str(path)).stdout.decode()
    assert [line.split() for line in text.split("\n") if line.startswith("# sent_id")] == [
        ["#", "sent_id", "=", "a", name] for name in ("b", "b-tree2")
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_best_trees_of_a_last_sentence_without_a_blank_line(model, tmp_path, end):
    """The best trees are valid CoNLL-U: separate sentences with different sent_ids, in a document that begins once."""
    path, out = tmp_path / "in.conllu", tmp_path / "out.conllu"
    lines = ["\ufeff", "# newdoc", "#newpar", "#sent_id = a ", "# sent_id =", *("%d\tw%s" % (m, 8 * "\t_") for m in (1, 2, 3))]
    path.write_bytes(end.join(lines).encode())
    done = mh4("parse", "--model", model, "--best", "3", str(path), "-o", str(out))
    said = "\nmh4: 3 trees of 1 sentence with 3 words written to %s\n" % out
    assert done.returncode == 0 and done.stderr.decode().endswith(said)
    text = out.read_bytes().decode()
    assert len(conllu.read(str(out))) == 3 and "\ufeff" not in text and text.count("# newdoc") == text.count("#newpar") == 1
    named = [line for line in text.split(end) if line.startswith("#sent_id")]
    assert named == ["#sent_id = a ", "#sent_id = a-tree2 ", "#sent_id = a-tree3 "] and text.count("# sent_id =" + end) == 3
    again = mh4("parse", "--model", model, "--best", "2", str(out)).stdout.decode().split(end)
    names = [line.strip() for line in again if line.startswith("#sent_id")]
    ends = ("", "-tree2", "-tree2-tree1", "-tree2-tree2", "-tree3-tree1", "-tree3-tree2")
    assert names == ["#sent_id = a" + name for name in ends]
