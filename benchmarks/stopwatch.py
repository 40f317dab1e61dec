"""The stages of a program timed by processor time, which other programs disturb least."""

import time
from collections import Counter


class Stopwatch:
    """Seconds by stage. While a stage runs within another, only the inner one is timed."""

    def __init__(self):
        self.seconds = Counter()
        self._stages = []
        self._since = 0.0

    def timed(self, stage, function):
        """The function, with its time counted for a stage; `stage` may be a function of its arguments."""

        def call(*arguments, **options):
            self._change()
            self._stages.append(stage(*arguments, **options) if callable(stage) else stage)
            try:
                return function(*arguments, **options)
            finally:
                self._change()
                self._stages.pop()

        return call

    def _change(self):
        now = time.process_time()
        if self._stages:
            self.seconds[self._stages[-1]] += now - self._since
        self._since = now

    def table(self, stages, per):
        """Markdown: milliseconds and share of each stage; `per` is the number of minibatches or sentences."""
        total = sum(self.seconds[stage] for stage in stages)
        lines = ["| stage | ms | share |", "|---|--:|--:|"]
        for stage in stages:
            if self.seconds[stage]:
                seconds = self.seconds[stage]
                lines.append("| %s | %.2f | %.0f%% |" % (stage, 1000 * seconds / per, 100 * seconds / total))
        lines.append("| total | %.2f | |" % (1000 * total / per))
        return "\n".join(lines)
