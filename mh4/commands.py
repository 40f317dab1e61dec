"""What all commands share: how they answer bad input and signals, paths, and standard input and output, which may be closed."""

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Optional

import click
from click.shell_completion import CompletionItem

from mh4.errors import InputError, one_line, reason


class Commands(click.Group):
    """A group whose commands answer bad input with one sentence and exit code 2."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        _open_standard_streams()
        try:
            return super().main(*arguments, **options)
        except OSError as error:  # a full disk, a folder without write permission
            _fail("%s: %s" % (error.filename or "output", reason(error)))

    def invoke(self, context: click.Context) -> Any:
        try:
            if sys.stdout is None:
                raise InputError("standard output is closed; if its contents are not needed, direct it to /dev/null")
            with _stopped_by_signals():
                return super().invoke(context)
        except InputError as error:
            _fail(str(error))
        except MemoryError as error:
            _fail("not enough memory: %s" % error)
        except KeyboardInterrupt:
            _fail("interrupted", code=130)
        except _Stopped as stopped:
            _fail("stopped by %s" % stopped.signal.name, code=128 + stopped.signal)
        except BrokenPipeError:  # the reader of our output has closed it, as in `mh4 parse ... | head`
            _end(141)


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


def _fail(message: str, code: int = 2) -> NoReturn:
    click.echo("mh4: %s" % one_line(message), err=True)
    _end(code)


def _end(code: int) -> NoReturn:
    """Exit; what standard output has not taken, since it is full or closed, is dropped."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _open_standard_streams() -> None:
    """Keep file descriptors 0 to 2 from being given to files that we open: libraries write there. Make all text printable."""
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:  # it was closed when Python started
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            if descriptor == 2:  # messages go nowhere; without the others, commands stop
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
        elif descriptor and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class Path(click.ParamType):
    """A path, which cannot be empty; "-" is standard input, or standard output, where a command can use it."""

    name = "path"

    def __init__(self, standard: bool = True) -> None:
        self.standard = standard

    def convert(self, value: str, parameter: Optional[click.Parameter], context: Optional[click.Context]) -> str:
        given = parameter.opts[0] if isinstance(parameter, click.Option) else getattr(parameter, "human_readable_name", "path")
        if not value:
            raise InputError("%s is empty, expected a path" % given)
        if value == "-" and not self.standard:
            raise InputError("%s: expected a path, as - (standard input) cannot be used here" % given)
        return value

    def shell_complete(self, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


PATH, NAMED_PATH = Path(), Path(standard=False)


def check_standard_input(*paths: str) -> None:
    """InputError if several of the input files are standard input."""
    if paths.count("-") > 1:
        raise InputError("standard input can be read only once, so only one file can be -")
