"""Milliseconds per sentence of every decoder, on random scores with costs, as in training.

    .venv/bin/python benchmarks/decoders.py [LENGTH ...]      20 40 60 99 if none is given

The decoders take turns, sentence by sentence, so that whatever else the machine does meets all alike; the median counts.
"""

import argparse
import statistics
import time

import numpy as np

from mh4.decoders import mh3, mh4, mst, oneec

SECONDS = 2.0  # for each length and decoder, but five sentences at least


def problems(n, rng):
    """For each name a decoder, and the scores of a random sentence of n words for it."""

    def random(*shape):
        return rng.normal(size=shape).astype(np.float32)

    side, nodes = n + 2, n + 1
    arcs = random(nodes, nodes), random(nodes, nodes), random(side, nodes), random(side, nodes)
    return {
        "mh3": (mh3.decode, (random(side, side), random(2, side, side))),
        "mst": (mst.decode, (random(nodes, nodes),)),
        "mh4-two": (mh4.decode, (random(side, side), random(6, side, side))),
        "mh4-hybrid": (mh4.decode, (random(side, side), random(6, side, side), random(6, side, side))),
        "1ec": (oneec.decode, arcs),
    }


def milliseconds(n):
    """The median of each decoder, by name."""
    rng = np.random.default_rng(n)
    times = {name: [] for name in problems(1, rng)}
    while any(len(taken) < 5 or (sum(taken) < SECONDS and len(taken) < 200) for taken in times.values()):
        cost = (rng.random((n + 1, n + 1)) < 0.9).astype(np.float32)
        for name, (decode, scores) in problems(n, rng).items():
            if len(times[name]) < 5 or sum(times[name]) < SECONDS:
                start = time.perf_counter()
                decode(*scores, cost=cost)
                times[name].append(time.perf_counter() - start)
    return {name: 1000 * statistics.median(taken) for name, taken in times.items()}


def main():
    parser = argparse.ArgumentParser(description="Milliseconds per sentence of every decoder, on random scores.")
    parser.add_argument("lengths", type=int, nargs="*", default=[20, 40, 60, 99], metavar="LENGTH", help="words")
    lengths = parser.parse_args().lengths
    names = list(problems(1, np.random.default_rng(0)))
    print("| n | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for n in lengths:
        medians = milliseconds(n)
        print("| %d | " % n + " | ".join("%.3g" % medians[name] for name in names) + " |", flush=True)


if __name__ == "__main__":
    main()
