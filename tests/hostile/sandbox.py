"""Commands of mh4 in child processes that are forked rather than started, as starting takes seconds."""

import os
import resource
import signal
import sys
import tempfile
import traceback
from dataclasses import dataclass

from mh4.cli import main

SECONDS = 30  # of processor time, which does not depend on what else the machine does
MEMORY = 8 << 30  # more than any command here needs


@dataclass(frozen=True)
class Outcome:
    """code: the exit code, negative for a signal. seconds: of processor time."""

    code: int
    stdout: bytes
    stderr: str
    seconds: float

    def complaint(self) -> str:
        """What is wrong with the way the command ended, or an empty string: it succeeds quietly or explains itself in a line."""
        if self.code == -signal.SIGXCPU:
            return "ran for more than %d s" % SECONDS
        if self.code not in (0, 2):
            return "exit code %d: %s" % (self.code, self.stderr[-600:])
        if "Traceback" in self.stderr:
            return "traceback: " + self.stderr[-600:]
        lines = self.stderr.splitlines()
        if self.code == 2 and not (len(lines) == 1 and lines[0].startswith("mh4: ") and len(lines[0]) < 2000):
            return "message of %d lines: %s" % (len(lines), self.stderr[:600])
        if self.code == 0 and lines:
            return "succeeded with a message: " + self.stderr[:600]
        return ""


def run(*arguments: str, stdin: bytes = b"", memory: int = MEMORY) -> Outcome:
    """`mh4 arguments`, with these bytes as standard input, and so many bytes of address space."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        sys.stdout.flush()
        sys.stderr.flush()
        start = _processor_time()
        child = os.fork()
        if child == 0:
            _work(arguments, memory, given.fileno(), out.fileno(), err.fileno())
        _, status = os.waitpid(child, 0)
        seconds = _processor_time() - start
        out.seek(0)
        err.seek(0)
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
        return Outcome(code, out.read(), err.read().decode("utf-8", "replace"), seconds)


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _work(arguments: tuple[str, ...], memory: int, stdin: int, stdout: int, stderr: int) -> None:
    """The child process, which never returns."""
    code = 1
    try:
        for number, descriptor in enumerate((stdin, stdout, stderr)):
            os.dup2(descriptor, number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)
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
