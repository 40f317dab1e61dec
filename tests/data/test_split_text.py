"""Text that is already split into sentences and words, read in the same way by `mh4 parse --input` and by the server."""

import io

import pytest

from mh4.data import conllu, split_text
from mh4.errors import InputError

WORDS = [["ta", "zenita", "wi bonit"], ["mosuro"], ["#", "1 x"]]


@pytest.mark.parametrize(
    "split, text",
    [
        ("horizontal", "ta zenita wi\xa0bonit\nmosuro\n# 1\xa0x\n"),
        ("horizontal", "\ufeff  ta\tzenita \x0c wi\xa0bonit \xa0 \r\n\r\n\n\ufeffmosuro\n#\v1\xa0x"),
        ("vertical", "ta\nzenita\nwi bonit\n\nmosuro\n\n#\n1 x\n"),
        ("vertical", "\ufeff\n ta\nzenita\tNOUN\n wi\xa0bonit\r\n \r\n\nmosuro\n\x0c\n#\n1\x0cx"),
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


def test_messages_name_the_line():
    lines = ["\n", "ta\n", "zenita\n", "\n", "mosuro"]
    assert [block.sentence.name for block in split_text.parsed(lines, "F", "vertical")] == [
        "F, line 2, sentence 1",
        "F, line 5, sentence 2",
    ]
    for text, message in ((["a\n", "b\0\n"], "F, line 2: a character NUL"), ([" \n", "\xa0"], "F: no words in it")):
        with pytest.raises(InputError, match=message):
            list(split_text.parsed(text, "F", "horizontal"))
