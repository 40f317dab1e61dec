"""What all commands share: how they respond to bad input, signals and warnings, and how they print."""

import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from types import ModuleType
from typing import Any, NoReturn

import click

from mh4.errors import InputError, because, one_line, reason, telling_warnings
from mh4.util import streams
from mh4.util.signals import ENDING

_NO_TEMPORARY = "No usable temporary directory found in "  # tempfile's message, before a list of those tried


class Group(click.Group):
    """A group whose commands reject an option given twice, unless it may be repeated. Click would use the last one."""

    once = True  # False: if an option is given twice, the last one counts

    def resolve_command(self, context: click.Context, arguments: list[str]) -> Any:
        name, command, rest = super().resolve_command(context, arguments)
        if self.once and command is not None and not context.resilient_parsing:
            with suppress(click.UsageError):  # the command itself reports it
                _, _, order = command.make_parser(click.Context(command, parent=context)).parse_args(list(rest))
                for option, times in Counter(order).items():
                    if times > 1 and isinstance(option, click.Option) and not option.multiple and not option.is_eager:
                        raise InputError("%s is given %d times, expected once" % ("/".join(option.opts), times))
        return name, command, rest


class Commands(Group):
    """A group whose commands respond to bad input with one sentence and exit code 2."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        # A process computes with one thread. Otherwise, numpy would start a thread on each core and keep it busy.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        with reporting_errors():
            streams.open_standard()
            try:
                return super().main(*arguments, **options)
            except SystemExit as end:
                if not end.code:
                    streams.finish()
                raise

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        with reporting_errors():  # --help and --version print here
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        with reporting_errors(), telling_warnings(lambda text: say("mh4: " + text, err=True)), _stopped_by_signals():
            if sys.stdout is None:
                raise InputError("standard output is closed; if its contents are not needed, direct it to /dev/null")
            return super().invoke(context)


def describe(group: click.Group) -> None:
    """Make lists of commands show the whole first paragraph of each command's help. Click would truncate it."""
    for command in group.commands.values():
        command.short_help = " ".join((command.help or "").partition("\n\n")[0].split())
        if isinstance(command, click.Group):
            describe(command)


def say(*lines: str, err: bool = False) -> None:
    """Print lines for people. Text from files is printed so that it cannot control the terminal."""
    (streams.tell if err else click.echo)("\n".join(map(one_line, lines)))


def say_json(record: object) -> None:
    """Print a record as JSON."""
    import json  # `--help` does without it

    click.echo(json.dumps(record, indent=1))


def say_written(what: str, path: str) -> None:
    """Print on standard error what was written to a file or folder; print nothing if that is standard output."""
    if path != "-":
        say("mh4: %s written to %s" % (what, path), err=True)


@contextmanager
def reporting_errors(program: str = "mh4") -> Iterator[None]:
    """On an error in the block, print one sentence that begins with the program's name, and exit with an error code."""
    try:
        yield
    except InputError as error:
        _fail(program, str(error))
    except MemoryError as error:
        _fail(program, "not enough memory" + because(error))
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # missing packages raise InputError instead
        if not _of_compiled_modules(error):
            raise
        _fail(program, "%s: compiled modules are missing, or older than their sources: run `make setup`" % error)
    except KeyboardInterrupt as end:
        _fail_interrupted(program, end)
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _fail_interrupted(program, error.__cause__)  # Python 3.11 wraps errors in RuntimeError while it makes a class
    except BrokenPipeError:  # the reader of our output has closed it, as in `mh4 parse ... | head`
        _end(141)
    except OSError as error:  # a full disk, a folder without write permission
        if reason(error).startswith(_NO_TEMPORARY):
            folders = reason(error).removeprefix(_NO_TEMPORARY).strip("[]")
            _fail(program, "no temporary file can be written in %s: set TMPDIR to a folder where one can" % folders)
        # Without a file name, it is the current folder that is not found: it has been deleted.
        place = error.filename or (isinstance(error, FileNotFoundError) and "the current folder")
        _fail(program, "%s%s" % ("%s: " % place if place else "", reason(error)))
    except click.ClickException as error:
        error.message = "\n".join(map(one_line, error.message.split("\n")))  # type: ignore[misc]
        raise


def _of_compiled_modules(error: Exception) -> bool:
    """Return whether a compiled module of mh4 is missing or outdated, as after `git pull` without `make setup`."""
    if isinstance(error, ImportError):
        return "mh4." in (error.name or str(error))
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        return error.obj.__name__.startswith("mh4.") and str(error.obj.__file__).endswith(".so")
    return bool(re.search("^C (function|variable) mh4[.]|^mh4[.].* size changed", str(error)))  # from Cython


def resumable(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command that is stopped print that running it again resumes its work."""

    @wraps(command)
    def saying_how(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as end:
            end.add_note("run the same command again to resume")
            raise

    return saying_how


class Stopped(KeyboardInterrupt):
    """A signal asks this process to end.

    This is a KeyboardInterrupt because Python drops all other exceptions while it computes constants of a module such
    as 2**31. Python drops even a KeyboardInterrupt in some callbacks, such as those of weak references. If it is
    dropped while `to_end` returns True, the signal ends the process.
    """

    def __init__(self, number: int, to_end: Callable[[], bool]) -> None:
        super().__init__("interrupted" if number == signal.SIGINT else "stopped by %s" % signal.Signals(number).name)
        self.number, self.to_end = number, to_end

    def __del__(self) -> None:
        if self.to_end():
            signal.signal(self.number, signal.SIG_DFL)
            os.kill(os.getpid(), self.number)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Make the signals that end a command raise Stopped, so that unfinished files are deleted.

    A second signal has its usual effect in Python.
    """

    running = True

    def stop(number: int, frame: Any) -> None:
        signal.signal(number, ENDING[number])
        raise Stopped(number, lambda: running)

    numbers = [number for number, before in ENDING.items() if signal.getsignal(number) is before]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # only the main thread can handle signals
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield
    finally:
        running = False
        for number in numbers:
            signal.signal(number, ENDING[number])


def _fail_interrupted(program: str, end: KeyboardInterrupt) -> NoReturn:
    streams.drop()  # perhaps we were waiting for its reader, and would wait again
    number = getattr(end, "number", signal.SIGINT)
    _fail(program, "; ".join([str(end) or "interrupted", *getattr(end, "__notes__", [])]), code=128 + number)


def _fail(program: str, message: str, code: int = 2) -> NoReturn:
    say("%s: %s" % (program, message), err=True)
    _end(code)


def _end(code: int) -> NoReturn:
    """Write the rest of standard output and exit. If standard output is full or closed, drop the rest."""
    with suppress(OSError):
        streams.finish()
    sys.exit(code)
