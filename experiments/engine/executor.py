"""Make runs by executors as in ``concurrent.futures``: in child processes here, or in jobs on a Slurm cluster."""

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from experiments.engine.run import Run
from experiments.engine.workplace import EXPERIMENTS
from mh4.cli.group import say
from mh4.errors import InputError
from mh4.util.files import lock, make_folder
from mh4.util.processes import with_parent

POLL_SECONDS = 0.5
LOCK_SECONDS = 0.1  # between attempts to lock a file
RETRIES = 2  # of a call that fails in a job

_children: set[Popen] = set()
_guard, _stopping = threading.Lock(), threading.Event()


class Failed(Exception):
    """A run has failed. args: the reason, and the exit code of the process or None."""


@dataclass(frozen=True)
class Jobs:
    """The number of parallel runs, 0 for all. slurm: options of sbatch; empty for this machine."""

    number: int
    slurm: str = ""


@dataclass(frozen=True)
class Workers:
    """An executor of calls; wait for them with `ended`.

    keep: a function that replaces ended jobs and returns messages to print. killed: the exceptions of calls whose jobs
    were killed. local: whether calls are made on this machine, where no other process works on the same runs.
    """

    executor: Executor
    keep: Callable[[], list[str]] = list
    killed: tuple[type[BaseException], ...] = ()
    local: bool = True

    def ended(self, calls: Collection[Future]) -> set[Future]:
        """Wait at most POLL_SECONDS for a call to end; return the calls that have ended."""
        for message in self.keep():
            say(message, err=True)
        return wait(calls, POLL_SECONDS, FIRST_COMPLETED).done


@contextmanager
def workers(home: Path, jobs: Jobs, calls: int) -> Iterator[Workers]:
    """Start workers for some calls, which end with the block: Slurm jobs, or threads that each wait for a child process.

    Raises InputError if jobs cannot be submitted.
    """
    number = min(jobs.number or calls, calls)
    if jobs.slurm:
        from mh4.corpus.clusters import connected

        logs, path = str(home / "jobs"), str(EXPERIMENTS.parent)
        with connected(number, logs, slurm=jobs.slurm, name="mh4-runs", PYTHONPATH=path) as (client, cluster):
            from distributed import KilledWorker

            assert cluster is not None
            yield Workers(client.get_executor(pure=False, retries=RETRIES), cluster.keep, (KilledWorker,), local=False)
        return
    pool = ThreadPoolExecutor(number)
    try:
        yield Workers(pool)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        with _guard:
            _stopping.set()
            for process in list(_children):  # safe to kill at any time
                process.kill()
        raise
    finally:
        pool.shutdown()
        _stopping.clear()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process is in a block with this lock file. Raises Failed if `workers` is interrupted meanwhile.

    On a file system without locks, there is no protection.
    """
    make_folder(path.parent)
    with open(path, "ab") as file:
        while not lock(file.fileno()):
            if _stopping.wait(LOCK_SECONDS):  # no signal reaches a thread that waits in flock
                raise Failed("stopped", None)
        yield


@contextmanager
def child(command: Sequence[str], environment: dict[str, str], **options: Any) -> Iterator[Popen]:
    """Start a child process. It is killed if this process ends, if the block fails, or if `workers` is interrupted."""
    with _guard:
        if _stopping.is_set():
            raise Failed("stopped", None)
        # A new session: Ctrl-C reaches the child only through this process, once and in order.
        process = Popen(command, env=environment, stdin=DEVNULL, start_new_session=True, preexec_fn=with_parent(), **options)
        _children.add(process)
    try:
        with process:
            try:
                yield process
            except BaseException:
                process.kill()
                raise
    finally:
        _children.discard(process)


def train(run: Run, environment: dict[str, str], waits: bool, begun: Callable[[], None]) -> None:
    """Train a run in a child process. Raises Failed.

    begun: called before that, unless another process is training the run. waits: whether to wait, not to fail, if one is,
    such as a job that has lost its driver.
    """
    make_folder(run.folder)
    with open(run.log, "ab") as log:
        if not lock(log.fileno(), (lambda: None) if waits else None):
            raise Failed("another process is training it now", None)
        begun()
        log.seek(0, os.SEEK_END)
        log.write(os.fsencode("%s  %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), shlex.join(run.command))))
        log.flush()
        # The child inherits the lock, so it persists even if this process dies before the child.
        with child(run.command, environment, stdout=log, stderr=log) as process:
            code = process.wait()
    if code == 0 and not run.summary():
        raise Failed("ended without finishing its training", code)
    if code < 0:
        raise Failed("was killed by signal %d%s" % (-code, " (out of memory?)" if code == -signal.SIGKILL else ""), code)
    if code:
        raise Failed("ended with exit code %d" % code, code)


def check_slurm() -> None:
    """Raise InputError if no Slurm cluster answers here."""
    try:
        asked = subprocess.run(["sinfo", "--noheader"], stdout=DEVNULL, stderr=subprocess.PIPE)
    except OSError:
        raise InputError("SLURM: there is no Slurm here (no sinfo); omit it, or use a machine of the cluster") from None
    if asked.returncode:
        why = (asked.stderr.decode(errors="replace").strip().splitlines() or ["sinfo failed"])[-1]
        raise InputError("SLURM: Slurm does not answer: %s" % why)
