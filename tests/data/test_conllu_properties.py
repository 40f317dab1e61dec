"""Read and write random CoNLL-U files: each is written as it was read, or rejected as a whole."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mh4.data import conllu
from mh4.data.cells import DEPREL, HEAD, WHITE_SPACE
from mh4.errors import InputError

pytestmark = pytest.mark.slow

# Any character that does not separate columns or lines, except NUL. U+0085 and U+2028 do not, but no word has them.
anything = st.text(st.characters(blacklist_characters="\0\t\n\r", blacklist_categories=("Cs",)), min_size=1, max_size=8)
field = anything.filter(str.strip)
cell = field.filter(lambda text: not re.search(r"\s|\ufeff", text))  # for all columns except FORM, LEMMA and MISC
form = field.filter(lambda text: not WHITE_SPACE.search(text))
lines_of_comments = st.lists(field.map(lambda text: "#" + text), max_size=2)


@st.composite
def trees(draw, n):
    """The heads of the words of a tree over n words, without the root."""
    heads, attached = [0] * n, [0]
    for word in draw(st.permutations(range(1, n + 1))):
        heads[word - 1] = draw(st.sampled_from(attached))
        attached.append(word)
    return heads


@st.composite
def sentences(draw):
    """The lines of a sentence, with multiword tokens and empty nodes."""
    n = draw(st.integers(1, 6))
    heads = draw(trees(n))
    lines = draw(lines_of_comments)
    covered = 0
    for number in range(0, n + 1):
        if number:
            before, after = draw(st.tuples(form, field, cell, cell, cell)), draw(st.tuples(cell, cell, field))
            lines.append("\t".join([str(number), *before, str(heads[number - 1]), *after]))
        for empty in range(draw(st.integers(0, 2)) if draw(st.booleans()) else 0):
            lines.append("\t".join(["%d.%d" % (number, empty + 1), *draw(st.tuples(form, field, *[cell] * 6, field))]))
        if number >= covered and number < n and draw(st.booleans()):
            covered = draw(st.integers(number + 1, n))
            lines.append("\t".join(["%d-%d" % (number + 1, covered), *draw(st.tuples(form, field, *[cell] * 6, field))]))
    return lines, heads


@st.composite
def files(draw):
    """The bytes of a file, and the heads of its sentences."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", "\ufeff"])) + end * draw(st.integers(0, 2))
    all_heads = []
    for lines, heads in draw(st.lists(sentences(), min_size=1, max_size=3)):
        text += end.join(lines) + end + end * draw(st.integers(1, 3))
        all_heads.append(heads)
    return (text[: -len(end)] if draw(st.booleans()) else text).encode(), all_heads


def read(content, trees=True):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.conllu"
        path.write_bytes(content)
        return list(conllu.blocks(str(path), trees=trees))


def written(blocks, columns=lambda sentence: {}):
    return "".join(block.text(columns(block.sentence)) for block in blocks).encode()


@given(files())
def test_what_is_read_is_written(file):
    content, heads = file
    blocks = read(content)
    assert [block.sentence.heads[1:].tolist() for block in blocks] == heads
    assert written(blocks) == content
    assert written(read(content, trees=False)) == content


@given(files(), st.data())
def test_new_columns_are_read_again_and_the_rest_stays(file, data):
    content, _ = file
    blocks = read(content)
    for block in blocks:
        block.sentence.heads = np.array([-1, *data.draw(trees(len(block.sentence)))], dtype=np.int32)
        block.sentence.deprels = data.draw(st.lists(cell, min_size=len(block.sentence), max_size=len(block.sentence)))
    changed = written(blocks, lambda s: {HEAD: [str(head) for head in s.heads[1:]], DEPREL: s.deprels})
    again = read(changed)
    for one, two in zip(blocks, again):
        assert one.sentence.heads.tolist() == two.sentence.heads.tolist() and one.sentence.deprels == two.sentence.deprels
        assert one.sentence.words == two.sentence.words and one.sentence.feats == two.sentence.feats
    before, after = content.split(b"\n"), changed.split(b"\n")
    assert len(before) == len(after) and len(blocks) == len(again)
    for old, new in zip(before, after):
        old, new = old.split(b"\t"), new.split(b"\t")
        assert old == new if not old[0].replace(b"\xef\xbb\xbf", b"").isdigit() else old[:6] + old[8:] == new[:6] + new[8:]


@given(st.binary(max_size=60) | st.text("\t\n\r #-.0123456789_aä\ufeff", max_size=60).map(str.encode), st.booleans())
@example(b"1-2\t_\t_\t_\t_\t_\t_\t_\t_\t_\n", False)
def test_anything_else_is_refused_in_one_sentence_or_kept(content, trees):
    try:
        blocks = read(content, trees)
    except InputError as error:
        assert "a.conllu" in str(error) and "\n" not in str(error)
    else:
        assert written(blocks) == content


@given(files(), st.data())
def test_a_changed_byte_is_refused_or_kept(file, data):
    content, _ = file
    at = data.draw(st.integers(0, len(content) - 1))
    changed = content[:at] + data.draw(st.sampled_from([b"", b"\t", b"\n", b"0", b"-", b".", b"\xff", b"#"])) + content[at + 1 :]
    try:
        blocks = read(changed)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert written(blocks) == changed
