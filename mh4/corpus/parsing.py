"""Parse a shard in a worker, with the functions of `mh4 parse`, and write the result to the shard's own file."""

import io
import os
import socket
import time
from collections.abc import Iterator
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

from mh4.corpus.cutting import Shard, content_of
from mh4.corpus.folder import Corpus
from mh4.corpus.inputs import Input
from mh4.corpus.parse_options import Settings
from mh4.data import conllu, split_text, text_lines
from mh4.data.block import Block
from mh4.data.conllu import Rejected
from mh4.data.rejects import open_rejects
from mh4.data.sentence import Sentence
from mh4.data.text_lines import Start
from mh4.errors import InputError, collected_warnings
from mh4.parser import checksums, long_sentences, parallel, writing
from mh4.parser.parsing import Parser
from mh4.parser.writing import Written
from mh4.util import compression, memory, reading
from mh4.util.output import open_output
from mh4.util.processes import Pool

if TYPE_CHECKING:
    from mh4.data.segmenter import Segmenter

_OPTIONS = ("longest", "beyond", "confidence", "tags")  # the settings that are options of long_sentences.parse


def check(settings: Settings) -> None:
    """Raise InputError if the model or the segmenter cannot be loaded, or the model cannot parse with these settings.

    This is checked in another process, since the model would stay in the memory of this one.
    """
    with Pool("the process that loaded the model") as process:
        process.call(_check, settings)


def _check(settings: Settings) -> None:
    one = [Sentence(["."])]
    with collected_warnings():  # parsing the shards will repeat the warnings
        long_sentences.parse(_load(settings), one, **{name: getattr(settings, name) for name in _OPTIONS})
    if settings.segmenter is not None:
        _segmenter(settings)


def parse(corpus: Corpus, source: Input, shard: Shard, content: bytes | None) -> dict[str, Any]:
    """Parse a shard of a file into its own file in the folder. Write its record there, and return the record.

    content: the bytes of the shard, if this process cannot read them itself. Raises InputError if they are not CoNLL-U
    (or text), if the file has changed since it was cut, or if the model is not the one of the settings.
    """
    start, settings = time.perf_counter(), corpus.settings
    corpus.prepare(shard)
    if content is None:
        content = read(source, shard)
    with (
        collected_warnings() as said,
        open_rejects(corpus.file(shard, "rejects")) if settings.rejects else nullcontext() as rejected,
        open_output(corpus.file(shard, "output")) as file,
    ):
        written = write(settings, source, shard, content, file, rejected)
    record = {
        "input": source.path,
        **shard._asdict(),
        "options": settings.options(),
        "parsed_sentences": written.sentences,
        "parsed_words": written.words,
        "rejects": rejected.count if rejected else 0,
        **(_file(corpus, shard, "rejects") if settings.rejects else {}),
        "fallbacks": written.noted,
        "warnings": said,
        **_file(corpus, shard, "output"),
        "seconds": round(time.perf_counter() - start, 3),
        "peak_mb": memory.peak_mb(),
        "host": socket.gethostname(),
    }
    corpus.write_record(shard, record)
    return record


def _file(corpus: Corpus, shard: Shard, kind: str) -> dict[str, Any]:
    """Return the size and checksum of a file of a shard, for its record."""
    path = corpus.file(shard, kind)
    return {kind + "_bytes": os.path.getsize(path), kind + "_sha256": reading.sha256(path)}


def read(source: Input, shard: Shard) -> bytes:
    """Return the bytes of a shard. Raises InputError if the file has changed since it was cut."""
    with compression.opened(source.path) as stream:
        return content_of(stream, source.path, shard)


def write(settings: Settings, source: Input, shard: Shard, content: bytes, file: TextIO, rejected: Rejected = None) -> Written:
    """Parse a shard with the bytes `content`, and write the parse to `file`."""
    given = conllu.to_parse(blocks(settings, source, shard, content, rejected))
    parsed = parallel.parse(_load, (settings,), given, **{name: getattr(settings, name) for name in _OPTIONS})
    return writing.write(parsed, file, tags=settings.tags, keep_deps=settings.keep_deps)


def blocks(settings: Settings, source: Input, shard: Shard, content: bytes, rejected: Rejected = None) -> Iterator[Block]:
    """Return the sentences of a shard, numbered from 1 if it is text. Raises NoSentences if its file has none."""
    name, start = source.given, Start(shard.line, shard.sentence)
    lines = text_lines.decoded(io.BytesIO(content), name, "strict" if rejected is None else "surrogateescape", shard.line)
    if settings.input == "conllu":
        return conllu.parsed(lines, name, trees=False, rejected=rejected, start=start)
    if settings.segmenter is None:
        return split_text.parsed(lines, name, settings.input, start)
    segmenter = _segmenter(settings)
    tokenizer = segmenter.tokenizer("presegmented" if settings.input == "presegmented" else "")
    return segmenter.segmented(lines, name, tokenizer, start)


def _load(settings: Settings) -> Parser:
    if checksums.of_model(settings.model) != settings.model_checksum:
        raise InputError("%s: not the model that this corpus is parsed with, or changed since" % settings.model)
    return Parser.load(settings.model, settings.decode, settings.beam)


@lru_cache(maxsize=1)
def _segmenter(settings: Settings) -> "Segmenter":
    from mh4.data.segmenter import Segmenter

    assert settings.segmenter
    if reading.sha256(settings.segmenter) != settings.segmenter_checksum:
        raise InputError("%s: not the segmenter that this corpus is parsed with, or changed since" % settings.segmenter)
    return Segmenter(settings.segmenter)
