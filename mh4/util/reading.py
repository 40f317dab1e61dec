"""Check the paths of models and inputs, list the files in folders, and read small files. Errors are InputErrors."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from itertools import chain, count
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from mh4.errors import InputError, listed, on_line, one_line, shown, unreadable, warn
from mh4.util import compression

MOST = 1 << 26  # bytes of a small file; a large vocabulary has a few million
CONLLU, TEXT = ".conllu", ".txt"  # the extensions of files in folders; a file that is given itself may have any name
LONGEST = 1 << 27  # bytes of a line, and of a sentence or paragraph; more may come from a device that never ends
WRONG_CHECKSUM = "damaged: its content does not match its checksum"

Path = str | bytes | os.PathLike[Any]
Paths = Path | Iterable[Path]  # one, or several


def path_of(given: Path, wrong: str = "no model can be loaded from %s: expected the path of its folder or file") -> str:
    """Return a path given as str, bytes or pathlib.Path.

    wrong: the message of the InputError for any other type, an empty path, or a NUL in it.
    """
    path = os.fsdecode(given) if isinstance(given, (str, bytes, os.PathLike)) else ""
    if not path or "\0" in path:
        raise InputError(wrong % shown(given))
    return path


def is_there(path: str) -> bool:
    """Return whether anything exists at a path. Raises InputError if this is unknown, as in another user's folder."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unreadable(path, error) from None
    return True


def paths_of(given: Paths, what: str) -> list[str]:
    """Return the paths in an iterable, or a single path, as a list.

    Raises InputError, which names `what`, for other types, and if there are no paths.
    """
    try:
        several = [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given)
    except TypeError:
        several = []
    if not several:
        raise InputError("%s cannot be %s, expected the path of a file, or several" % (what, shown(given)))
    return [path_of(one, what + " cannot be %s, expected a path") for one in several]


class Named(NamedTuple):
    """A file to parse.

    name: the name of its parse in a folder. It ends in .conllu, and is relative to the folder if there is one.
    folder: the path of the folder on the command line that has the file, empty for a file that is itself given.
    """

    path: str
    name: str
    folder: str


def named(paths: Iterable[str], extension: str = CONLLU, omitted: Sequence[str] = ()) -> list[Named]:
    """Return the files in `paths` and in its folders (see files_in), each once, with distinct names.

    If an earlier file or a folder has the same name, the file is called NAME-2.conllu, and so on.
    """
    found: dict[str, Named] = {}  # by absolute paths
    for path in paths:
        folder = path if os.path.isdir(path) else ""
        for file in files_in(path, extension, omitted) if folder else [path]:
            name = os.path.relpath(file, folder) if folder else os.path.basename(file)
            found.setdefault(os.path.abspath(file), Named(file, name, folder))
    taken = {str(folder) for file in found.values() for folder in PurePath(file.name).parents}
    return [file._replace(name=_unused(compression.with_extension(file.name, CONLLU), taken)) for file in found.values()]


def _unused(name: str, taken: set[str]) -> str:
    stem, dot, extension = name.rpartition(CONLLU)
    names = chain([name], ("%s-%d%s" % (stem, number, dot + extension) for number in count(2)))
    unused = next(name for name in names if name not in taken)
    taken.add(unused)
    return unused


def files_in(folder: str, extension: str = CONLLU, omitted: Sequence[str] = ()) -> list[str]:
    """Return the sorted paths of files with this extension, perhaps compressed, in a folder and its subfolders.

    The extension may be in capitals. Hidden files are ignored. Other files are left out with a RuntimeWarning, as are
    FIFOs, from which a read may never return, and links to nothing.
    omitted: folders to leave out. Each folder is read once; see all_files. Raises InputError if there are no files.
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
        message = "%s: only %s files are read; left out: %s" % (folder, extension, listed(names))
        warn(message, stacklevel=2)
    return sorted(found, key=os.fsencode)


def all_files(folder: str, omitted: Sequence[str] = ()) -> Iterator[str]:
    """Yield the paths of all files in a folder and its subfolders, except hidden ones.

    Each folder is read once, even if there are links to it. Its paths begin with its own path if that is in the folder,
    otherwise with the path of a link. Raises InputError for unreadable folders.
    """
    own, links = [folder], list[str]()  # folders to be read: links only after all others
    try:
        entered = {_identity(place) for place in omitted if os.path.isdir(place)} - {_identity(folder)}
        while own or links:
            place = own.pop() if own else heappop(links)
            if (found := _identity(place)) in entered:
                continue
            entered.add(found)
            for entry in os.scandir(place):
                if entry.name.startswith("."):
                    continue
                if not os.path.isdir(entry.path):  # entry.is_dir would raise an error for a link to itself
                    yield entry.path
                elif entry.is_symlink():
                    heappush(links, entry.path)
                else:
                    own.append(entry.path)
    except OSError as error:
        raise unreadable(str(error.filename), error) from None


def _identity(folder: str) -> tuple[int, int]:
    status = os.stat(folder)
    return status.st_dev, status.st_ino


@contextmanager
def open_regular(path: str, pipe: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Raises InputError if it cannot be read, or might never end: a device or, unless `pipe`, a FIFO.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | (0 if pipe else os.O_NONBLOCK)), "rb") as file:
            kind = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(kind) or pipe and stat.S_ISFIFO(kind)):
                raise InputError("%s: cannot be read: not a file" % path)
            yield file
    except OSError as error:
        raise unreadable(path, error) from None


def sha256(path: str) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raises InputError as open_regular does."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def text(path: str, most: int = MOST, pipe: bool = False) -> str:
    """Return the text of a file in UTF-8.

    Raises InputError as open_regular does, and for more than `most` bytes or text that is not UTF-8.
    """
    with open_regular(path, pipe) as file:
        return _text(file.read(most + 1 if pipe else min(os.fstat(file.fileno()).st_size, most) + 1), path, most)


def decompressed_text(path: str) -> str:
    """Return the text of a file, decompressed if its extension requires it. Raises InputError as `text` does."""
    with open_regular(path), compression.opened(path) as file:
        return _text(file.read(MOST + 1), path, MOST)


def _text(content: bytes, path: str, most: int) -> str:
    if len(content) > most:
        raise too_large(path, most)
    return decoded(content, path)


def line(file: BinaryIO, name: str, number: int, most: int | None = None) -> bytes:
    """Read the next line of a file, with its end; empty at the end of the file. number: the number of the line.

    Raises InputError, naming file and line, as soon as the line has more than `most` bytes, by default LONGEST.
    """
    most = LONGEST if most is None else most
    found = file.readline(most + 1)
    if len(found) > most:
        raise InputError("%s: more than %d MB in one line" % (on_line(name, number), most >> 20))
    return found


def lines(file: BinaryIO, name: str, most: int | None = None, before: int = 0) -> Iterator[bytes]:
    """Read the lines of a file, each as `line` does; before: the number of earlier lines, for messages."""
    numbers = count(before + 1)
    return iter(lambda: line(file, name, next(numbers), most), b"")


def check_size(size: int, name: str, number: int) -> None:
    """Raise InputError if a sentence or paragraph from line `number` on has more than LONGEST bytes or characters."""
    if size > LONGEST:
        wrong = "more than %d MB without a blank line, which ends a sentence or a paragraph" % (LONGEST >> 20)
        raise InputError("%s: %s" % (on_line(name, number), wrong))


def too_large(path: str, most: int) -> InputError:
    """Return the error for a file of more than `most` bytes."""
    return InputError("%s: damaged: larger than %d KB" % (path, most >> 10))


def wrong_checksum(path: str) -> InputError:
    """Return the error for a file whose content is not the one that its checksum was computed from."""
    return InputError("%s: %s" % (path, WRONG_CHECKSUM))


def decoded(content: bytes, path: str) -> str:
    """Decode the content of the file at this path. Raises InputError if it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("%s: damaged: not UTF-8" % path) from None


def name_of(path: str) -> str:
    """Return the name of the file in messages."""
    return "standard input" if path == "-" else path
