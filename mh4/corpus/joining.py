"""Join the parsed shards of each file into the output that `mh4 parse` would have written, byte for byte."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mh4.corpus import planning
from mh4.corpus.cutting import Shard
from mh4.corpus.folder import Corpus
from mh4.errors import InputError
from mh4.util import reading
from mh4.util.files import identity, make_folder
from mh4.util.output import open_output


class _Damaged(InputError):
    """A file of a shard does not match its record."""


class Joined(NamedTuple):
    """The paths of the files that were written, and the number of sentences in them.

    changed: input files that still exist but seem to have changed since they were parsed; their earlier content was
    parsed. missing: input files that are not done. damaged: a message for each input file with a damaged shard. Nothing
    is written for missing and damaged files.
    """

    paths: list[str]
    sentences: int
    changed: list[str]
    missing: list[str]
    damaged: list[str]


_NEW_DOCUMENT = b"# newdoc\n"
_SENT_ID = re.compile(rb"^# sent_id = ([0-9]+)\n", re.MULTILINE)


def destinations(corpus: Corpus, output: str) -> dict[int, str]:
    """Return the path for the parse of each file, by number.

    It is `output` or, if several files or a folder were given, or `output` is a folder, a path in `output`. Raises
    InputError if `output` should be a folder but is something else.
    """
    if [one.folder for one in corpus.inputs.values()] == [""] and not (output.endswith(os.sep) or os.path.isdir(output)):
        return dict.fromkeys(corpus.inputs, output)
    if os.path.lexists(output) and not os.path.isdir(output):
        raise InputError("%s: not a folder, as the output of several files has to be" % output)
    return {number: os.path.join(output, one.name) for number, one in corpus.inputs.items()}


def _check(paths: Sequence[str], corpus: Corpus) -> None:
    """Raise InputError for an output path that is a folder, in the input or the corpus's folder, or given twice."""
    folders = {os.path.realpath(os.path.dirname(path)) for path in paths}
    inputs = {identity(one.path) for one in corpus.inputs.values()} - {None}
    given = {one.folder for one in corpus.inputs.values()} - {""}
    inside = os.path.realpath(corpus.folder) + os.sep
    written: set[str] = set()
    for path in paths:
        place = os.path.realpath(path)
        if os.path.isdir(path) or place in folders:
            raise InputError("%s would be both a file and a folder: choose another output" % path)
        if identity(path) in inputs:
            raise InputError("%s would overwrite a file that was parsed: choose another output" % path)
        if place.startswith(inside):
            raise InputError("%s is in the folder of the corpus itself: choose another output" % path)
        for folder in given:
            if place.startswith(os.path.join(os.path.realpath(folder), "")):
                raise InputError("%s would be in %s, and be read the next time: choose another output" % (path, folder))
        if place in written and (os.path.isfile(path) or not os.path.exists(path)):
            raise InputError("%s would be written twice: choose another file for one of them" % path)
        written.add(place)


def join(corpus: Corpus, output: str, rejects: str | None = None) -> Joined:
    """Write the parse of each finished file, whole or not at all, and the rejected blocks of these files to `rejects`.

    Raises InputError if a file of the input or of the corpus would be overwritten.
    """
    done, paths = planning.done(corpus), destinations(corpus, output)
    _check([*paths.values(), rejects] if rejects is not None else [*paths.values()], corpus)
    damaged = []
    for number, shards in list(done.items()):
        make_folder(os.path.dirname(paths[number]) or os.curdir)
        try:
            for shard in shards if rejects is not None else ():
                _content(corpus, shard, "rejects")
            _write(paths[number], _parses(corpus, shards))
        except _Damaged as error:
            damaged.append(str(error))
            del done[number]
    every = [shard for shards in done.values() for shard in shards]
    if rejects is not None and done:
        _write(rejects, (_content(corpus, shard, "rejects")[0] for shard in every))
    there = {number: one.path for number, one in corpus.inputs.items() if number in done and os.path.exists(one.path)}
    sentences = sum((corpus.record(shard) or {}).get("parsed_sentences", 0) for shard in every)
    return Joined(
        [paths[number] for number in done],
        sentences,
        [path for number, path in there.items() if planning.changed(corpus, number)],
        [one.given for number, one in corpus.inputs.items() if number not in done],
        damaged,
    )


def rejected(corpus: Corpus) -> int:
    """Return the number of blocks that were rejected."""
    if not corpus.settings.rejects:
        return 0
    shards, _ = planning.all_shards(corpus)
    return sum(record["rejects"] for record in map(corpus.record, shards) if record is not None)


def _parses(corpus: Corpus, shards: Iterable[Shard]) -> Iterator[bytes]:
    """Yield the parses of a file's shards. In text, the sentences are renumbered throughout the file."""
    before = 0
    for shard in shards:
        content, record = _content(corpus, shard, "output")
        if corpus.settings.input != "conllu" and before:
            content = content.removeprefix(_NEW_DOCUMENT)
            content = _SENT_ID.sub(lambda found: b"# sent_id = %d\n" % (int(found[1]) + before), content)  # noqa: B023
        before += record["parsed_sentences"]
        yield content


def _content(corpus: Corpus, shard: Shard, kind: str) -> tuple[bytes, dict[str, Any]]:
    """Return the output or the rejects of a shard, and its record. Raises _Damaged if they do not match."""
    record, path = corpus.record(shard), corpus.file(shard, kind)
    content = b""
    if record is not None:
        try:
            with reading.open_regular(path) as file:
                content = file.read()
        except InputError as error:
            raise _Damaged(str(error)) from None
    if record is None or hashlib.sha256(content).hexdigest() != record[kind + "_sha256"]:
        mend = "`mh4 corpus verify` finds all such shards, and `mh4 corpus parse` parses them again"
        raise _Damaged("%s; %s" % (reading.wrong_checksum(path), mend))
    return content, record


def _write(path: str, parts: Iterator[bytes]) -> None:
    with open_output(path, errors="surrogateescape") as file:
        for part in parts:
            file.write(part.decode("utf-8", "surrogateescape"))
