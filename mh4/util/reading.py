"""Checks the paths of models and inputs, and reads small files; whatever is wrong with them is one sentence."""

import os
import stat
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import PurePath
from typing import Any, BinaryIO

from mh4.errors import InputError, listed, one_line, shown, unreadable
from mh4.util import compression

MOST = 1 << 26  # bytes; a large vocabulary has a few millions
CONLLU = ".conllu"
LONGEST = 1 << 27  # bytes of a line, and of those between two blank ones; more is perhaps a device that never ends

Path = str | bytes | os.PathLike[Any]
Paths = Path | Iterable[Path]  # one, or several


def path_of(given: Path, wrong: str = "no model can be loaded from %s: expected the path of its folder or file") -> str:
    """A path, which may be given as a pathlib.Path or in bytes, too. Raises InputError, `wrong`, for anything else, and if it is empty."""
    if not isinstance(given, (str, bytes, os.PathLike)) or not os.fspath(given):
        raise InputError(wrong % shown(given))
    return os.fsdecode(given)


def named(paths: Iterable[str], extension: str = CONLLU, omitted: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the paths of files, and of those in folders (see files_in), each with the name that `mh4 parse` gives to its parse.

    That of a file in a folder is relative to the folder. It ends in .conllu; where two names would be the same, or that of a file and a
    folder, the later one, or the file, is called NAME-2.conllu, and so on.
    """
    found: list[tuple[str, str]] = []
    for path in paths:
        if os.path.isdir(path):
            found += [(file, os.path.relpath(file, path)) for file in files_in(path, extension, omitted)]
        else:
            found.append((path, os.path.basename(path)))
    taken = {str(folder) for _, name in found for folder in PurePath(name).parents}
    return [(file, _unused(compression.with_extension(name, CONLLU), taken)) for file, name in found]


def _unused(name: str, taken: set[str]) -> str:
    stem, dot, extension = name.rpartition(CONLLU)
    names = chain([name], ("%s-%d%s" % (stem, number, dot + extension) for number in count(2)))
    unused = next(name for name in names if name not in taken)
    taken.add(unused)
    return unused


def files_in(folder: str, extension: str = CONLLU, omitted: Sequence[str] = ()) -> list[str]:
    """The paths of the files with this extension in a folder and those in it, sorted; also of compressed ones, but not of hidden ones.

    The extension may be in capitals. What else is there, hidden files apart, is left out, with a RuntimeWarning, such as a FIFO, which one
    may wait for forever, or a link to nothing.
    omitted: folders from which nothing is taken. A link to a folder that it is in is not followed. Raises InputError if there are none.
    """
    found: list[str] = []
    others: list[str] = []
    for path in all_files(folder, omitted):
        is_one = compression.stem(path).lower().endswith(extension) and os.path.isfile(path)
        (found if is_one else others).append(path)
    if not found:
        raise InputError("%s: no %s files in this folder" % (folder, extension))
    if others:
        names = sorted(
            one_line(path[len(folder) :].lstrip(os.sep)) + " (not a file)" * (not os.path.isfile(path)) for path in others
        )
        said = "%s: only %s files are read; left out: %s" % (folder, extension, listed(names))
        warnings.warn(said, RuntimeWarning, stacklevel=2)
    return sorted(found, key=os.fsencode)


def all_files(folder: str, omitted: Sequence[str] = ()) -> Iterator[str]:
    """The paths of all files in a folder and those in it that are not hidden. Raises InputError if one of the folders cannot be read."""
    entered = {os.path.realpath(place) for place in (folder, *omitted)}
    try:
        yield from _files(folder, entered)
    except OSError as error:
        raise unreadable(str(error.filename), error) from None


def _files(folder: str, entered: set[str]) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.name.startswith("."):
            continue
        if not os.path.isdir(entry.path):  # also not a link that leads to itself, for which entry.is_dir would raise an error
            yield entry.path
        elif (place := os.path.realpath(entry.path)) not in entered:
            yield from _files(entry.path, entered | {place})


@contextmanager
def open_regular(path: str, pipe: bool = False) -> Iterator[BinaryIO]:
    """A regular file, to be read.

    Raises InputError if it cannot be, or is something that might never end: a device or, unless `pipe`, a FIFO, which one may wait for
    forever.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if pipe else os.O_NONBLOCK)), "rb") as file:
            kind = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(kind) or pipe and stat.S_ISFIFO(kind)):
                raise InputError("%s: cannot be read: not a file" % path)
            yield file
    except OSError as error:
        raise unreadable(path, error) from None


def text(path: str, most: int = MOST, pipe: bool = False) -> str:
    """The text of a file in UTF-8.

    Raises InputError as open_regular does, and if it is larger than `most` bytes, or not UTF-8.
    """
    with open_regular(path, pipe) as file:
        content = file.read(most + 1 if pipe else min(os.fstat(file.fileno()).st_size, most) + 1)
    if len(content) > most:
        raise too_large(path, most)
    return decoded(content, path)


def line(file: BinaryIO, name: str, number: int, most: int | None = None) -> bytes:
    """Read the next line of a file, which has this number, with its end; empty at the end of the file.

    Raises InputError, naming file and line, if it has more than `most` bytes, by default LONGEST; no more of it is read.
    """
    most = LONGEST if most is None else most
    found = file.readline(most + 1)
    if len(found) > most:
        raise InputError("%s, line %d: more than %d MB in one line" % (name, number, most >> 20))
    return found


def lines(file: BinaryIO, name: str, most: int | None = None, before: int = 0) -> Iterator[bytes]:
    """Read the lines of a file, each as `line` does; before: how many come before them."""
    numbers = count(before + 1)
    return iter(lambda: line(file, name, next(numbers), most), b"")


def check_size(size: int, name: str, number: int) -> None:
    """Raise InputError if the lines from this one on, without a blank one between them, have more than LONGEST bytes or characters."""
    if size > LONGEST:
        wrong = "more than %d MB without a blank line, which ends a sentence or a paragraph" % (LONGEST >> 20)
        raise InputError("%s, line %d: %s" % (name, number, wrong))


def too_large(path: str, most: int) -> InputError:
    """The error for a file of more than `most` bytes."""
    return InputError("%s: damaged: larger than %d KB" % (path, most >> 10))


def decoded(content: bytes, path: str) -> str:
    """The text in a file at this path with this content; InputError if it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("%s: damaged: not UTF-8" % path) from None
