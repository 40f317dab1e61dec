"""Continue after blocks that are not CoNLL-U, yield each sentence at once, and note in comments how it was parsed."""

import io
import tempfile

import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

from mh4.data import conllu, text_lines
from mh4.data.cells import HEAD
from mh4.data.conllu import NoSentences
from mh4.data.rejects import Rejects, open_rejects
from mh4.errors import InputError
from mh4.util.output import open_output

GOOD = tiny.as_conllu(tiny.PROJECTIVE)
BAD = ["1\tw\n\n", "# only a comment\n\n", "2" + GOOD[1:], GOOD.replace("\t2\t", "\t9\t", 1), "\t\n \n"]


def lines(text):
    return text.splitlines(keepends=True)


@given(st.lists(st.sampled_from([GOOD, *BAD, "\n"]), max_size=8))
def test_every_line_is_in_a_block_or_rejected(pieces):
    """All lines are parsed or rejected, in order; good blocks are read as they are without bad ones."""
    text, found = "".join(pieces), []
    try:
        for block in conllu.parsed(lines(text), "file", rejected=lambda rows, error: found.append(rows)):
            assert block.sentence.heads.tolist() == list(tiny.PROJECTIVE)
            found.append(block.lines)
    except NoSentences:
        assert not text.strip("\n")
        return
    assert "".join(line for rows in found for line in rows) == text
    assert len(found) == sum(piece != "\n" for piece in pieces)


def test_messages_name_the_same_places():
    """Messages name the same line with rejects and without."""
    for bad in BAD:
        errors = []
        list(conllu.parsed(lines(GOOD + bad + GOOD), "file", rejected=lambda *found, errors=errors: errors.append(found[1])))
        with pytest.raises(InputError) as caught:
            list(conllu.parsed(lines(GOOD + bad + GOOD), "file"))
        (error,) = errors
        assert str(error) == str(caught.value) and ("line 5" in str(error) or "line 6" in str(error))


@given(st.lists(st.sampled_from([GOOD, "\n", " \n"]), min_size=1, max_size=8))
def test_at_once(pieces):
    """A sentence is yielded when a blank line ends it; blank lines at the end of the file belong to no sentence."""
    text = "".join(pieces)
    read, taken = [], []

    def source():
        for line in lines(text):
            read.append(line)
            yield line

    try:
        for block in conllu.parsed(source(), "file", at_once=True):
            assert block.lines[-1] == "\n" == read[-1]
            taken += block.lines
            assert taken == read
    except NoSentences:
        assert not text.strip()
        return
    assert text.startswith("".join(taken)) and not text[len("".join(taken)) :].strip()
    with_others = [block.sentence.words for block in conllu.parsed(lines(text), "file")]
    assert with_others == [block.sentence.words for block in conllu.parsed(lines(text), "file", at_once=True)]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("comments", ["", "# a = b\n", "\n# a = b\n# mh4 = old\n# c\n"])
def test_notes(mark, end, comments):
    """A note replaces the old one, before the first word and with the same line ends; all else stays the same."""
    text = mark + (comments + GOOD).replace("\n", end)
    (block,) = conllu.parsed(lines(text), "file")
    heads = {HEAD: ["2", "0", "2"]}
    assert block.text(heads) == text
    old = "# mh4 = old" + end
    assert block.text(heads, "") == text.replace(old, "")
    noted = block.text(heads, "new, 3 words")
    new = "# mh4 = new, 3 words" + end
    assert noted.count("# mh4 = ") == 1 and noted.replace(new, "") == text.replace(old, "")
    (again,) = conllu.parsed(lines(noted), "file")
    assert again.lines[again.sentence.rows[0] - 1].lstrip("\ufeff") == new
    assert again.text(heads, "") == text.replace(old, "")


def test_a_block_at_the_end_of_a_file():
    """Missing line ends are added to a rejected block, so that the next one is a separate block."""
    out = io.StringIO()
    rejects = Rejects(out)
    for last in (["a\n", "b"], ["a\n", "b\n"], ["a\n", "b\n", "\n"], ["a\n", " "]):
        rejects(last, InputError("file: \x1b why"))
    assert out.getvalue().count("# rejected = file: \\x1b why\n") == 4
    assert [len(part) > 0 for part in out.getvalue().split("\n\n")[:3]] == [True] * 3
    assert len(list(text_lines.runs(lines(out.getvalue()), 1))) == 4


@pytest.mark.parametrize("full", [True, False])
def test_a_folder_of_temporary_files_that_is_full_or_missing(tmp_path, monkeypatch, full):
    """The message names the folder of temporary files; neither the output nor the file of rejects is created."""
    gone, out = str(tmp_path / "gone"), str(tmp_path / "out")
    monkeypatch.setattr(tempfile, "tempdir", gone)
    if full:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: open("/dev/full", "w+"))
    why = "No space left on device" if full else "No such file or directory"
    with pytest.raises(InputError, match="^%s: no temporary file can be written there: %s$" % (gone, why)):
        with open_rejects(str(tmp_path / "rejects")) as found, open_output(out):
            found(["x" * (1 << 20)], InputError("why"))
    assert not list(tmp_path.iterdir())


def test_the_byte_order_mark_does_not_follow_the_comment():
    out = io.StringIO()
    Rejects(out)(["\ufeff1\tx\n", "\n"], InputError("file: why"))
    assert out.getvalue() == "# rejected = file: why\n1\tx\n\n"
