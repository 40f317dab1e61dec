"""Show progress bars on terminals, and the progress of training also as lines of text for pipes and logs."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from mh4.errors import one_line
from mh4.util import streams
from mh4.util.files import append_line


class Listener:
    """A receiver of training events, such as a progress bar. The base class ignores them."""

    def epoch(self, number: int, words: int, done: int) -> None:
        """Epoch `number`, counted from 1, begins or resumes: `done` of its `words` words have been trained on."""

    def learning(self, words: int) -> None:
        """An update begins that may take long, as a sentence has `words` words."""

    def update(self, words: int, loss: float) -> None:
        """An update on a minibatch of `words` words has been made; `loss` is its loss per word."""

    def evaluating(self, words: int) -> None:
        """Another `words` words of dev have been parsed."""

    def evaluation(self, metrics: dict[str, Any]) -> None:
        """Dev has been parsed; `metrics` is the line written to metrics.jsonl."""


class _Speed(ProgressColumn):
    """The recent speed or, for tasks with `average`, the average speed, as words come in bursts when written."""

    def render(self, task: Task) -> Text:
        speed = task.completed / task.elapsed if task.fields.get("average") and task.elapsed else task.speed
        return Text("%d tokens/s" % speed if speed else "", no_wrap=True)


def console() -> Console:
    """Return a console on standard error. It ignores FORCE_COLOR and TTY_COMPATIBLE, as standard error may be a log."""
    return Console(stderr=True, highlight=False, force_terminal=sys.stderr.isatty())


def words_bar(hidden: bool = False) -> Progress:
    """Return a progress bar on standard error that counts words, in one line; hidden if that is not a terminal."""
    shown_on = console()
    return Progress(
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=None, table_column=Column(ratio=1, max_width=40)),  # fills the rest of the line
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        _Speed(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True)),
        console=shown_on,
        disable=hidden or not shown_on.is_terminal,
        transient=True,
    )


@contextmanager
def counting(doing: str, total: int | None = None, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a bar that counts words during the block; yield a function to call with each number of words done."""
    with words_bar(hidden) as bar:
        yield partial(bar.advance, bar.add_task(doing, total=total, note="", average=True))


class TrainingProgress(Listener):
    """Shows a line for every evaluation and, on a terminal, a bar for the epoch.

    The bar has words, time left, tokens per second, loss and dev score. The lines go to standard error unless `quiet`,
    and, with the time, to the end of the file `log`, if given.
    """

    def __init__(self, log: str | None = None, quiet: bool = False) -> None:
        self._log, self._quiet = log, quiet
        self._bar = words_bar(quiet)
        self._task = self._bar.add_task("preparing", total=None, note="")
        self._begun = False
        self._loss: float | None = None
        self._scores = ""

    def __enter__(self) -> "TrainingProgress":
        self._bar.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self._bar.stop()
        if self._log and self._begun:
            if error is None:
                append_line(self._log, _timed("training has finished: %s" % self._scores))
            else:
                why = one_line(str(error)) if isinstance(error, Exception) else "interrupted"
                with suppress(Exception):  # the error that ended training matters more
                    append_line(self._log, _timed("training stops: %s" % why))

    def say(self, line: str) -> None:
        """Show a line of progress, and add it to the log."""
        if self._log:
            append_line(self._log, _timed(line))
        if self._bar.disable and not self._quiet:
            streams.tell(line)
        elif not self._quiet:
            self._bar.console.print(line, soft_wrap=True)

    def epoch(self, number: int, words: int, done: int) -> None:
        if not self._begun:
            self._begun = True
            self.say("training %s in epoch %d (%d words)" % ("resumes" if done or number > 1 else "begins", number, words))
        self._bar.reset(self._task, description="epoch %d" % number, total=words, completed=done)

    def learning(self, words: int) -> None:
        self.say("learning a sentence of %d words, which may take minutes" % words)

    def update(self, words: int, loss: float) -> None:
        self._loss = loss if self._loss is None else 0.98 * self._loss + 0.02 * loss  # a running mean
        self._bar.update(self._task, advance=words, note="loss %.3f  %s" % (self._loss, self._scores))

    def evaluating(self, words: int) -> None:
        self._bar.update(self._task, note="parsing dev  %s" % self._scores)

    def evaluation(self, metrics: dict[str, Any]) -> None:
        self._scores = "dev UAS %.2f (best %.2f)" % (metrics["dev_uas"], metrics["best_dev_uas"])
        self.say(
            "evaluation %(evaluation)d  epoch %(epoch).1f  loss %(loss).3f  dev UAS %(dev_uas).2f  LAS %(dev_las).2f  "
            "best %(best_dev_uas).2f" % metrics
        )


def _timed(line: str) -> str:
    return "%s  %s" % (datetime.now().astimezone().isoformat(timespec="seconds"), line)
