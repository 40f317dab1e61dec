"""Read and write compressed files as streams. The extension of the name determines the format."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

from mh4.errors import InputError, needs, unreadable

STARTS = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0", ".zst": b"(\xb5/\xfd"}  # their first bytes
EXTENSIONS = tuple(STARTS)
_CHUNK = 1 << 16


def stem(name: str) -> str:
    """Return the name of a file without the extension of compressed files, if it has one."""
    return name[: len(name) - len(_extension(name))]


def is_compressed(name: str) -> bool:
    """Return whether a file of this name is compressed."""
    return bool(_extension(name))


def with_extension(path: str, extension: str) -> str:
    """Replace the extension of a path, keeping the one of compressed files after it."""
    plain = stem(path)
    return str(Path(plain).with_suffix(extension)) + path[len(plain) :]


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file to read its decompressed content as bytes. An empty file has empty content, whatever its name.

    Raises InputError, also while the block reads, if the file cannot be read, is damaged or ends early, and
    NotInstalled if a package is missing.
    """
    extension = _extension(path)
    with _explained(path), open(path, "rb") as file:
        with _stream(extension, path, file, "rb") if extension and file.peek(1) else file as stream:
            yield stream


def compressed(file: BinaryIO, path: str) -> AbstractContextManager[BinaryIO]:
    """Yield a file that writes to `file`, compressed according to the extension of `path`.

    The same content gives the same bytes. Raises NotInstalled if a package is missing.
    """
    extension = _extension(path)
    return _stream(extension, path, file, "wb") if extension else nullcontext(file)


def _extension(path: str) -> str:
    return next((extension for extension in EXTENSIONS if Path(path).name.lower().endswith(extension, 1)), "")


def _stream(extension: str, path: str, file: BinaryIO, mode: Any) -> BinaryIO:
    stream: Any
    if extension == ".gz":
        stream = gzip.GzipFile("", mode, compresslevel=6, fileobj=file, mtime=0)
    elif extension == ".bz2":
        stream = bz2.BZ2File(file, mode) if mode == "wb" else io.BufferedReader(_Members(file, bz2.BZ2Decompressor))
    elif extension == ".xz":
        stream = lzma.LZMAFile(file, mode) if mode == "wb" else io.BufferedReader(_Members(file, lzma.LZMADecompressor))
    else:
        zstd = _zstd(path)
        if mode == "rb":
            stream = zstd.ZstdFile(file)
        else:
            stream = zstd.ZstdFile(file, mode, options={zstd.CompressionParameter.checksum_flag: 1})
            stream.write(b"")  # otherwise nothing at all would be written if the content is empty
    return cast(BinaryIO, stream)


def _zstd(path: str) -> Any:
    """Return the module for .zst: part of Python from 3.14 on, a package before. Raises InputError if it is missing."""
    if sys.version_info >= (3, 14):
        try:
            from compression import zstd
        except ImportError:
            raise InputError("%s: this Python was built without Zstandard, which .zst needs" % path) from None
    else:
        with needs("%s: .zst" % path, "zstd", "backports.zstd"):
            from backports import zstd
    return zstd


class _Members(io.RawIOBase):
    """The content of an archive of one or more members.

    A damaged later member raises an error, where the modules bz2 and lzma would report the end of the file.
    """

    def __init__(self, file: BinaryIO, decompressor: Callable[[], Any]) -> None:
        self._file, self._decompressor, self._member, self._position = file, decompressor, decompressor(), 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset by reading up to it, from the start if the offset is before the current one."""
        to = offset + self._position * (whence == io.SEEK_CUR)
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the size of a compressed file is not known")
        if to < self._position:
            self._file.seek(0)
            self._member, self._position = self._decompressor(), 0
        while self._position < to and self.read(min(_CHUNK, to - self._position)):
            pass
        return self._position

    def readinto(self, buffer: Any) -> int:
        while True:
            data = b""
            if self._member.eof:
                data = self._next()
                if not data:
                    return 0
                self._member = self._decompressor()
            elif self._member.needs_input:
                data = self._file.read(_CHUNK)
                if not data:
                    raise EOFError
            content = self._member.decompress(data, len(buffer))
            if content:
                buffer[: len(content)] = content
                self._position += len(content)
                return len(content)

    def _next(self) -> bytes:
        """Return the next bytes after a member and after the zero padding that xz allows; empty at the end."""
        data = self._member.unused_data.lstrip(b"\0")
        while not data:
            read = self._file.read(_CHUNK)
            if not read:
                break
            data = read.lstrip(b"\0")
        return data


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise InputError("%s: not enough memory to read it" % path) from None
    except EOFError:
        raise InputError("%s: cannot be read: the archive ends early, so a part of it is lost" % path) from None
    except Exception as error:
        # gzip and bz2 raise an OSError without a number.
        if isinstance(error, OSError) and (error.errno or not is_compressed(path)):
            raise unreadable(path, error) from None
        from_zstd = type(error).__name__ == "ZstdError"  # by name, as its package may not be installed
        if not (from_zstd or isinstance(error, (zlib.error, lzma.LZMAError, OSError))):
            raise
        raise InputError("%s: cannot be read: damaged, or not a %s archive (%s)" % (path, _extension(path), error)) from None
