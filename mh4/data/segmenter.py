"""Segment raw text into sentences and words with UDPipe 1 (ufal.udpipe), and train segmenters.

A segmenter is a UDPipe model, and any UDPipe 1 model that has a tokenizer is a segmenter. The tokenizer, a GRU over
characters, was the baseline of the CoNLL 2017 shared task (Straka & Straková 2017).
"""

import io
import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from mh4.data import conllu, text_lines
from mh4.data.block import Block
from mh4.data.cells import DEPREL, DEPS, HEAD
from mh4.data.sentence import Sentence
from mh4.data.split_text import added, with_line_ends
from mh4.errors import InputError, needs, shown
from mh4.util.files import atomic_path
from mh4.util.processes import Pool
from mh4.util.reading import name_of, open_regular

EPOCHS = 20
_MODEL = b"\x12morphodita_parsito"  # how UDPipe's models begin; UDPipe does not check the first byte, a length
_TREE = (HEAD, DEPREL, DEPS)
_SPACES = re.compile(r"^[ \r]+$", re.MULTILINE)  # in blank lines
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
_OPTIONS = {"", "normalized_spaces", "presegmented", "ranges"}  # of UDPipe's tokenizer, which ignores unknown options


class _Portion(NamedTuple):
    """A part of a text that is segmented by itself, and how its offsets map to the text as it was given.

    text: what the tokenizer reads. first: the offset of the portion in the given text. added: the offsets of characters
    of `text` that the given text does not have.
    """

    text: str
    first: int
    added: list[int]

    def given(self, offset: int) -> int:
        """Return the offset in the text as it was given for an offset in `text`."""
        return self.first + offset - bisect_left(self.added, offset)


class Segmenter:
    """A trained segmenter. Threads may share it, as each text is segmented by a new tokenizer."""

    def __init__(self, path: str) -> None:
        """Load the segmenter in file `path`. Raises InputError if there is none, or if ufal.udpipe is not installed."""
        udpipe = _udpipe()
        with open_regular(path) as file:
            found = file.read(len(_MODEL)) == _MODEL
            file.seek(0)
            # Load by descriptor, as UDPipe cannot open every file name.
            self._model: Any = udpipe.Model.load("/dev/fd/%d" % file.fileno()) if found else None
        if not (self._model and self._model.newTokenizer(self._model.DEFAULT)):
            raise InputError("%s: damaged, or not a segmenter: expected a file that `mh4 segmenter train` has written" % path)

    def blocks(self, path: str, options: str = "") -> Iterator[Block]:
        """Return the sentences of the text in file `path` ("-" is standard input), without trees.

        A blank line or form feed always ends a sentence. Comments and MISC preserve the original text and its white
        space (text, SpaceAfter, SpacesAfter). options: see blocks_of. Raises InputError for a file that is not UTF-8 or
        has no text.
        """
        name = name_of(path)
        return self.segmented(text_lines.lines(path, name), name, tokenizer=self.tokenizer(options))

    def segmented(
        self, lines: Iterable[str], name: str, tokenizer: Any, start: text_lines.Start = text_lines.TOP
    ) -> Iterator[Block]:
        """Yield the sentences in the lines of a text; see blocks and the function `segmented`. tokenizer: a new one."""
        yield from segmented(lines, name, tokenizer, start)  # the tokenizer needs the model, which this generator keeps

    def blocks_of(self, text: str, name: str, options: str = "") -> Iterator[Block]:
        """Return the sentences of a text, numbered from 1; see blocks.

        name: what messages call the text. options: of UDPipe's tokenizer, separated by semicolons, such as
        "presegmented" (a line is a sentence) or "ranges" (TokenRange in MISC; see docs/howto/server.md). Raises
        InputError for unknown options.
        """
        return self.segmented(io.StringIO(text, newline="\n"), name, tokenizer=self.tokenizer(options))

    def sentences(self, text: str) -> list[Sentence]:
        """Return the sentences of a text, without trees; an empty list if the text has no words.

        Raises InputError for NUL, which UDPipe cannot read, and for half a surrogate pair.
        """
        wrong = _UNREADABLE.search(text)
        if wrong:
            raise InputError("the text has a character that cannot be segmented: %s" % shown(wrong[0]))
        with suppress(conllu.NoSentences):
            return [Sentence(one.sentence.words, name=one.sentence.name) for one in self.blocks_of(text, "the text")]
        return []

    def tokenizer(self, options: str) -> Any:
        """Return a tokenizer of UDPipe with these options; see blocks_of."""
        known = set(options.split(";")) <= _OPTIONS
        tokenizer = self._model.newTokenizer(options) if known else None
        if not tokenizer:
            raise InputError(
                "the tokenizer has no options %s, expected: %s" % (shown(options), ", ".join(sorted(_OPTIONS - {""})))
            )
        return tokenizer


def segmented(lines: Iterable[str], name: str, reader: Any, start: text_lines.Start = text_lines.TOP) -> Iterator[Block]:
    """Yield the sentences in the lines of a text, with their numbers in the file; see Segmenter.blocks.

    name: what messages call the file. reader: a new tokenizer of UDPipe, or another of its readers of text. start:
    where in the file the lines begin, for the line and sentence numbers in messages.
    """
    count = 0
    for number, portion in enumerate(_portions(lines, name, start.line)):
        reader.resetDocument("")  # otherwise the reader carries over white space from the end of the previous portion
        with suppress(conllu.NoSentences):
            place = text_lines.Start(0, start.sentence + count)
            for block in conllu.parsed(_segment(portion, reader, count), name, trees=False, start=place):
                count += 1
                block.portion = number
                block.sentence.name = "%s, sentence %d" % (name, start.sentence + count)  # its line is unknown
                yield block
    if not count:
        raise conllu.NoSentences("%s: no text in it" % name)


def _segment(portion: _Portion, tokenizer: Any, before: int) -> Iterator[str]:
    """Yield the CoNLL-U lines of a segmented portion; before: the number of sentences of the document before it."""
    writer = _udpipe().OutputFormat.newOutputFormat("conllu")
    for number, sentence in enumerate(
        udpipe_sentences(tokenizer, portion.text, "the text cannot be segmented"), start=before + 1
    ):
        if before:
            sentence.setNewDoc(False)
            sentence.setSentId(str(number))
            sentence.setText(sentence.getText())  # adds the comment again, so that it stays below sent_id
        for tokens in (sentence.words, sentence.multiwordTokens):
            for k in range(len(tokens)):  # iterating over them would copy them
                token = tokens[k]
                if token.getTokenRange():
                    token.setTokenRange(portion.given(token.getTokenRangeStart()), portion.given(token.getTokenRangeEnd()))
                token.misc = re.sub(r"\s", r"\\s", token.misc)  # such as no-break spaces; UDPipe escapes the others
        yield from io.StringIO(writer.writeSentence(sentence), newline="\n")  # only \n ends a line


def udpipe_sentences(reader: Any, text: str, failure: str) -> Iterator[Any]:
    """Yield the sentences, as UDPipe's objects, that a tokenizer or another reader of UDPipe finds in a text.

    Raises InputError, which begins with `failure`, if the reader fails.
    """
    udpipe = _udpipe()
    error = udpipe.ProcessingError()
    reader.setText(text)
    while reader.nextSentence(sentence := udpipe.Sentence(), error):
        yield sentence
    if error.occurred():
        raise InputError("%s: %s" % (failure, error.message))


def for_udpipe(text: str) -> str:
    """Remove the byte order mark and spaces in blank lines from CoNLL-U text, as UDPipe would read them as words."""
    return _SPACES.sub("", text.removeprefix("\ufeff"))


def train(train_file: str, dev_file: str, path: str, epochs: int = EPOCHS, quiet: bool = True) -> None:
    """Train a segmenter on the sentences of a CoNLL-U file and write it to `path`, whole or not at all.

    The text is reconstructed from the words and SpaceAfter=No. The segmenter of the epoch that is best on `dev_file` is
    kept. Unless `quiet`, UDPipe reports on standard error. Raises InputError if a file is not CoNLL-U, if ufal.udpipe
    is not installed, if training fails, or if `path` cannot be written.
    """
    _udpipe()
    texts = map(_conllu, (train_file, dev_file))
    # Training takes minutes and cannot be interrupted, so it runs in another process, which can be killed.
    with atomic_path(path) as temporary, Pool("training the segmenter") as process:
        trained = process.call(_train, *texts, epochs, quiet)
        with open(temporary, "ab") as file:
            file.write(trained)


def _conllu(path: str) -> str:
    """Return the text of a CoNLL-U file, or of the files of a folder, without trees. The files need not have any."""
    blocks = conllu.blocks(path, trees=False)
    texts = (block.text(dict.fromkeys(_TREE, ["_"] * len(block.sentence))) for block in blocks)
    return "".join(for_udpipe(text).replace("\r\n", "\n").strip("\n") + "\n\n" for text in texts)


def _train(train_text: str, dev_text: str, epochs: int, quiet: bool) -> bytes:
    """Return a trained model; raise InputError if UDPipe cannot train one. quiet: drop UDPipe's messages."""
    if quiet:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    udpipe, failure = _udpipe(), "UDPipe cannot train a segmenter"
    error, none = udpipe.ProcessingError(), udpipe.Trainer.NONE
    reader = udpipe.InputFormat.newConlluInputFormat()
    data = [list(udpipe_sentences(reader, text, failure)) for text in (train_text, dev_text)]
    trained = udpipe.Trainer.train("morphodita_parsito", *data, "epochs=%d" % epochs, none, none, error)
    if error.occurred():
        raise InputError("%s: %s" % (failure, error.message))
    return trained


def _portions(lines: Iterable[str], name: str, before: int) -> Iterator[_Portion]:
    """Yield the text in portions; before: the number of lines before it in the file."""
    end = 0
    runs = text_lines.runs(lines, name, before)
    for portion, parts in groupby(runs, lambda run: run.portion):
        text = "".join(line for part in parts for line in part.lines)
        end += len(text)
        text = text if portion or before else text.lstrip("\ufeff")
        yield _Portion(with_line_ends(text), end - len(text), added(text))


def _udpipe() -> Any:
    with needs("segmenting text", "text", "ufal.udpipe"):
        import ufal.udpipe
    return ufal.udpipe
