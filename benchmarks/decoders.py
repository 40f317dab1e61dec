"""Measure processor time and memory of every decoder, on sentences with random scores.

    .venv/bin/python benchmarks/decoders.py [LENGTH ...] [--plot benchmarks/results/decoders.png] >benchmarks/results/decoders.md

prints the tables, by default for sentences of 10 to 300 words. This takes about four minutes.

The decoders take turns, so that other load on the machine affects all of them equally, and the median is reported.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from pathlib import Path
from timeit import timeit

import numpy as np
from common import page, printed, rounded, table

from mh4.decoders import beam, mh3, mh4, mh5, mhk, mst, oneec
from mh4.decoders.sentences import VARIANT
from mh4.parser.systems import SYSTEMS
from mh4.util.plots import plotted

LENGTHS = [10, 20, 40, 60, 99, 150, 200, 300]
SECONDS = 0.8  # for each decoder and length, but at least three sentences ...
SENTENCES = 200  # ... and at most this many

# The longest sentences for decoders that are slow or need much memory.
LONGEST = {"mhk, k = 4": 99, "1ec": 300, "1ec, marginals": 150}
LONGEST.update(dict.fromkeys(["mh5-hybrid", "mh5-hybrid, arcs", "mh5-hybrid, cost"], 150))


def random(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def random_scores(rng, n, system):
    """Return the scores that a system needs for a sentence of n words, by tensor."""
    of = {tensor: [n + 1 + sentinel for sentinel in tensor.sentinel] for tensor in SYSTEMS[system].tensors}
    return {tensor.name: random(rng, *filter(None, [tensor.matrices, *sides])) for tensor, sides in of.items()}


def hamming_cost(rng, n):
    """Return a cost as in training: 1 for every arc, 0 for one arc per word."""
    cost = np.ones((n + 1, n + 1), dtype=np.float32)
    cost[rng.integers(0, n + 1, n), np.arange(1, n + 1)] = 0
    return cost


def tree(rng, n):
    """Return a tree like those in treebanks: most arcs are short, a few cross."""
    nodes, zeros = np.arange(n + 1, dtype=np.float32), np.zeros((6, n + 2, n + 2), dtype=np.float32)
    short = random(rng, n + 1, n + 1) - abs(nodes[:, None] - nodes)
    return mh4.decode(zeros[0], zeros, cost=short).heads


def sentences(n, rng, heads):
    """Return, by name, functions that decode a random sentence of n words. heads: a tree for it."""
    systems = ("mh3", "mh4-two", "mh4-hybrid", "mh5-hybrid", "1ec", "mst")
    three, two, hybrid, twelve, third_order, (arcs,) = (random_scores(rng, n, system).values() for system in systems)
    cost = hamming_cost(rng, n)
    return {
        "mh3": lambda: mh3.decode(*three),
        "mst": lambda: mst.decode(arcs),
        "mhk, k = 3": lambda: mhk.decode(arcs, 3),
        "mhk, k = 4": lambda: mhk.decode(arcs, 4),
        "mh4-two": lambda: mh4.decode(*two),
        "mh4-hybrid": lambda: mh4.decode(*hybrid),
        "mh4-hybrid, arcs": lambda: mh4.decode(*hybrid, arcs=arcs),
        "mh4-hybrid, cost": lambda: mh4.decode(*hybrid, cost=cost),
        "mh4-hybrid, heads": lambda: mh4.decode(*hybrid, heads=heads),
        "mh4-hybrid, greedy": lambda: beam.decode(*hybrid),
        "mh4-hybrid, beam 8": lambda: beam.decode(*hybrid, beam=8),
        "mh4-hybrid, beam 64": lambda: beam.decode(*hybrid, beam=64),
        "mh5-hybrid": lambda: mh5.decode(*twelve),
        "mh5-hybrid, arcs": lambda: mh5.decode(*twelve, arcs=arcs),
        "mh5-hybrid, cost": lambda: mh5.decode(*twelve, cost=cost),
        "mh5-hybrid, heads": lambda: mh5.decode(*twelve, heads=heads),
        "1ec": lambda: oneec.decode(*third_order),
        "mh3, marginals": lambda: mh3.marginals(*three),
        "mst, marginals": lambda: mst.marginals(arcs),
        "mh4-hybrid, marginals": lambda: mh4.marginals(*hybrid),
        "1ec, marginals": lambda: oneec.marginals(*third_order),
    }


def seconds(n):
    """Return the median time of each decoder, by name."""
    rng = np.random.default_rng(n)
    times = {name: [] for name in sentences(1, rng, tree(rng, 1)) if n <= LONGEST.get(name, n)}
    unfinished = list(times.items())
    while unfinished:
        decoders = sentences(n, rng, tree(rng, n))
        for name, taken in unfinished:
            taken.append(timeit(decoders[name], timer=time.process_time, number=1))
        unfinished = [one for one in unfinished if len(one[1]) < 3 or sum(one[1]) < SECONDS and len(one[1]) < SENTENCES]
    return {name: statistics.median(taken) for name, taken in times.items()}


def own_memory(name, n):
    """Return the megabytes needed to decode one sentence, in addition to its scores.

    They are from Linux's statistics of this process, which has to be new.
    """

    def status(field):
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1024

    decode = sentences(n, np.random.default_rng(0), np.arange(-1, n))[name]
    sentences(1, np.random.default_rng(0), np.arange(-1, 1))[name]()  # loads the code
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak to the current value
    before = status("VmRSS")
    decode()
    return status("VmHWM") - before


def elsewhere(function, *arguments):
    """Return the result of a call in a new process."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(function, arguments)


def exponents(times):
    """Return, by decoder, the p for which n^p best fits its times on sentences of 40 words or more."""
    found = {}
    for name in times[min(times)]:
        points = [(n, times[n][name]) for n in times if n >= 40 and name in times[n]]
        if len(points) > 2:
            found[name] = np.polyfit(*np.log(points).T, 1)[0]
    return found


def by_decoder(columns):
    """Return a Markdown table. columns: the numbers by heading and by decoder."""
    names = next(iter(columns.values()))
    return table(["words", *columns], [[name, *(rounded(column.get(name)) for column in columns.values())] for name in names])


def report(times, memory, lengths):
    """Print the tables."""
    compiler = os.environ.get("CXX", "c++").split()
    version = printed([*compiler, "-dumpfullversion", "-dumpversion"])
    ratios = {n: {name: row[name] / row["mh4-hybrid"] for name in row} for n, row in times.items()}
    milliseconds = {n: {name: 1000 * row[name] for name in row} for n, row in times.items()}
    milliseconds["exponent"] = exponents(times)
    compiled = "Compiler %s %s, with the options of setup.py" % (compiler[0], version)
    page(
        "The decoders",
        "decoders.py%s" % "".join(" %d" % n for n in lengths if lengths != LENGTHS),
        "%s. Charts compiled for: %s." % (compiled, VARIANT),
        "Milliseconds of processor time for a sentence of n words with random scores, the median of 3 to %d sentences. `arcs`: "
        "with additional arc scores. `cost`: with the cost used in training. `heads`: the best derivation of one tree, most of "
        "whose arcs are short. `greedy`, `beam`: search instead of a chart. `marginals`: instead of the best derivation. Last column: "
        "the p of n^p, fitted on 40 words or more." % SENTENCES,
        by_decoder(milliseconds),
        "The same relative to mh4-hybrid:",
        by_decoder(ratios),
        "Megabytes in addition to the scores, in a process that decodes one sentence:",
        by_decoder(memory),
    )


def plot(times, figure):
    """Plot time against length, with both axes logarithmic."""
    fitted, axes = exponents(times), figure.subplots()
    for x, name in enumerate(times[min(times)]):
        lengths = [n for n in times if name in times[n]]
        label = "%s: n^%.1f" % (name, fitted[name]) if name in fitted else name
        axes.loglog(lengths, [1000 * times[n][name] for n in lengths], marker="o", markersize=3, label=label, color="C%d" % x)
    axes.set_xticks(list(times), [str(n) for n in times])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="words", ylabel="milliseconds per sentence")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False)


def main():
    parser = argparse.ArgumentParser(description="Processor time and memory of every decoder, on random scores.")
    parser.add_argument("lengths", type=int, nargs="*", default=LENGTHS, metavar="LENGTH", help="words")
    parser.add_argument("--plot", metavar="PATH", help="draw the times, too")
    options = parser.parse_args()
    lengths = sorted(set(options.lengths))
    names = list(sentences(1, np.random.default_rng(0), np.array([-1, 0])))
    memory = {
        n: {name: elsewhere(own_memory, name, n) for name in names if n <= LONGEST.get(name, n)}
        for n in sorted({99, max(lengths)} & set(lengths))
    }
    times = {}
    for n in lengths:
        times[n] = seconds(n)
        print(n, " ".join("%s %.3g" % (name, 1000 * value) for name, value in times[n].items()), file=sys.stderr, flush=True)
    report(times, memory, lengths)
    if options.plot:
        with plotted(options.plot, 8, 5.5) as figure:
            plot(times, figure)
        print("\n![](%s)" % os.path.basename(options.plot))


if __name__ == "__main__":
    main()
