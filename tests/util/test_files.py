"""Outputs, locks and cleaning up: regular files are replaced as a whole, and all other kinds are written to."""

import os
import signal
import stat
import struct
import subprocess
import sys
import threading

import pytest
import toy
from running import mh4

from mh4.errors import InputError
from mh4.util import files
from mh4.util.output import open_output


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, text="new\n"):
    with open_output(str(path)) as file:
        file.write(text)


def python(code, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], **options)


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("there", [True, False])
def test_links_are_followed(tmp_path, links, there):
    """Links are followed to existing or new files, in another folder, absolute or relative, or through other links."""
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target"
    if there:
        target.write_text("old\n")
    (tmp_path / "far" / "link").symlink_to("target")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "link" if links == 2 else target)
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and target.read_text() == "new\n" and not target.is_symlink()
    assert names(tmp_path) == ["far", "link"] and names(tmp_path / "far") == ["link", "target"]


def test_links_in_a_circle_or_into_nowhere(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "lost").symlink_to(tmp_path / "no" / "folder")
    for name in ("a", "lost"):
        with pytest.raises(InputError, match="/%s: cannot be written: " % name):
            write(tmp_path / name)
    assert names(tmp_path) == ["a", "b", "lost"] and all((tmp_path / name).is_symlink() for name in names(tmp_path))


def test_a_folder_linked_to_is_no_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path / "link", str(tmp_path) + "/", str(tmp_path / "new") + "/"):
        with pytest.raises(InputError, match="it is a folder"):
            write(path)
    with pytest.raises(InputError, match="is empty"):
        write("")
    assert names(tmp_path) == ["link"]


def test_devices_are_written_to():
    before = os.stat("/dev/null")
    write("/dev/null")
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode) and (before.st_ino, before.st_rdev) == (after.st_ino, after.st_rdev)
    with pytest.raises(InputError, match="/dev/full: cannot be written: No space left"):
        write("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_fifo_is_written_to(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    write(fifo)
    reader.join()
    assert got == ["new\n"] and stat.S_ISFIFO(fifo.lstat().st_mode) and names(tmp_path) == ["fifo"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"])
@pytest.mark.parametrize("into", ["file", "pipe"])
def test_standard_output_is_written_to_by_any_name(tmp_path, name, into):
    """Standard output is written to under any of its names, also if it is a regular file with content."""
    link = tmp_path / "link"
    if name != "-":
        link.symlink_to(name)
    code = "import sys\nfrom mh4.util.output import open_output\nwith open_output(sys.argv[1]) as file: file.write('new\\n')"
    for path in (name, link) if name != "-" else (name,):
        (tmp_path / "out").write_text("old\n")
        before = (tmp_path / "out").stat().st_ino
        with open(tmp_path / "out", "ab") as out:
            process = python(code, path, stdout=out if into == "file" else subprocess.PIPE)
            piped, _ = process.communicate()
        assert process.returncode == 0
        if into == "file":
            assert (tmp_path / "out").read_text() == "old\nnew\n" and (tmp_path / "out").stat().st_ino == before
        else:
            assert piped == b"new\n"


def test_open_files_of_macos(monkeypatch):
    """On macOS, where /dev/stdout links to /dev/fd/1, which is no link, both are recognised as open."""
    monkeypatch.setattr(os.path, "realpath", lambda path: path)
    monkeypatch.setattr(os.path, "islink", "/dev/stdout".__eq__)
    monkeypatch.setattr(os, "readlink", {"/dev/stdout": "fd/1"}.__getitem__)
    assert files._is_open_already("/dev/stdout") and files._is_open_already("/dev/fd/1")
    assert not files._is_open_already("/dev/null") and not files._is_open_already("a.conllu")


def test_only_this_user_can_open_a_file_before_it_is_locked(tmp_path, monkeypatch):
    modes, flock = [], files.fcntl.flock

    def noting(handle, operation):
        modes.append(stat.S_IMODE(os.fstat(handle).st_mode))
        return flock(handle, operation)

    monkeypatch.setattr(files.fcntl, "flock", noting)
    write(tmp_path / "new")
    assert modes == [0o600]


def test_permissions_are_kept(tmp_path):
    private, usual = tmp_path / "private", tmp_path / "usual"
    private.write_text("old\n")
    private.chmod(0o600)
    old = os.umask(0o027)
    try:
        write(private), write(usual)
    finally:
        os.umask(old)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600 and stat.S_IMODE(usual.stat().st_mode) == 0o640
    assert private.read_text() == "new\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
def test_a_file_that_only_another_user_can_replace(tmp_path, monkeypatch):
    """In a sticky folder such as /tmp, another user's file is rejected before work starts, unless it is appended to."""
    path = tmp_path / "file"
    path.write_text("old\n")
    os.chown(path, 65534, 65534)
    os.chown(tmp_path, 65534, 65534)
    tmp_path.chmod(0o1777), path.chmod(0o666)
    for user in (0, 65534):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        files.check_writable(str(path))
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(InputError, match="/file: cannot be written: it belongs to another user"):
        files.check_writable(str(path))
    with pytest.raises(InputError, match="another user"), files.atomic_path(str(path)):
        raise AssertionError("begun")
    with open(path, "ab") as file:
        write("/dev/fd/%d" % file.fileno())
    assert path.read_text() == "old\nnew\n" and names(tmp_path) == ["file"]
    tmp_path.chmod(0o777)
    files.check_writable(str(path))


def test_a_file_in_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old\n")
    monkeypatch.setattr(os, "access", lambda tried, mode: tried == str(path))
    with pytest.raises(InputError, match="/file: cannot be written: its folder does not exist, or nothing can be written to it"):
        files.check_writable(str(path))


def test_names_as_long_as_they_can_be(tmp_path):
    for name in ("x" * 255, "é" * 127):
        write(tmp_path / name)
        assert (tmp_path / name).read_text() == "new\n"
    assert len(names(tmp_path)) == 2


def test_what_a_killed_process_left_is_deleted_but_nothing_else(tmp_path):
    """Temporary files of killed processes are deleted; those of live processes, and all other files, stay."""
    code = """
import sys, time
from mh4.util.files import atomic_path
with atomic_path(sys.argv[1]) as temporary:
    print("begun", flush=True)
    sys.stdin.read()
"""
    out = tmp_path / "out"
    processes = [python(code, out, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == b"begun\n"
    parts = {name for name in names(tmp_path) if name.endswith(".part")}
    assert len(parts) == 3
    processes[0].kill(), processes[0].wait()
    others = [".out.part", ".out.0123456z.part", ".other.01234567.part", "out.01234567.part", ".out.01234567.part.gz"]
    for name in others:
        (tmp_path / name).write_text("not ours")
    (tmp_path / ".out.00000000.part").mkdir()
    (tmp_path / ".out.00000001.part").symlink_to(tmp_path / ".out.part")
    os.mkfifo(tmp_path / ".out.00000002.part")
    others += [".out.0000000%d.part" % k for k in range(3)]
    with files.atomic_path(str(out)):
        now = set(names(tmp_path)) - set(others)
        assert len(now) == 3 and len(now & parts) == 2  # of two other processes and of this one
        write(out)
        assert set(names(tmp_path)) - set(others) == now | {"out"}
    for process in processes[1:]:
        process.communicate(b"")
        assert process.returncode == 0
    assert set(names(tmp_path)) == {"out", *others}
    for process in processes:
        process.stdin.close(), process.stdout.close()


@pytest.mark.parametrize("where", ["flock", "fchmod"])
def test_a_signal_while_a_file_is_made_leaves_nothing(tmp_path, monkeypatch, where):
    path = tmp_path / "file"
    path.write_text("old")

    def interrupted(*arguments):
        assert len(os.listdir(tmp_path)) == 2
        raise KeyboardInterrupt

    monkeypatch.setattr(files.fcntl if where == "flock" else files.os, where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_text(str(path), "new")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["file"] and path.read_text() == "old"


@pytest.mark.slow
def test_many_processes_writing_one_file(tmp_path):
    """Processes that write one file, and delete stale temporary files, do not delete those of each other."""
    code = """
import sys
from mh4.util.files import write_text
for _ in range(150):
    write_text(sys.argv[1], sys.argv[2] * 5000)
"""
    processes = [python(code, tmp_path / "out", letter) for letter in "abcd"]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert names(tmp_path) == ["out"] and len(set((tmp_path / "out").read_text())) == 1


def test_a_lock_holds_until_its_process_ends_in_whatever_way(tmp_path):
    code = "import sys, time\nfrom mh4.util.files import locked\n"
    code += "with locked(sys.argv[1]):\n    print('begun', flush=True)\n    time.sleep(600)"
    with files.locked(str(tmp_path)):
        pass
    with python(code, tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        with pytest.raises(InputError, match="another process is writing to this folder"), files.locked(str(tmp_path)):
            pass
        process.send_signal(signal.SIGKILL)
    with files.locked(str(tmp_path)):
        with pytest.raises(InputError, match="another process is writing to this folder"), files.locked(str(tmp_path)):
            pass
    assert names(tmp_path) == []


def test_a_file_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: not a folder, expected one, or that there is nothing yet"):
        files.make_folder(str(tmp_path / "file"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_folder_of_another_user_where_links_can_be_planted(tmp_path):
    toy.sentences(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    folder.chmod(0o777)
    train, dev = (str(tmp_path / ("toy-ud-%s.conllu" % split)) for split in ("train", "dev"))
    done = mh4("train", "--system", "mst", "--train", train, "--dev", dev, "--model", str(folder))
    said = "%s: belongs to another user, and everybody can write to it: name another folder" % folder
    assert done.returncode == 2 and said in done.stderr.decode()
    assert not names(folder)
    folder.chmod(0o775)
    files.make_folder(folder)


def acl(owner, user, group, mask, other):
    """Return an access control list in the form of the kernel, with an entry for user 1003."""
    entries = (0x01, owner, -1), (0x02, user, 1003), (0x04, group, -1), (0x10, mask, -1), (0x20, other, -1)
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def test_access_control_lists(tmp_path):
    """A file that is replaced keeps its list, and a new one gets the list of its folder."""
    path = tmp_path / "file"
    path.write_text("old")
    try:
        os.setxattr(path, "system.posix_acl_access", acl(6, 6, 0, 6, 0))
        os.setxattr(tmp_path, "system.posix_acl_default", acl(7, 7, 5, 7, 0))
    except (OSError, AttributeError):
        pytest.skip("no access control lists here")
    before = os.getxattr(path, "system.posix_acl_access")
    files.write_text(str(path), "new")
    assert path.read_text() == "new" and os.getxattr(path, "system.posix_acl_access") == before
    files.write_text(str(tmp_path / "another"), "new")
    (tmp_path / "by-open").write_text("new")
    lists = [os.getxattr(tmp_path / name, "system.posix_acl_access") for name in ("another", "by-open")]
    assert lists[0] == lists[1]
