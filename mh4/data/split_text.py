"""Read text that is already split into sentences and words, in UDPipe's formats "horizontal" and "vertical"."""

import re
from collections.abc import Iterable, Iterator

from mh4.data import conllu, text_lines
from mh4.data.block import Block
from mh4.data.sentence import Sentence
from mh4.data.text_lines import TOP, Start
from mh4.errors import InputError, counted, on_line
from mh4.util import reading

_BETWEEN_WORDS = re.compile(r"[^\S\xa0]+")  # white space; UDPipe writes a space within a word as a no-break space
_CR_ALONE = re.compile(r"(?<!\r)\r++(?!\n)")  # only whole runs, as trying each part of a run would take quadratic time
# Characters that end a line or a page (pdftotext writes form feeds). Byte order marks in joined files become spaces.
_LINE_ENDS, _PAGE_ENDS = "\v\x1c\x1d\x1e\x1f\x85\u2028", "\f\u2029"
_ENDS = str.maketrans({**dict.fromkeys(_LINE_ENDS, "\n"), **dict.fromkeys(_PAGE_ENDS, "\n\n"), "\ufeff": " "})


def with_line_ends(text: str) -> str:
    """Return text with a line feed for each end of a line, and two for each end of a page or a paragraph."""
    return _CR_ALONE.sub(lambda run: "\n" * len(run[0]), text).translate(_ENDS)


def added(text: str) -> list[int]:
    """Return the offsets of the characters that with_line_ends(text) has in addition, one for each end of a page."""
    return [end.start() + k for k, end in enumerate(re.finditer("[%s]" % _PAGE_ENDS, text), start=1)]


def blocks(path: str, split: str, at_once: bool = False) -> Iterator[Block]:
    """Read the sentences of file `path` ("-" is standard input); see parsed, and for `at_once` conllu.blocks."""
    name = reading.name_of(path)
    return parsed(text_lines.lines(path, name), name, split, at_once=at_once)


def parsed(lines: Iterable[str], name: str, split: str, start: Start = TOP, at_once: bool = False) -> Iterator[Block]:
    """Yield the sentences in the lines of file `name` as CoNLL-U without trees and tags, with their sent_id and text.

    split: "horizontal", a sentence in each line, with white space between words; or "vertical", a word in each line (only the first
    column if there are tabs), with a blank line between sentences. Further blank lines are ignored; a form feed counts
    as a blank line. start: where in the file the lines begin, for messages. Raises NoSentences if there are none.
    """
    words: list[str] = []
    first = number = size = 0
    each = (
        (k, part, run.portion)
        for run in text_lines.runs(lines, name, start.line, at_once, by_line=split == "horizontal")
        for k, line in enumerate(run.lines, start=run.first + 1)
        for part in with_line_ends(line.rstrip("\r\n")).split("\n")
    )
    for k, line, portion in each:
        if split == "horizontal":
            found, ended = _BETWEEN_WORDS.split(line, text_lines.MOST_LINES + 2), True  # the first and the last may be empty
        else:
            found, ended = [line.partition("\t")[0]], not line.strip()
            if not ended and not found[0].strip():
                raise InputError("%s: its first column is empty, expected a word" % on_line(name, k))
        first, size = (first, size + len(line)) if words else (k, len(line))
        reading.check_size(size, name, first)
        words += filter(None, (" ".join(word.split()) for word in found))
        if len(words) > text_lines.MOST_LINES:
            raise InputError("%s: more than %s" % (on_line(name, first), counted(text_lines.MOST_LINES, "word", ",")))
        if words and ended:
            number += 1
            yield _block(words, name, first, number, portion)
            words = []
    if words:
        yield _block(words, name, first, number + 1, portion)
    elif not number:
        raise conllu.NoSentences("%s: no words in it" % name)


def _block(words: list[str], name: str, line: int, number: int, portion: int) -> Block:
    comments = ["# sent_id = %d\n" % number, "# text = %s\n" % " ".join(words)]
    rows = ["%d\t%s%s\n" % (m, word, 8 * "\t_") for m, word in enumerate(words, start=1)]
    absent = ["_"] * len(words)
    place = "%s, sentence %d" % (on_line(name, line), number)
    sentence = Sentence(words, absent, absent, absent, name=place, rows=list(range(2, 2 + len(words))))
    return Block([*comments, *rows, "\n"], sentence, portion)
