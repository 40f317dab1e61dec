"""The installed command, run as users run it."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import toy

INSTALLED = Path(sys.executable).with_name("mh4")
COMMAND = [str(INSTALLED)] if INSTALLED.exists() else [sys.executable, "-m", "mh4"]
WRITTEN = re.compile(
    r"^mh4: (the plot|the segmenter|\d+ sentences?\b[^;\n]*) written to .*\n", re.MULTILINE
)  # the line on what was written, on standard error


def mh4(*arguments, stdin=None):
    environment = dict(os.environ, PYTHONPATH=str(toy.ROOT))
    return subprocess.run(COMMAND + list(arguments), input=stdin, stdout=-1, stderr=-1, env=environment, cwd=str(toy.ROOT))


def succeeds(*arguments, stdin=None):
    done = mh4(*arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    assert WRITTEN.sub("", done.stderr.decode()) == ""  # otherwise quiet where there is no terminal
    return done.stdout


def refuses(*arguments, stdin=None):
    """The one sentence on standard error."""
    done = mh4(*arguments, stdin=stdin)
    assert done.returncode == 2 and done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("mh4: ")
    return line


def on_a_terminal(*arguments, streams=("stderr",), columns=200):
    """The exit code, and the output if these of the standard streams are a terminal; other output is lost."""
    environment = dict(os.environ, PYTHONPATH=str(toy.ROOT), TERM="xterm", COLUMNS=str(columns))
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
