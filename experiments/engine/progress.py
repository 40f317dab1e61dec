"""Displays the progress of runs, and the failed ones at the end."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from experiments.engine.run import DONE, FAILED, TRAINING, WAITING, Run, duration
from experiments.engine.workplace import shown
from mh4.errors import one_line

REPORT_SECONDS = 60.0  # without a terminal: at most one line per run and minute

_FORMS = {"evaluation": "%d", "epoch": "%.1f", "tokens_per_second": "%.0f", "dev_uas": "%.2f", "best_dev_uas": "%.2f"}


@contextmanager
def display(runs: Sequence[Run], console: Console) -> Iterator[Callable[[], None]]:
    """Display the runs on this console during the block; yield a function that updates the display."""
    if console.is_terminal and not console.is_dumb_terminal:
        with Live(console=console, get_renderable=lambda: table(runs, console), auto_refresh=False) as live:
            yield live.refresh
    else:
        yield _lines(runs, console)


def _lines(runs: Sequence[Run], console: Console) -> Callable[[], None]:
    """Print, without a terminal, a line when a run starts or ends, and sometimes one about its last evaluation."""
    printed = {run.folder: (run.state, run.metrics, 0.0) for run in runs}  # and when
    width = max((len(run.name) for run in runs), default=0)

    def show() -> None:
        now = time.monotonic()
        for run in runs:
            state, metrics, before = printed[run.folder]
            if run.state == state and (run.metrics == metrics or now - before < REPORT_SECONDS):
                continue
            printed[run.folder] = run.state, run.metrics, now
            if run.state == state:
                numbers = tuple(_number(run, key) for key in _FORMS)
                text = "evaluation %s, epoch %s, %s tokens/s, dev UAS %s, best %s" % numbers
            elif run.state == TRAINING:
                text = "training; log in %s" % os.path.relpath(run.log)
            elif run.state == DONE:
                text = "done in %s: best dev UAS %.2f" % (duration(run.seconds), run.dev_uas)
            else:
                text = run.failure
            console.print("%-*s  %s" % (width, run.name, text), soft_wrap=True)

    return show


def table(runs: Sequence[Run], console: Console) -> Table:
    """Make a table for a terminal, with as many runs as fit."""
    drawn = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left", caption_style="dim")
    drawn.add_column("run", no_wrap=True)
    drawn.add_column("", no_wrap=True)
    for header in ("evaluations", "epoch", "tokens/s", "dev UAS", "best", "time"):
        drawn.add_column(header, justify="right", no_wrap=True)
    room = max(1, console.height - 4)
    fitting = runs if len(runs) <= room else [run for run in runs if run.state in (TRAINING, FAILED)][:room]
    for run in fitting:
        style = {WAITING: "dim", DONE: "green", FAILED: "red"}.get(run.state)
        time_ = duration(run.seconds) if run.seconds else ""
        drawn.add_row(run.name, run.state, *[_number(run, key) for key in _FORMS], time_, style=style)
    states = [run.state for run in runs]
    counts = ["%d %s" % (states.count(state), state) for state in (DONE, TRAINING, WAITING, FAILED) if state in states]
    drawn.caption = ", ".join(counts)
    if TRAINING in states:
        drawn.caption += "; Ctrl-C stops, the same command resumes"
    return drawn


def _number(run: Run, key: str) -> str:
    value = run.metrics.get(key)
    return _FORMS[key] % value if isinstance(value, (int, float)) else ""


def failures(runs: Sequence[Run], console: Console) -> int:
    """Report the runs that failed; return 1 if there are any, otherwise 0."""
    failed = [run for run in runs if run.state == FAILED]
    for run in failed:
        console.print("%s failed: %s (%s)" % (run.name, run.failure, shown(run.log)), style="red", soft_wrap=True)
        for line in run.log_tail():
            console.print("    " + one_line(line), soft_wrap=True)
        if run.exit_code == 2:
            console.print("    (if it cannot be resumed, delete %s to train it again)" % shown(run.folder), soft_wrap=True)
    return 1 if failed else 0
