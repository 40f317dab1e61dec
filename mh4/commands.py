"""What all commands share: how they answer bad input, signals and warnings, and the paths of what they read and write."""

import os
import signal
import stat
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, Optional

import click
from click.shell_completion import CompletionItem

from mh4 import streams
from mh4.errors import InputError, because, one_line, placed, reason


class Commands(click.Group):
    """A group whose commands answer bad input with one sentence and exit code 2."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        with _answered():
            streams.open_standard()
            try:
                return super().main(*arguments, **options)
            except SystemExit as end:
                if not end.code:
                    streams.finish()
                raise

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with _answered():  # by which --help and --version print
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        with _answered(), _warnings_in_a_line(), _stopped_by_signals():
            if sys.stdout is None:
                raise InputError("standard output is closed; if its contents are not needed, direct it to /dev/null")
            return super().invoke(context)


def say(*lines: str, err: bool = False) -> None:
    """Print lines for people; what they have from files cannot control the terminal."""
    click.echo("\n".join(map(one_line, lines)), err=err)


@contextmanager
def _answered() -> Iterator[None]:
    """Let errors in the block end the process, with one sentence and an exit code."""
    try:
        yield
    except InputError as error:
        _fail(str(error))
    except MemoryError as error:
        _fail("not enough memory" + because(error))
    except KeyboardInterrupt:
        streams.drop()  # its reader may be what we were waiting for
        _fail("interrupted", code=130)
    except _Stopped as stopped:
        streams.drop()
        _fail("stopped by %s" % stopped.signal.name, code=128 + stopped.signal)
    except BrokenPipeError:  # the reader of our output has closed it, as in `mh4 parse ... | head`
        _end(141)
    except OSError as error:  # a full disk, a folder without write permission
        _fail("%s: %s" % (error.filename or "output", reason(error)))
    except click.ClickException as error:
        error.message = "\n".join(map(one_line, error.message.split("\n")))  # type: ignore[misc]
        raise


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show each warning once, in a line that names the sentence."""
    said = set()

    def show(message: Any, *rest: Any, **options: Any) -> None:
        text = "mh4: " + placed(message)
        if text not in said:
            said.add(text)
            say(text, err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning, append=True)  # otherwise once for all sentences
        warnings.showwarning = show
        yield


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
    with suppress(OSError):  # nobody may be listening
        say("mh4: " + message, err=True)
    _end(code)


def _end(code: int) -> NoReturn:
    """Exit; what standard output has not taken, since it is full or closed, is dropped."""
    with suppress(OSError):
        streams.finish()
    sys.exit(code)


class Path(click.ParamType):
    """A path, which cannot be empty; "-" is standard input, or standard output, where a command can use it.

    written: whether the command writes to it, which it cannot to a file that it reads.
    """

    name = "path"

    def __init__(self, standard: bool = True, written: bool = False) -> None:
        self.standard, self.written = standard, written

    def convert(self, value: str, parameter: Optional[click.Parameter], context: Optional[click.Context]) -> str:
        given = parameter.opts[0] if isinstance(parameter, click.Option) else getattr(parameter, "human_readable_name", "path")
        if not value:
            raise InputError("%s is empty, expected a path" % given)
        if value == "-" and not self.standard:
            raise InputError("%s: expected a path, as - (standard input) cannot be used here" % given)
        if context is not None:
            read, written = _paths(context)
            if value == "-" and value in read and not self.written:
                raise InputError("standard input can be read only once, so only one file can be -")
            if self.written:
                written.append(value)
                _check([value], read)
            else:
                read.append(value)
                _check(written, [value])
        return value

    def shell_complete(self, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


PATH, NAMED_PATH = Path(), Path(standard=False)
OUTPUT, NAMED_OUTPUT = Path(written=True), Path(standard=False, written=True)

# The files in the folder of a model; other files there have nothing to do with it.
MODEL_FILES = (
    "config.toml", "vocabulary.json", "weights.npz", "metrics.jsonl", "checkpoint.npz", "calibration.json", "summary.json",
)  # fmt: skip


def check_outputs(paths: Iterable[str]) -> None:
    """InputError if the command, which is running, reads one of these files, in which its options say that something goes."""
    read, _ = _paths(click.get_current_context())
    _check(paths, read)


def _paths(context: click.Context) -> tuple[list[str], list[str]]:
    """The paths on the command line that are read, and those that are written: every command writes to standard output."""
    return context.meta.setdefault(__name__, ([], ["-"]))


def _check(written: Iterable[str], read: Iterable[str]) -> None:
    """InputError if a file that is written is one that is read, or one of a model that is, by whatever names."""
    outputs = {_identity(path, standard=1): "standard output" if path == "-" else path for path in written}
    outputs.pop(None, None)
    for path in read if outputs else ():
        for file in [os.path.join(path, name) for name in MODEL_FILES] if os.path.isdir(path) else [path]:
            output = outputs.get(_identity(file, standard=0))
            if output:
                name = "standard input" if file == "-" else file
                raise InputError("%s would overwrite %s, which is read: choose another output" % (output, name))


def _identity(path: str, standard: int) -> Optional[tuple[int, int]]:
    """What tells a regular file from all others; None if there is none. standard: the descriptor that "-" means."""
    try:
        status = os.fstat(standard) if path == "-" else os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
