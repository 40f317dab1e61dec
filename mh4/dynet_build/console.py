"""Run the commands of the setup, and show its progress with elapsed time and percentage."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TextIO

from mh4.errors import InputError

PERCENT = re.compile(rb"^\[ *(\d+)%\]", re.MULTILINE)  # as cmake's makefiles print it
NO_NETWORK = re.compile(
    rb"NewConnectionError|ConnectTimeout|ConnectionRefused|name resolution|Name or service not known|Network is unreachable"
    rb"|ProxyError|Failed to establish a new connection|nodename nor servname|Connection refused|No route to host"
)
NO_MEMORY = re.compile(rb"[Kk]illed signal terminated program|virtual memory exhausted|out of memory")
POLL = 1  # seconds
LINE_EVERY = 30  # seconds
# A shell script that runs a command, and beside it a process that reads a pipe from us. When the pipe is closed, at the
# latest by our own end, this process terminates the command and everything that the command has started.
GUARDED = 'exec 3<&0 </dev/null; (read line <&3; kill -TERM 0) & exec 3<&-; exec "$@"'


class Console:
    """Runs commands, with their output in a log file, and prints a line when a step begins, every 30 seconds, and at its end."""

    def __init__(self, log: str, stream: TextIO | None = None) -> None:
        self.log = log
        self.stream = stream or sys.stdout
        self.label: str | None = None

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def waits(self) -> None:
        self.say("Waiting for another setup ...")

    def step(self, label: str) -> None:
        """Begin a step, ending the previous one."""
        self.done()
        self.label, self.began = label, time.monotonic()
        self.next_line = self.began + LINE_EVERY / 2
        self.say(label)

    def done(self) -> None:
        if self.label is not None:
            self.say("%s: done in %s" % (self.label, duration(time.monotonic() - self.began)))
        self.label = None

    def run(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        failure: str = "a command failed",
    ) -> None:
        """Run a command. If it fails, raises InputError with the text `failure` and, if known, the reason."""
        with open(self.log, "ab") as log:
            log.write(b"\n$ " + b" ".join(map(os.fsencode, command)) + b"\n")
            log.flush()
            start = log.tell()
            # The command has a session of its own, so Ctrl-C only reaches this process, which then ends the command.
            process = subprocess.Popen(
                ["/bin/sh", "-c", GUARDED, "sh", *command], stdin=subprocess.PIPE, stdout=log, stderr=log, env=env, cwd=cwd,
                start_new_session=True,
            )  # fmt: skip
            try:
                while process.poll() is None:
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(POLL)
                    self._progress(start)
            except BaseException:
                end(process)
                raise
            finally:
                if process.stdin:
                    process.stdin.close()
        if process.returncode:
            raise InputError(self._reason(start, failure))

    def _output(self, start: int) -> bytes:
        with open(self.log, "rb") as log:
            log.seek(start)
            return log.read()

    def _reason(self, start: int, failure: str) -> str:
        output = self._output(start)
        if NO_NETWORK.search(output):
            return "%s: no network, or the Python package index is unreachable; the full output is in %s." % (failure, self.log)
        if NO_MEMORY.search(output):
            return (
                "%s: out of memory, try again with `make setup JOBS=1` or `mh4 install-dynet --jobs 1`; the full output is in %s."
                % (failure, self.log)
            )
        errors = re.findall(
            r"^.*(?:[Ee]rror|ERROR|exec): (?!subprocess-exited).*$", output.decode(errors="replace"), re.MULTILINE
        )
        first = " (%s)" % errors[0].strip()[:300] if errors else ""
        return "%s%s; the full output is in %s." % (failure, first, self.log)

    def _progress(self, start: int) -> None:
        now = time.monotonic()
        if self.label is not None and now >= self.next_line:
            self.next_line += LINE_EVERY
            found = PERCENT.findall(self._output(start))
            self.say("  ... " + duration(now - self.began) + (", %d %%" % int(found[-1]) if found else ""))


def end(process: "subprocess.Popen[bytes]") -> None:
    """Terminate a command and everything it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(OSError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(5)


def duration(seconds: float) -> str:
    return "%.1f s" % seconds if seconds < 10 else "%d:%02d min" % divmod(int(seconds), 60)
