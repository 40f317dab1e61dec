"""Read and write CoNLL-U: every byte is kept, and every error is located."""

import bz2
import gzip
import sys

import pytest

from mh4.corpus import cutting
from mh4.data import conllu, text_lines
from mh4.data.cells import DEPREL, MISC, UPOS
from mh4.errors import InputError
from mh4.util import reading
from mh4.util.output import open_output


def row(number, form="w", head="0", deprel="root", feats="_"):
    return "%s\t%s\t_\tNOUN\tNN\t%s\t%s\t%s\t_\t_" % (number, form, feats, head, deprel)


GOOD = "\n".join(
    [
        "# sent_id = s1",
        "# text = Vámonos al mar",
        "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        row(1, "Vamos"),
        row(2, "nos", "1", "obj:refl"),
        "2.1\tempty\t_\t_\t_\t_\t_\t_\t1:dep\t_",
        row(3, "mar y", "1", "obl"),
        "",
        "",
        row(1, "Fin"),
        "",
    ]
)


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "a.conllu"
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    return write


def test_columns_head_and_deprel_are_not_looked_at_without_trees(file):
    path = file(row(1, head="nonsense") + "\n" + row(2, head="_") + "\n\n")
    (sentence,) = conllu.read(path, trees=False)
    assert sentence.words == ["w", "w"] and sentence.heads is None


BAD = {
    "nine columns": (row(1) + "\n" + row(2)[:-2], "line 2, sentence 1: 9 columns, expected 10"),
    "spaces for tabs": (
        row(1).replace("\t", " "),
        "line 1, sentence 1: 1 column, expected 10 separated by tabs; for running text, mh4 parse has --text, and a server input=text",
    ),
    "cycle": (
        "# sent_id = c\n" + row(1) + "\n" + row(2, head="3") + "\n" + row(3, head="2"),
        "sentence 1 (c): word 2 is part of a cycle",
    ),
    "own head": (row(1) + "\n" + row(2, head="2"), "line 2, sentence 1: word 2 is its own head"),
    "two heads": (row(1) + "\n\n" + row(1) + "\n" + row(2, head="0|1"), "line 4, sentence 2: HEAD is '0|1', expected one number"),
    "head out of range": (row(1, head="5"), "line 1, sentence 1: HEAD is 5, but the last word is 1"),
    "missing head": (
        row(1, head="_"),
        "no HEAD, expected a number from 0 to 1; partly annotated trees are for `mh4 parse --keep-heads` and `mh4 train --partial`",
    ),
    "word twice": (row(1) + "\n" + row(1), "line 2, sentence 1: ID is '1', expected 2"),
    "word left out": (row(1) + "\n" + row(3), "line 2, sentence 1: ID is '3', expected 2"),
    "bad range": (row("1-x") + "\n" + row(1), "line 1, sentence 1: ID is '1-x', expected a range such as 1-2"),
    "range in reverse": (row("2-1") + "\n" + row(1), "ID is 2-1, a range whose end comes before its start"),
    "range too late": (row(1) + "\n" + row("1-2"), "line 2, sentence 1: ID is 1-2, but the next word is 2"),
    "overlapping ranges": (
        row("1-2") + "\n" + row(1) + "\n" + row("2-3") + "\n" + row(2, head="1") + "\n" + row(3, head="1"),
        "line 3, sentence 1: ID is 2-3, but word 2 is part of another multiword token",
    ),
    "range beyond the end": (row("1-3") + "\n" + row(1), "a multiword token ends with word 3, but the last word is 1"),
    "empty node too late": (row(1) + "\n" + row(2, head="1") + "\n" + row("1.1"), "ID is '1.1', expected 2.1 for an empty node"),
    "empty node omitted": (row(1) + "\n" + row("1.2"), "ID is '1.2', expected 1.1 for an empty node"),
    "head of 5000 digits": (row(1, head="9" * 5000), "HEAD is %s..., but the last word is 1" % ("9" * 39)),
    "only tabs": (row(1) + "\n" + "\t" * 9 + "\n" + row(2, head="1"), "line 2, sentence 1: ID is '', expected 2"),
    "byte order mark in a sentence": (row(1) + "\n\ufeff" + row(2), "line 2, sentence 1: begins with a byte order mark (U+FEFF)"),
    "form feed": (row(1, form="a\fb"), "line 1, sentence 1: a form feed (U+000C) in the word 'a\\x0cb', which may have no white"),
    "next line in a multiword token": (row("1-1", form="\x85") + "\n" + row(1), "line 1, sentence 1: a next line (U+0085)"),
    "only spaces": (row(1, form=" \u3000"), "line 1, sentence 1: FORM is ' \\u3000', expected a word"),
    "CR alone": ("# sent_id = x\r" + row(1) + "\r", "line 1, sentence 1 (x): CR without LF: lines have to end in LF or CRLF"),
    "CR CR LF": (row(1) + "\r\r\n\r\r", "line 1, sentence 1: CR without LF"),
    "NUL": (row(1, form="a\0b"), "line 1: a character NUL, expected text in UTF-8"),
    "PARSEME": (
        row(1) + "\t*",
        "line 1, sentence 1: 11 columns, expected 10 separated by tabs; CoNLL-U Plus, which has more, is not",
    ),
    "relation of a space": (row(1, deprel=" "), "line 1, sentence 1: DEPREL is ' ', expected a value, or _ if there is none"),
    "tag of a no-break space": (row(1).replace("NOUN", "\xa0"), "line 1, sentence 1: UPOS is '\\xa0', expected"),
    "spaces after a relation": (row(1, deprel="det "), "line 1, sentence 1: DEPREL is 'det ', which may have no white space"),
    "byte order mark in a tag": (row(1).replace("NOUN", "NO\ufeffUN"), "UPOS is 'NO\\ufeffUN', which may have no white space"),
    "form feed in features": (row(1, feats="A=a\fb"), "FEATS is 'A=a\\x0cb', which may have no white space"),
    "CoNLL-U Plus": ("# global.columns = ID FORM PARSEME:MWE\n1\ta\t*", "line 1, sentence 1: CoNLL-U Plus is not supported"),
    "empty lemma": (row(1).replace("_", "", 1), "line 1, sentence 1: LEMMA is empty, expected a value, or _ if there is none"),
    "empty relation": (row(1) + "\n" + row(2, head="1", deprel=""), "line 2, sentence 1: DEPREL is empty"),
    "empty column of an empty node": (row(1) + "\n" + row("1.1")[:-1], "line 2, sentence 1: MISC is empty"),
    "byte order mark only": ("\ufeff", "no sentences in it"),
    "no form": (row(1, form=""), "line 1, sentence 1: FORM is empty"),
    "no words": ("# a comment\n\n", "line 1, sentence 1: the sentence has no words"),
    "empty": ("", "no sentences in it"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_that_says_where(file, name):
    content, message = BAD[name]
    path = file(content + "\n\n")
    with pytest.raises(InputError) as error:
        conllu.read(path)
    assert str(error.value).startswith(path) and message in str(error.value) and "\n" not in str(error.value)


def test_a_byte_order_mark_is_accepted_and_kept(file):
    for content in ("\ufeff" + GOOD, "\ufeff\n\n" + GOOD, "\ufeff" + row(1) + "\n\n"):
        blocks = list(conllu.blocks(file(content)))
        assert blocks[0].sentence.words[0] in ("Vamos", "w")
        assert "".join(block.text({DEPREL: block.sentence.deprels}) for block in blocks) == content
    (sentence,) = conllu.read(file("\ufeff# sent_id = s1\n" + row(1) + "\n\n"))
    assert sentence.name.endswith("line 1, sentence 1 (s1)")
    # in joined files, one of them empty, and at the end
    blocks = list(conllu.blocks(file(row(1) + "\n\n\ufeff\n\ufeff" + row(1) + "\n\n\ufeff")))
    assert "".join(block.text({}) for block in blocks) == row(1) + "\n\n\n" + row(1) + "\n\n"


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("comment", ["", "# sent_id = s\n"])
def test_a_byte_order_mark_at_the_start_of_a_later_sentence_is_left_out(file, comment, at_once):
    """Byte order marks inside a file, as in files that were joined, are dropped."""
    one = "\ufeff" + comment + row(1) + "\n\n\n"
    blocks = list(conllu.blocks(file(one + one), at_once=at_once))
    text = "".join(block.text({}) for block in blocks)
    assert text.rstrip("\n") == (one + one[1:]).rstrip("\n") and len(blocks) == 2
    assert "".join(block.text({}, "x") for block in blocks).count("# mh4 = x\n" + row(1)) == 2


@pytest.mark.slow
def test_long_chains_are_read_in_linear_time(file):
    """Chains of 200,000 words, each the head of the previous or the next one; a quadratic check would take an hour."""
    n = 200_000
    for heads in ([*range(2, n + 1), 0], list(range(n))):
        content = "\n".join(row(m, head=str(h)) for m, h in enumerate(heads, start=1))
        (sentence,) = conllu.read(file(content + "\n\n"))
        assert sentence.heads.tolist() == [-1, *heads]


@pytest.mark.parametrize(
    "end, message",
    (
        ("x" * (1 << 21), "line 4: more than 1 MB in one line"),
        ((row(1) + "\n") * (1 << 16), "line 4: more than 1 MB without a blank line, which ends a sentence or a paragraph"),
        (" \n" * (1 << 20), "line 1: more than 1 MB without .*"),
    ),
)
def test_lines_and_sentences_that_do_not_end(file, monkeypatch, end, message):
    """Endless lines and sentences, as from a device, are rejected, also where corpora are cut into parts."""
    monkeypatch.setattr(reading, "LONGEST", 1 << 20)
    monkeypatch.setattr(text_lines, "PORTION", 10)
    path = file("\n" + row(1) + "\n\n" + end)
    with pytest.raises(InputError, match=message + "$"):
        conllu.read(path)
    with open(path, "rb") as stream, pytest.raises(InputError, match=message + "$"):
        list(cutting.cut(stream, path, 0, 1))


@pytest.mark.parametrize("line, number", (("x\n", 4), (" \n", 1)))
def test_short_lines_that_do_not_end(file, monkeypatch, line, number):
    """Too many short lines are rejected while they are read: each takes 30 times the memory of its characters."""
    monkeypatch.setattr(text_lines, "MOST_LINES", 1000)
    monkeypatch.setattr(text_lines, "PORTION", 10)
    path = file(number // 4 * ("\n" + row(1) + "\n\n") + 1100 * line)
    message = "line %d: more than 1,000 lines before the next sentence, which begins after a blank line$" % number
    with pytest.raises(InputError, match=message):
        conllu.read(path)
    with open(path, "rb") as stream, pytest.raises(InputError, match=message.replace("line 1:", "line [12]:")):
        list(cutting.cut(stream, path, 0, 1))


def test_closed_standard_input_and_output(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(InputError, match="standard input is closed"):
        conllu.read("-")
    with pytest.raises(InputError, match="standard output is closed"), open_output("-") as file:
        file.write("text")


@pytest.mark.parametrize(
    "encoded, said",
    [
        (GOOD.encode("utf-16"), "line 1: UTF-16, expected UTF-8"),
        (GOOD.encode("utf-16-be"), "line 1: a character NUL"),
        (GOOD.encode("utf-32"), "line 1: UTF-32, expected UTF-8"),
        (gzip.compress(GOOD.encode()), "line 1: compressed, but the name does not end in .gz"),
        (bz2.compress(GOOD.encode()), "line 1: compressed, but the name does not end in .bz2"),
    ],
    ids=("utf-16", "utf-16-be", "utf-32", "gzip", "bzip2"),
)
def test_files_of_another_kind_are_named(file, encoded, said):
    path, reasons = file(encoded), []
    with pytest.raises(InputError, match=said):
        conllu.read(path)
    list(conllu.blocks(path, rejected=lambda lines, error: reasons.append(str(error))))
    assert said in reasons[0]


def test_a_text_in_place_of_a_path_is_cut_off():
    with pytest.raises(InputError, match=r"'1\\tword\\tword.*\.\.\.: cannot be read: File name too long"):
        conllu.read("1\tword\tword\tNOUN\n" * 1000)


def test_a_sentence_is_read_before_the_next(file):
    """Files of any size can be read, and an error is raised only after the valid sentences before it."""
    blocks = conllu.blocks(file(row(1) + "\n\n" + row(1) + "\n" + row(3) + "\n\n"))
    assert next(blocks).sentence.words == ["w"]
    with pytest.raises(InputError, match="line 4, sentence 2: ID is '3'"):
        next(blocks)


def test_an_enhanced_graph_goes_or_stays_as_a_whole(file):
    """Empty nodes and the DEPS of multiword tokens are part of the enhanced graph."""
    empty, deps, token = row("0.1", "e", "_", "_")[:-3] + "1:dep\t_\n", row(1)[:-3] + "0:root\t_\n", "1-2\tab" + "\t_" * 6
    words = ["# note\n", token + "\t0:root\t_\n", deps, empty.replace("0.1", "1.1"), row(2, head="1") + "\n\n"]
    (block,) = conllu.blocks(file("".join(["\ufeff", empty, *words])))
    parsed = block.sentence
    assert block.text(block.parsed_columns(parsed, keep_deps=True)) == "".join(block.lines)
    without = ["# note\n", "# mh4 = x\n", token + "\t_\t_\n", row(1) + "\n", words[-1]]
    assert block.text(block.parsed_columns(parsed), "x") == "".join(without)


def test_no_column_is_written_empty(file):
    """An empty relation or tag, which a model may have learned, is written as _."""
    (block,) = conllu.blocks(file(row(1) + "\n"))
    assert block.text({column: [""] for column in range(UPOS, MISC + 1)}) == "1\tw" + "\t_" * 8 + "\n"
