"""Display the progress while a corpus is parsed: live on a terminal, and elsewhere as a line from time to time."""

import time
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from mh4.corpus.cutting import Shard
from mh4.corpus.folder import Corpus
from mh4.errors import counted, one_line
from mh4.parser.writing import Written
from mh4.util.progress import console

EVERY = 30  # seconds between lines


class Display:
    """Counts what is done and displays it. Prints failures and warnings as lines; with `quiet`, only failures.

    total: the size of all files in bytes.
    """

    def __init__(self, corpus: Corpus, total: int, quiet: bool) -> None:
        self.corpus, self.total, self.quiet = corpus, total, quiet
        self.shards = self.bytes = self.failures = self.workers = self.rejects = 0
        self.written = Written()
        self._new_words = self._new_bytes = 0
        self._problems: set[str] = set()
        self._warnings: set[str] = set()  # already printed
        self._start = self._said = time.monotonic()
        self._console = console()
        # This shows something on a terminal only.
        self._live = nullcontext() if quiet else Live(console=self._console, transient=True, get_renderable=self._shown)

    def __enter__(self) -> "Display":
        self._live.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._live.__exit__(*exception)

    def found(self, shard: Shard, record: dict[str, Any]) -> None:
        """Count a shard that was done before."""
        self.shards += 1
        self.written.sentences += record["parsed_sentences"]
        self.written.words += record["parsed_words"]
        self.written.noted.update(record["fallbacks"])
        self.bytes += shard.length
        self.rejects += record["rejects"]

    def done(self, shard: Shard, record: dict[str, Any]) -> None:
        """Count a shard that has been parsed now, and print its new warnings."""
        self.found(shard, record)
        self._new_words += record["parsed_words"]
        self._new_bytes += shard.length
        for warning in record["warnings"]:
            if not self.quiet and warning not in self._warnings:
                self._warnings.add(warning)
                self.say(warning)

    def failed(self, shard: Shard, reason: str, last: bool) -> None:
        """Print that a shard has failed. last: whether it will not be tried again, which makes it a failure."""
        self.failures += last
        if last or not self.quiet:
            where = self.corpus.inputs[shard.file].given, shard.number, "failed" if last else "is tried again"
            self.say("%s, shard %d, %s: %s (log: %s)" % (*where, reason, self.corpus.file(shard, "log")))

    def problem(self, message: str) -> None:
        """Print and count another failure, such as a file that cannot be read. The same message is printed once."""
        if message not in self._problems:
            self._problems.add(message)
            self.failures += 1
            self.say(message)

    def say(self, message: str) -> None:
        """Print a message above the display."""
        self._print("mh4: " + message)

    def _print(self, line: str) -> None:
        self._console.print(Text(one_line(line)), soft_wrap=True)

    def working(self, workers: int) -> None:
        """Set the current number of workers. Called about every second, so this also prints the regular lines."""
        self.workers = workers
        if not (self.quiet or self._console.is_terminal) and time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            self._print(self.line())

    def line(self) -> str:
        """Return the progress so far, as a line."""
        parts = [self._done()]
        seconds = time.monotonic() - self._start
        if self._new_words:
            parts.append(f"{int(self._new_words / seconds):,} words/s")
        if self._new_bytes and self.bytes < self.total:
            left = (self.total - self.bytes) * seconds / self._new_bytes
            parts.append("%s left" % timedelta(seconds=round(left)))
        parts.append("workers: %d" % self.workers if self.workers else "waiting for workers")
        parts.append("failures: %d" % self.failures)
        return ", ".join(parts)

    def summary(self) -> str:
        """Return a summary, at the end."""
        seconds = time.monotonic() - self._start
        said = "%s: %s" % (self.corpus.folder, self._done())
        if self._new_words:
            now = counted(self._new_words, "word", ","), timedelta(seconds=round(seconds)), int(self._new_words / seconds)
            said += "; {} in {} now, {:,} words/s".format(*now)
        return said

    def notes(self) -> list[str]:
        """Return the final messages of `mh4 parse`: the numbers of rejected blocks and of overlong sentences."""
        said = []
        if self.rejects:
            blocks, them = counted(self.rejects, "block"), "it" if self.rejects == 1 else "them, each"
            said.append(
                "mh4: %s set aside, not CoNLL-U: `mh4 corpus join --rejects FILE` writes %s with the reason" % (blocks, them)
            )
        if self.written.noted:
            said.append("mh4: " + self.written.notes())
        return said

    def _done(self) -> str:
        done = (self.shards, "shard"), (self.written.sentences, "sentence"), (self.written.words, "word")
        return ", ".join(counted(*pair, ",") for pair in done)

    def _shown(self) -> Group:
        bar = ProgressBar(total=self.total, completed=self.bytes, width=40)  # the bar does not end its line
        return Group(bar, Text("\n" + self.line()))
