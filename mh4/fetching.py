"""Fetching files with known git blob ids: a file gets its name only when it is complete and its content is verified.

Interrupted downloads are resumed from a .part file. Files are fetched individually or extracted from an archive, which is kept.
The files of a collection, with their blob ids, are listed in a manifest.
"""

import csv
import gzip
import os
import sys
import tarfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from mh4.errors import InputError, reason
from mh4.files import atomic_path, blob_id, git_blob_id

TIMEOUT = 30  # seconds without a byte
WAITS = (1, 3)  # seconds before the second and the third attempt

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


def locate(sources: Mapping[str, Source], name: str, row: object, base_url: Optional[str] = None) -> tuple[str, Sequence[str]]:
    """The URL of a file, given its manifest row, at the source called `name`, and its possible names if that is an archive.

    base_url replaces the source's address; by default the environment variable MH4_DATA_URL, if set. Raises InputError for an
    unknown source.
    """
    if name not in sources:
        raise InputError("unknown source %r, expected one of: %s" % (name, " ".join(sources)))
    rest, members = sources[name].place(row)
    base = base_url or os.environ.get("MH4_DATA_URL") or sources[name].address
    return base.rstrip("/") + "/" + rest, members


class Wanted(NamedTuple):
    """A file to fetch.

    path: where to put it. blob: its git blob id. collection: the collection it is part of ("UD 2.0"). at_hand: the option with
    which a user names a folder that already has the files of the collection.
    """

    path: Path
    blob: str
    collection: str
    at_hand: str


def fetch(wanted: Wanted, url: str, members: Sequence[str] = ()) -> None:
    """Fetch a file, unless it is already there, from `url` or from the archive at `url`.

    members: possible names of the file in the archive, without leading folders; empty if `url` is the file itself.
    Raises InputError, leaving at most a .part file, from which the next attempt resumes.
    """
    path = wanted.path
    if path.exists():
        if git_blob_id(path) != wanted.blob:
            raise InputError(
                "%s exists but is not the file of %s: move it away, or choose another folder" % (path, wanted.collection)
            )
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if members:
            _extract(wanted, url, members)
        else:
            _fetch_file(wanted, url)
    except OSError as error:  # from the disk: network errors are already InputErrors
        raise InputError("%s cannot be written: %s" % (path, reason(error))) from None


def _fetch_file(wanted: Wanted, url: str) -> None:
    part = wanted.path.with_name(wanted.path.name + ".part")
    resumed = part.exists()
    _fetch(url, part, wanted.at_hand)
    blob = git_blob_id(part)
    if blob == wanted.blob:
        os.replace(part, wanted.path)
        return
    part.unlink()
    if resumed:  # the fault may be in what was there before
        return _fetch_file(wanted, url)
    raise InputError(
        "%s is not the file of %s (git blob id %s, expected %s): deleted" % (url, wanted.collection, blob, wanted.blob)
    )


def _extract(wanted: Wanted, url: str, members: Sequence[str]) -> None:
    path = wanted.path
    archive = path.with_name(url.rpartition("/")[2])
    if not archive.exists():
        part = archive.with_name(archive.name + ".part")
        _fetch(url, part, wanted.at_hand)
        os.replace(part, archive)
    blobs, endings = [], tuple("/" + name for name in members)
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if member.isfile() and member.name.endswith(endings):
                    content = tar.extractfile(member).read()  # type: ignore[union-attr]  # it is a file
                    blobs.append(blob_id(content))
                    if blobs[-1] == wanted.blob:
                        with atomic_path(str(path)) as temporary:
                            Path(temporary).write_bytes(content)
                        return
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        archive.unlink()
        raise InputError("%s is not a readable archive (%s): deleted" % (url, error)) from None
    found = "git blob id %s, expected %s" % (" and ".join(blobs), wanted.blob) if blobs else "no file of that name"
    raise InputError("%s does not contain %s of %s: %s" % (archive, path.name, wanted.collection, found))


class _Interrupted(Exception):
    """A failure that another attempt may overcome, as a message."""


def _fetch(url: str, part: Path, at_hand: str) -> None:
    """Fetch url into `part`, resuming from its content. Raises InputError, leaving what has been received in `part`."""
    for wait in WAITS + (None,):
        try:
            return _attempt(url, part, at_hand)
        except _Interrupted as error:
            if wait is None:
                raise InputError(str(error)) from None
            time.sleep(wait)


def _attempt(url: str, part: Path, at_hand: str) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "mh4", "Range": "bytes=%d-" % have} if have else {"User-Agent": "mh4"}
    try:
        reply = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # nothing left to fetch: the caller checks the content
            return
        kind = _Interrupted if error.code == 429 or error.code >= 500 else InputError
        raise kind("%s: the server answered %d %s" % (url, error.code, error.reason)) from None
    except (URLError, HTTPException, OSError) as error:
        why = getattr(error, "reason", error)
        raise _Interrupted(
            "no connection to %s (%s): check the network, or give a folder that has the files (%s)"
            % (urlsplit(url).netloc, why, at_hand)
        ) from None
    except ValueError as error:
        raise InputError("%s is not a valid address: %s" % (url, error)) from None
    with reply:
        resumed = reply.status == 206 and reply.headers.get("Content-Range", "").startswith("bytes %d-" % have)
        done = have if resumed else 0  # a server that ignores Range sends the whole file
        length = reply.headers.get("Content-Length")
        total = done + int(length) if length else None
        with open(part, "ab" if resumed else "wb") as file, _progress(part.stem, done, total) as advance:
            while True:
                try:
                    chunk = reply.read(1 << 16)
                except (HTTPException, OSError):  # cut off, even if the length is unknown
                    total = total or done + 1
                    break
                if not chunk:
                    break
                file.write(chunk)
                done += len(chunk)
                advance(len(chunk))
    if total and done < total:
        raise _Interrupted("%s: the connection was cut after %d bytes; the next attempt resumes from there" % (url, done))


@contextmanager
def _progress(name: str, done: int, total: Optional[int]) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal: yields a function to call with each number of bytes received."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, completed=done, total=total)
        yield lambda count: progress.advance(task, count)
