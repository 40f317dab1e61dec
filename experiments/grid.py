"""Trains many models, a few at a time, each as a child process, and shows how they come along.

What a run leaves in its folder (``mh4 train`` writes it) is all there is to know about it: ``summary.json`` when it is finished, a line
of ``metrics.jsonl`` for each evaluation so far. What the child prints goes to ``train.log`` there.
"""

import fcntl
import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Sequence

from rich.console import Console
from rich.live import Live
from rich.table import Table

from report import duration

POLL_SECONDS = 0.2
REPORT_SECONDS = 60.0  # without a terminal: at most one line per run and minute
STOP_SECONDS = 10.0  # what an interrupted child has to end by itself
LOG_LINES = 8  # of a failed run's log that are shown
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}

WAITING, TRAINING, DONE, FAILED = "waiting", "training", "done", "failed"


class Stopped(Exception):
    """The user asked to stop (Ctrl-C, or a signal to end); the children have ended."""


@dataclass
class Run:
    """One training: a system, a seed, the model folder, the command line that trains it, and where, if not where all are."""

    system: str
    seed: int
    folder: Path
    command: List[str]
    cwd: Optional[Path] = None
    state: str = WAITING
    process: Optional[subprocess.Popen] = None
    started: float = 0.0
    seconds: float = 0.0
    log_start: int = 0
    metrics: dict = field(default_factory=dict)  # the last evaluation
    failure: str = ""

    @property
    def name(self) -> str:
        return "%s seed %d" % (self.system, self.seed)

    @property
    def log(self) -> Path:
        return self.folder / "train.log"

    def summary(self) -> Optional[dict]:
        """What the finished training wrote, or None while it is not finished."""
        summary = read_json(self.folder / "summary.json")
        return summary if summary.get("finished") is True else None

    def read_metrics(self) -> bool:
        """Takes note of the last evaluation; True if it is a new one."""
        metrics = (self.evaluations() or [self.metrics])[-1]
        new = metrics != self.metrics
        self.metrics = metrics
        return new

    def evaluations(self) -> List[dict]:
        """What the evaluations so far found."""
        try:
            lines = (self.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        except OSError:
            return []
        return [json.loads(line) for line in lines if line.endswith("\n")]  # the last may still be being written


def train_all(
    runs: Sequence[Run],
    jobs: int,
    on_start: Callable[[Run], None],
    on_done: Callable[[Run], None],
    console: Console,
    cwd: Path,
    environment: Dict[str, str],
) -> None:
    """Trains every waiting run, `jobs` at a time, and calls `on_start` and `on_done` around each.

    Afterwards each run is done or failed (then `failure` says why); one that fails does not stop the others.
    Raises Stopped, with every child ended, if the user interrupts.
    """
    show = _Live(runs, console) if console.is_terminal and not console.is_dumb_terminal else _Lines(runs, console, cwd)
    with _ending_signals_interrupt(), show:
        try:
            while any(run.state in (WAITING, TRAINING) for run in runs):
                for run in runs:
                    if run.state == WAITING and sum(other.state == TRAINING for other in runs) < jobs:
                        on_start(run)
                        with _signals_wait():  # or a child that has just been started would be left behind
                            _start(run, cwd, environment)
                        show.changed(run)
                    elif run.state == TRAINING:
                        run.seconds = time.monotonic() - run.started
                        code = run.process.poll()
                        if run.read_metrics():
                            show.evaluated(run)
                        if code is not None:
                            _finish(run, code)
                            if run.state == DONE:
                                on_done(run)
                            show.changed(run)
                show.refresh()
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            raise Stopped from None
        finally:
            _stop([run for run in runs if run.state == TRAINING])


def _start(run: Run, cwd: Path, environment: Dict[str, str]) -> None:
    run.folder.mkdir(parents=True, exist_ok=True)
    run.started = time.monotonic()
    log = open(run.log, "ab")
    with log:
        try:
            # The child inherits the lock, so it holds even when this process dies before the child.
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            run.state, run.failure = FAILED, "another process is training it now"
            return
        run.log_start = log.seek(0, os.SEEK_END)
        log.write(("%s  %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), " ".join(run.command))).encode("utf-8"))
        log.flush()
        # Its own session: Ctrl-C reaches the children through us, once and in order.
        run.process = subprocess.Popen(
            run.command,
            cwd=str(run.cwd or cwd),
            env={**environment, **ONE_THREAD},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    run.state = TRAINING


def _finish(run: Run, code: int) -> None:
    if code == 0 and run.summary() is not None:
        run.state = DONE
        return
    run.state = FAILED
    if code == 0:
        run.failure = "ended without finishing its training"
    elif code < 0:
        run.failure = "was ended by signal %d%s" % (-code, " (out of memory?)" if code == -signal.SIGKILL else "")
    else:
        run.failure = "ended with exit code %d" % code


def log_tail(run: Run) -> List[str]:
    """The last lines that the run's child printed, without empty ones."""
    try:
        with open(run.log, "rb") as log:
            log.seek(run.log_start)
            lines = log.read().decode("utf-8", errors="replace").splitlines()[1:]  # the first is ours
    except OSError:
        return []
    return [line for line in lines if line.strip()][-LOG_LINES:]


def _stop(running: Sequence[Run]) -> None:
    """Interrupts the children, waits for them, and kills what is left (at once on a second Ctrl-C)."""
    _signal(running, signal.SIGINT)
    deadline = time.monotonic() + STOP_SECONDS
    try:
        while any(run.process.poll() is None for run in running) and time.monotonic() < deadline:
            time.sleep(0.05)
    except KeyboardInterrupt:
        pass
    _signal(running, signal.SIGKILL)
    for run in running:
        run.process.wait()
        run.state = WAITING


def _signal(running: Sequence[Run], number: int) -> None:
    for run in running:
        if run.process.poll() is None:
            try:
                os.killpg(run.process.pid, number)
            except ProcessLookupError:
                pass


@contextmanager
def _ending_signals_interrupt() -> Iterator[None]:
    """A closed terminal or a polite kill stops the grid as Ctrl-C does, and leaves no child behind."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]  # nohup has SIGHUP ignored
    try:
        for number in heard:
            signal.signal(number, interrupt)
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Signals that come meanwhile are heard when the block has ended."""
    came: List[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    heard = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}
    for number in heard:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
    for number in came[:1]:
        os.kill(os.getpid(), number)


class _Lines:
    """Without a terminal: a line when a run starts or ends, and now and then one about its last evaluation."""

    def __init__(self, runs: Sequence[Run], console: Console, cwd: Path) -> None:
        self.console = console
        self.cwd = cwd
        self.reported = {run.name: 0.0 for run in runs}
        self.width = max((len(run.name) for run in runs), default=0)

    def __enter__(self) -> "_Lines":
        return self

    def __exit__(self, *error) -> None:
        pass

    def changed(self, run: Run) -> None:
        if run.state == TRAINING:
            self.reported[run.name] = time.monotonic()
            self._print(run, "training; log in %s" % os.path.relpath(run.log, self.cwd))
        elif run.state == DONE:
            self._print(run, "done in %s: best dev UAS %.2f" % (duration(run.seconds), run.summary()["dev_uas"]))
        else:
            self._print(run, run.failure)

    def evaluated(self, run: Run) -> None:
        now = time.monotonic()
        if now - self.reported[run.name] >= REPORT_SECONDS:
            self.reported[run.name] = now
            self._print(
                run,
                "evaluation %s, epoch %s, %s tokens/s, dev UAS %s, best %s"
                % tuple(_column(run, key) for key in ("evaluation", "epoch", "tokens_per_second", "dev_uas", "best_dev_uas")),
            )

    def refresh(self) -> None:
        pass

    def _print(self, run: Run, text: str) -> None:
        self.console.print("%-*s  %s" % (self.width, run.name, text), markup=False, highlight=False, soft_wrap=True)


class _Live:
    """On a terminal: a table that keeps itself up to date, with as many runs as fit."""

    def __init__(self, runs: Sequence[Run], console: Console) -> None:
        self.runs = runs
        self.console = console
        self.live = Live(console=console, get_renderable=self._table, auto_refresh=False)
        self.next = 0.0

    def __enter__(self) -> "_Live":
        self.live.__enter__()
        return self

    def __exit__(self, *error) -> None:
        self.live.__exit__(*error)

    def changed(self, run: Run) -> None:
        self.next = 0.0

    def evaluated(self, run: Run) -> None:
        self.next = 0.0

    def refresh(self) -> None:
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + 1.0
            self.live.refresh()

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left", caption_style="dim")
        table.add_column("run", no_wrap=True)
        table.add_column("", no_wrap=True)
        for header in ("evaluations", "epoch", "tokens/s", "dev UAS", "best", "time"):
            table.add_column(header, justify="right", no_wrap=True)
        room = max(1, self.console.height - 4)
        shown = self.runs if len(self.runs) <= room else [run for run in self.runs if run.state in (TRAINING, FAILED)][:room]
        for run in shown:
            keys = ("evaluation", "epoch", "tokens_per_second", "dev_uas", "best_dev_uas")
            style = {WAITING: "dim", DONE: "green", FAILED: "red"}.get(run.state)
            time_ = duration(run.seconds) if run.seconds else ""
            table.add_row(run.name, run.state, *[_column(run, key) for key in keys], time_, style=style)
        states = [run.state for run in self.runs]
        counts = ["%d %s" % (states.count(state), state) for state in (DONE, TRAINING, WAITING, FAILED) if state in states]
        table.caption = ", ".join(counts)
        if TRAINING in states:
            table.caption += "; Ctrl-C stops, the same command resumes from there"
        return table


_FORMS = {"evaluation": "%d", "epoch": "%.1f", "tokens_per_second": "%.0f", "dev_uas": "%.2f", "best_dev_uas": "%.2f"}


def _column(run: Run, key: str) -> str:
    value = run.metrics.get(key)
    return _FORMS[key] % value if isinstance(value, (int, float)) else ""


def read_json(path: Path) -> dict:
    """The object in a JSON file; empty if there is none, or not yet a whole one."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
