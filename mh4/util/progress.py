"""Progress bars, shown only on a terminal, and the progress of training, also as lines of text for pipes and logs."""

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
        """An update begins with a sentence of so many words that it may take long."""

    def update(self, words: int, loss: float) -> None:
        """An update on a minibatch of `words` words has been made; `loss` is its loss per word."""

    def evaluating(self, words: int) -> None:
        """Another `words` words of dev have been parsed."""

    def evaluation(self, metrics: dict[str, Any]) -> None:
        """Dev has been parsed; `metrics` is the line written to metrics.jsonl."""


class _Speed(ProgressColumn):
    """The speed of late or, as words come in bursts when they are written, the average."""

    def render(self, task: Task) -> Text:
        speed = task.completed / task.elapsed if task.fields.get("average") and task.elapsed else task.speed
        return Text("%d tokens/s" % speed if speed else "", no_wrap=True)


def console() -> Console:
    """Return a console on standard error, which may be a log, whatever FORCE_COLOR and TTY_COMPATIBLE say."""
    return Console(stderr=True, highlight=False, force_terminal=sys.stderr.isatty())


def words_bar(hidden: bool = False) -> Progress:
    """Return a progress bar on standard error that counts words, in one line; hidden if that is not a terminal."""
    shown_on = console()
    return Progress(
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=None, table_column=Column(ratio=1, max_width=40)),  # which takes the room that the others leave
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        _Speed(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True)),
        console=shown_on,
        disable=hidden or not shown_on.is_terminal,
        transient=True,
    )


@contextmanager
def counting(doing: str, total: int | None = None, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Show such a bar during the block; yield a function to call with each number of words done."""
    with words_bar(hidden) as bar:
        yield partial(bar.advance, bar.add_task(doing, total=total, note="", average=True))


class TrainingProgress(Listener):
    """A line for every evaluation, and on a terminal a bar for the epoch (words, time left, tokens per second, loss, dev score).

    The lines go to standard error unless `quiet`, and, with the time, to the end of the file `log`, if given.
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
                with suppress(Exception):  # the first error matters
                    append_line(self._log, _timed("training stops: %s" % why))

    def say(self, line: str) -> None:
        """A line of progress."""
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
