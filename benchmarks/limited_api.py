"""What Python's limited API, with which one wheel would do for all Pythons, would cost the decoders.

    MH4_CFLAGS=-DPy_LIMITED_API=0x030B0000 .venv/bin/python setup.py -q build --build-base build/limited --build-lib build/limited/lib
    .venv/bin/python benchmarks/limited_api.py build/limited/lib [LENGTH ...] >benchmarks/results/limited_api.md

The first command compiles the decoders with the limited API, the second compares them with those of the Python that runs it. They take
turns, in processes of their own on the same sentences, and the shortest of many times counts, so that other load matters little.
"""

import os
import sys
from functools import partial
from timeit import repeat

import decoders
import numpy as np
from variants import in_turns, run

from mh4.util import cpu

TURNS, SECONDS = 20, 0.01  # of each decoder in each turn; at least two sentences
LENGTHS = [1, 10, 20, 40]


def measure(lengths):
    """The shortest time of each decoder in microseconds, by length and name."""
    found = {}
    for n in lengths:
        rng = np.random.default_rng(n)
        found[n] = {}
        for name, decode in decoders.sentences(n, rng, decoders.tree(rng, n)).items():
            (one,) = repeat(decode, repeat=1, number=1)
            found[n][name] = 1e6 * min(repeat(decode, repeat=max(1, int(SECONDS / one)), number=1))
    return found


def main(folder, lengths):
    if not os.path.isdir(os.path.join(folder, "mh4")):
        sys.exit("mh4: %s has no mh4" % folder)
    builds = {"own": (sys.executable, {}), "limited": (sys.executable, {"PYTHONPATH": folder})}
    times = in_turns(TURNS, builds, __file__, lengths)
    print(
        "# Decoders compiled with Python's limited API\n\n%s, one core.\n\n    python benchmarks/limited_api.py build/limited/lib%s\n\n"
        "Microseconds for a sentence of n words with random scores as compiled for one Python, and how many more with the limited API: "
        "differences of the shortest times.\n" % (cpu.name(), "".join(" %d" % n for n in lengths if lengths != LENGTHS))
    )
    print("| decoder | %s |\n|---|%s" % (" | ".join("n = %d" % n for n in lengths), "---:|" * len(lengths)))
    for name in times["own"][0][str(lengths[0])]:
        cells = []
        for n in map(str, lengths):
            own, limited = (min(turn[n][name] for turn in turns) for turns in times.values())
            cells.append("%.1f %+.1f (%+.0f %%)" % (own, limited - own, 100 * (limited / own - 1)))
        print("| %s | %s |" % (name, " | ".join(cells)))


if __name__ == "__main__":
    folder, *given = sys.argv[1:] or sys.exit(__doc__)
    if folder == "--measure":
        run(None, measure, LENGTHS, sys.argv[1:])
    else:
        run(partial(main, folder), measure, LENGTHS, given)
