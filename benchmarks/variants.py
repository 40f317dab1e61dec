"""Measure the speed of the variants of the decoders, which are compiled for several kinds of processors.

    .venv/bin/python benchmarks/variants.py [LENGTH ...] >benchmarks/results/variants.md

The variants take turns on the same sentences, each in separate processes. The shortest of many times counts, so that
other load on the machine matters little.
"""

import json
import os
import statistics
import sys
from itertools import product
from time import process_time
from timeit import repeat

import decoders
import numpy as np
from common import page, printed, table

from mh4.decoders.sentences import VARIANTS

TURNS, SECONDS = 6, 0.02  # of each decoder in each turn; at least two calls
LENGTHS = [20, 40, 80]


def measure(lengths):
    """Return the shortest time of each decoder in milliseconds, by length and name."""
    found = {}
    for n in lengths:
        rng = np.random.default_rng(n)
        found[n] = {}
        for name, decode in decoders.sentences(n, rng, decoders.tree(rng, n)).items():
            (one,) = repeat(decode, timer=process_time, repeat=1, number=1)
            turns = max(1, int(SECONDS / one))
            found[n][name] = 1000 * min(repeat(decode, timer=process_time, repeat=turns, number=1))
    return found


def main(lengths):
    fastest, *others = reversed(VARIANTS)
    times = {name: [] for name in [fastest, *others]}
    for _ in range(TURNS):
        for name, turns in times.items():
            command = [sys.executable, __file__, "--measure", *lengths]
            turns.append(json.loads(printed(command, env={**os.environ, "MH4_SIMD": name})))
    rows = []
    for decoder, n in product(times[fastest][0][str(lengths[0])], map(str, lengths)):
        own, *rest = (statistics.median(turn[n][decoder] for turn in turns) for turns in times.values())
        rows.append([decoder, n, "%.3g" % own, *("%.2f" % (other / own) for other in rest)])
    page(
        "The variants of the decoders",
        "variants.py%s" % "".join(" %d" % n for n in lengths if lengths != LENGTHS),
        "Milliseconds of processor time for a sentence of n words with random scores in the variant %s, and how many times as long "
        "others take: the medians of the shortest times in %d processes. mhk, greedy and beam are the same code in all, and show how "
        "exact the other ratios are." % (fastest, TURNS),
        table(["decoder", "n", *times], rows),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure([int(n) for n in sys.argv[2:]])))
    else:
        main([int(n) for n in sys.argv[1:]] or LENGTHS)
