"""The speed of the variants of the decoders, which are compiled for several kinds of processors.

    .venv/bin/python benchmarks/variants.py [LENGTH ...] >benchmarks/results/variants.md

They take turns, each in processes of its own on the same sentences. Of many times the shortest counts, so that other load on the
machine matters little.
"""

import json
import os
import statistics
import subprocess
import sys
from time import process_time
from timeit import repeat

import decoders
import numpy as np

from mh4.decoders.search import VARIANTS
from mh4.util import cpu
from mh4.util.processes import with_parent

TURNS, SECONDS = 6, 0.02  # of each decoder in each turn; at least two calls
LENGTHS = [20, 40, 80]


def measure(lengths):
    """The shortest time of each decoder in milliseconds, by length and name."""
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
            command = [sys.executable, __file__, "--measure", *map(str, lengths)]
            done = subprocess.run(
                command, env={**os.environ, "MH4_SIMD": name}, check=True, stdout=subprocess.PIPE, preexec_fn=with_parent()
            )
            turns.append(json.loads(done.stdout))
    print(
        "# The variants of the decoders\n\n%s, one core.\n\n    python benchmarks/variants.py%s\n\nMilliseconds of processor time for a "
        "sentence of n words with random scores in the variant %s, and how many times as long others take: the medians "
        "of the shortest times in %d processes. mhk, greedy and beam are the same code in all, and show how exact the other ratios are.\n"
        % (cpu.name(), "".join(" %d" % n for n in lengths if lengths != LENGTHS), fastest, TURNS)
    )
    print("| decoder | n | %s |\n|---|---:|%s" % (" | ".join(times), "---:|" * len(times)))
    for decoder in times[fastest][0][str(lengths[0])]:
        for n in map(str, lengths):
            if all(decoder in turn[n] for turns in times.values() for turn in turns):
                own, *rest = (statistics.median(turn[n][decoder] for turn in turns) for turns in times.values())
                print("| %s | %s | %.3g | %s |" % (decoder, n, own, " | ".join("%.2f" % (other / own) for other in rest)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure([int(n) for n in sys.argv[2:]])))
    else:
        main([int(n) for n in sys.argv[1:]] or LENGTHS)
