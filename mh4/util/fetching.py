"""Download files with known git blob ids. A file gets its name only when it is complete and verified.

Interrupted downloads resume. Files are fetched individually or extracted from an archive, which is kept
once one of its files was verified. If a source does not answer, or asks for a long pause, the next source is tried.
A manifest lists the files of a collection with their blob ids.
"""

import csv
import math
import os
import shutil
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from mh4.errors import InputError, counted, one_line, reason
from mh4.util import streams
from mh4.util.files import atomic_path, git_blob_id, make_folder

WAITS = (1, 3)  # seconds before the second and the third attempt
TIMEOUT = 30  # seconds without a byte
PATIENCE, SLOWEST = 60, 1000  # seconds, bytes per second: a connection slower than SLOWEST for PATIENCE is given up
FILE, ARCHIVE = 200_000_000, 10_000_000_000  # most bytes of a file and of an archive: several times the largest sizes
CHUNK = 1 << 16

Row = TypeVar("Row")  # of a manifest: it has the name of a file as `file`, and its git blob id as `git_blob_sha1`


class Source(NamedTuple):
    """A place to fetch the files of a collection from.

    address: the beginning of all URLs.
    place: returns, for a file's manifest row, the rest of its URL and, for an archive, the names that the file may have
    in it, without leading folders.
    """

    address: str
    place: Callable[[Any], tuple[str, Sequence[str]]]


class Collection(Generic[Row]):
    """The files of a manifest, a tab-separated table whose header has the names of the fields of `row`.

    name: what messages call the collection ("UD 2.0").
    local_option: how a user names a folder that already has the files.
    sources: where to fetch the files from; see places.
    """

    def __init__(
        self, manifest: Path, row: Callable[..., Row], name: str, local_option: str, sources: Mapping[str, Source]
    ) -> None:
        self._manifest, self._row, self.name, self.local_option, self._sources = manifest, row, name, local_option, sources
        self._rows: tuple[Row, ...] = ()

    def rows(self) -> tuple[Row, ...]:
        """Return the rows of the manifest, which is read only once."""
        if not self._rows:
            with open(self._manifest, encoding="utf-8", newline="") as file:
                self._rows = tuple(self._row(**fields) for fields in csv.DictReader(file, delimiter="\t"))
        return self._rows

    def identify(self, blob: str) -> Row | None:
        """Return the row of the file with this git blob id, or None."""
        return next((row for row in self.rows() if row.git_blob_sha1 == blob), None)  # type: ignore[attr-defined]

    def places(self, row: Any, name: str | None, folder: Path) -> list[tuple[str, Sequence[str]]]:
        """Return the URLs of a file, in the order to try them; for an archive, with the file's possible names in it.

        name: the only source to use; by default the environment variable MH4_DATA_SOURCE. If neither is set, all
        sources are used, beginning with those whose archive is in `folder`. The environment variable MH4_DATA_URL, if
        set, is the address to use for the first source, and no other source is used. Raises InputError for an unknown
        source.
        """
        name = name or os.environ.get("MH4_DATA_SOURCE")
        if name and name not in self._sources:
            raise InputError("unknown source %r, expected one of: %s" % (name, " ".join(self._sources)))
        sources = [self._sources[name]] if name else list(self._sources.values())
        mirror = os.environ.get("MH4_DATA_URL")
        if mirror:
            sources = [sources[0]._replace(address=mirror.rstrip("/"))]
        found = [(source.address + "/" + rest, members) for source in sources for rest, members in [source.place(row)]]
        return sorted(found, key=lambda place: not (place[1] and (folder / _archive(place[0])).exists()))

    def fetch(self, row: Any, folder: Path, source: str | None) -> Path:
        """Return the path of a file in this folder, after fetching it if it is missing. source: the `name` of places.

        Raises InputError if that fails.
        """
        path, blob, places = folder / row.file, row.git_blob_sha1, self.places(row, source, folder)
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        try:
            if not path.exists():
                make_folder(folder)
                self._fetch_from(places, path, blob)
            elif not path.is_file() or path.stat().st_size > FILE or git_blob_id(path) != blob:
                raise InputError(
                    "%s exists but is not the file of %s: move it away, or choose another folder" % (path, self.name)
                )
        except OSError as error:  # from the disk: network errors are already InputErrors
            raise InputError("%s cannot be written: %s" % (error.filename or path, reason(error))) from None
        finally:
            for place in missing:
                with suppress(OSError):  # there is something in it
                    place.rmdir()
        return path

    def _fetch_from(self, places: list[tuple[str, Sequence[str]]], path: Path, blob: str) -> None:
        failures: list[str] = []
        for url, members in places:
            if failures:
                streams.tell(one_line("%s; fetching %s instead" % (failures[-1], url)))
            try:
                return self._fetch(path, blob, url, members)
            except _Unavailable as error:
                failures.append(str(error))
        advice = "check the network, or give a folder that has the files (%s)" % self.local_option
        others = ", or another source (--source, with make SOURCE: %s)" % " or ".join(self._sources) if len(failures) == 1 else ""
        raise InputError("%s: %s%s" % ("; ".join(failures), advice, others))

    def _fetch(self, path: Path, blob: str, url: str, members: Sequence[str]) -> None:
        archive = path.with_name(_archive(url))
        if members and archive.exists():
            if not archive.is_file():
                raise InputError("%s is not a file: move it away, or choose another folder" % archive)
            with suppress(_Wrong), open(archive, "rb") as kept:
                return _extract(members, path, blob, kept)
        target, limit = (archive, ARCHIVE) if members else (path, FILE)
        with atomic_path(str(target)) as temporary, open(temporary, "r+b") as part:
            _fetch_whole(url, target.name, part, limit)
            part.seek(0)
            try:
                if members:
                    _extract(members, path, blob, part)
                else:
                    _check(temporary, blob)
            except _Wrong as error:
                wrong = "does not contain %s of %s (%s)" % (path.name, self.name, error)
                part.seek(0)
                if part.read(CHUNK).lstrip()[:14].lower().startswith((b"<!doctype html", b"<html")):
                    wrong += ", but a web page, perhaps of a network that asks for a login"
                raise InputError("%s %s: deleted" % (url, wrong)) from None


def _archive(url: str) -> str:
    """Return the name under which an archive is kept."""
    return url.rpartition("/")[2]


class _Wrong(Exception):
    """The fetched content is not the expected file, or does not contain it. The message is the reason."""


class _Unavailable(InputError):
    """A source does not send the file. pause: the seconds to wait before trying again; None if that is useless."""

    def __init__(self, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.pause = pause


def _check(path: str, blob: str) -> None:
    """Raise _Wrong unless the file at this path has this git blob id."""
    found = git_blob_id(path)
    if found != blob:
        raise _Wrong("git blob id %s, expected %s" % (found, blob))


def _extract(members: Sequence[str], path: Path, blob: str, archive: IO[bytes]) -> None:
    """Extract the file with this git blob id from a .tar.gz to its path. Raises _Wrong if it is not in the archive."""
    wrong, endings = _Wrong("no file of that name"), tuple("/" + name for name in members)
    try:
        with tarfile.open(fileobj=archive, mode="r:gz") as tar:
            for member in tar:
                if member.isfile() and member.name.endswith(endings) and member.size <= FILE:
                    try:
                        with atomic_path(str(path)) as temporary:
                            with open(temporary, "wb") as file:
                                shutil.copyfileobj(tar.extractfile(member), file)  # type: ignore[arg-type]  # it is a file
                            return _check(temporary, blob)
                    except _Wrong as error:
                        wrong = error
    except (InputError, MemoryError):
        raise
    except Exception as error:  # tarfile raises many kinds of exceptions, and not only its own
        raise _Wrong("not a readable archive: %s" % error) from None
    raise wrong


def _fetch_whole(url: str, name: str, part: IO[bytes], limit: int) -> None:
    """Fetch url into `part`, trying again after pauses. name: for the progress bar. Raises InputError."""
    for wait in (*WAITS, None):
        try:
            return _fetch_rest(url, name, part, limit)
        except _Unavailable as error:
            if wait is None or error.pause is None or error.pause > PATIENCE:
                raise
            if error.pause > wait:
                streams.tell("%s: waiting %s, as the server asks" % (url, counted(error.pause, "second", ".0f")))
            time.sleep(max(wait, error.pause))


def _pause(value: str | None) -> float:
    """Return the seconds to wait that Retry-After gives as a number or a date; 0 if it is missing or neither."""
    with suppress(ValueError, OverflowError):
        if value:
            return float(int(value)) if value.isdecimal() else parsedate_to_datetime(value).timestamp() - time.time()
    return 0


def _fetch_rest(url: str, name: str, part: IO[bytes], limit: int) -> None:
    """Fetch the rest of url, after the bytes already in `part`. On an InputError, `part` keeps what was received."""
    have = part.seek(0, os.SEEK_END)
    headers = {"User-Agent": "mh4", "Range": "bytes=%d-" % have} if have else {"User-Agent": "mh4"}
    try:
        reply = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # there is nothing left to fetch; the caller checks the content
            return
        message = "%s: the server answered %d %s" % (url, error.code, " ".join(str(error.reason).split()))
        if error.code != 429 and error.code < 500:
            raise _Unavailable(message) from None
        pause = _pause(error.headers.get("Retry-After"))
        asked = ", and asks to wait %d minutes" % math.ceil(pause / 60) if pause > PATIENCE else ""
        raise _Unavailable(message + asked, pause) from None
    except (InvalidURL, ValueError) as error:
        raise InputError("%s cannot be fetched (%s): check the address and the proxy" % (url, error)) from None
    except (URLError, HTTPException, OSError) as error:
        raise _Unavailable("no connection to %s (%s)" % (urlsplit(url).netloc, getattr(error, "reason", error)), 0) from None
    with reply:
        if not reply.url.startswith(("http://", "https://")):  # urllib also opens ftp: and file:
            raise InputError("%s leads to %s, which is not an address on the web" % (url, reply.url))
        resumed = reply.status == 206 and reply.headers.get("Content-Range", "").startswith("bytes %d-" % have)
        done = part.seek(have if resumed else 0)  # a server that ignores Range sends the whole file
        part.truncate()
        total = None if reply.length is None else done + reply.length  # Content-Length, if that is a number
        with _progress(name, done, total) as advance:
            for chunk in _received(reply, url, done, total):
                if max(part.tell(), total or 0) > limit:
                    raise InputError("%s has more than %d bytes: it cannot be what is wanted" % (url, limit))
                part.write(chunk)
                advance(len(chunk))


def _received(reply: HTTPResponse, url: str, done: int, total: int | None) -> Iterator[bytes]:
    """Yield the bytes that a server sends after the first `done`. Raises _Unavailable if some are missing or it is too slow."""
    end, enough = time.monotonic() + PATIENCE, done + PATIENCE * SLOWEST
    try:
        while (total is None or done < total) and (chunk := reply.read1(CHUNK)):
            yield chunk
            done += len(chunk)
            if time.monotonic() > end:
                if done < enough:
                    raise TimeoutError("it is too slow")
                end, enough = time.monotonic() + PATIENCE, done + PATIENCE * SLOWEST
        if total is not None and done < total:
            raise EOFError("of %d" % total)
    except (HTTPException, OSError, EOFError) as error:  # cut off, even if the length is unknown
        raise _Unavailable("%s: the connection was cut after %d bytes (%s)" % (url, done, error), 0) from None


@contextmanager
def _progress(name: str, done: int, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error, if that is a terminal; yield a function to call with each number of bytes received."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from mh4.util.progress import console

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    shown_on = console()
    with Progress(*columns, console=shown_on, disable=not shown_on.is_terminal) as bar:
        yield partial(bar.advance, bar.add_task(name, completed=done, total=total))
