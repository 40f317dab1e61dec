"""Write files whole or not at all, lock folders, make paths relative, and identify files by content (git blob ids).

Writes are durable (fsync): a file is on the disk before it gets its name, and the name is on the disk before the block
ends. So after a loss of power there is either the old file or the new one.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mh4.errors import InputError, reason, unreadable

_ACL = "system.posix_acl_access"  # of Linux


@contextmanager
def atomic_path(path: str) -> Iterator[str]:
    """Yield the path of a temporary file that replaces the file `path`, or the file it is a link to, when the block succeeds.

    If the block raises, `path` is left as it was. Devices, FIFOs and files that are open already (/dev/stdout) are not replaced:
    for them, `path` itself is yielded, to be appended to. Raises InputError if `path` cannot be written, or the disk is full.
    """
    with explained(path):
        status, replaced = _status(path)
        if not replaced:
            yield path
            return
        target = os.path.realpath(path)
        with _temporary(target) as (temporary, handle):
            yield temporary
            _give_access(handle, target, status)
            _sync(handle)
            os.replace(temporary, target)
            _sync_name(target)


def write_bytes(path: str, content: bytes | memoryview) -> None:
    """Write `content` to `path`, whole or not at all; see atomic_path."""
    with atomic_path(path) as temporary, open(temporary, "ab") as file:
        file.write(content)


def write_text(path: str, text: str) -> None:
    """Write `text` to `path` in UTF-8, with line ends unchanged, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def append_line(path: str, line: str) -> None:
    """Add a line to a text file in UTF-8, creating the file if needed. Raises InputError if it cannot be written."""
    with explained(path):
        new = not os.path.exists(path)
        with open(path, "a", encoding="utf-8", newline="") as file:
            file.write(line + "\n")
            file.flush()
            _sync(file.fileno())
        if new:
            _sync_name(path)


def make_folder(path: str | Path) -> None:
    """Create a folder, and its parents, unless they exist. Raises InputError if that fails, or as check_owner does."""
    new, folder = [], os.fspath(path)
    while folder and not os.path.isdir(folder):
        new.append(folder)
        folder = os.path.dirname(folder)
    try:
        for folder in reversed(new):
            with suppress(FileExistsError):  # another process may have created it
                os.mkdir(folder)
            _sync_name(folder)
    except OSError as error:
        raise InputError("%s: this folder cannot be created: %s" % (path, reason(error))) from None
    if not os.path.isdir(path):
        raise InputError("%s: not a folder, expected one, or that there is nothing yet" % path)
    check_owner(path)


def check_owner(folder: str | Path) -> None:
    """Raise InputError for a folder of another user to which everybody can write.

    A link in such a folder may lead to any file of this user.
    """
    with suppress(OSError):
        status = os.stat(folder)
        if status.st_uid not in (0, os.geteuid()) and status.st_mode & stat.S_IWOTH:
            raise InputError("%s: belongs to another user, and everybody can write to it: name another folder" % folder)


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """Lock `folder` against other processes and threads until the end of the block or of this process.

    Raises InputError if it is locked already. On a file system without locks, there is no protection.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        if not lock(handle):
            raise InputError(
                "%s: another process is writing to this folder; wait for it to finish or choose another folder" % folder
            )
        yield
    finally:
        os.close(handle)


def lock(handle: int, waiting: Callable[[], object] | None = None) -> bool:
    """Lock an open file or folder until it is closed. Return False if it is locked already.

    waiting: called before waiting for the lock to be released; without it, do not wait. On a file system without locks,
    do nothing and return True.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting is None:
            return False
        waiting()
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        pass
    return True


def check_writable(path: str) -> None:
    """Raise InputError if no file can be written to `path`. This is a check before there is anything to write."""
    with explained(path):
        if _status(path)[1] and not os.access(os.path.dirname(os.path.realpath(path)), os.W_OK):
            raise InputError("%s: cannot be written: its folder does not exist, or nothing can be written to it" % path)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Raise InputError if the block fails to write to `path`, unless the reader of a pipe has closed it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename not in (None, path) and not str(error.filename).endswith(".part"):
            raise
        raise InputError("%s: cannot be written: %s" % (path, reason(error))) from None


def _status(path: str) -> tuple[os.stat_result | None, bool]:
    """Return the status of the file at `path`, None if there is none, and whether a new file is to replace it.

    A file that is not to be replaced is appended to. Raises OSError or InputError if the file may not be written.
    """
    if not path:
        raise InputError("the path of a file to be written is empty")
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    if path.endswith(os.sep) or status and stat.S_ISDIR(status.st_mode):
        raise InputError("%s: cannot be written: it is a folder" % path)
    if status and not os.access(path, os.W_OK):  # renaming ignores the permissions of the file that it replaces
        why = errno.EROFS if os.statvfs(path).f_flag & os.ST_RDONLY else errno.EACCES
        raise PermissionError(why, os.strerror(why), path)
    replaced = not status or stat.S_ISREG(status.st_mode) and not _is_open_already(path)
    if status and replaced:
        folder = os.stat(os.path.dirname(os.path.realpath(path)))
        if folder.st_mode & stat.S_ISVTX and os.geteuid() not in (0, status.st_uid, folder.st_uid):
            raise InputError("%s: cannot be written: it belongs to another user, and nobody else can replace it there" % path)
    return status, replaced


def _is_open_already(path: str) -> bool:
    """Return whether `path` is, or leads to, an open file, such as /dev/stdout or /dev/fd/3.

    Such paths lead to /proc or, on macOS, to /dev/fd itself.
    """
    while not os.path.realpath(os.path.dirname(path)).startswith(("/proc/", "/dev/fd")):
        if not os.path.islink(path):
            return False
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return True


@contextmanager
def _temporary(target: str) -> Iterator[tuple[str, int]]:
    """Yield the path of a new file next to `target`, and a handle to it.

    Only this user may open the new file. It is locked during the block, and deleted at its end if it is still there.
    Unlocked files of killed processes are deleted first.
    """
    folder, name = os.path.split(target)
    name = os.fsdecode(os.fsencode(name)[:200])  # file systems limit the length of names
    delete_stale(folder, re.escape(name))
    temporary, handle = "", None
    try:  # begins before the file exists, as a signal may end the process at any time
        while handle is None:
            temporary = os.path.join(folder, ".%s.%s.part" % (name, os.urandom(4).hex()))
            with suppress(FileExistsError):
                handle = _locked_file(temporary)
        yield temporary, handle
    finally:
        with suppress(OSError):  # it would hide the error of the block
            os.unlink(temporary)
        if handle is not None:
            os.close(handle)


def _locked_file(path: str) -> int | None:
    """Return a handle to a new, locked file; None if another process deleted it as stale before it was locked."""
    # At first, only this user may open the file: others could lock it, or read what is to replace a private file.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):  # a file system without permissions
        os.fchmod(handle, 0o600)  # whatever the umask is
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    if os.fstat(handle).st_nlink:
        return handle
    os.close(handle)
    return None


def _give_access(handle: int, target: str, status: os.stat_result | None) -> None:
    """Give a new file the owner, group and permissions of the file that it is to replace, or those of any new file.

    status: of the file to be replaced, if there is one.
    """
    if status is None:
        mode = _new_mode(os.path.dirname(target))
    else:
        for owner, group in ((status.st_uid, -1), (-1, status.st_gid)):  # only root may give files away
            with suppress(OSError):
                os.fchown(handle, owner, group)
        # Otherwise the members of another group would get the permissions.
        mode = status.st_mode & (0o777 if os.fstat(handle).st_gid == status.st_gid else 0o707)
        with suppress(OSError, AttributeError):  # no ACL, or not Linux
            return os.setxattr(handle, _ACL, os.getxattr(target, _ACL))
    with suppress(OSError):  # a file system without permissions, such as Windows' in WSL
        os.fchmod(handle, mode)


def _new_mode(folder: str) -> int:
    """Return the permissions that a new file gets in a folder: by its default ACL if it has one, otherwise by the umask."""
    try:
        acl = os.getxattr(folder, "system.posix_acl_default")
    except (OSError, AttributeError):
        os.umask(mask := os.umask(0o077))  # the mask can only be read by setting it
        return 0o666 & ~mask
    allowed = {tag: permissions for tag, permissions, _ in struct.iter_unpack("<HHI", acl[4:])}
    return 0o666 & (allowed[0x01] << 6 | allowed.get(0x10, allowed[0x04]) << 3 | allowed[0x20])  # user, mask or group, other


def _sync(handle: int) -> None:
    """Wait until the content of a file or folder is on the disk."""
    # On macOS, fsync leaves data in the cache of the disk, but not all file systems have F_FULLFSYNC.
    if hasattr(fcntl, "F_FULLFSYNC"):
        with suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems have no fsync, for folders or at all
            raise


def _sync_name(path: str) -> None:
    """Wait until the name of a file or folder is on the disk."""
    try:
        handle = os.open(os.path.dirname(path) or os.curdir, os.O_RDONLY)
    except PermissionError:  # a folder may be writable but not readable
        return
    try:
        _sync(handle)
    finally:
        os.close(handle)


def delete_stale(folder: str, name: str = ".+") -> None:
    """Delete the temporary files that killed processes have left in a folder: the unlocked ones.

    name: a regular expression for the names, perhaps shortened, of the files to be replaced; by default, any name.
    """
    names = re.compile(r"\.%s\.[0-9a-f]{8}\.part" % name, re.DOTALL)
    with suppress(OSError):
        for entry in os.scandir(folder):
            if names.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    handle = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW)
                    try:
                        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        os.unlink(entry.path)
                    finally:
                        os.close(handle)


def identity(file: str | int) -> tuple[int, int] | None:
    """Return the identity (device and inode) of a regular file, given by path or descriptor; None if it is not one."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def relative_if_inside(path: Path, folder: Path) -> str:
    """Return the path relative to the folder if it is inside it, otherwise unchanged."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def git_blob_id(path: str | Path) -> str:
    """Return the git blob id of a file: the SHA-1 of "blob", its size and its bytes. Raises InputError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            sha1 = hashlib.sha1(b"blob %d\0" % os.fstat(file.fileno()).st_size)
            return hashlib.file_digest(file, lambda: sha1).hexdigest()
    except OSError as error:
        raise unreadable(str(path), error) from None
