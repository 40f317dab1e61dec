"""Parsing files of any size, a few thousand words at a time, in this process or in several others."""

import os
import signal
import threading
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import connection, get_context, parent_process
from typing import Any, Callable, Union

from mh4.batching import batches
from mh4.conllu import Block, Sentence
from mh4.ensemble import Ensemble
from mh4.errors import InputError
from mh4.parsing import Parser

Load = Callable[..., Union[Parser, Ensemble]]
Arguments = tuple[Hashable, ...]

# Words in memory per process; within a chunk, sentences of similar length share a minibatch.
CHUNK_WORDS = 10_000


def parse(
    load: Load, arguments: Arguments, blocks: Iterable[Block], jobs: int = 1, **options: Any
) -> Iterator[tuple[Block, Sentence]]:
    """Parse the sentences of `blocks` with the parser from load(*arguments); yields each block with its new Sentence, in order.

    load: Parser.load or Ensemble.load (see there for arguments and exceptions); each process calls it once.
    jobs: the number of processes; with 1, this process does the work. Raises InputError if one of several is killed.
    options: for the parser's parse().
    """
    chunks = batches(blocks, lambda block: len(block.sentence), CHUNK_WORDS)
    if jobs == 1:
        for chunk in chunks:
            yield from zip(chunk, _parse(load, arguments, options, [block.sentence for block in chunk]))
        return
    # Spawned rather than forked, since this process may have threads (a progress bar has one).
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin) as pool:
        running: deque[tuple[list[Block], Future]] = deque()
        try:
            for chunk in chunks:
                running.append((chunk, pool.submit(_parse, load, arguments, options, [block.sentence for block in chunk])))
                if len(running) > 2 * jobs:
                    chunk, parsed = running.popleft()
                    yield from zip(chunk, parsed.result())
            while running:
                chunk, parsed = running.popleft()
                yield from zip(chunk, parsed.result())
        except BrokenProcessPool:
            raise InputError("a process of --jobs was killed, perhaps because memory ran out: try fewer") from None
        finally:
            for _, parsed in running:
                parsed.cancel()


def _parse(load: Load, arguments: Arguments, options: dict[str, Any], sentences: list[Sentence]) -> list[Sentence]:
    return _parser(load, arguments).parse(sentences, **options)


@lru_cache(maxsize=1)
def _parser(load: Load, arguments: Arguments) -> Union[Parser, Ensemble]:
    return load(*arguments)


def _begin() -> None:
    """Begin a process: its parent ends it after an interrupt, and it ends by itself if its parent has been killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
