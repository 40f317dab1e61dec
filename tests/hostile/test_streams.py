"""Standard streams that fail or stall: commands print all their bytes, or exit with a code other than 0."""

import fcntl
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from functools import partial
from pathlib import Path

import corpus
import pytest
import sandbox
from running import INSTALLED

pytestmark = pytest.mark.slow

PYTHON_M = [sys.executable, "-m", "mh4"]
SENTENCES = 40  # enough for more than a page, the size of the smallest pipe


@pytest.fixture(scope="module")
def places(sweep):
    """The paths for the names in capitals in the commands below."""
    long = sweep.folder / "long.conllu"
    long.write_text(corpus.GOOD * SENTENCES, encoding="utf-8")
    return {"LONG": str(long), "MODEL": str(sweep.models["mst"]), "FOLDER": str(sweep.folder / "toy")}


PRINTING = [
    ["parse", "--model", "MODEL", "LONG"],
    ["ensemble", "--vote", "LONG", "LONG"],
    ["evaluate", "LONG", "LONG"],
    ["evaluate", "LONG", "LONG", "--json", "--by", "deprel"],
    ["compare", "LONG", "LONG", "LONG"],
    ["view", "LONG"],
    ["coverage", "LONG"],
    ["test", "--model", "MODEL", "LONG"],
    ["info", "MODEL"],
    ["data", "toy", "--to", "FOLDER"],
    ["--help"],
]
printing = pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
unbuffered = pytest.mark.parametrize("unbuffered", [False, True], ids=["buffered", "unbuffered"])


def command(arguments, places):
    return [places.get(argument, argument) for argument in arguments]


@pytest.fixture(scope="module")
def expected(places):
    """The output of each command."""
    found = {}
    for arguments in PRINTING:
        done = sandbox.run(*command(arguments, places))
        assert done.code == 0 and done.stdout and not done.stderr, done
        found[tuple(arguments)] = done.stdout
    return found


@printing
@unbuffered
def test_a_full_disk(places, expected, arguments, unbuffered):
    """The error is reported on a disk that is full, or has space for one page, or for all bytes except the last."""
    with open("/dev/full", "wb") as full:
        done = sandbox.run(*command(arguments, places), stdout=full.fileno(), unbuffered=unbuffered)
    said = "mh4: standard output: (cannot be written: )?%s\n"
    assert done.code == 2 and re.fullmatch(said % "No space left on device", done.stderr)
    whole = expected[tuple(arguments)]
    for size in {len(whole) - 1, 4096}:
        if 200 < size < len(whole):  # the message must fit, too
            with tempfile.TemporaryFile() as file:
                done = sandbox.run(*command(arguments, places), stdout=file.fileno(), unbuffered=unbuffered, file_size=size)
                file.seek(0)
                assert file.read() == whole[:size]
            assert done.code == 2 and re.fullmatch(said % "File too large", done.stderr)


def small_pipe():
    """Return the ends of a pipe that holds 4096 bytes."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    return reading, writing


def waiting(pipe):
    """Return the number of unread bytes in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@printing
@unbuffered
def test_a_pipe_that_does_not_block(places, expected, arguments, unbuffered):
    """All bytes reach the slow reader of a non-blocking pipe that is full when the command begins."""
    reading, writing = small_pipe()
    os.set_blocking(writing, False)
    filled, got = os.write(writing, b"." * 4096), []

    def read():
        time.sleep(0.3)  # for the command to find the pipe full
        with open(reading, "rb", buffering=0) as file:
            while True:
                got.append(file.read(3000))
                if not got[-1]:
                    break

    reader = threading.Thread(target=read)
    reader.start()
    done = sandbox.run(*command(arguments, places), stdout=writing, unbuffered=unbuffered)
    os.close(writing)
    reader.join()
    assert (done.code, done.stderr) == (0, "")
    assert b"".join(got)[filled:] == expected[tuple(arguments)]


@printing
@unbuffered
def test_a_reader_that_is_gone(places, arguments, unbuffered):
    reading, writing = os.pipe()
    os.close(reading)
    done = sandbox.run(*command(arguments, places), stdout=writing, unbuffered=unbuffered)
    os.close(writing)
    assert (done.code, done.stderr) == (141, "")


@pytest.mark.parametrize("start", [PYTHON_M, [str(INSTALLED)]], ids=["python -m mh4", "mh4"])
@pytest.mark.parametrize("setting", [{"PYTHONUNBUFFERED": "1"}, {}], ids=["unbuffered", "buffered"])
def test_as_users_start_it(places, expected, tmp_path, start, setting):
    if not os.path.exists(start[0]):
        pytest.skip("mh4 is not installed")
    arguments = ("evaluate", "LONG", "LONG", "--json", "--by", "deprel")  # a command that prints everything at once
    whole, started = expected[arguments], [*start, *command(arguments, places)]
    options = {"stderr": -1, "env": {**os.environ, **setting}}
    assert subprocess.run(started, stdout=-1, **options).stdout == whole
    with open(tmp_path / "out", "wb") as out:
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (2048, 2048))
        done = subprocess.run(started, stdout=out, preexec_fn=limit, **options)
    assert (done.returncode, done.stderr) == (2, b"mh4: standard output: File too large\n")
    assert (tmp_path / "out").read_bytes() == whole[:2048]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "not blocking"])
@pytest.mark.usefixtures("ending_signals")
def test_a_command_that_waits_for_its_reader_can_be_ended(places, number, blocking):
    reading, writing = small_pipe()
    os.set_blocking(writing, blocking)
    started = [*PYTHON_M, *command(["view", "LONG"], places)]
    process = subprocess.Popen(started, stdout=writing, stderr=-1)
    while waiting(reading) < 3000:  # of 4096: short writes enter a pipe as a whole or not at all
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number and said.count(b"\n") == 1
    os.close(reading), os.close(writing)


@pytest.mark.parametrize("reader", ["a full disk", "nobody"])
def test_messages_that_cannot_be_written(places, tmp_path, reader):
    """Messages that cannot be written stop no work and change no exit code."""
    reading, writing = os.pipe()
    os.close(reading)
    stderr = os.open("/dev/full", os.O_WRONLY) if reader == "a full disk" else writing
    for name in ("a.conllu", "b.conllu"):
        (tmp_path / name).symlink_to(places["LONG"])
    started = [*PYTHON_M, "parse", "--model", places["MODEL"], "--verbose", "-o", str(tmp_path / "out")]
    assert subprocess.run([*started, str(tmp_path)], stderr=stderr).returncode == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["a.conllu", "b.conllu"]
    assert subprocess.run([*started, str(tmp_path / "none")], stderr=stderr).returncode == 2
    os.close(stderr)


@pytest.mark.parametrize("name, said", [("INT", "interrupted"), ("TERM", "stopped by SIGTERM")])
@pytest.mark.usefixtures("ending_signals")
def test_a_signal_while_python_compiles(name, said):
    """A signal ends a command while Python compiles, as for a module without bytecode."""
    code = """if True:
        import os, subprocess, sys
        from mh4.cli.group import _stopped_by_signals
        with _stopped_by_signals():
            subprocess.Popen(["sh", "-c", "sleep 0.3; kill -%s %d" % (sys.argv[1], os.getpid())])
            compile("x = 2**31\\n" * 300_000, "constants", "exec")
            print("went on")
    """
    started = [sys.executable, "-c", code, name]
    done = subprocess.run(started, capture_output=True, text=True)
    assert done.stdout == "" and "mh4.cli.group.Stopped: " + said in done.stderr


@pytest.mark.parametrize("number, said", [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "stopped by SIGTERM")])
@pytest.mark.usefixtures("ending_signals")
def test_a_signal_whose_exception_is_dropped(number, said):
    """A signal ends the command although Python drops exceptions raised in some callbacks."""
    code = """if True:
        import os, signal, sys
        from mh4.cli.group import _stopped_by_signals, reporting_errors
        with reporting_errors(), _stopped_by_signals():
            try:
                os.kill(os.getpid(), int(sys.argv[1]))
            except KeyboardInterrupt as error:
                if sys.argv[2:]: raise RuntimeError from error
            print("went on")
    """
    for more, ended in (([], -number), (["raise"], 128 + number)):
        started = [sys.executable, "-c", code, str(int(number)), *more]
        done = subprocess.run(started, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (ended, "", "mh4: %s\n" % said if more else "")


def test_a_folder_that_is_deleted(places, tmp_path):
    arguments = ["parse", "--model", places["MODEL"], places["LONG"], "-o", "out"]
    started = ["sh", "-c", 'rmdir "$0" && exec "$@"', str(tmp_path), *PYTHON_M, *arguments]
    done = subprocess.run(started, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "mh4: the current folder: No such file or directory\n")


def test_no_folder_for_temporary_files(monkeypatch, capsys):
    """If no folder for temporary files is writable, as in a read-only container, the message names those folders."""
    from mh4.cli.group import reporting_errors

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/none/tmp", "/none"])
    with pytest.raises(SystemExit, match="2"), reporting_errors():
        tempfile.mkdtemp()
    sentence = "no temporary file can be written in '/none/tmp', '/none': set TMPDIR to a folder where one can"
    assert capsys.readouterr().err == "mh4: %s\n" % sentence


# --------------------------------------------------------------------------------------------------------------- input

READING = [
    ["parse", "--model", "MODEL", "-"],
    ["ensemble", "--vote", "LONG", "-"],
    ["ensemble", "--vote", "-", "LONG"],
    ["evaluate", "-", "LONG"],
    ["evaluate", "LONG", "-"],
    ["compare", "LONG", "LONG", "-"],
    ["coverage", "-"],
    ["view", "-"],
    ["view", "LONG", "-"],
    ["test", "--model", "MODEL", "-"],
]


def hesitant(content, writing):
    """Return a thread that writes the content with pauses: in a sentence, between two, and before the end."""

    def write():
        with open(writing, "wb", buffering=0) as file:
            for start, end in ((0, 100), (100, content.index(b"\n\n") + 2), (content.index(b"\n\n") + 2, None)):
                time.sleep(0.1)
                file.write(content[start:end])
            time.sleep(0.1)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_a_pause_is_not_the_end(places, arguments):
    content = Path(places["LONG"]).read_bytes()
    whole = sandbox.run(*command(arguments, places), stdin=content)
    assert whole.code == 0, whole
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    writer = hesitant(content, writing)
    done = sandbox.run(*command(arguments, places), stdin=reading)
    os.close(reading)
    writer.join()
    assert (done.code, done.stdout, done.stderr) == (0, whole.stdout, "")
