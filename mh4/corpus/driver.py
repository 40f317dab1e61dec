"""The driver hands unfinished shards to workers, and retries a shard that fails or whose worker dies, TRIES attempts in all."""

import time
import traceback
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mh4.corpus import parsing, planning
from mh4.corpus.cutting import Shard
from mh4.corpus.display import Display
from mh4.corpus.folder import Corpus
from mh4.corpus.inputs import Input
from mh4.errors import InputError, one_line

if TYPE_CHECKING:  # it needs Dask
    from mh4.corpus.workers import Workers

TRIES = 3
PATIENCE = 60  # seconds to wait for a worker when others, or their jobs, have been refused


class Task(NamedTuple):
    """A shard to be processed. content: its bytes, if the worker cannot read them itself. attempt: counted from 1."""

    shard: Shard
    content: bytes | None
    attempt: int = 1


# What a worker does with a shard of a file, whose content is given if the worker cannot read it by itself.
Work = Callable[[Corpus, Input, Shard, bytes | None], dict[str, Any]]
Wanted = Callable[[Shard], bool]


def parse(corpus: Corpus, pool: "Workers", display: Display) -> None:
    """Parse all shards of the corpus that are not done yet; those that are not done at the end are failures of the display.

    A shard that fails is tried again, TRIES times in all; its log, in the folder, says why. What is wrong with a file,
    such as that it has changed, is a failure as well, and the others are parsed. Raises InputError if all workers are refused.
    """

    def wanted(shard: Shard) -> bool:
        record = corpus.record(shard)
        if record is not None:
            display.found(shard, record)
        return record is None

    drive(parsing.parse, corpus, pool, display, wanted, TRIES)
    for number in corpus.inputs:
        if error := planning.changed(corpus, number):
            display.problem(str(error))


def drive(work: Work, corpus: Corpus, pool: "Workers", display: Display, wanted: Wanted, tries: int) -> None:
    """Have workers do this work on all wanted shards, each tried at most `tries` times; those that fail are failures of the display."""
    again: deque[Task] = deque()
    running: dict[Any, Task] = {}  # by the call that the worker was given
    patience = time.monotonic() + PATIENCE
    refused, for_workers = "", replace(corpus, inputs={}, removed={})  # of which there may be very many

    with closing(_tasks(corpus, wanted, display)) as tasks:
        try:
            while True:
                workers = pool.count()
                for refused in pool.refused():
                    display.say(refused)
                if workers or not refused or pool.expected():
                    patience = time.monotonic() + PATIENCE
                elif time.monotonic() > patience:
                    raise InputError("there are no workers: " + refused)
                while len(running) < workers:
                    task = again.popleft() if again else next(tasks, None)
                    if task is None:
                        break
                    source = corpus.inputs[task.shard.file]
                    running[pool.submit(work, for_workers, source, task.shard, task.content)] = task
                if not running and workers:
                    return
                display.working(workers)
                for call, result, error in pool.finished(seconds=1):
                    task = running.pop(call)
                    if error is None:
                        corpus.clear(task.shard)
                        display.done(task.shard, result)
                        continue
                    last = task.attempt == tries
                    corpus.fail(task.shard, _account(task, error))
                    display.failed(task.shard, _reason(error), last)
                    if not last:
                        again.append(task._replace(attempt=task.attempt + 1))
        finally:
            pool.cancel()


def _tasks(corpus: Corpus, wanted: Wanted, display: Display) -> Generator[Task, None, None]:
    """The wanted shards, file after file."""
    for number in corpus.inputs:
        try:
            with closing(planning.shards(corpus, number, wanted)) as shards:
                for shard, content in shards:
                    corpus.clear(shard)
                    yield Task(shard, content)
        except InputError as error:
            display.problem(str(error))


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, InputError) else "%s: %s" % (type(error).__name__, error)


def _account(task: Task, error: BaseException) -> str:
    """The entry in the log of a shard for a failed attempt."""
    when = time.strftime("%Y-%m-%d %H:%M:%S")
    rest = "" if isinstance(error, InputError) else "".join(traceback.format_exception(error))
    return "%s, attempt %d: %s\n%s" % (when, task.attempt, one_line(_reason(error)), one_line(rest, kept="\n"))
