"""What Python's limited API, with which one wheel would do for all Pythons, would cost the decoders.

    MH4_CFLAGS=-DPy_LIMITED_API=0x030B0000 .venv/bin/python setup.py -q build --build-base build/limited --build-lib build/limited/lib
    .venv/bin/python benchmarks/limited_api.py build/limited/lib [LENGTH ...] >benchmarks/results/limited_api.md

The first command compiles the decoders with the limited API, the second compares them with those of the Python that runs it. They take
turns, in two processes on the same sentences, and the shortest of many times counts, so that other load matters little.
"""

import os
import subprocess
import sys
import time

import decoders
import numpy as np

import mh4
from mh4.dynet_build import cpu
from mh4.util.processes import with_parent

TURNS, SECONDS = 20, 0.01  # of each turn; at least one sentence
LENGTHS = [1, 10, 20, 40]
SLOW = 0.02  # decoders that take longer than this many seconds are left out


def serve(lengths):
    """Time the decoders that are asked for, one a line: its name, the length and how often; answer with the shortest time."""
    kinds = {}
    for n in lengths:
        rng = np.random.default_rng(n)
        kinds[n] = decoders.sentences(n, rng, decoders.tree(rng, n))
    print(os.path.dirname(mh4.__file__), "\t".join(kinds[lengths[0]]), sep="\t", flush=True)
    for line in sys.stdin:
        name, n, times = line.rstrip("\n").split("\t")
        decode, best = kinds[int(n)][name], float("inf")
        for _ in range(int(times)):
            start = time.perf_counter()
            decode()
            best = min(best, time.perf_counter() - start)
        print(best, flush=True)


class Build:
    """The decoders in a folder, in a process of their own."""

    def __init__(self, folder, lengths):
        command = [sys.executable, __file__, "--serve", *map(str, lengths)]
        env = {**os.environ, "PYTHONPATH": folder}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, bufsize=1, env=env, preexec_fn=with_parent(), **pipes)
        found, *self.names = self.process.stdout.readline().rstrip("\n").split("\t")
        if os.path.realpath(found) != os.path.realpath(os.path.join(folder, "mh4")):
            sys.exit("mh4: %s has no mh4" % folder)

    def time(self, name, n, times):
        self.process.stdin.write("%s\t%d\t%d\n" % (name, n, times))
        return float(self.process.stdout.readline())


def main(folder, lengths):
    own, limited = builds = [Build(path, lengths) for path in (os.path.dirname(os.path.dirname(mh4.__file__)), folder)]
    print(
        "# Decoders compiled with Python's limited API\n\n%s, one core.\n\n    python benchmarks/limited_api.py build/limited/lib%s\n\n"
        "Microseconds for a sentence of n words with random scores as compiled for one Python, and how many more with the limited API: "
        "differences of the shortest times.\n" % (cpu.name(), "".join(" %d" % n for n in lengths if lengths != LENGTHS))
    )
    print("| decoder | %s |\n|---|%s" % (" | ".join("n = %d" % n for n in lengths), "---:|" * len(lengths)))
    for name in own.names:
        cells = []
        for n in lengths:
            one = own.time(name, n, 1)
            if one > SLOW:
                cells.append("")
                continue
            times, best = max(1, int(SECONDS / one)), {build: float("inf") for build in builds}
            for turn in range(TURNS):
                for build in builds if turn % 2 else builds[::-1]:
                    best[build] = min(best[build], build.time(name, n, times))
            more = best[limited] - best[own]
            cells.append("%.1f %+.1f (%+.0f %%)" % (1e6 * best[own], 1e6 * more, 100 * more / best[own]))
        print("| %s | %s |" % (name, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve([int(n) for n in sys.argv[2:]])
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        main(sys.argv[1], [int(n) for n in sys.argv[2:]] or LENGTHS)
