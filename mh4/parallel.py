"""Parsing files of any size, a few thousand words at a time, in this process or in several others."""

import signal
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from typing import Deque, Iterable, Iterator, List, Optional, Tuple

from mh4.conllu import Block, Sentence
from mh4.parsing import Parser
from mh4.systems import BEAM

# Words in memory for each process; among these, sentences of similar length share a minibatch.
CHUNK_WORDS = 10_000


def parse(
    folder: str, blocks: Iterable[Block], jobs: int = 1, decode: Optional[str] = None, beam: int = BEAM
) -> Iterator[Tuple[Block, Sentence]]:
    """Parse the sentences of `blocks` with the model in `folder`; yields each block with its new Sentence, in order.

    jobs: how many processes, each with a copy of the model; 1 is this process. decode, beam: see Parser.load. Raises InputError
    if there is no model, or it cannot be decoded so.
    """
    model = folder, decode, beam
    if jobs == 1:
        for chunk in _chunks(blocks):
            yield from zip(chunk, _parse(model, [block.sentence for block in chunk]))
        return
    # New processes rather than forks of this one, which may have threads (a progress bar has one).
    with ProcessPoolExecutor(jobs, get_context("spawn"), _leave_interrupts_to_the_parent) as pool:
        running: Deque[Tuple[List[Block], Future]] = deque()
        try:
            for chunk in _chunks(blocks):
                running.append((chunk, pool.submit(_parse, model, [block.sentence for block in chunk])))
                if len(running) > 2 * jobs:
                    chunk, parsed = running.popleft()
                    yield from zip(chunk, parsed.result())
            while running:
                chunk, parsed = running.popleft()
                yield from zip(chunk, parsed.result())
        finally:
            for _, parsed in running:
                parsed.cancel()


def _chunks(blocks: Iterable[Block]) -> Iterator[List[Block]]:
    """Runs of at least CHUNK_WORDS words (the last may have fewer)."""
    chunk, words = [], 0
    for block in blocks:
        chunk.append(block)
        words += len(block.sentence)
        if words >= CHUNK_WORDS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


def _parse(model: Tuple[str, Optional[str], int], sentences: List[Sentence]) -> List[Sentence]:
    return _parser(*model).parse(sentences)


@lru_cache(maxsize=1)
def _parser(folder: str, decode: Optional[str], beam: int) -> Parser:
    return Parser.load(folder, decode, beam)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
