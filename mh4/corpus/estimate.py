"""Estimate the time, memory and disk that parsing a corpus takes, from a sample of it."""

import io
import os
import time
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import accumulate, islice
from typing import NamedTuple

from rich.filesize import decimal

from mh4.corpus import cutting, parsing
from mh4.corpus.cutting import Shard
from mh4.corpus.inputs import Input
from mh4.corpus.parse_options import Settings
from mh4.errors import InputError, collected_warnings, counted
from mh4.util import compression, memory
from mh4.util.processes import Pool

_PORTIONS = 8  # in the sample, from the files at equal distances in the input
_SECONDS = 30  # parsing the sample stops after this time
_BEGINNING = 4 << 20  # uncompressed bytes of a compressed file from which to estimate its size


class Measured(NamedTuple):
    """Measured on a part of the sample: bytes of input and output, words, wall time in seconds, and peak memory in MB."""

    bytes: int
    output_bytes: int
    words: int
    seconds: float
    peak_mb: int


def sizes(inputs: Sequence[Input]) -> list[int]:
    """Return the uncompressed size of each file in bytes. Sizes of large compressed files are estimates."""
    found = []
    for one in inputs:
        size = 0
        with suppress(OSError, InputError):  # parsing the file will report the error
            size = os.path.getsize(one.path)
            if compression.is_compressed(one.path):
                with compression.opened(one.path) as file:
                    content = file.read(_BEGINNING)
                size = len(content) if len(content) < _BEGINNING else size * len(content) // len(zlib.compress(content))
        found.append(size)
    return found


def report(inputs: Sequence[Input], settings: Settings, number: int) -> list[str]:
    """Return the estimate for these files and `number` workers, as lines to print. Parsing the sample takes a minute.

    Raises InputError if the sample cannot be parsed.
    """
    ends = list(accumulate(sizes(inputs)))
    parts: list[Measured] = []
    with Pool("the process that parsed a sample") as process:
        for source, shard, content in _sample(inputs, ends, settings.by_line):
            if not parts:
                process.call(_measure, settings, source, shard, content)  # loads the model
            parts.append(process.call(_measure, settings, source, shard, content))
            if sum(part.seconds for part in parts) > _SECONDS:
                break
    if not parts:
        raise InputError("%s: nothing in it to take a sample of" % inputs[0].given)
    read, written, words, seconds, _ = map(sum, zip(*parts, strict=True))
    total = ends[-1]
    work = seconds * total / read
    return [
        f"input: {counted(len(inputs), 'file')}, {decimal(total)}, about {counted(words * total // read, 'word', ',')}",
        f"sample: {counted(words, 'word', ',')}, {int(words / seconds):,} words/s by one worker",
        f"work: {work / 3600:.2f} core-hours; by {counted(number, 'worker')} {timedelta(seconds=round(work / number))}",
        f"memory: {max(part.peak_mb for part in parts)} MB for each worker",
        f"disk: {decimal(written * total // read)} for the shards, and as much for what `mh4 corpus join` makes of them",
    ]


def _sample(inputs: Sequence[Input], ends: Sequence[int], by_line: bool) -> Iterator[tuple[Input, Shard, bytes]]:
    """Yield the first portions of the files at some places of the input, as shards: one portion for each place.

    ends: the place in the input at which each file ends, in bytes.
    """
    places = [(2 * k + 1) * ends[-1] // (2 * _PORTIONS) for k in range(_PORTIONS)]
    for file, number in Counter(bisect_left(ends, place) for place in places).items():
        with compression.opened(inputs[file].path) as stream:
            for shard, content in islice(cutting.cut(stream, inputs[file].given, file, 1, by_line=by_line), number):
                if shard.sentences:
                    yield inputs[file], shard, content


def _measure(settings: Settings, source: Input, shard: Shard, content: bytes) -> Measured:
    """Parse a shard of the sample, and measure that. Called in another process."""
    start, output = time.perf_counter(), io.StringIO()
    with collected_warnings():  # parsing the corpus will repeat the warnings
        written = parsing.write(settings, source, shard, content, output, (lambda *_: None) if settings.rejects else None)
    seconds = time.perf_counter() - start
    return Measured(len(content), len(output.getvalue().encode()), written.words, seconds, memory.peak_mb())
