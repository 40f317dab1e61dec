"""Fetching files with known git blob ids: a file gets its name only when it is complete and its content is verified.

Interrupted downloads are resumed from a .part file, which one process at a time writes to; the others wait for it. Files are
fetched individually or extracted from an archive, which is kept once it has proved to have one of them. A server may send anything
at all, for as long as it likes: what is taken from it is limited in size, in time and in the memory that it needs.
The files of a collection, with their blob ids, are listed in a manifest.
"""

import csv
import fcntl
import gzip
import hashlib
import os
import stat
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPException, InvalidURL
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from mh4.errors import InputError, reason
from mh4.util.files import atomic_path, git_blob_id, give_name, lock, make_folder
from mh4.util.web import ADDRESSES, send

WAITS = (1, 3)  # seconds before the second and the third attempt
# Bytes of a file, of an archive, and of what is in an archive: several times what the largest have.
FILE, ARCHIVE, UNPACKED = 200_000_000, 10_000_000_000, 40_000_000_000
CHUNK = 1 << 16

Row = TypeVar("Row")


def read_manifest(path: Path, row: Callable[..., Row]) -> tuple[Row, ...]:
    """The rows of a manifest, a tab-separated table whose header has the names of the fields of `row`."""
    with open(path, encoding="utf-8", newline="") as file:
        return tuple(row(**fields) for fields in csv.DictReader(file, delimiter="\t"))


class Source(NamedTuple):
    """A place to fetch the files of a collection from.

    address: the beginning of all URLs. place: from the manifest row of a file to the rest of its URL, and, if that is an archive,
    the names that the file may have in it, without leading folders.
    """

    address: str
    place: Callable[[Any], tuple[str, Sequence[str]]]


def locate(sources: Mapping[str, Source], name: str | None, row: object) -> tuple[str, Sequence[str]]:
    """The URL of a file, given its manifest row, at the source called `name`, and its possible names if that is an archive.

    name: by default that in the environment variable MH4_DATA_SOURCE, if set, otherwise the first. The environment variable
    MH4_DATA_URL, if set, replaces the source's address. Raises InputError for an unknown source.
    """
    name = name or os.environ.get("MH4_DATA_SOURCE") or next(iter(sources))
    if name not in sources:
        raise InputError("unknown source %r, expected one of: %s" % (name, " ".join(sources)))
    rest, members = sources[name].place(row)
    base = os.environ.get("MH4_DATA_URL") or sources[name].address
    return base.rstrip("/") + "/" + rest, members


class Collection(NamedTuple):
    """The files of a manifest, whose rows have their names as `file` and their git blob ids as `git_blob_sha1`.

    name: what messages call it ("UD 2.0"). local_option: the option with which a user names a folder that already has the files.
    sources: where to fetch them from; see locate.
    """

    name: str
    local_option: str
    sources: Mapping[str, Source]


class _Wanted(NamedTuple):
    """A file to fetch: where to put it, its git blob id, and what it is part of."""

    path: Path
    blob: str
    collection: Collection


def fetch(row: Any, folder: Path, collection: Collection, source: str | None) -> Path:
    """The path of a file in this folder, to which it is fetched unless it is already there.

    row: of the manifest of the collection. source: the name of one of its sources; see locate.
    Raises InputError, leaving at most a .part file, from which the next attempt resumes.
    """
    wanted = _Wanted(folder / row.file, row.git_blob_sha1, collection)
    url, members = locate(collection.sources, source, row)
    try:
        if not _is_there(wanted):
            make_folder(wanted.path.parent)
            if members:
                _fetch_from_archive(wanted, url, members)
            else:
                _fetch_file(wanted, url)
    except OSError as error:  # from the disk: network errors are already InputErrors
        raise InputError("%s cannot be written: %s" % (error.filename or wanted.path, reason(error))) from None
    return wanted.path


def _is_there(wanted: _Wanted) -> bool:
    """Whether the file has been fetched. Raises InputError if there is something else in its place."""
    path = wanted.path
    if not path.exists():
        return False
    if not path.is_file() or path.stat().st_size > FILE or git_blob_id(path) != wanted.blob:
        raise InputError(
            "%s exists but is not the file of %s: move it away, or choose another folder" % (path, wanted.collection.name)
        )
    return True


def _fetch_file(wanted: _Wanted, url: str) -> None:
    with _part_of(wanted.path) as part:
        if _is_there(wanted):  # fetched by the process that we have waited for
            return

        def complaint() -> str:
            size = part.seek(0, os.SEEK_END)
            part.seek(0)
            blob = _keep(part, size, wanted)
            return blob and "is not the file of %s (git blob id %s, expected %s)" % (wanted.collection.name, blob, wanted.blob)

        _fetch_until(complaint, url, part, FILE, wanted.collection.local_option)
        part.truncate(0)


def _fetch_from_archive(wanted: _Wanted, url: str, members: Sequence[str]) -> None:
    archive = wanted.path.with_name(url.rpartition("/")[2])
    if archive.exists() and not archive.is_file():
        raise InputError("%s is not a file: move it away, or choose another folder" % archive)
    with _part_of(archive) as part:
        if _is_there(wanted):
            return
        if archive.exists():
            with open(archive, "rb") as kept:
                if not _extract(wanted, kept, members):
                    return
        _fetch_until(lambda: _extract(wanted, part, members), url, part, ARCHIVE, wanted.collection.local_option)
        give_name(part.fileno(), part.name, str(archive))


@contextmanager
def _part_of(path: Path) -> Iterator[IO[bytes]]:
    """Open `path`.part, perhaps with what an earlier attempt has received, without a buffer; wait until no one else has it open.

    At the end it is deleted if it is empty. On a file system without locks, several processes may write to it, none of which then
    receives what is expected.
    """
    name = str(path) + ".part"
    mine = False
    while not mine:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(name).st_mode):  # looked at once, as others come and go
                raise InputError("%s is not a plain file: move it away, or choose another folder" % name)
        with open(name, "r+b", buffering=0, opener=_opened) as part:
            handle = part.fileno()
            _lock(handle, path.name)
            mine = _leads_to(name, handle)  # not if the one we have waited for has renamed or deleted it
            if mine:
                try:
                    yield part
                finally:
                    if not os.fstat(handle).st_size and _leads_to(name, handle):
                        os.unlink(name)


def _opened(name: str, _: int) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _lock(handle: int, name: str) -> None:
    if not lock(handle):
        if sys.stderr.isatty():
            print("waiting for another process that fetches %s" % name, file=sys.stderr)
        fcntl.flock(handle, fcntl.LOCK_EX)


def _leads_to(name: str, handle: int) -> bool:
    """Whether `name` is that of the open file."""
    try:
        return os.path.samestat(os.lstat(name), os.fstat(handle))
    except FileNotFoundError:
        return False


def _keep(content: IO[bytes], size: int, wanted: _Wanted) -> str:
    """Copy the next `size` bytes to the path of the file if they are its content; otherwise return their git blob id.

    What is verified is what is written here, to a file that no other process knows of, and that then gets the name.
    """
    digest = hashlib.sha1(b"blob %d\0" % size)
    try:
        with atomic_path(str(wanted.path)) as temporary, open(temporary, "wb") as file:
            while size and (chunk := content.read(min(size, CHUNK))):
                size -= len(chunk)
                digest.update(chunk)
                file.write(chunk)
            if digest.hexdigest() != wanted.blob:
                raise _OtherContent
    except _OtherContent:
        return digest.hexdigest()
    return ""


class _OtherContent(Exception):
    """What has been copied is not the file."""


def _extract(wanted: _Wanted, archive: IO[bytes], members: Sequence[str]) -> str:
    """Copy the file from the .tar.gz to its path, or return what is wrong with the archive."""
    archive.seek(0)
    found, endings = [], tuple("/" + name for name in members)
    try:
        with tarfile.open(fileobj=_Unpacked(fileobj=archive), mode="r:") as tar:
            while True:
                member = tar.next()
                tar.members.clear()  # type: ignore[attr-defined]  # it would remember all of them
                if member is None:
                    break
                if member.isfile() and member.name.endswith(endings):
                    if member.size > FILE:
                        found.append("%d bytes" % member.size)
                        continue
                    blob = _keep(tar.extractfile(member), member.size, wanted)  # type: ignore[arg-type]  # it is a file
                    if not blob:
                        return ""
                    found.append("git blob id " + blob)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # tarfile has many, not all of which are its own
        return "is not a readable archive (%s)" % error
    what = " and ".join(found) + ", expected git blob id " + wanted.blob if found else "no file of that name"
    return "does not contain %s of %s (%s)" % (wanted.path.name, wanted.collection.name, what)


class _Unpacked(gzip.GzipFile):
    """The content of an archive: limited, and in parts as small as those of an honest one."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= CHUNK:
            raise tarfile.ReadError("a header of %s bytes" % size)
        try:
            return super().read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise tarfile.ReadError(str(error)) from None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if offset > UNPACKED:
            raise tarfile.ReadError("it contains more than %d bytes" % UNPACKED)
        try:
            return super().seek(offset, whence)
        except (EOFError, zlib.error) as error:
            raise tarfile.ReadError(str(error)) from None


class _Interrupted(Exception):
    """A failure that another attempt may overcome, as a message."""


def _fetch_until(complaint: Callable[[], str], url: str, part: IO[bytes], limit: int, local_option: str) -> None:
    """Fetch url into `part`, as far as it is not there, until `complaint` has nothing to say about the content.

    If it was resumed, the fault may be in what was there before: then it is fetched again from the
    beginning, once. Raises InputError, with `part` empty.
    """
    resumed = part.seek(0, os.SEEK_END) > 0
    while True:
        _fetch(url, part, limit, local_option)
        complained = complaint()
        if not complained:
            return
        part.seek(0)
        page = part.read(CHUNK).lstrip()[:14].lower().startswith((b"<!doctype html", b"<html"))
        part.truncate(0)
        if not resumed:
            hint = ", but a web page, perhaps of a network that asks for a login" if page else ""
            raise InputError("%s %s%s: deleted" % (url, complained, hint))
        resumed = False


def _fetch(url: str, part: IO[bytes], limit: int, local_option: str) -> None:
    """Fetch url into `part`, resuming from its content. Raises InputError, leaving what has been received in `part`."""
    for wait in WAITS + (None,):
        try:
            return _attempt(url, part, limit, local_option)
        except _Interrupted as error:
            if wait is None:
                raise InputError(str(error)) from None
            time.sleep(wait)


def _attempt(url: str, part: IO[bytes], limit: int, local_option: str) -> None:
    if not url.startswith(ADDRESSES):
        raise InputError("%s is not a valid address: it begins with neither %s" % (url, " nor ".join(ADDRESSES)))
    if part.seek(0, os.SEEK_END) > limit:
        part.truncate(0)
    have = part.seek(0, os.SEEK_END)
    headers = {"User-Agent": "mh4", "Range": "bytes=%d-" % have} if have else {"User-Agent": "mh4"}
    try:
        reply = send(url, headers)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # nothing left to fetch: the caller checks the content
            return
        kind = _Interrupted if error.code == 429 or error.code >= 500 else InputError
        raise kind("%s: the server answered %d %s" % (url, error.code, " ".join(str(error.reason).split()))) from None
    except (InvalidURL, ValueError) as error:
        raise InputError("%s is not a valid address: %s" % (url, error)) from None
    except (URLError, HTTPException, OSError) as error:
        why = getattr(error, "reason", error)
        raise _Interrupted(
            "no connection to %s (%s): check the network, or give a folder that has the files (%s)"
            % (urlsplit(url).netloc, why, local_option)
        ) from None
    with reply:
        resumed = reply.status == 206 and reply.headers.get("Content-Range", "").startswith("bytes %d-" % have)
        done = have if resumed else 0  # a server that ignores Range sends the whole file
        total = None if reply.length is None else done + reply.length  # Content-Length, if that is a number
        why = ""
        part.truncate(done)
        part.seek(done)
        with _progress(Path(part.name).stem, done, total) as advance:
            while max(done, total or 0) <= limit and (total is None or done < total):
                try:
                    chunk = reply.read1(CHUNK)
                except (HTTPException, OSError) as error:  # cut off, even if the length is unknown
                    why = " (%s)" % error
                    break
                if not chunk:
                    break
                done += len(chunk)
                advance(len(chunk))
                while chunk:
                    chunk = chunk[part.write(chunk) :]
    if max(done, total or 0) > limit:
        part.truncate(0)
        raise InputError("%s has more than %d bytes: it cannot be what is wanted" % (url, limit))
    if why or total and done < total:
        raise _Interrupted("%s: the connection was cut after %d bytes%s; the next attempt resumes from there" % (url, done, why))


@contextmanager
def _progress(name: str, done: int, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal: yields a function to call with each number of bytes received."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from mh4.util.progress import console

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    shown_on = console()
    with Progress(*columns, console=shown_on, disable=not shown_on.is_terminal) as bar:
        yield partial(bar.advance, bar.add_task(name, completed=done, total=total))
