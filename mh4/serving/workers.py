"""The processes that parse, and the queue in front of them.

A parser does one thing at a time and an exact decoder cannot be interrupted, so each process has a thread here that waits for it, and
a process that takes too long is killed, and replaced like one that was killed by something else.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from mh4.util.processes import Child, Killed

Call = tuple[Any, ...]  # a function of a module, and its arguments


class Busy(Exception):
    """The queue is full, or no process was free in time."""


class TooLong(Exception):
    """The call took too long."""


class Workers:
    """Processes that call functions, each after it has called `prepare`.

    size: how many. waiting: how many calls may wait for a process. seconds: how long each may wait, and how long it may then take.
    All methods but the first belong to one event loop.
    """

    def __init__(self, size: int, waiting: int, seconds: float, prepare: Call) -> None:
        self.size, self.waiting = size, 0
        self._most_waiting, self._seconds = waiting, seconds
        self._workers = [_Worker(prepare) for _ in range(size)]
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def busy(self) -> int:
        """How many processes have something to do."""
        return self.size - self._idle.qsize()

    @property
    def started(self) -> int:
        """How many processes there have been."""
        return sum(worker.started for worker in self._workers)

    async def start(self) -> Any:
        """Start all processes; returns what `prepare` returns, and raises what it raises."""
        results = await asyncio.gather(*(worker.run() for worker in self._workers))
        for worker in self._workers:
            self._idle.put_nowait(worker)
        return results[0]

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of the call in one of the processes; a process that is killed meanwhile is replaced, and called once more.

        Raises what the function raises, Busy, TooLong and, if a process is killed again, Killed. If this is cancelled, a call that has
        begun continues, and its process stays busy until it has finished.
        """
        worker = await self._next()
        return await asyncio.shield(self._begun(self._work(worker, function, arguments)))

    def stop(self) -> None:
        """End all processes at once, and the threads that wait for them."""
        for worker in self._workers:
            worker.stop()

    async def _next(self) -> "_Worker":
        if self.waiting >= self._most_waiting and self._idle.empty():
            raise Busy
        self.waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                return await self._idle.get()
        except TimeoutError:
            raise Busy from None
        finally:
            self.waiting -= 1

    async def _work(self, worker: "_Worker", function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            try:
                return await self._in_time(worker, function, arguments)
            except Killed:
                return await self._in_time(worker, function, arguments)
        finally:
            self._begun(self._made_idle(worker))

    async def _in_time(self, worker: "_Worker", function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await worker.run(function, *arguments)
        except TimeoutError:
            if not limit.expired():  # it is the function's own
                raise
            worker.kill()
            raise TooLong from None

    async def _made_idle(self, worker: "_Worker") -> None:
        """Have a process ready for the next call, if possible."""
        with suppress(Exception):  # which the next call will raise
            await worker.run()
        self._idle.put_nowait(worker)

    def _begun(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # which keeps it alive
        task.add_done_callback(self._tasks.discard)
        return task


class _Worker:
    """A process, and the thread that starts it, waits for it, and must not end before it."""

    def __init__(self, prepare: Call) -> None:
        self.started = 0  # how often
        self._prepare = prepare
        self._thread = ThreadPoolExecutor(1)
        self._child: Child | None = None
        self._prepared: Any = None
        self._stopped = False

    def run(self, *call: Any) -> "asyncio.Future[Any]":
        """The result of a call, in a new process if there is none; without a call, that of `prepare`."""
        done: Future[Any] = self._thread.submit(self._run, *call)
        return asyncio.wrap_future(done)

    def kill(self) -> None:
        if self._child:
            self._child.kill()

    def stop(self) -> None:
        self._stopped = True
        self.kill()
        self._thread.shutdown()
        self.kill()  # in case it was just being started

    def _run(self, *call: Any) -> Any:
        if self._child is None:
            try:
                self._start()
            except Killed:  # which is not due to the call
                self._start()
        assert self._child
        return self._called(self._child, *call) if call else self._prepared

    def _start(self) -> None:
        if self._stopped:
            raise Killed
        self.started += 1
        self._child = Child()
        self._prepared = self._called(self._child, *self._prepare)

    def _called(self, child: Child, *call: Any) -> Any:
        try:
            return child.call(*call)
        except BaseException as error:
            if isinstance(error, Killed) or call == self._prepare:
                child.kill()
                self._child = None
            raise
