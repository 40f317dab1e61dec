"""Run commands in this process, which is fast, or as users run them, on a terminal or with other streams."""

import contextlib
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest
import toy
from click.testing import CliRunner

from mh4 import cli
from mh4.errors import InputError
from mh4.util import streams

INSTALLED = Path(sys.executable).with_name("mh4")
COMMAND = [str(INSTALLED)] if INSTALLED.exists() else [sys.executable, "-m", "mh4"]
WRITTEN = re.compile(  # lines on standard error about written files and copied tags
    r"^mh4: ((the plot|the segmenter|\d+ sentences?\b[^;\n]*) written to |.*: all tags are the gold tags; ).*\n", re.MULTILINE
)


def mh4(*arguments, stdin=None):
    """Run a command in this process; return its exit code, output and messages. Arguments may be paths."""
    arguments = list(map(str, arguments))
    with contextlib.chdir(toy.ROOT), mock.patch.object(streams, "is_fed", lambda: stdin is not None):
        done = CliRunner(catch_exceptions=False).invoke(cli.main, arguments, input=stdin, prog_name="mh4")
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout_bytes, done.stderr_bytes)


def succeeds(*arguments, stdin=None):
    done = mh4(*arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    assert WRITTEN.sub("", done.stderr.decode()) == ""  # no other messages without a terminal
    return done.stdout


def refuses(*arguments, stdin=None):
    """Return the one sentence on standard error of a command that fails."""
    done = mh4(*arguments, stdin=stdin)
    assert done.returncode == 2 and done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("mh4: ")
    return line


def refused(call):
    """Return the message of the InputError that a call raises, in one line."""
    with pytest.raises(InputError) as error:
        call()
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    return str(error.value)


def on_a_terminal(*arguments, streams=("stderr",), columns=200):
    """Run a command with a terminal as these standard streams; return its exit code and the output to the terminal."""
    environment = dict(os.environ, TERM="xterm", COLUMNS=str(columns))
    terminal, ours = pty.openpty()
    connected = {"stdout": subprocess.DEVNULL, **dict.fromkeys(streams, ours)}
    shown = b""
    with subprocess.Popen(COMMAND + list(arguments), env=environment, **connected) as process:
        os.close(ours)
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the terminal is closed
                break
    os.close(terminal)
    return process.returncode, shown


def importing_from(folder):
    """Return the environment of a process that imports modules from this folder if they are there."""
    return dict(os.environ, PYTHONPATH=os.pathsep.join([str(folder), os.environ["PYTHONPATH"]]))


def preloading(source, folder):
    """Compile a C++ file into a library in this folder; return the environment of a process that loads it first."""
    library = str(Path(folder) / (Path(source).stem + ".so"))
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, str(source), "-ldl"], check=True)
    return dict(os.environ, LD_PRELOAD=library)


def children(pid):
    """Return the ids of the processes that a process has started."""
    found = []
    for path in Path("/proc/%d/task" % pid).glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            found += map(int, path.read_text().split())
    return found


def spawned(pid):
    """Return the ids of the worker processes that a process has started."""
    found = []
    for child in children(pid):
        with contextlib.suppress(OSError):
            if b"spawn_main" in Path("/proc/%d/cmdline" % child).read_bytes():
                found.append(child)
    return found


def wait_for(condition, process=None, seconds=120):
    """Wait until the condition is true, even on a busy machine, and return its value.

    process: if given, has to run in the meantime. seconds: the time to wait at most.
    """
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found
