"""Run commands of mh4 in child processes that are forked, since starting a new process takes seconds."""

import io
import os
import re
import resource
import signal
import sys
import tempfile
import traceback
from dataclasses import dataclass

from mh4.cli import main

SECONDS = 30  # of processor time, which does not depend on other load of the machine
MEMORY = 8 << 30  # more than any command here needs

# Messages on standard error that commands may print when they succeed.
NOTES = re.compile(" written to |; its parse is empty|: the model was trained on it, ")


@dataclass(frozen=True)
class Outcome:
    """code: the exit code, negative for a signal. seconds: of processor time."""

    code: int
    stdout: bytes
    stderr: str
    seconds: float

    def complaint(self) -> str:
        """Return what is wrong with the end of the command, or an empty string.

        A command that fails must explain this in one line. A command that succeeds may only print NOTES.
        """
        if self.code == -signal.SIGXCPU:
            return "ran for more than %d s" % SECONDS
        if self.code not in (0, 2):
            return "exit code %d: %s" % (self.code, self.stderr[-600:])
        if "Traceback" in self.stderr:
            return "traceback: " + self.stderr[-600:]
        lines = [line for line in self.stderr.splitlines() if self.code or not NOTES.search(line)]
        if self.code == 2 and not (len(lines) == 1 and lines[0].startswith("mh4: ") and len(lines[0]) < 2000):
            return "message of %d lines: %s" % (len(lines), self.stderr[:600])
        if self.code == 0 and lines:
            return "succeeded with a message: " + self.stderr[:600]
        return ""


def run(
    *arguments: str,
    stdin: bytes | int = b"",
    stdout: int | None = None,
    unbuffered: bool = False,
    memory: int = MEMORY,
    file_size: int = resource.RLIM_INFINITY,
) -> Outcome:
    """Run `mh4 arguments`, with these bytes, or this file descriptor, as standard input.

    stdout: a file descriptor for standard output, which then is not in the outcome. unbuffered: as with
    PYTHONUNBUFFERED=1. memory: the limit on address space in bytes. file_size: the limit on the size of files in bytes.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin if isinstance(stdin, bytes) else b"")
        given.seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        start = _processor_time()
        child = os.fork()
        if child == 0:
            source = given.fileno() if isinstance(stdin, bytes) else stdin
            target = out.fileno() if stdout is None else stdout
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, resource.RLIM_INFINITY))
            _work(arguments, memory, unbuffered, source, target, err.fileno())
        _, status = os.waitpid(child, 0)
        seconds = _processor_time() - start
        out.seek(0)
        err.seek(0)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return Outcome(code, out.read(), err.read().decode("utf-8", "replace"), seconds)


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _work(arguments: tuple[str, ...], memory: int, unbuffered: bool, stdin: int, stdout: int, stderr: int) -> None:
    """Run the command in the child process; never return."""
    code = 1
    try:
        for number, descriptor in enumerate((stdin, stdout, stderr)):
            os.dup2(descriptor, number)
        os.closerange(3, 1024)  # including the other ends of pipes
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout, sys.stderr = (_opened(number, unbuffered) for number in (1, 2))
        # Processor time of this process begins at zero.
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(40 * SECONDS)  # if it waits for something
        main(list(arguments), prog_name="mh4")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _opened(number: int, unbuffered: bool) -> io.TextIOWrapper:
    """Return standard output or error as the interpreter makes it."""
    raw = io.FileIO(number, "w", closefd=False)
    binary = raw if unbuffered else io.BufferedWriter(raw)
    return io.TextIOWrapper(binary, encoding="utf-8", write_through=unbuffered, line_buffering=number == 2)  # type: ignore[arg-type]
