"""Errors in the user's input, explained in one sentence."""

import errno
import re
import shlex
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class InputError(Exception):
    """Bad input: the message is one sentence for the user, with the file, the line and what was expected.

    The command line prints it and exits with code 2; nothing is written.
    """


class OutOfMemory(InputError, MemoryError):
    """A sentence is too long for the memory of the machine; the message names it."""


class Forbidden(InputError):
    """A file that this process has no permission to read; other processes may have it."""


class NotInstalled(InputError, ImportError):
    """A package that is not installed; the message says how to install it."""


@contextmanager
def needs(what: str, extra: str, package: str = "") -> Iterator[None]:
    """Wrap the imports of an extra's packages.

    what, package: the message says that `what` needs `package`, by default the module that cannot be imported. Raises
    NotInstalled if a package is missing, and InputError if one is installed but cannot be imported.
    """
    try:
        yield
    except (ImportError, ValueError) as error:  # ValueError: binaries for another numpy, or a wrong MPLBACKEND
        name = getattr(error, "name", None) or extra
        if isinstance(error, InputError) or name.partition(".")[0] == "mh4":
            raise
        missing = "%s needs %s, which " % (what, package or name)
        if isinstance(error, ModuleNotFoundError):
            command = shlex.join(["pip", "install", *(packages(extra) or [name])])
            raise NotInstalled("%sis not installed: %s" % (missing, command)) from None
        raise InputError(missing + "cannot be imported: %s" % one_line(str(error))) from None


def packages(extra: str) -> list[str]:
    """Return the requirements of an extra of mh4 for pip, such as "safetensors>=0.5", as mh4 itself is in no index."""
    from importlib import metadata  # slow to import

    try:
        required = metadata.requires("mh4") or []
    except metadata.PackageNotFoundError:  # run from its sources
        required = []
    return [each.partition(";")[0].strip() for each in required if re.search(r"extra == ['\"]%s['\"]" % re.escape(extra), each)]


def reason(error: OSError) -> str:
    """Return the operating system's message."""
    return error.strerror or str(error)


def because(error: BaseException) -> str:
    """Return ": " and the error's message, or "" if it has none."""
    return ": %s" % error if str(error) not in ("", "std::bad_alloc") else ""


def unreadable(path: str, error: OSError) -> InputError:
    """Return the error for a file that the operating system cannot read."""
    name = shown(path) if error.errno == errno.ENAMETOOLONG else path  # such a long path may be a text
    kind = Forbidden if isinstance(error, PermissionError) else InputError
    return kind("%s: cannot be read: %s" % (name, reason(error)))


def on_line(name: str, number: int) -> str:
    """Return the name of a line of a file in messages."""
    return "%s, line %d" % (name, number)


def shown(value: Any) -> str:
    """Format a value for messages, cut off if it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python refuses to write numbers of thousands of digits
        return "such a large value"
    return cut(text[:41].replace("\n", " "), 40)  # the repr of an array may have line breaks


def cut(text: str, most: int) -> str:
    """Return a text; if it is longer than `most` characters, its beginning with an ellipsis."""
    return text if len(text) <= most else text[:most] + "..."


def normal_forms(a: str, b: str, most: int) -> str:
    """Return an addition to a message about two different texts: that they differ in Unicode's normal forms only.

    It is empty if the texts differ otherwise. most: how many characters of each text, decomposed, to compare.
    """
    a, b = (unicodedata.normalize("NFD", text[: 2 * most])[:most] for text in (a, b))
    return " (the same characters in different normal forms of Unicode, such as NFC and NFD)" if a == b else ""


def unknown(kind: str, name: Any, known: Iterable[str]) -> str:
    """Return a message that there is no `kind` of this name. It suggests a similar name, and lists all."""
    import difflib  # imported here, as every command imports this module

    known = list(known)
    similar = difflib.get_close_matches(str(name).rpartition(".")[2], known, 1, cutoff=0.8)
    meant = "did you mean %s? " % similar[0] if similar else ""
    return "no %s %s; %sthere are %s" % (kind, shown(name), meant, ", ".join(known))


def one_line(message: str, kept: str = "") -> str:
    """Make line breaks, terminal escapes and similar characters from files or clients visible in a message.

    These are control characters, those that change the direction of text, and line and paragraph separators. Spaces, soft hyphens,
    joiners, non-joiners and Arabic signs, which are part of words, and the characters in `kept` stay as they are.
    """
    if message.isprintable():
        return message
    return "".join(char if char in kept or _harmless(char) else char.encode("unicode_escape").decode("ascii") for char in message)


def _harmless(char: str) -> bool:
    is_word = char in "\xad\u200c\u200d" or unicodedata.bidirectional(char) == "AN"
    return char.isprintable() or is_word or unicodedata.category(char) == "Zs"


def check_flags(**given: object) -> None:
    """Raise InputError for an argument that is neither True nor False. A string such as "no" would count as true."""
    for name, value in given.items():
        if type(value).__name__ not in ("bool", "bool_"):  # bool_ is numpy's
            raise InputError("%s is %s, expected True or False" % (name, shown(value)))


def counted(number: float, noun: str, form: str = "") -> str:
    """Return a number of things: "1 word", "2 words". form: how the number is formatted, such as "," for "2,000 words"."""
    return "%s %s%s" % (format(number, form), noun, "" if number == 1 else "s")


def listed(names: Sequence[str]) -> str:
    """Format the first five names and the number of others: "a, b, c, d, e, and 3 more"."""
    more = ["and %d more" % (len(names) - 5)] if len(names) > 5 else []
    return ", ".join([*names[:5], *more])


_place: ContextVar[str] = ContextVar("place", default="")
_tell: ContextVar[Callable[[str], object] | None] = ContextVar("tell", default=None)


@contextmanager
def working_on(place: str) -> Iterator[None]:
    """Name a place in the input, such as a sentence, in warnings from the block."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def warn(message: str, stacklevel: int = 1) -> None:
    """Warn the user: issue a RuntimeWarning, or call the function of `telling_warnings` in such a block.

    The current place (see working_on) comes before the message. stacklevel: as in warnings.warn; 1 is the caller.
    """
    text = ": ".join(filter(None, [_place.get(), message]))
    if tell := _tell.get():
        tell(text)
    else:
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel + 1)


@contextmanager
def telling_warnings(tell: Callable[[str], object]) -> Iterator[None]:
    """Call `tell` with the text of each warning of mh4 in the block, once for each text.

    Python's filters and `warnings.showwarning` are not changed, as they apply to all threads of the process.
    """
    told = set()

    def once(text: str) -> None:
        if text not in told:
            told.add(text)
            tell(text)

    token = _tell.set(once)
    try:
        yield
    finally:
        _tell.reset(token)


def ignore_warnings() -> None:
    """Drop all further warnings, up to the end of the innermost block of `telling_warnings`."""
    _tell.set(lambda text: None)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the texts of the warnings in the block, to be shown elsewhere."""
    texts: list[str] = []
    with telling_warnings(texts.append):
        yield texts
