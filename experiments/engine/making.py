"""Makes many runs by workers, and follows their progress in their files; ``progress`` displays it."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from signal import SIGKILL

from rich.console import Console

from experiments.engine.executor import Failed, Workers, child
from experiments.engine.progress import display
from experiments.engine.run import DONE, FAILED, TRAINING, WAITING, Run
from mh4.errors import InputError
from mh4.util.files import lock, make_folder

SHOW_SECONDS = 1.0  # between displays


def make_all(
    runs: Sequence[Run],
    workers: Workers,
    make: Callable[[Run], Callable[[Run, bool], str]],
    on_done: Callable[[Run, str], None],
    console: Console,
) -> None:
    """Have workers make every waiting run, by the call that `make` returns for it; call `on_done` with its result.

    Afterwards each run is done or failed (with the reason in `failure`); a failed run does not stop the others.
    """
    pending: dict[Future, Run] = {}
    for run in runs:
        if run.state == WAITING:
            run.log_start = run.log.stat().st_size if run.log.exists() else 0
            pending[workers.executor.submit(make(run), run, workers.local)] = run
    shown = 0.0
    with display(runs, console) as show:
        while pending:
            ended = workers.ended(pending)
            for run in pending.values():
                _follow(run)
            for future in ended:
                run = pending.pop(future)
                _finish(run, future, workers)
                if run.state == DONE:
                    on_done(run, future.result())
            if time.monotonic() - shown >= SHOW_SECONDS:
                shown = time.monotonic()
                show()
        show()


def train(run: Run, environment: dict[str, str], waits: bool) -> None:
    """Train a run in a child process. Raises Failed.

    waits: whether to wait for another process that trains it, such as a job that has lost its driver, or to fail.
    """
    make_folder(run.folder)
    with open(run.log, "ab") as log:
        if not lock(log.fileno(), (lambda: None) if waits else None):
            raise Failed("another process is training it now", None)
        log.seek(0, os.SEEK_END)
        log.write(os.fsencode("%s  %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), " ".join(run.command))))
        log.flush()
        # The child inherits the lock, so it persists even if this process dies before the child.
        with child(run.command, environment, stdout=log, stderr=log) as process:
            code = process.wait()
    if code == 0 and not run.summary():
        raise Failed("ended without finishing its training", code)
    if code < 0:
        raise Failed("was killed by signal %d%s" % (-code, " (out of memory?)" if code == -SIGKILL else ""), code)
    if code:
        raise Failed("ended with exit code %d" % code, code)


def _follow(run: Run) -> None:
    """Update the state of a run from its files, as it may be made on another machine."""
    if run.state == WAITING and run.log.exists() and run.log.stat().st_size > run.log_start:
        run.state, run.started = TRAINING, time.monotonic()
    if run.state == TRAINING:
        run.seconds = time.monotonic() - run.started
        run.read_metrics()


def _finish(run: Run, future: Future, workers: Workers) -> None:
    """Update the state of a run from the end of its call."""
    run.read_metrics()
    error = future.exception()
    run.state = FAILED if error else DONE
    if isinstance(error, Failed):
        run.failure, run.exit_code = error.args
    elif isinstance(error, workers.killed):
        run.failure = "its jobs were killed again and again"
    elif isinstance(error, InputError):
        run.failure = str(error)
    elif error:
        raise error
