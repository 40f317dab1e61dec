"""What all commands share: how they answer bad input and signals."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from mh4.errors import InputError, reason


class Commands(click.Group):
    """A group whose commands answer bad input with one sentence and exit code 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            with _stopped_by_signals():
                return super().invoke(context)
        except InputError as error:
            click.echo("mh4: %s" % error, err=True)
            _end(2)
        except KeyboardInterrupt:
            click.echo("mh4: interrupted", err=True)
            _end(130)
        except _Stopped as stopped:
            click.echo("mh4: stopped by %s" % stopped.signal.name, err=True)
            _end(128 + stopped.signal)
        except BrokenPipeError:  # the reader of our output has closed it, as in `mh4 parse ... | head`
            _end(141)
        except OSError as error:  # a full disk, a folder without write permission
            click.echo("mh4: %s: %s" % (error.filename or "files", reason(error)), err=True)
            _end(2)


class _Stopped(BaseException):
    """A signal asks this process to end."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise _Stopped, so that unfinished files are deleted. The second time, they just end the process."""

    def stop(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise _Stopped(number)

    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # only the main thread can handle signals
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _end(code: int) -> None:
    """Exit; what standard output has not taken, since it is full or closed, is dropped."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
