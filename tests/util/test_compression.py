"""Compressed files are read completely or with an error, and written reproducibly."""

import io
import sys
from types import SimpleNamespace

import pytest

from mh4.errors import InputError, NotInstalled
from mh4.util import compression
from mh4.util.compression import EXTENSIONS, compressed, opened, stem, with_extension

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
CONTENT = b"".join(b"line %d of a text\n" % (k * k) for k in range(5000))


def packed(content, name):
    if name.endswith(".zst"):
        pytest.importorskip(ZSTD, reason="%s is not installed" % ZSTD)
    file = io.BytesIO()
    with compressed(file, name) as stream:
        for start in range(0, len(content), 1000):
            stream.write(content[start : start + 1000])
    return file.getvalue()


@pytest.fixture(params=EXTENSIONS)
def path(request, tmp_path):
    return tmp_path / ("name.conllu" + request.param)


@pytest.mark.parametrize("content", [b"", b"a", CONTENT], ids=len)
def test_what_is_written_is_read(path, content):
    """Content is written as the same bytes each time, and read again, also from concatenated archives."""
    archive = packed(content, str(path))
    assert archive == packed(content, "other" + path.suffix) and archive != CONTENT
    assert content != CONTENT or len(archive) < len(content) / 3
    for times in (1, 2):
        path.write_bytes(times * archive)
        with opened(str(path)) as file:
            assert b"".join(file) == times * content


def test_stems():
    assert [stem("a/b.conllu" + extension) for extension in ("", *EXTENSIONS)] == 5 * ["a/b.conllu"]
    assert stem("gz") == "gz" and stem("a.gz.conllu") == "a.gz.conllu"
    assert stem("a/.gz") == "a/.gz" and with_extension("a/.gz", ".conllu") == "a/.gz.conllu"


def test_archives_that_end_early(path):
    """An archive cut off anywhere is an error; a file of 0 bytes is empty."""
    path.write_bytes(b"")
    with opened(str(path)) as file:
        assert file.read() == b""
    archive = packed(CONTENT, str(path))
    for size in {1, 5, 20, len(archive) // 2, len(archive) - 5, len(archive) - 1}:
        path.write_bytes(archive[:size])
        with pytest.raises(InputError) as caught, opened(str(path)) as file:
            file.read()
        assert str(caught.value).startswith("%s: cannot be read: " % path), (size, caught.value)
        if size > 20:
            assert str(caught.value) == "%s: cannot be read: the archive ends early, so a part of it is lost" % path


@pytest.mark.parametrize("damaged", [0, 12, 0.5])
def test_a_later_member_that_is_damaged(path, damaged):
    """A damaged later member is an error, and not the end of the archive."""
    first, second = packed(CONTENT, str(path)), bytearray(packed(CONTENT, str(path)))
    at = damaged if isinstance(damaged, int) else len(second) // 2
    second[at : at + 4] = bytes(byte ^ 255 for byte in second[at : at + 4])
    path.write_bytes(first + second)
    with pytest.raises(InputError, match="cannot be read: "), opened(str(path)) as file:
        file.read()


def test_places_in_an_archive(path):
    path.write_bytes(2 * packed(CONTENT, str(path)))
    with opened(str(path)) as file:
        for place in (10, len(CONTENT) + 5, 3, 2 * len(CONTENT) - 2):
            assert file.seek(place) == place == file.tell() and file.read(2) == (2 * CONTENT)[place : place + 2]
        assert file.read() == b"" and file.tell() == 2 * len(CONTENT)


def test_zeros_between_members(tmp_path):
    """Zeros between members, in multiples of four bytes, are skipped, as xz allows."""
    path, archive = tmp_path / "a.xz", packed(CONTENT, "a.xz")
    path.write_bytes(archive + bytes(8) + archive + bytes(100_000))
    with opened(str(path)) as file:
        assert file.read() == 2 * CONTENT


def test_a_file_that_takes_too_much_memory_is_named(path):
    """The message names a file that needs too much memory, such as an xz archive with a dictionary of 4 GB."""
    path.write_bytes(packed(CONTENT, str(path)))
    with pytest.raises(InputError, match="^%s: not enough memory to read it$" % path), opened(str(path)):
        raise MemoryError


def test_damaged_archives(path):
    changed = bytearray(packed(CONTENT, str(path)))
    middle = len(changed) // 2
    changed[middle : middle + 30] = bytes(byte ^ 85 for byte in changed[middle : middle + 30])
    message = "cannot be read: damaged, or not a %s archive" % path.suffix
    for content in (CONTENT, changed):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message), opened(str(path)) as file:
            file.read()


def test_zstd_of_python_itself(tmp_path, monkeypatch):
    """Python 3.14 has Zstandard in its standard library, unless it was built without; this is then an error."""
    own = pytest.importorskip(ZSTD)
    path = tmp_path / "a.zst"
    path.write_bytes(packed(CONTENT, str(path)))
    monkeypatch.setattr(sys, "version_info", (3, 14))
    monkeypatch.setitem(sys.modules, "compression", SimpleNamespace(zstd=own))
    monkeypatch.setitem(sys.modules, "compression.zstd", own)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    with opened(str(path)) as file:
        assert file.read() == CONTENT
    monkeypatch.setitem(sys.modules, "compression", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(InputError, match="a.zst: this Python was built without Zstandard"), opened(str(path)):
        pass


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="a part of Python")
def test_a_package_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setattr(sys.modules.get("backports"), "zstd", None, raising=False)
    monkeypatch.delattr(sys.modules.get("backports", compression), "zstd", raising=False)
    (tmp_path / "a.zst").write_bytes(b"x")
    message = "a.zst: .zst needs backports.zstd, which is not installed: pip install 'backports.zstd>=1'"
    for use in (lambda: opened(str(tmp_path / "a.zst")), lambda: compressed(io.BytesIO(), "a.zst")):
        with pytest.raises(NotInstalled, match=message), use():
            pass


def test_what_cannot_be_opened(path):
    with pytest.raises(InputError, match="^%s: cannot be read: No such file" % path), opened(str(path)):
        pass
    path.mkdir()
    with pytest.raises(InputError, match="^%s: cannot be read: Is a directory" % path), opened(str(path)):
        pass
