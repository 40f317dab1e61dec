"""Plan the shards of a file.

They are recorded as they are cut, so that later runs need not read the file to find them.
"""

import json
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from typing import BinaryIO

from mh4.corpus.cutting import MOST_COMPRESSED, Shard, after, content_of, cut
from mh4.corpus.folder import Corpus
from mh4.errors import Forbidden, InputError
from mh4.util import compression, reading
from mh4.util.files import append_line, make_folder, write_text

_LONGEST_LINE = 1 << 16  # bytes; a longer line is not valid in a plan


def shards(corpus: Corpus, file: int, wanted: Callable[[Shard], bool]) -> Generator[tuple[Shard, bytes | None], None, None]:
    """Yield the wanted shards of a file: first those in the plan, then those cut from the rest of the file.

    The latter are added to the plan. Shards of a compressed file come with their content, since workers could only read
    the file from its start.
    A file that has changed since it was planned is planned again. Raises InputError if it has changed and all its
    shards are done, and if it changes meanwhile.
    """
    path, plan = corpus.inputs[file].path, corpus.plan(file)
    status, compressed = _status(path), compression.is_compressed(path)
    known, complete = _begin(corpus, file, status)
    with compression.opened(path) as stream:
        for shard in known:
            if wanted(shard):
                yield shard, content_of(stream, path, shard) if compressed else None
        if complete:
            return
        last = known[-1] if known else None
        stream.seek(last.end if last else 0)
        for shard, content in _cut(corpus, file, stream, last):
            append_line(plan, json.dumps(shard._asdict()))
            known.append(shard)
            if wanted(shard):
                yield shard, content if compressed else None
    if _status(path) != status:
        raise _changed(corpus, file, False)
    corpus.remove_after(file, len(known))
    append_line(plan, json.dumps(_end(known)))


def _begin(corpus: Corpus, file: int, status: dict[str, int]) -> tuple[list[Shard], bool]:
    """Write a valid plan for a file of this size and time, and return the shards in it, and if these are all.

    Raises InputError if the file has changed since it was planned, and all its shards are done.
    """
    path = corpus.inputs[file].path
    planned, known, complete = read(corpus, file)
    if complete and planned == status:
        return known, True
    if complete:  # the file was written again, perhaps with the same shards
        with compression.opened(path) as stream:
            complete = [shard for shard, _ in _cut(corpus, file, stream)] == known
        if not complete and _all_done(corpus, known):
            raise _changed(corpus, file, True)
    if not complete and planned != status:
        known = []
    lines = [{"path": path, **status}, *(shard._asdict() for shard in known)]
    if complete:
        lines.append(_end(known))
    make_folder(os.path.dirname(corpus.plan(file)))
    write_text(corpus.plan(file), "".join(json.dumps(line) + "\n" for line in lines))  # also removes invalid lines
    return known, complete


def _cut(corpus: Corpus, file: int, stream: BinaryIO, last: Shard | None = None) -> Iterator[tuple[Shard, bytes]]:
    """Return the shards after `last` with their content, from the open file."""
    path, size = corpus.inputs[file].path, corpus.shard_bytes
    if compression.is_compressed(path):
        size = min(size, MOST_COMPRESSED)
    return cut(stream, path, file, size, last, corpus.settings.by_line)


def read(corpus: Corpus, file: int) -> tuple[dict[str, int] | None, list[Shard], bool]:
    """Return size and time of a file when it was planned (None if it was not), its known shards, and if these are all.

    The plan ends before the first invalid line, such as a line of which only a part was written.
    """
    plan, status = corpus.plan(file), None
    known: list[Shard] = []
    if not os.path.lexists(plan):
        return status, known, False
    with suppress(ValueError, TypeError, KeyError, RecursionError):  # the line is invalid
        with reading.open_regular(plan) as lines:
            for line in iter(partial(lines.readline, _LONGEST_LINE), b""):
                content = json.loads(line)
                if status is None:
                    status = {name: content[name] for name in ("bytes", "mtime_ns")}
                    compressed = compression.is_compressed(content["path"])
                elif known and content == _end(known) and (compressed or known[-1].end == status["bytes"]):
                    return status, known, line.endswith(b"\n")
                else:
                    shard = Shard(**content)
                    place = (shard.number, shard.offset, shard.line, shard.sentence)
                    if shard.file != file or place != after(known[-1] if known else None) or min(shard[:-1]) < 0:
                        break
                    known.append(shard)
    return status, known, False


def all_shards(corpus: Corpus) -> tuple[list[Shard], list[str]]:
    """Return the known shards of all files, and the files that are not completely cut."""
    plans = {number: read(corpus, number) for number in corpus.inputs}
    uncut = [corpus.inputs[number].given for number, (_, _, complete) in plans.items() if not complete]
    return [shard for _, known, _ in plans.values() for shard in known], uncut


def done(corpus: Corpus) -> dict[int, list[Shard]]:
    """Return the shards of each finished file, by its number."""
    found = {}
    for number in corpus.inputs:
        _, known, complete = read(corpus, number)
        if complete and _all_done(corpus, known):
            found[number] = known
    return found


def missing(corpus: Corpus) -> str:
    """Return a message about the files that are not cut and the shards that are not done; empty if there are none."""
    shards, uncut = all_shards(corpus)
    undone = sum(corpus.record(shard) is None for shard in shards)
    said = []
    if uncut:
        said.append("files not cut yet: %d of %d" % (len(uncut), len(corpus.inputs)))
    if undone:
        said.append("shards not done: %d of %d" % (undone, len(shards)))
    return ", ".join(said)


def changed(corpus: Corpus, file: int) -> InputError | None:
    """Return the error for a file that seems to have changed since it was planned, or None.

    This compares its size and modification time. A file that cannot be read counts as changed.
    """
    done = False
    with suppress(InputError):
        planned, known, complete = read(corpus, file)
        with suppress(Forbidden):
            done = complete and _all_done(corpus, known)
        if planned is None or planned == _status(corpus.inputs[file].path):
            return None
    return _changed(corpus, file, done)


def _status(path: str) -> dict[str, int]:
    with reading.open_regular(path) as file:
        status = os.fstat(file.fileno())
    return {"bytes": status.st_size, "mtime_ns": status.st_mtime_ns}


def _changed(corpus: Corpus, file: int, done: bool) -> InputError:
    """Return the error for a file that has changed since it was cut. done: whether all its shards are done."""
    parse = "name another folder" if done else "run the same command again"
    return InputError("%s: changed since it was cut into shards: %s to parse what it is now" % (corpus.inputs[file].path, parse))


def _all_done(corpus: Corpus, shards: list[Shard]) -> bool:
    return all(corpus.record(shard) is not None for shard in shards)


def _end(shards: list[Shard]) -> dict[str, int]:
    return {"shards": len(shards)}
