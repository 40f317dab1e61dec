"""Trains many models, a few at a time, each in a child process; ``progress`` displays their progress."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from subprocess import DEVNULL, Popen

from rich.console import Console

from experiments.engine.progress import display
from experiments.engine.run import DONE, FAILED, TRAINING, WAITING, Run
from mh4.util.files import lock, make_folder
from mh4.util.processes import with_parent

POLL_SECONDS = 0.2
SHOW_SECONDS = 1.0  # between displays
STOP_SECONDS = 10.0  # time for an interrupted child to exit by itself


def train_all(
    runs: Sequence[Run],
    jobs: int,
    on_start: Callable[[Run], None],
    on_done: Callable[[Run], None],
    console: Console,
    environment: dict[str, str],
) -> None:
    """Trains every waiting run, `jobs` at a time, and calls `on_start` and `on_done` around each.

    Afterwards each run is done or failed (with the reason in `failure`); a failed run does not stop the others.
    If the user interrupts, by Ctrl-C or a signal, all children exit first.
    """
    shown = 0.0
    with display(runs, console) as show:
        try:
            while any(run.state in (WAITING, TRAINING) for run in runs):
                for run in _training(runs):
                    code = run.process.poll()
                    run.seconds = time.monotonic() - run.started
                    run.read_metrics()
                    if code is not None:
                        _finish(run, code)
                        if run.state == DONE:
                            on_done(run)
                for run in runs:
                    if run.state == WAITING and len(_training(runs)) < jobs:
                        on_start(run)
                        _start(run, environment)
                if time.monotonic() - shown >= SHOW_SECONDS:
                    shown = time.monotonic()
                    show()
                time.sleep(POLL_SECONDS)
            show()
        finally:
            _stop(_training(runs))


def _training(runs: Sequence[Run]) -> list[Run]:
    """Those that are being trained, each by its process."""
    return [run for run in runs if run.state == TRAINING]


def _start(run: Run, environment: dict[str, str]) -> None:
    """Starts a child to train the run, which has failed if another process is training it."""
    make_folder(run.folder)
    run.started = time.monotonic()
    with open(run.log, "ab") as log:
        if not lock(log.fileno()):  # the child inherits the lock, so it persists even if this process dies before the child
            run.state, run.failure = FAILED, "another process is training it now"
            return
        run.log_start = log.seek(0, os.SEEK_END)
        log.write(os.fsencode("%s  %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), " ".join(run.command))))
        log.flush()
        # A separate session: Ctrl-C reaches the children through us, once and in order.
        run.process = Popen(
            run.command, env=environment, stdin=DEVNULL, stdout=log, stderr=log, start_new_session=True, preexec_fn=with_parent()
        )
    run.state = TRAINING


def _finish(run: Run, code: int) -> None:
    run.exit_code = code
    if code == 0 and run.summary():
        run.state = DONE
        return
    run.state = FAILED
    if code == 0:
        run.failure = "ended without finishing its training"
    elif code < 0:
        run.failure = "was killed by signal %d%s" % (-code, " (out of memory?)" if code == -signal.SIGKILL else "")
    else:
        run.failure = "ended with exit code %d" % code


def _stop(runs: Sequence[Run]) -> None:
    """Interrupts the children, waits for them, and kills those still running (immediately on a second Ctrl-C)."""
    _signal(runs, signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    try:
        while any(run.process.poll() is None for run in runs) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        _signal(runs, signal.SIGKILL)
        for run in runs:
            run.process.wait()
            run.state = WAITING


def _signal(runs: Sequence[Run], number: int) -> None:
    for run in runs:
        if run.process.poll() is None:  # so its number is not another's yet
            os.killpg(run.process.pid, number)
