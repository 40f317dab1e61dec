"""Read and write the folder of a corpus: what is parsed, how, and what is done (docs/reference/formats.md lists files).

Files are written whole or not at all, except plans and logs, to which lines are added.
"""

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from mh4.corpus.cutting import Shard
from mh4.corpus.inputs import Input
from mh4.corpus.parse_options import Settings
from mh4.errors import Forbidden, InputError, shown
from mh4.util import reading
from mh4.util.files import check_owner, delete_stale, explained, lock, make_folder, write_text

FORMAT = 3  # of the folder; incremented when an older program could not read it
_SETTINGS = "corpus.json"
_RECORD: dict[str, type] = {  # the fields read from a record, besides the shard and checksums
    "parsed_sentences": int, "parsed_words": int, "rejects": int, "fallbacks": dict, "warnings": list, "seconds": float,
    "peak_mb": int,
}  # fmt: skip
_MOST = 1 << 40  # the numbers in a record are lower
_MOST_SETTINGS = 1 << 30  # bytes, enough to name millions of files


@dataclass(frozen=True)
class Corpus:
    """A corpus in its folder.

    folder: its absolute path, which is the same for all workers. settings: how the files are parsed. inputs: the files
    by number; workers need not know them. shard_bytes: the minimum size of a shard in bytes. removed: files that are no
    longer part of the input; their numbers are not used again.
    """

    folder: str
    settings: Settings
    inputs: Mapping[int, Input]
    shard_bytes: int
    removed: Mapping[int, Input] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str) -> "Corpus":
        """Read the inputs and options of a corpus. Raises InputError if the folder has no corpus, or one of another format."""
        folder = os.path.abspath(path)
        check_owner(folder)
        path = os.path.join(folder, _SETTINGS)
        found = _json(path, _MOST_SETTINGS)
        if found is None:
            raise InputError("%s: no %s there, expected a folder made by `mh4 corpus parse`" % (folder, _SETTINGS))
        if found.get("format") != FORMAT:
            raise InputError(
                "%s: a corpus of format %s, but this mh4 reads format %d" % (path, shown(found.get("format")), FORMAT)
            )
        try:
            inputs, removed = _from_json(found["inputs"]), _from_json(found["removed"])
            settings = Settings.read(found["settings"])
            files, known = {**inputs, **removed}, len(found["inputs"]) + len(found["removed"])
            if not (
                found["shard_bytes"] > 0
                and inputs
                and len(files) == known
                and all(isinstance(number, int) and number >= 0 for number in files)
                and all(map(_is_input, files.values()))
                and _are_paths(settings.model, settings.segmenter or "")
            ):
                raise ValueError
            return cls(folder, settings, inputs, found["shard_bytes"], removed)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError("%s: damaged, or made by another version of mh4" % path) from None

    def begin(self) -> "Corpus":
        """Write this corpus into the folder, and return it as begun there, perhaps with shards of another size.

        The model and the segmenter may have moved, and files may have been added or removed. Files keep their numbers.
        Raises InputError, naming the first difference, if the settings differ, or if all files differ.
        """
        corpus, path = self, os.path.join(self.folder, _SETTINGS)
        if os.path.exists(path):
            begun = self.load(self.folder)
            self._check(begun)
            inputs, removed = self._numbered(begun)
            corpus = replace(begun, settings=self.settings, inputs=inputs, removed=removed)
            if corpus == begun:
                return corpus
        else:
            make_folder(self.folder)
        content = {
            "format": FORMAT,
            "settings": asdict(corpus.settings),
            "shard_bytes": corpus.shard_bytes,
            "inputs": _to_json(corpus.inputs),
            "removed": _to_json(corpus.removed),
        }
        write_text(path, json.dumps(content, indent=1) + "\n")
        return corpus

    def _check(self, begun: "Corpus") -> None:
        differences = [(what, _value(old), _value(new)) for what, old, new in begun.settings.differences(self.settings)]
        before, now = ([one.path for one in corpus.inputs.values()] for corpus in (begun, self))
        if not set(before) & set(now):
            differences.append(("file", before[0], now[0]))
        if differences:
            raise InputError("%s: begun with %s %s, not %s: name another folder, -o FOLDER" % (self.folder, *differences[0]))

    def _numbered(self, begun: "Corpus") -> tuple[dict[int, Input], dict[int, Input]]:
        """Return the files by the numbers that they first got, and the files that are not given any more."""
        known, inputs = {**begun.removed, **begun.inputs}, {}
        unused = count(max(known) + 1)
        numbers = {one.path: number for number, one in known.items()}
        for one in self.inputs.values():
            inputs[numbers[one.path] if one.path in numbers else next(unused)] = one
        return inputs, {number: one for number, one in known.items() if number not in inputs}

    @contextmanager
    def driving(self) -> Iterator[None]:
        """Lock this folder against other drivers until the end of the block, or of this process, however it ends.

        Half-written files of killed workers and drivers are deleted at the start and at the end.
        Raises InputError if another driver is at work, naming its process and machine. On a file system without locks,
        there is no protection.
        """
        path = os.path.join(self.folder, "lock")
        with explained(path):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        try:
            if not lock(handle):
                whose = os.pread(handle, 1000, 0).decode("utf-8", "replace").strip()
                raise InputError(
                    "%s: another `mh4 corpus parse` is at work in this folder (%s); its workers finish what this would do"
                    % (self.folder, whose or "a process")
                )
            with suppress(OSError):  # as for a full disk
                os.ftruncate(handle, 0)
                os.pwrite(handle, ("process %d on %s\n" % (os.getpid(), socket.gethostname())).encode(), 0)
            self._delete_stale()
            try:
                yield
            finally:
                self._delete_stale()
                with suppress(OSError):
                    os.ftruncate(handle, 0)  # the next driver may not be able to write its own name
        finally:
            os.close(handle)

    def _delete_stale(self) -> None:
        for folder, _, _ in os.walk(self.folder):
            delete_stale(folder)

    def driver(self) -> str:
        """Return the process and machine of the driver that is at work here; an empty string if there is none."""
        with suppress(OSError, InputError), reading.open_regular(os.path.join(self.folder, "lock")) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(1000).decode("utf-8", "replace").strip() or "a process"
        return ""

    def plan(self, file: int) -> str:
        """Return the path of the plan of a file."""
        return os.path.join(self.folder, "plan", "%05d.jsonl" % file)

    def file(self, shard: Shard, kind: str) -> str:
        """Return the path of a file of a shard: its "output", "rejects", "record" or, if it failed, "log"."""
        extension = {"output": "conllu", "rejects": "rejects", "record": "json", "log": "log"}[kind]
        thousand, number = divmod(shard.number, 1000)
        return os.path.join(self.folder, "shards", "%05d" % shard.file, "%03d" % thousand, "%03d.%s" % (number, extension))

    def record(self, shard: Shard) -> dict[str, Any] | None:
        """Return the record of a shard if it is done, otherwise None. Raises Forbidden if this process may not read it.

        Done means: with these settings, and with files that exist and have the recorded sizes.
        """
        try:
            found = _json(self.file(shard, "record"))
            kinds = ("output", "rejects") if self.settings.rejects else ("output",)
            if (
                found is None
                or (found["sha256"], found["options"]) != (shard.sha256, self.settings.options())
                or not all(isinstance(found[name], kind) for name, kind in _RECORD.items())
                or not all(0 <= found[name] < _MOST for name, kind in _RECORD.items() if kind in (int, float))
                or not all(isinstance(count, int) for count in found["fallbacks"].values())
                or not all(isinstance(warning, str) for warning in found["warnings"])
                or not all(isinstance(found[kind + "_sha256"], str) for kind in kinds)
                or any(os.path.getsize(self.file(shard, kind)) != found[kind + "_bytes"] for kind in kinds)
            ):
                return None
        except Forbidden:
            raise
        except (OSError, KeyError, InputError):
            return None
        return found

    def write_record(self, shard: Shard, record: Mapping[str, Any]) -> None:
        """Record that a shard is done."""
        write_text(self.file(shard, "record"), json.dumps(record, indent=1) + "\n")

    def prepare(self, shard: Shard) -> None:
        """Make the folder for the files of a shard."""
        make_folder(os.path.dirname(self.file(shard, "output")))

    def forget(self, shard: Shard) -> None:
        """Remove the record of a shard, so that it is parsed again."""
        with suppress(FileNotFoundError):
            os.unlink(self.file(shard, "record"))

    def fail(self, shard: Shard, text: str) -> None:
        """Append to the log of a shard, if it can be written."""
        with suppress(OSError, InputError):
            self.prepare(shard)
            with open(self.file(shard, "log"), "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)

    def clear(self, shard: Shard) -> None:
        """Remove the log of a shard, which will be tried again."""
        with suppress(OSError):
            os.unlink(self.file(shard, "log"))

    def remove_after(self, file: int, shards: int) -> None:
        """Remove what is left of shards after the first `shards` of a file, which was longer when it was cut before."""
        for path in Path(self.folder, "shards", "%05d" % file).glob("*/*.*"):
            numbers = path.parent.name, path.name.partition(".")[0]
            if all(map(str.isdecimal, numbers)) and 1000 * int(numbers[0]) + int(numbers[1]) >= shards:
                path.unlink(missing_ok=True)


def _to_json(files: Mapping[int, Input]) -> list[dict[str, Any]]:
    """Return files as a list for JSON, with their numbers."""
    return [{"number": number, **one._asdict()} for number, one in files.items()]


def _from_json(files: list[dict[str, Any]]) -> dict[int, Input]:
    return {one["number"]: Input(one["path"], one["given"], one["name"], one.get("folder", "")) for one in files}


def _is_input(one: Input) -> bool:
    """Return whether these are paths, and the name leads into the folder of all parses. Raises as _are_paths does."""
    inside = not os.path.isabs(one.name) and ".." not in one.name.split(os.sep)
    return inside and _are_paths(*one)


def _are_paths(*given: str) -> bool:
    """Return whether these can be paths. Raises ValueError if the system has no such names."""
    return b"\0" not in os.fsencode("".join(given))


def _json(path: str, most: int = reading.MOST) -> dict[str, Any] | None:
    """Return the object in a JSON file of up to `most` bytes; None if there is no file, or something else in it."""
    if not reading.is_there(path):
        return None
    try:
        found = json.loads(reading.text(path, most))
    except (ValueError, RecursionError):
        raise InputError("%s: damaged: not JSON" % path) from None
    return found if isinstance(found, dict) else None


def _value(value: Any) -> str:
    """Return a setting as messages show it."""
    return "unset" if value is None else ("off", "on")[value] if isinstance(value, bool) else str(value)[:20]
