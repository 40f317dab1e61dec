"""Hand unfinished shards to workers, and retry a shard that fails or whose worker dies, in up to TRIES attempts."""

import time
import traceback
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from itertools import islice
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
PATIENCE = 60  # seconds to wait for a worker after workers or jobs have been refused


class Task(NamedTuple):
    """A shard to be processed. content: its bytes, if the worker cannot read them itself. attempt: counted from 1."""

    shard: Shard
    content: bytes | None
    attempt: int = 1


# What a worker does with a shard of a file. The content is given if the worker cannot read it by itself.
Work = Callable[[Corpus, Input, Shard, bytes | None], dict[str, Any]]
Wanted = Callable[[Shard], bool]


def parse(corpus: Corpus, pool: "Workers", display: Display) -> None:
    """Parse all shards of the corpus that are not done yet, and report failures to the display.

    A shard is tried up to TRIES times; its log in the folder describes the failures. A problem with a file, such as a
    change since it was cut, is also a failure, and the other files are parsed. Raises InputError if all workers are
    refused.
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
    """Have workers do `work` on all wanted shards, each at most `tries` times, and report failures to the display."""
    again: deque[Task] = deque()  # those to be done next: the failed ones or, if there are none, another one
    running: dict[Any, Task] = {}  # by the future of the call
    patience = time.monotonic() + PATIENCE
    refused, for_workers = "", replace(corpus, inputs={}, removed={})  # there may be very many files

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
                again.extend(islice(tasks, not again))  # the next task, even before there are workers
                if again and len(running) < workers:
                    task = again.popleft()
                    source = corpus.inputs[task.shard.file]
                    running[pool.submit(work, for_workers, source, task.shard, task.content)] = task
                    continue
                if not running and not again:
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
    """Yield the wanted shards, file after file."""
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
    """Return the entry for a failed attempt in the log of a shard."""
    when = time.strftime("%Y-%m-%d %H:%M:%S")
    rest = "" if isinstance(error, InputError) else "".join(traceback.format_exception(error))
    return "%s, attempt %d: %s\n%s" % (when, task.attempt, one_line(_reason(error)), one_line(rest, kept="\n"))
