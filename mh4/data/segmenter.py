"""Segmenters: from raw text to sentences and words, and their training, by UDPipe 1 (ufal.udpipe).

Its tokenizer is a GRU over characters (Straka & Straková, CoNLL 2017 shared task), the baseline of the shared task; so a segmenter is
a UDPipe model, and any UDPipe 1 model that has a tokenizer is a segmenter.
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
_MODEL = b"\x12morphodita_parsito"  # how UDPipe's models begin; it trusts the first byte, and checks the others
_TREE = (HEAD, DEPREL, DEPS)
_SPACES = re.compile(r"^[ \r]+$", re.MULTILINE)  # of blank lines
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
_OPTIONS = {"", "normalized_spaces", "presegmented", "ranges"}  # of UDPipe's tokenizer, which ignores others


class _Portion(NamedTuple):
    """A part of a text that is segmented by itself: the text for the tokenizer, and what leads back to the text as it was given.

    first: the offset of the portion there; added: the offsets of the characters of the portion that are not there.
    """

    text: str
    first: int
    added: list[int]

    def given(self, offset: int) -> int:
        """Return the offset in the text as it was given."""
        return self.first + offset - bisect_left(self.added, offset)


class Segmenter:
    """A trained segmenter. Threads may share it: what each of them segments has a tokenizer of its own."""

    def __init__(self, path: str) -> None:
        """Load the segmenter in file `path`. Raises InputError if there is none, or if ufal.udpipe is not installed."""
        udpipe = _udpipe()
        with open_regular(path) as file:
            found = file.read(len(_MODEL)) == _MODEL
            file.seek(0)
            # By a name that UDPipe can take, which not every name is.
            self._model: Any = udpipe.Model.load("/dev/fd/%d" % file.fileno()) if found else None
        if not (self._model and self._model.newTokenizer(self._model.DEFAULT)):
            raise InputError("%s: damaged, or not a segmenter: expected a file that `mh4 segmenter train` has written" % path)

    def blocks(self, path: str, options: str = "") -> Iterator[Block]:
        """Return the sentences of the text in file `path` ("-" is standard input), without trees.

        A blank line or form feed always ends a sentence. Comments and MISC say how the text was written (text, SpaceAfter, SpacesAfter).
        options: see blocks_of. Raises InputError for a file that is not text in UTF-8, or has none.
        """
        name = name_of(path)
        return self.segmented(text_lines.lines(path, name), name, tokenizer=self.tokenizer(options))

    def segmented(
        self, lines: Iterable[str], name: str, tokenizer: Any, start: text_lines.Start = text_lines.TOP
    ) -> Iterator[Block]:
        """Yield the sentences of the lines of a text; see blocks and the function `segmented`. tokenizer: a new one."""
        yield from segmented(lines, name, tokenizer, start)  # this keeps the model, which the tokenizer needs

    def blocks_of(self, text: str, name: str, options: str = "") -> Iterator[Block]:
        """Return the sentences of a text, numbered from 1, which messages say are from `name`; see blocks.

        options: of UDPipe's tokenizer, separated by semicolons, such as "presegmented" (a line is a sentence) or "ranges" (TokenRange in
        MISC; see docs/howto/server.md). Raises InputError for those that it does not have.
        """
        return self.segmented(io.StringIO(text, newline="\n"), name, tokenizer=self.tokenizer(options))

    def sentences(self, text: str) -> list[Sentence]:
        """Return the sentences of a text, without trees; none if there is nothing in it.

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
    """Yield the sentences of the lines of a text, numbered from 1, which messages say are from file `name`; see Segmenter.blocks.

    reader: a new tokenizer of UDPipe, or another of its readers of text. start: where in the file the lines begin; messages have its lines
    and sentences.
    """
    count = 0
    for number, portion in enumerate(_portions(lines, name, start.line)):
        reader.resetDocument("")  # or it would have white space at the end of the portion before
        with suppress(conllu.NoSentences):
            place = text_lines.Start(0, start.sentence + count)
            for block in conllu.parsed(_segment(portion, reader, count), name, trees=False, start=place):
                count += 1
                block.portion = number
                block.sentence.name = "%s, sentence %d" % (name, start.sentence + count)  # its line is none of the text
                yield block
    if not count:
        raise conllu.NoSentences("%s: no text in it" % name)


def _segment(portion: _Portion, tokenizer: Any, before: int) -> Iterator[str]:
    """Yield the lines of a portion as CoNLL-U; before: the number of sentences of the document before it."""
    writer = _udpipe().OutputFormat.newOutputFormat("conllu")
    for number, sentence in enumerate(
        udpipe_sentences(tokenizer, portion.text, "the text cannot be segmented"), start=before + 1
    ):
        if before:
            sentence.setNewDoc(False)
            sentence.setSentId(str(number))
            sentence.setText(sentence.getText())  # which stays below the number
        for tokens in (sentence.words, sentence.multiwordTokens):
            for k in range(len(tokens)):  # iterating over them would copy them
                token = tokens[k]
                if token.getTokenRange():
                    token.setTokenRange(portion.given(token.getTokenRangeStart()), portion.given(token.getTokenRangeEnd()))
                token.misc = re.sub(r"\s", r"\\s", token.misc)  # no-break spaces and the like; UDPipe escapes the others
        yield from io.StringIO(writer.writeSentence(sentence), newline="\n")  # only \n ends a line


def udpipe_sentences(reader: Any, text: str, failure: str) -> Iterator[Any]:
    """Yield the sentences, as UDPipe's objects, that a tokenizer or another reader of UDPipe finds in a text.

    Raises InputError, which begins with `failure`, for what it cannot read.
    """
    udpipe = _udpipe()
    error = udpipe.ProcessingError()
    reader.setText(text)
    while reader.nextSentence(sentence := udpipe.Sentence(), error):
        yield sentence
    if error.occurred():
        raise InputError("%s: %s" % (failure, error.message))


def for_udpipe(text: str) -> str:
    """Return the text of a CoNLL-U file without a byte order mark and spaces in blank lines, which UDPipe would read as words."""
    return _SPACES.sub("", text.removeprefix("\ufeff"))


def train(train_file: str, dev_file: str, path: str, epochs: int = EPOCHS, quiet: bool = True) -> None:
    """Train a segmenter on the sentences of a CoNLL-U file and write it to `path`, whole or not at all.

    The text is made of the words and SpaceAfter=No. The segmenter of the epoch that is best on `dev_file` is kept. Unless `quiet`, UDPipe
    reports on standard error. Raises InputError if a file is not CoNLL-U, if ufal.udpipe is not installed or cannot train one, or if
    `path` cannot be written.
    """
    _udpipe()
    texts = map(_conllu, (train_file, dev_file))
    # Training takes minutes and cannot be interrupted, so it runs in another process, which can be killed.
    with atomic_path(path) as temporary, Pool("training the segmenter") as process:
        trained = process.call(_train, *texts, epochs, quiet)
        with open(temporary, "ab") as file:
            file.write(trained)


def _conllu(path: str) -> str:
    """Return the text of a CoNLL-U file, or of the files of a folder, without the trees, which need not be there."""
    blocks = conllu.blocks(path, trees=False)
    texts = (block.text(dict.fromkeys(_TREE, ["_"] * len(block.sentence))) for block in blocks)
    return "".join(for_udpipe(text).replace("\r\n", "\n").strip("\n") + "\n\n" for text in texts)


def _train(train_text: str, dev_text: str, epochs: int, quiet: bool) -> bytes:
    """Return a trained model; raise InputError if UDPipe cannot train one. quiet: its messages are dropped."""
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
