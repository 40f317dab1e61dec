"""Read text that is already split into sentences and words, for `mh4 parse --input` and for the server."""

import io

import pytest

from mh4.data import conllu, split_text, text_lines
from mh4.errors import InputError
from mh4.util import reading

WORDS = [["ta", "zenita", "wi bonit"], ["mosuro"], ["#", "1 x"]]


@pytest.mark.parametrize(
    "split, text",
    [
        ("horizontal", "ta zenita wi\xa0bonit\nmosuro\n# 1\xa0x\n"),
        ("horizontal", "\ufeff  ta\tzenita   wi\xa0bonit \xa0 \r\n\r\n\n\ufeffmosuro\x0c#\t1\xa0x"),
        ("horizontal", "ta zenita wi\xa0bonit\rmosuro\r# 1\xa0x\r"),
        ("horizontal", "ta zenita wi\xa0bonit\r\r\nmosuro\u2028# 1\xa0x\r\r\n"),
        ("vertical", "ta\nzenita\nwi bonit\n\nmosuro\n\n#\n1 x\n"),
        ("vertical", "\ufeff\n ta\nzenita\tNOUN\n wi\xa0bonit\r\n \r\n\nmosuro\n\x0c\n#\n1 x"),
        ("vertical", "ta\rzenita\rwi bonit\r\rmosuro\r\r#\r1 x"),
        ("vertical", "ta\r\r\nzenita\r\r\nwi bonit\r\r\n\r\r\nmosuro\x0c#\x851 x\r\r\n"),
    ],
)
def test_sentences_and_words(split, text):
    found = list(split_text.parsed(io.StringIO(text, newline="\n"), "text", split))
    assert [block.sentence.words for block in found] == WORDS
    written = "".join(block.text({}) for block in found)
    again = list(conllu.parsed(written.splitlines(keepends=True), "text", trees=False))
    assert [(b.sentence.words, b.sentence.upos, b.sentence.rows) for b in again] == [
        (b.sentence.words, b.sentence.upos, b.sentence.rows) for b in found
    ]
    assert [(block.sent_id, block.comment("text")) for block in again][0] == ("1", "ta zenita wi bonit")


def test_a_long_run_of_carriage_returns():
    """A long run of carriage returns takes linear time; quadratic time would be an hour."""
    run = "\r" * 10**6
    assert split_text.with_line_ends("a%sb%s\nc\r" % (run, run)) == "a%sb%s\nc\n" % ("\n" * 10**6, run)


def test_messages_name_the_line():
    lines = ["\n", "ta\n", "zenita\n", "\n", "mosuro"]
    assert [block.sentence.name for block in split_text.parsed(lines, "F", "vertical")] == [
        "F, line 2, sentence 1",
        "F, line 5, sentence 2",
    ]
    with pytest.raises(InputError, match="F: no words in it"):
        list(split_text.parsed([" \n", "\xa0"], "F", "horizontal"))
    with pytest.raises(InputError, match="F, line 2: a character NUL"):
        list(split_text.parsed(text_lines.decoded(io.BytesIO(b"a\nb\0\n"), "F"), "F", "horizontal"))


def test_what_is_no_text(monkeypatch):
    with pytest.raises(InputError, match="in, line 2: its first column is empty, expected a word"):
        list(split_text.parsed(["a\tx\n", "\tfoo\n"], "in", "vertical"))
    with monkeypatch.context() as smaller:
        smaller.setattr(reading, "LONGEST", 20)
        with pytest.raises(InputError, match="in, line 3: more than .* without a blank line"):
            list(split_text.parsed(["a\n", "\n", *["word\n"] * 10], "in", "vertical"))
    monkeypatch.setattr(text_lines, "MOST_LINES", 10)
    with pytest.raises(InputError, match="in, line 3: more than 10 lines before the next sentence"):
        list(split_text.parsed(["a\n", "\n", *["b\n"] * 11], "in", "vertical"))
    with pytest.raises(InputError, match="in, line 2: more than 10 words$"):
        list(split_text.parsed(["a\n", "b " * 11 + "\n"], "in", "horizontal"))
    assert [len(block.sentence) for block in split_text.parsed(["a " * 10, "b\n"], "in", "horizontal")] == [10, 1]
