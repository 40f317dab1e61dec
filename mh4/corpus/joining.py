"""Joining the shards of each file: what `mh4 parse` would have written, byte for byte."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence

from mh4.corpus import verifying
from mh4.corpus.cutting import Shard
from mh4.corpus.folder import Corpus, Folder
from mh4.errors import InputError, unreadable
from mh4.util import compression
from mh4.util.files import atomic_path, make_folder

_NEW_DOCUMENT = b"# newdoc\n"
_SENT_ID = re.compile(rb"^# sent_id = ([0-9]+)\n", re.MULTILINE)


def destinations(corpus: Corpus, output: str) -> list[str]:
    """Where the parse of each file goes: to `output`, or into it for several files, or if it is a folder or ends with a slash.

    Raises InputError if that would overwrite an input file.
    """
    if len(corpus.inputs) == 1 and not (output.endswith(os.sep) or os.path.isdir(output)):
        paths = [output]
    elif os.path.lexists(output) and not os.path.isdir(output):
        raise InputError("%s: not a folder, as the output of several files has to be" % output)
    else:
        paths = [os.path.join(output, one.name) for one in corpus.inputs]
    inputs = {(status.st_dev, status.st_ino) for one in corpus.inputs if (status := _status(one.path))}
    for path in paths:
        status = _status(path)
        if status and (status.st_dev, status.st_ino) in inputs:
            raise InputError("%s would overwrite a file that was parsed: choose another output" % path)
    return paths


def join(folder: Folder, corpus: Corpus, output: str, rejects: str | None = None) -> list[str]:
    """Write the parse of each file, whole or not at all, and what was rejected to `rejects`; returns the paths of the parses.

    Raises InputError if a shard is not done or is damaged.
    """
    shards = verifying.planned(folder, corpus)
    paths = destinations(corpus, output)
    for number, path in enumerate(paths):
        make_folder(os.path.dirname(path) or os.curdir)
        _write(path, _parses(folder, [shard for shard in shards if shard.file == number], corpus.settings.text))
    if rejects is not None:
        _write(rejects, (_content(folder.rejects(shard)) for shard in shards))
    return paths


def _parses(folder: Folder, shards: Sequence[Shard], text: bool) -> Iterator[bytes]:
    """The parses of a file's shards; the sentences of text are numbered throughout."""
    before = 0
    for shard in shards:
        record = folder.record(shard)
        content = _content(folder.output(shard))
        if record is None or hashlib.sha256(content).hexdigest() != record["output_sha256"]:
            raise InputError("%s: damaged: its content does not match its checksum" % folder.output(shard))
        if text and before:
            content = content.removeprefix(_NEW_DOCUMENT)
            content = _SENT_ID.sub(lambda found: b"# sent_id = %d\n" % (int(found[1]) + before), content)  # noqa: B023
        before += record["parsed_sentences"]
        yield content


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise unreadable(path, error) from None


def _write(path: str, parts: Iterator[bytes]) -> None:
    with atomic_path(path) as temporary, open(temporary, "ab") as raw, compression.compressed(raw, path) as file:
        for part in parts:
            file.write(part)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None
