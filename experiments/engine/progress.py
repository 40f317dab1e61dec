"""Print the progress of runs and, at the end, the failed runs."""

import os
import time
from collections.abc import Callable, Sequence

from rich.console import Console

from experiments.engine.run import DONE, FAILED, TRAINING, Run, duration
from experiments.engine.workplace import shown
from mh4.errors import one_line

REPORT_SECONDS = 60.0  # between printed lines of a run's log


def display(runs: Sequence[Run], console: Console) -> Callable[[], None]:
    """Return a function that prints a line for each run that has started or ended since the last call.

    At intervals, it also prints the last line of the log of each run in training.
    """
    printed = {run.folder: (run.state, "", 0.0) for run in runs}  # state, text and time of the last line
    width = max((len(run.name) for run in runs), default=0)

    def show() -> None:
        now = time.monotonic()
        for run in runs:
            state, before, when = printed[run.folder]
            text = before
            if run.state != state:
                text = described(run)
            elif run.state == TRAINING and now - when >= REPORT_SECONDS:
                text = one_line([before, *run.log_tail()][-1])
            if text != before:
                printed[run.folder] = run.state, text, now
                console.print("%-*s  %s" % (width, run.name, text), soft_wrap=True)

    return show


def described(run: Run) -> str:
    """Describe the state of a run that has started."""
    if run.state == TRAINING:
        return "training; log in %s" % os.path.relpath(run.log)
    if run.state == DONE:
        return "done in %s: best dev UAS %.2f" % (duration(run.seconds), run.dev_uas)
    return run.failure


def failures(runs: Sequence[Run], console: Console) -> int:
    """Print the runs that failed; return 1 if there are any, otherwise 0."""
    failed = [run for run in runs if run.state == FAILED]
    for run in failed:
        console.print("%s failed: %s (%s)" % (run.name, run.failure, shown(run.log)), style="red", soft_wrap=True)
        for line in run.log_tail():
            console.print("    " + one_line(line), soft_wrap=True)
        if run.exit_code == 2:
            console.print("    (if it cannot be resumed, delete %s to train it again)" % shown(run.folder), soft_wrap=True)
    return 1 if failed else 0
