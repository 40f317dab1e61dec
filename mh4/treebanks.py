"""Treebanks: which files there are, fetching them, and telling what a file is by its content.

treebanks.tsv, the manifest, lists the Universal Dependencies files of the paper's 20 treebanks with their git blob ids. They are
fetched from the git tags on GitHub or taken out of the release archives of LINDAT; a file takes its name only when it is
complete and its blob id is right. No treebank text is part of this repository, save the toy treebank that data/toy.py makes.
"""

import csv
import gzip
import hashlib
import os
import runpy
import sys
import tarfile
import time
import zlib
from contextlib import contextmanager
from functools import lru_cache
from http.client import HTTPException
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from mh4.errors import InputError, reason
from mh4.files import atomic_path

MANIFEST = Path(__file__).with_name("treebanks.tsv")
DATA = Path(__file__).resolve().parent.parent / "data"
if not (DATA / "toy.py").exists():  # an installed package, with no clone of the repository around it
    DATA = Path("data")
SPLITS = ("train", "dev", "test")
TOY = "toy"
RELEASE = "2.0"  # what is fetched; the manifest knows others, to name them

# LINDAT could not be reached where this was written: the addresses follow its repository's documented pattern
# .../bitstreams/handle/HANDLE/FILE (the older .../xmlui/bitstream/handle/... serves browsers alone). As everything that is
# fetched is checked against the manifest, a wrong address can only fail.
SOURCES = {
    "github": "https://raw.githubusercontent.com/UniversalDependencies",
    "lindat": "https://lindat.mff.cuni.cz/repository/server/api/core/bitstreams/handle",
}
ARCHIVES = {  # of LINDAT, by git tag: the release, and the test sets of the CoNLL 2017 shared task
    "r2.0": "11234/1-1983/ud-treebanks-v2.0.tgz",
    "r2.0-test": "11234/1-2184/ud-test-v2.0-conll2017.tgz",
}
TIMEOUT = 30  # seconds without a byte
WAITS = (1, 3)  # seconds before the second and the third attempt


class ManifestRow(NamedTuple):
    """A treebank file: language code, repository and tag at github.com/UniversalDependencies, git blob id, UD release."""

    lang: str
    repository: str
    split: str
    tag: str
    file: str
    git_blob_sha1: str
    release: str


@lru_cache(maxsize=None)
def manifest() -> Tuple[ManifestRow, ...]:
    """The rows of the manifest."""
    with open(MANIFEST, encoding="utf-8", newline="") as file:
        return tuple(ManifestRow(**row) for row in csv.DictReader(file, delimiter="\t"))


def languages() -> List[str]:
    """The codes of the paper's 20 treebanks, in the order of its tables ("toy" is not among them)."""
    return list(dict.fromkeys(row.lang for row in manifest() if row.release == RELEASE))


def git_blob_id(path: Union[str, Path]) -> str:
    """The id git gives the file's content: the SHA-1 of "blob", its size and the bytes."""
    return _blob_id(Path(path).read_bytes())


def identify(path: Union[str, Path]) -> Optional[ManifestRow]:
    """Which release, language and split the file is, by its content; None if the manifest does not know it."""
    blob = git_blob_id(path)
    return next((row for row in manifest() if row.git_blob_sha1 == blob), None)


def locate(
    lang: str,
    ud: Optional[str] = None,
    to: Optional[str] = None,
    splits: Optional[Sequence[str]] = None,
    source: str = "github",
    base_url: Optional[str] = None,
) -> Dict[str, Path]:
    """The files of a treebank, by split: from the folder `ud` if given, otherwise made ("toy") or fetched into `to`.

    ud: a folder with LANG-ud-SPLIT.conllu files, of any language; nothing is fetched then.
    to: where to keep what is fetched; by default data/ud-2.0 (data/toy), of the repository or, outside a clone, of the current folder.
    splits: those that are needed; by default all three are fetched, or what a folder `ud` has of them.
    source, base_url: see `download`.
    Raises InputError when a file cannot be had.
    """
    if lang == TOY:
        return _toy(Path(to) if to else DATA / "toy")
    if ud:
        return _local(lang, Path(ud), splits)
    return download(lang, splits or SPLITS, to, source, base_url)


def download(
    lang: str,
    splits: Sequence[str] = SPLITS,
    to: Optional[str] = None,
    source: str = "github",
    base_url: Optional[str] = None,
) -> Dict[str, Path]:
    """Fetch UD 2.0 files of a language into the folder `to` (by default data/ud-2.0, see `locate`); those there stay.

    source: "github" (raw files at the release's git tags) or "lindat" (the archives, which are kept for other languages).
    base_url: instead of the source's own; by default the environment's MH4_DATA_URL, if set.
    Raises InputError, with at most a .part file left behind, from which the next attempt resumes.
    """
    rows = {row.split: row for row in manifest() if row.lang == lang and row.release == RELEASE}
    if not rows:
        raise InputError("no treebank for language %r, expected one of: %s" % (lang, " ".join(languages() + [TOY])))
    if source not in SOURCES:
        raise InputError("unknown source %r, expected one of: %s" % (source, " ".join(SOURCES)))
    base = (base_url or os.environ.get("MH4_DATA_URL") or SOURCES[source]).rstrip("/")
    folder = Path(to) if to else DATA / ("ud-" + RELEASE)
    paths = {}
    for split in splits:
        row = rows[split]
        path = paths[split] = folder / row.file
        if path.exists():
            if git_blob_id(path) != row.git_blob_sha1:
                raise InputError("%s is there but is not the file of UD %s: move it away, or name another folder" % (path, RELEASE))
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if source == "github":
                _fetch_file(row, base, path)
            else:
                _extract(row, base, path)
        except OSError as error:  # of the disk: the network's are InputErrors by now
            raise InputError("%s cannot be written: %s" % (path, reason(error))) from None
    return paths


def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _toy(folder: Path) -> Dict[str, Path]:
    try:
        write = runpy.run_path(str(DATA / "toy.py"))["write"]
    except FileNotFoundError as error:
        raise InputError("%s is missing: the toy treebank is made only inside a clone of the repository" % error.filename) from None
    try:
        return write(folder)
    except OSError as error:
        raise InputError("the toy treebank cannot be written to %s: %s" % (folder, reason(error))) from None


def _local(lang: str, folder: Path, splits: Optional[Sequence[str]]) -> Dict[str, Path]:
    if not folder.is_dir():
        raise InputError("%s is not a folder" % folder)
    paths = {split: folder / "{}-ud-{}.conllu".format(lang, split) for split in SPLITS}
    there = {split: path for split, path in paths.items() if path.is_file()}
    missing = [paths[split].name for split in splits or SPLITS if split not in there]
    if missing and (splits or not there):
        raise InputError("%s has no %s" % (folder, " and no ".join(missing)))
    return {split: path for split, path in there.items() if not splits or split in splits}


def _fetch_file(row: ManifestRow, base: str, path: Path) -> None:
    url = "/".join([base, row.repository, row.tag, row.file])
    part = path.with_name(path.name + ".part")
    resumed = part.exists()
    _fetch(url, part)
    blob = git_blob_id(part)
    if blob == row.git_blob_sha1:
        os.replace(part, path)
        return
    part.unlink()
    if resumed:  # the fault may be in what was there before
        return _fetch_file(row, base, path)
    raise InputError(
        "%s is not the file of UD %s (git blob id %s, expected %s): nothing kept" % (url, RELEASE, blob, row.git_blob_sha1)
    )


def _extract(row: ManifestRow, base: str, path: Path) -> None:
    """Take the file out of its archive, whose members are .../UD_Hungarian/hu-ud-train.conllu and .../gold/.../hu.conllu."""
    url = base + "/" + ARCHIVES[row.tag]
    archive = path.with_name(url.rpartition("/")[2])
    if not archive.exists():
        part = archive.with_name(archive.name + ".part")
        _fetch(url, part)
        os.replace(part, archive)
    names = {row.file} if row.split != "test" else {row.file, row.lang + ".conllu"}
    blobs = []
    try:
        with tarfile.open(archive, "r:gz") as members:
            for member in members:
                if member.isfile() and member.name.rpartition("/")[2] in names:
                    content = members.extractfile(member).read()  # type: ignore[union-attr]  # it is a file
                    blobs.append(_blob_id(content))
                    if blobs[-1] == row.git_blob_sha1:
                        with atomic_path(str(path)) as temporary:
                            Path(temporary).write_bytes(content)
                        return
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        archive.unlink()
        raise InputError("%s is not a readable archive (%s): nothing kept" % (url, error)) from None
    found = "git blob id %s, expected %s" % (" and ".join(blobs), row.git_blob_sha1) if blobs else "no such name in it"
    raise InputError("%s does not hold %s of UD %s: %s" % (archive, row.file, RELEASE, found))


class _Interrupted(Exception):
    """What may work at the next attempt, as a message."""


def _fetch(url: str, part: Path) -> None:
    """Fetch url into `part`, going on from what is there. Raises InputError, leaving what came so far in `part`."""
    for wait in WAITS + (None,):
        try:
            return _attempt(url, part)
        except _Interrupted as error:
            if wait is None:
                raise InputError(str(error)) from None
            time.sleep(wait)


def _attempt(url: str, part: Path) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "mh4", "Range": "bytes=%d-" % have} if have else {"User-Agent": "mh4"}
    try:
        reply = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # nothing to add: the caller's check tells whether it is the file
            return
        kind = _Interrupted if error.code == 429 or error.code >= 500 else InputError
        raise kind("%s: the server answers %d %s" % (url, error.code, error.reason)) from None
    except (URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        raise _Interrupted(
            "no connection to %s (%s): check the network, or give a folder that has the files (--ud FOLDER)"
            % (urlsplit(url).netloc, reason)
        ) from None
    except ValueError as error:
        raise InputError("%s is not an address to fetch from: %s" % (url, error)) from None
    with reply:
        resumed = reply.status == 206 and reply.headers.get("Content-Range", "").startswith("bytes %d-" % have)
        done = have if resumed else 0  # a server that ignores Range sends all
        length = reply.headers.get("Content-Length")
        total = done + int(length) if length else None
        with open(part, "ab" if resumed else "wb") as file, _progress(part.stem, done, total) as advance:
            while True:
                try:
                    chunk = reply.read(1 << 16)
                except (HTTPException, OSError):  # a cut, also when no length tells
                    total = total or done + 1
                    break
                if not chunk:
                    break
                file.write(chunk)
                done += len(chunk)
                advance(len(chunk))
    if total and done < total:
        raise _Interrupted(
            "%s: the connection was cut after %d bytes; the next attempt resumes from there" % (url, done)
        )


@contextmanager
def _progress(name: str, done: int, total: Optional[int]) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, when that is a terminal: gives what to call with the number of bytes that came."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, completed=done, total=total)
        yield lambda count: progress.advance(task, count)
