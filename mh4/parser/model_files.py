"""The files of a trained model: in the folder where ``mh4 train`` wrote them, or in the single file that ``mh4 pack`` makes of it.

A packed model is a zip file of some of these files, a card (mh4.training.card) and a manifest with the size and the SHA-256 of each.
Members are read in place and never extracted. Their names and sizes are checked first.
"""

import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, BinaryIO

from mh4.errors import InputError, OutOfMemory, shown
from mh4.util import memory, reading, signals
from mh4.util.files import git_blob_id, write_bytes

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile

# The files that are packed, if the model has them.
PACKED = ("config.toml", "vocabulary.json", "vectors.npz", "weights.npz", "calibration.json", "summary.json")
ORIGIN = "origin.json"  # in the folders of models that ``make reproduce`` trains
FILES = (*PACKED, "metrics.jsonl", "checkpoint.npz", ORIGIN)  # all files of a model in its folder
CARD, CARD_TEXT, _MANIFEST = "card.json", "card.md", "manifest.json"
_FORMAT = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date of zip files: the same model always makes the same file


class Folder:
    """A model in its folder, which need not exist."""

    expected = "the folder of a trained model"

    def __init__(self, path: str) -> None:
        self.path = path

    def place(self, name: str) -> str:
        """Return the name of a file in messages."""
        return os.path.join(self.path, name)

    def has(self, name: str) -> bool:
        return reading.is_there(self.place(name))

    @contextmanager
    def open(self, name: str, most: int) -> Iterator[BinaryIO]:
        """Yield a file to read; raise InputError if it cannot be read, or has more than `most` bytes."""
        with reading.open_regular(self.place(name)) as file:
            if os.fstat(file.fileno()).st_size > most:
                raise reading.too_large(self.place(name), most)
            yield file

    def checksum(self, name: str) -> str:
        """Return the SHA-256 of a file, in hexadecimal; raise InputError as `open` does."""
        return reading.sha256(self.place(name))

    def need(self, name: str) -> None:
        """Raise InputError if there is no such file."""
        if not self.has(name):
            raise InputError("%s: no %s there, expected %s" % (self.path, name, self.expected))

    def text(self, name: str, most: int = reading.MOST) -> str:
        """Return the text of a file; raise InputError as `open` does, and if the file is missing or not UTF-8."""
        self.need(name)
        with self.open(name, most) as file:
            return reading.decoded(file.read(), self.place(name))

    def record(self, name: str) -> dict[str, Any]:
        """Return the object in a JSON file; raise InputError as `text` does, and if the content is no JSON object."""
        with self.intact(name):
            found = json.loads(self.text(name))
            if not isinstance(found, dict):
                raise ValueError("not an object")
        return found

    @contextmanager
    def intact(self, name: str) -> Iterator[None]:
        """Turn errors in the block that damaged content can cause into an InputError that calls the file damaged."""
        try:
            yield
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise InputError("%s: damaged" % self.place(name)) from None

    @contextmanager
    def arrays(self, name: str, most: int, damaged: str) -> Iterator["NpzFile"]:
        """Yield the arrays in a file. most: the largest size, in bytes, of the file and of all arrays together.

        Raises InputError as `open` does. Raises InputError with the message `damaged` if the arrays are too large, and
        for any error in the block, since damaged files cause such errors. Raises OutOfMemory if memory runs out.
        """
        import numpy as np  # here, as its import is slow and not every caller needs it

        path = self.place(name)
        try:
            with self.open(name, most) as content, np.load(content, allow_pickle=False) as file:
                size = sum(member.file_size for member in file.zip.infolist())
                if size > most:
                    raise ValueError("far larger than these arrays can be")
                memory.require(size, "arrays")
                yield file
        except InputError:
            raise
        except MemoryError:
            raise OutOfMemory("%s: damaged, or there is not enough memory for it" % path) from None
        except Exception:  # zipfile, zlib and numpy each raise their own errors for a damaged file
            raise InputError("%s: %s" % (path, damaged)) from None


def write_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """Write a file of arrays for Folder.arrays, whole or not at all; raise InputError if it cannot be written."""
    import numpy as np

    content = io.BytesIO()  # zipfile complains on standard error if the disk is full
    with signals.held():  # a zipfile that is interrupted raises an error of its own, which would hide the signal
        np.savez(content, **arrays)
    with content.getbuffer() as written:
        write_bytes(path, written)


class Packed(Folder):
    """A model in a single file. Raises InputError if it is damaged or something else."""

    expected = "a model made by mh4 pack"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        with self._zip() as packed:
            self._sizes = {member.filename: member.file_size for member in packed.infolist()}
            if len(packed.infolist()) > len(self._sizes) or not set(self._sizes) <= {*PACKED, CARD, CARD_TEXT, _MANIFEST}:
                raise self._damaged()
        self._sums: dict[str, str] = {}
        try:
            manifest = json.loads(self.text(_MANIFEST))
            known, self._sums = manifest["format"], dict(manifest["sha256"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._damaged() from None
        if known != _FORMAT:
            raise InputError(
                "%s: packed in format %s, but this mh4 reads format %d; use the version that made it"
                % (path, shown(known), _FORMAT)
            )
        if {*self._sums, _MANIFEST} != set(self._sizes):
            raise self._damaged()

    def has(self, name: str) -> bool:
        return name in self._sizes

    @contextmanager
    def open(self, name: str, most: int) -> Iterator[BinaryIO]:
        if self._sizes[name] > most:
            raise reading.too_large(self.place(name), most)
        with self._zip() as packed:
            content = packed.read(name)  # at most as many bytes as the size recorded for it
        if name != _MANIFEST and hashlib.sha256(content).hexdigest() != self._sums[name]:
            raise reading.wrong_checksum(self.place(name))
        yield io.BytesIO(content)

    def checksum(self, name: str) -> str:
        return self._sums[name]  # `open` compares it with the content

    @contextmanager
    def _zip(self) -> Iterator[zipfile.ZipFile]:
        try:
            with reading.open_regular(self.path) as file, zipfile.ZipFile(file) as packed:
                if not {member.compress_type for member in packed.infolist()} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                    raise self._damaged()
                yield packed
        except MemoryError:
            raise OutOfMemory("%s: damaged, or there is not enough memory for it" % self.path) from None
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, NotImplementedError, RuntimeError):
            raise self._damaged() from None

    def _damaged(self) -> InputError:
        return InputError("%s: damaged, or not a model: expected the folder of one, or a file made by mh4 pack" % self.path)


def opened(path: str) -> Folder:
    """Return the model at this path: Packed for a file, otherwise Folder. Raises InputError if the file is no model."""
    return Packed(path) if os.path.isfile(path) else Folder(path)


def source(path: str) -> dict[str, str]:
    """Return the record of a training file: its name and its git blob id. Raises InputError for FIFOs and devices."""
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise not_a_file(path)
    return {"file": os.path.basename(path), "git_blob": git_blob_id(path)}


def not_a_file(path: str) -> InputError:
    """Return the error for a FIFO or a device, which cannot be recorded."""
    return InputError("%s: not a regular file, so it cannot be read more than once" % path)


def check_ended(files: Folder) -> None:
    """Raise InputError if the folder of a model shows that its training has not ended."""
    if files.has("checkpoint.npz") and not files.has("summary.json"):
        raise InputError("%s: its training has not ended; resume it with the same mh4 train" % files.path)


def each_source(sources: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the records of the files of a training, each after its purpose, such as "train".

    sources: by purpose, as in summary.json, a record or a list of several.
    """
    return [(name, one) for name, given in sources.items() for one in (given if isinstance(given, list) else [given])]


def other_content(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return a message about the files of two trainings that differ in content, whatever their names; "" if none do."""
    differing = []
    for name in dict.fromkeys([*there, *here]):
        ours, theirs = ([one for role, one in each_source(sources) if role == name] for sources in (here, there))
        for pair in zip_longest(theirs, ours):
            if len({one and one["git_blob"] for one in pair}) > 1:
                shown_ones = ["%s (git blob %.7s)" % (one["file"], one["git_blob"]) if one else "missing" for one in pair]
                differing.append("%s is %s there, %s here" % (name, *shown_ones))
    return "; ".join(differing)


def write_packed(path: str, members: Mapping[str, bytes]) -> None:
    """Write a packed model with these files, whole or not at all; raise InputError if it cannot be written."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    manifest = json.dumps({"format": _FORMAT, "sha256": sums}, indent=1) + "\n"
    order = (CARD_TEXT, CARD, _MANIFEST, *PACKED)  # the card first: whoever lists or unpacks the file finds it at the top
    content = io.BytesIO()
    with signals.held(), zipfile.ZipFile(content, "w") as packed:  # as in write_arrays
        for name, data in sorted({**members, _MANIFEST: manifest.encode()}.items(), key=lambda member: order.index(member[0])):
            member = zipfile.ZipInfo(name, _EPOCH)
            member.external_attr = 0o644 << 16
            packed.writestr(member, data, zipfile.ZIP_STORED if name.endswith(".npz") else zipfile.ZIP_DEFLATED)
    with content.getbuffer() as written:
        write_bytes(path, written)
