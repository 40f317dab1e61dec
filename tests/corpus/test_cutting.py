"""Cut files into shards: portions are the same whether a file is cut by its bytes or read sentence by sentence."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mh4.corpus import cutting
from mh4.data import conllu, text_lines

MARK = "\ufeff".encode()
WORD = "1\tw\t_\t_\t_\t_\t_\t_\t_\t_"
BLANK = st.sampled_from(["", "\r", " ", " \r", "\ufeff", "\ufeff\r"])
SENTENCES = st.tuples(
    st.lists(BLANK, max_size=3), st.lists(st.sampled_from(["# c", "#é"]), max_size=2), st.sampled_from([WORD, WORD + "\r"]), BLANK
)


@st.composite
def files(draw):
    sentences = draw(st.lists(SENTENCES, min_size=1, max_size=12))
    lines = [line for before, comments, word, after in sentences for line in [*before, *comments, word, after]]
    text = draw(st.sampled_from(["", "\ufeff"])) + "".join(line + "\n" for line in lines)
    return (text.rstrip("\n") if draw(st.booleans()) else text).encode()


def read(content, start=text_lines.TOP):
    lines = text_lines.decoded(io.BytesIO(content), "FILE", before=start.line)
    return list(conllu.parsed(lines, "FILE", trees=False, start=start))


@given(files(), st.sampled_from([1, 5, 30, 60, 200, 1000]), st.sampled_from([1, 100, 10_000]), st.data())
def test_portions_and_shards(content, portion, size, data):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(text_lines, "PORTION", portion)
        blocks = read(content)
        together = {}
        for block in blocks:
            together.setdefault(block.portion, []).append("".join(block.lines))
        portions = list(cutting.portions(io.BytesIO(content), "FILE"))
        read_portions = ["".join(lines).encode() for lines in together.values()]
        assert [one.replace(MARK, b"") for one in portions] == [one.replace(MARK, b"") for one in read_portions]
        assert not any(MARK in line.encode() for block in blocks[1:] for line in block.lines)
        assert all(len(one) >= portion for one in portions[:-1])

        shards = list(cutting.cut(io.BytesIO(content), "FILE", 0, size))
        assert b"".join(part for _, part in shards) == content and all(shard.length >= size for shard, _ in shards[:-1])
        assert sum(shard.sentences for shard, _ in shards) == len(blocks)
        again = [block for shard, part in shards for block in read(part, text_lines.Start(shard.line, shard.sentence))]
        assert [(block.lines, block.sentence.name) for block in again] == [(block.lines, block.sentence.name) for block in blocks]

        last, _ = data.draw(st.sampled_from(shards))
        rest = io.BytesIO(content)
        rest.seek(last.end)
        assert list(cutting.cut(rest, "FILE", 0, size, last)) == shards[last.number + 1 :]


def test_a_file_of_blank_lines_before_its_first_sentence(monkeypatch):
    monkeypatch.setattr(text_lines, "PORTION", 10)
    content = b"\n" * 50 + (WORD + "\n\n").encode() * 2
    assert [len(one) for one in cutting.portions(io.BytesIO(content), "FILE")] == [50 + len(WORD) + 2, len(WORD) + 2]
    assert len({block.portion for block in read(content)}) == 2


@given(files(), st.sampled_from([1, 5, 30, 200]), st.sampled_from(["horizontal", "vertical"]))
def test_portions_of_text_that_is_split(content, portion, split):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(text_lines, "PORTION", portion)
        by_line, found = split == "horizontal", {}
        for run in text_lines.runs(list(text_lines.decoded(io.BytesIO(content), "FILE")), "FILE", by_line=by_line):
            found[run.portion] = found.get(run.portion, "") + "".join(run.lines)
        portions = list(cutting.portions(io.BytesIO(content), "FILE", by_line=by_line))
        assert portions == [one.encode() for one in found.values()]


def test_an_empty_file_is_a_shard():
    ((shard, content),) = cutting.cut(io.BytesIO(b""), "FILE", 3, 1)
    assert (shard.file, shard.length, shard.sentences, content) == (3, 0, 0, b"")


def test_the_size_of_shards():
    """Shards of large corpora are a minute's work; small corpora are cut into several shards for each worker."""
    assert cutting.shard_bytes(10**12, 100, False) == 64 << 20 > cutting.shard_bytes(10**12, 100, True)
    assert cutting.shard_bytes(32 << 20, 2, False) == 1 << 20 and cutting.shard_bytes(0, 2, True) == 1
