"""Progress bars, shown only on a terminal."""

import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class Listener:
    """Receives training events, as a progress bar does. The base class ignores them."""

    def epoch(self, number: int, words: int, done: int) -> None:
        """Epoch `number`, counted from 1, begins or resumes: `done` of its `words` words have been trained on."""

    def update(self, words: int, loss: float) -> None:
        """An update on a minibatch of `words` words has been made; `loss` is its loss per word."""

    def evaluating(self, words: int) -> None:
        """Another `words` words of dev have been parsed."""

    def evaluation(self, metrics: dict[str, Any]) -> None:
        """Dev has been parsed; `metrics` is the line written to metrics.jsonl."""


class _Speed(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("%d tokens/s" % task.speed if task.speed else "")


def console() -> Console:
    """Standard error. It is a terminal if it really is one, whatever FORCE_COLOR and TTY_COMPATIBLE say: it may be a log."""
    return Console(stderr=True, highlight=False, force_terminal=sys.stderr.isatty())


def words_bar(hidden: bool = False) -> Progress:
    """A progress bar on standard error that counts words; also hidden if that is not a terminal."""
    shown_on = console()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        _Speed(),
        TextColumn("{task.fields[note]}"),
        console=shown_on,
        disable=hidden or not shown_on.is_terminal,
        transient=True,
    )


class TrainingProgress(Listener):
    """A bar for the epoch (words, time left, tokens per second, loss, dev score) and a line for every evaluation."""

    def __init__(self) -> None:
        self._bar = words_bar()
        self._task = self._bar.add_task("preparing", total=None, note="")
        self._loss: float | None = None
        self._scores = ""

    def __enter__(self) -> "TrainingProgress":
        self._bar.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.stop()

    def epoch(self, number: int, words: int, done: int) -> None:
        self._bar.reset(self._task, description="epoch %d" % number, total=words, completed=done)

    def update(self, words: int, loss: float) -> None:
        self._loss = loss if self._loss is None else 0.98 * self._loss + 0.02 * loss  # a running mean
        self._bar.update(self._task, advance=words, note="loss %.3f  %s" % (self._loss, self._scores))

    def evaluating(self, words: int) -> None:
        self._bar.update(self._task, note="parsing dev  %s" % self._scores)

    def evaluation(self, metrics: dict[str, Any]) -> None:
        self._scores = "dev UAS %.2f (best %.2f)" % (metrics["dev_uas"], metrics["best_dev_uas"])
        if not self._bar.disable:
            self._bar.console.print(
                "evaluation %(evaluation)d  epoch %(epoch).1f  loss %(loss).3f  dev UAS %(dev_uas).2f  LAS %(dev_las).2f  "
                "best UAS %(best_dev_uas).2f" % metrics
            )
