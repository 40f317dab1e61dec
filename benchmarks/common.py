"""Functions for all benchmarks: the measured code and machine, commands, tables, and the processor time of stages."""

import platform
import subprocess
import time
from collections import Counter
from pathlib import Path

import numpy as np

from mh4.util import cpu
from mh4.util.processes import with_parent
from mh4.util.text_tables import Table

ROOT = Path(__file__).resolve().parent.parent


def machine(cores=1):
    """Describe what times depend on, with the number of cores that are used."""
    used = "one core" if cores == 1 else "%d cores" % cores
    return "%s, %s; Python %s, numpy %s" % (cpu.name(), used, platform.python_version(), np.__version__)


def commit(checkout=ROOT):
    """Return the last commit of a checkout, with "+changes" if the measured package, mh4, has been changed since."""
    git = ["git", "-C", str(checkout)]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ":/mh4"]).returncode
    return printed([*git, "log", "-1", "--format=%h"]) + "+changes" * bool(changed)


def printed(command, **options):
    """Return what a command prints. The command ends with this process."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=True, preexec_fn=with_parent(), **options)
    return done.stdout.decode().strip()


def table(header, rows, right=1):
    """Return a Markdown table, with numbers from column `right` on."""
    return Table(list(map(str, header)), [list(map(str, row)) for row in rows], right).markdown()


def rounded(number):
    """Format a number with three digits, or as a whole number; return "" for None."""
    return "" if number is None else "%.3g" % number if number < 1000 else "%.0f" % number


def page(title, script, *paragraphs, cores=1):
    """Print a page: a title, the machine, the command, and paragraphs and tables."""
    print("\n\n".join(["# " + title, machine(cores) + ".", "    .venv/bin/python benchmarks/" + script, *paragraphs]), flush=True)


class Stopwatch:
    """Seconds by stage. While a stage runs within another, only the inner one is timed."""

    def __init__(self):
        self.seconds = Counter()
        self._stages = []
        self._since = 0.0

    def timed(self, stage, function):
        """Return the function, with its time counted for a stage. `stage` may be a function of its arguments."""

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
        now = time.process_time()  # other programs disturb this least
        if self._stages:
            self.seconds[self._stages[-1]] += now - self._since
        self._since = now

    def table(self, stages, per):
        """Return a table of milliseconds and share of each stage. per: the number of minibatches or sentences."""
        taken = {stage: self.seconds[stage] for stage in stages if self.seconds[stage]}
        total = sum(taken.values())
        rows = [[stage, "%.2f" % (1000 * one / per), "%.0f%%" % (100 * one / total)] for stage, one in taken.items()]
        return table(["stage", "ms", "share"], [*rows, ["total", "%.2f" % (1000 * total / per), ""]])
