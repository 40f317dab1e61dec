"""Run calls in worker processes, with a queue in front of them.

A parser handles one call at a time, and an exact decoder cannot be interrupted. A thread of this process therefore
waits for each call, and a process that takes too long is killed. Killed processes are replaced, whatever killed them.
"""

import asyncio
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from mh4.util.processes import Child, Killed

Call = tuple[Any, ...]  # a module-level function and its arguments


class Busy(Exception):
    """The queue is full, or no process was free in time."""


class TooLong(Exception):
    """The call took too long."""


class Workers:
    """Processes that call functions. Each process first calls `prepare`.

    size: the number of processes. waiting: how many calls may wait for a process. seconds: how long a call may wait,
    and how long it may then take. All methods except the constructor must be called in one event loop, whose thread
    must not end before the processes.
    """

    def __init__(self, size: int, waiting: int, seconds: float, prepare: Call) -> None:
        self.size, self.started, self.waiting = size, 0, 0  # started: the number of processes started so far
        self._most_waiting, self._seconds, self._prepare = waiting, seconds, prepare
        self._threads = ThreadPoolExecutor(size)
        self._children: set[Child] = set()  # processes that have not been killed
        self._idle: asyncio.Queue[Child] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopped = False

    @property
    def busy(self) -> int:
        """Return the number of processes that are not idle."""
        return self.size - self._idle.qsize()

    async def start(self) -> Any:
        """Start all processes and return the result of `prepare`. Raises what `prepare` raises, and Killed."""
        started = await asyncio.gather(*(self._new() for _ in range(self.size)))
        for child, _ in started:
            self._idle.put_nowait(child)
        return started[0][1]

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call in one of the processes. If that process is killed, retry once in a new one.

        Raises what the function raises, Busy and TooLong; Killed if the new process is killed, too; and RuntimeError if
        a killed process cannot be replaced. If the caller is cancelled, a call that has begun continues and keeps its
        process busy.
        """
        child = await self._next()
        task = self._begun(self._work(child, function, arguments))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_forget)
            raise

    def stop(self) -> None:
        """End all processes at once, and the threads that wait for them."""
        self._stopped = True
        for child in list(self._children):
            self._end(child)
        self._threads.shutdown()

    async def _next(self) -> Child:
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

    async def _work(self, child: Child, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            for again in (True, False):
                try:
                    async with asyncio.timeout(self._seconds) as limit:
                        child = await self._living(child)
                        return await self._called(child, function, *arguments)
                except Killed:
                    self._end(child)
                    if not again:
                        raise
                except TimeoutError:
                    if not limit.expired():  # raised by the function itself
                        raise
                    self._end(child)
                    raise TooLong from None
        finally:
            self._begun(self._made_idle(child))

    async def _new(self) -> tuple[Child, Any]:
        """Return a new process and the result of `prepare`. If the process is killed meanwhile, start another, once."""
        for again in (True, False):
            if self._stopped:
                break
            self.started += 1
            child = Child()
            self._children.add(child)
            try:
                return child, await self._called(child, *self._prepare)
            except BaseException as error:
                self._end(child)
                if not (again and isinstance(error, Killed)):
                    raise
        raise Killed

    async def _called(self, child: Child, *call: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, child.call, *call)

    def _end(self, child: Child) -> None:
        child.kill()
        self._children.discard(child)

    async def _living(self, child: Child) -> Child:
        """Return the process, or a new one if it was killed.

        An error in starting the new process becomes a RuntimeError, which distinguishes it from errors of a call.
        """
        if child in self._children:
            return child
        try:
            return (await self._new())[0]
        except Killed:
            raise
        except Exception as error:
            raise RuntimeError("a process that was killed cannot be replaced: %s" % error) from error

    async def _made_idle(self, child: Child) -> None:
        """Have a process ready for the next call, if possible."""
        with suppress(Exception):  # the next call will raise the error
            child = await self._living(child)
        self._idle.put_nowait(child)

    def _begun(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # the event loop only has a weak reference
        task.add_done_callback(self._tasks.discard)
        return task


def _forget(task: "asyncio.Task[Any]") -> None:
    """Clear the error of a task that nobody awaits: its traceback would keep the arguments of the call in memory."""
    if not task.cancelled() and (error := task.exception()):
        traceback.clear_frames(error.__traceback__)
        error.__context__ = None
