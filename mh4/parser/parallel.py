"""Parse files of any size, 10,000 words at a time, in this process or in several others (`mh4 parse --jobs`)."""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import chain, groupby
from typing import Any

from mh4.data.block import Block
from mh4.data.sentence import Sentence
from mh4.errors import collected_warnings, warn
from mh4.parser import long_sentences
from mh4.parser.ensemble import Ensemble
from mh4.parser.parsing import Parser
from mh4.util import cpu
from mh4.util.batching import batches
from mh4.util.processes import Pool

Load = Callable[..., Parser | Ensemble]
Arguments = tuple[Hashable, ...]

# Words in memory per process. Sentences of similar length in a chunk share a minibatch. A chunk also ends where a
# portion of the file does.
CHUNK_WORDS = 10_000


def processes(jobs: int) -> AbstractContextManager[Pool | None]:
    """Return a context manager that yields the processes that parse, which end with the block.

    There are at most as many processes as cores. For one, it yields None: then this process parses.
    """
    jobs = min(jobs, cpu.cores())
    return nullcontext() if jobs == 1 else Pool("a process of --jobs", jobs, ": try fewer")


def parse(
    load: Load, arguments: Arguments, blocks: Iterable[Block], pool: Pool | None = None, *, at_once: bool = False, **options: Any
) -> Generator[tuple[Block, Sentence], None, None]:
    """Parse the sentences of `blocks` with the parser from load(*arguments); yield each block with its new Sentence, in order.

    load: Parser.load or Ensemble.load (see there for arguments and exceptions); each process calls it once.
    pool: see `processes`. Raises InputError if one of the processes is killed.
    at_once: parse each sentence by itself, before the next is read; without a pool.
    options: for long_sentences.parse, and the parser's parse().
    """
    words = 1 if at_once else CHUNK_WORDS // max(1, options.get("best", 1))  # each sentence has `best` trees
    portions = (portion for _, portion in groupby(blocks, lambda block: block.portion))
    chunks = chain.from_iterable(batches(portion, lambda block: len(block.sentence), words) for portion in portions)
    work = load, arguments, options
    if pool is None:
        for chunk in chunks:
            yield from zip(chunk, _parse(*work, [block.sentence for block in chunk]), strict=True)
        return
    running: deque[tuple[list[Block], Future]] = deque()
    for chunk in chunks:
        running.append((chunk, pool.submit(_parse_elsewhere, *work, [block.sentence for block in chunk])))
        if len(running) > 2 * pool.number:
            yield from _parsed(*running.popleft())
    while running:
        yield from _parsed(*running.popleft())


def _parsed(chunk: list[Block], future: Future) -> Iterator[tuple[Block, Sentence]]:
    sentences, warned = future.result()
    for text in warned:
        warn(text, stacklevel=2)
    yield from zip(chunk, sentences, strict=True)


def _parse_elsewhere(*work: Any) -> tuple[list[Sentence], list[str]]:
    """Parse in another process; return the sentences, and the warnings for this process to show."""
    with collected_warnings() as warned:
        return _parse(*work), warned


def _parse(load: Load, arguments: Arguments, options: dict[str, Any], sentences: list[Sentence]) -> list[Sentence]:
    return long_sentences.parse(_parser(load, arguments), sentences, **options)


@lru_cache(maxsize=1)
def _parser(load: Load, arguments: Arguments) -> Parser | Ensemble:
    return load(*arguments)
