"""Run functions in child processes. The children end when this process ends, however it ends."""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal
import traceback
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import resource_tracker, spawn
from queue import SimpleQueue
from threading import Thread
from typing import Any

from mh4.errors import InputError, reason
from mh4.util import signals

_PR_SET_PDEATHSIG = 1


class Killed(Exception):
    """A child was killed, perhaps because memory ran out."""


class Child:
    """A new process that calls functions for this one.

    The child is spawned rather than forked, since this process may have threads. It ignores the signals that end
    commands, even while it starts. It ends by `kill`, or with this process.
    """

    def __init__(self) -> None:
        try:
            self._start()
        except OSError as error:  # too many open files or processes, or not enough memory
            raise InputError("no process can be started: %s" % reason(error)) from None

    def _start(self) -> None:
        python = spawn.get_executable()
        if not os.access(python, os.X_OK):  # multiprocessing would not raise an error
            raise InputError("no process can be started: %s is missing, or may not be executed" % os.fsdecode(python))
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,))
        # Otherwise multiprocessing would start the tracker's process with the first child, and unblock the signals.
        resource_tracker.ensure_running()
        with signals.held():
            process.start()
            self.pid = process.pid
            self._kill = weakref.finalize(self, _kill, process, os.getpid())  # called at program exit at the latest
        theirs.close()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call in the child, which makes one call at a time.

        Raises the function's exceptions, and Killed if the child was killed.
        """
        answer = None
        with suppress(EOFError, ConnectionError):  # as the context of Killed, these would keep the arguments in memory
            self._connection.send((function, arguments))
            answer = self._connection.recv()
        if answer is None:
            raise Killed
        result, error, where = answer
        if error is not None:
            raise error from RuntimeError("in a child process:\n" + where)
        return result

    def kill(self) -> None:
        """End the child at once; its calls raise Killed."""
        self._kill()


class Pool:
    """Up to `number` children, which are started when needed and end with the block.

    If a child is killed, its call raises InputError: `what` was killed. advice: the end of the message.
    """

    def __init__(self, what: str, number: int = 1, advice: str = "") -> None:
        self._killed, self.number = "%s was killed, perhaps because memory ran out%s" % (what, advice), number
        self._threads = ThreadPoolExecutor(number)  # each thread waits for a child
        self._children: list[Child] = []
        self._idle: SimpleQueue[Child] = SimpleQueue()

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.kill()
        self._threads.shutdown()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Call a function in a child as soon as one is idle. Calls begin in the order in which they are submitted."""
        if len(self._children) < self.number:
            self._children.append(Child())
            self._idle.put(self._children[-1])
        return self._threads.submit(self._call, function, *arguments)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call in a child."""
        return self.submit(function, *arguments).result()

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        child = self._idle.get()
        try:
            return child.call(function, *arguments)
        except Killed:
            raise InputError(self._killed) from None
        finally:
            self._idle.put(child)


def _kill(process: Any, parent: int) -> None:
    if os.getpid() == parent:  # not in a fork of the parent, where the process is not a child
        process.kill()
        process.join()


def _serve(requests: "multiprocessing.connection.Connection") -> None:
    """Answer requests in the child process until there are no more."""
    parent = multiprocessing.parent_process()
    assert parent is not None and parent.pid is not None
    _end_with_parent(parent.pid)
    if _prctl is None:  # as on macOS; a child then ends only when a library that holds Python's lock returns
        Thread(target=_end_after, args=(parent,), daemon=True).start()
    with suppress(EOFError, ConnectionError):
        while True:
            function, arguments = requests.recv()
            try:
                answer: tuple[Any, Exception | None, str] = (function(*arguments), None, "")
            except Exception as error:
                answer = (None, error, traceback.format_exc())
            requests.send(answer)


def _end_after(parent: Any) -> None:
    """Wait for the parent to end, then kill this process."""
    parent.join()
    os.kill(os.getpid(), signal.SIGKILL)


def with_parent() -> Callable[[], None]:
    """Return a `preexec_fn` for `subprocess` with which the child is killed when this process ends."""
    return partial(_end_with_parent, os.getpid())


def _end_with_parent(parent: int) -> None:
    """On Linux, have the system kill this process when its parent, the process `parent`, ends.

    More exactly, this process is killed when the thread that started it ends. Unlike a thread that waits for the
    parent, this does not depend on Python, whose lock a library may hold for hours.
    """
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent had ended before
            os.kill(os.getpid(), signal.SIGKILL)


_prctl = getattr(ctypes.CDLL(None), "prctl", None)
