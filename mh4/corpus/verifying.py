"""Compare parses with the input: nothing may be lost, added, moved or changed, except what a parser predicts."""

import hashlib
import io
import os
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from mh4.corpus import parsing
from mh4.corpus.cutting import Shard
from mh4.corpus.folder import Corpus
from mh4.corpus.inputs import Input
from mh4.corpus.parse_options import Settings
from mh4.data import conllu
from mh4.data.block import Block
from mh4.data.cells import DEPREL, DEPS, HEAD, MISC, TAGS
from mh4.data.rejects import Rejects
from mh4.data.sentence import PROBABILITIES
from mh4.errors import Forbidden, InputError, counted
from mh4.util import reading


def verify(corpus: Corpus, source: Input, shard: Shard, content: bytes | None) -> dict[str, Any]:
    """Compare the parse of a shard with the shard, and return its record, without the warnings of the parse.

    Raises InputError if the file has changed since it was cut, or if this process may not read the parse. Also raises
    it if the parse does not match the record, and at the first sentence that has no tree or differs from the input
    outside the predicted columns. Then the record is removed, so that the shard is parsed again.
    """
    if content is None:
        content = parsing.read(source, shard)
    settings, rejects = corpus.settings, io.StringIO(newline="")
    rejected = Rejects(rejects) if settings.rejects else None
    given = conllu.even_none(parsing.blocks(settings, source, shard, content, rejected))
    try:
        record = corpus.record(shard)
        if record is None:
            raise InputError("%s: damaged: its size or its record is not what it was" % corpus.file(shard, "output"))
        _compare(given, corpus.file(shard, "output"), settings, source, record)
        if rejected is not None:
            _check(corpus.file(shard, "rejects"), record["rejects_sha256"])
            expected = hashlib.sha256(rejects.getvalue().encode("utf-8", "surrogateescape")).hexdigest()
            if (record["rejects_sha256"], record["rejects"]) != (expected, rejected.count):
                blocks = counted(rejected.count, "block")
                raise InputError("%s: expected %s, those that are not CoNLL-U" % (corpus.file(shard, "rejects"), blocks))
    except Forbidden:
        raise
    except InputError:
        corpus.forget(shard)
        raise
    return {**record, "warnings": []}


def _compare(given: Iterator[Block], output: str, settings: Settings, source: Input, record: dict[str, Any]) -> None:
    _check(output, record["output_sha256"])
    sentences = words = 0
    written = conllu.blocks(output, trees=False) if os.path.getsize(output) else iter(())
    for before, after in zip_longest(given, written):
        if before is None or after is None:
            more, fewer = (after, source.given) if before is None else (before, output)
            raise InputError("%s: has no parallel in %s" % (more.sentence.name, fewer))
        if _kept(before, settings) != _kept(after, settings):
            raise InputError("%s: differs from %s in more than its tree" % (after.sentence.name, before.sentence.name))
        if not after.skipped:
            list(conllu.parsed(after.lines, "%s, in" % after.sentence.name))
        sentences, words = sentences + 1, words + len(after.sentence)
    if (sentences, words) != (record["parsed_sentences"], record["parsed_words"]):
        found = counted(sentences, "sentence"), counted(words, "word")
        raise InputError("%s: %s, %s, which are not the numbers of its record" % (output, *found))


def _check(path: str, checksum: str) -> None:
    """Raise InputError unless the file has this checksum."""
    if reading.sha256(path) != checksum:
        raise reading.wrong_checksum(path)


def _kept(block: Block, settings: Settings) -> str:
    """Return the lines of a sentence, without what is predicted."""
    columns = [HEAD, DEPREL]
    columns += [] if settings.keep_deps else [DEPS]
    columns += TAGS if settings.tags else ()
    empty = ["_"] * len(block.sentence)
    misc = block.misc(dict.fromkeys(PROBABILITIES, empty) if settings.confidence else {})
    return block.text({**dict.fromkeys(columns, empty), MISC: misc}, "")
