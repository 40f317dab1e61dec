"""Measure the sentence lengths at which decoders take a second, the defaults of `mh4 parse --longest`, and the memory.

    .venv/bin/python benchmarks/longest.py [SYSTEM ...] [--seconds 1] >benchmarks/results/longest.md

prints a table of every global system, on random scores. Lengths are doubled until a sentence takes longer than a second
of processor time, or until its scores fill a window, beyond which sentences are cut (mh4/parser/long_sentences.py).
Between two lengths, time is interpolated as a power of the length. Each measurement is a new process, for its peak
memory, which does not include the scores. This takes some minutes.
"""

import argparse
import math
import time

import numpy as np
from common import page
from decoders import elsewhere, random_scores

from mh4.parser.long_sentences import BEYOND_BEAM, EXACT, MARGINALS, window_of
from mh4.parser.systems import SYSTEMS, GlobalSystem
from mh4.util.memory import peak_mb

SHORTEST = 60


def measure(name, what, n):
    """Return the seconds of processor time, and MB, for a sentence of n words."""
    system, rng = SYSTEMS[name], np.random.default_rng(n)
    tensors = random_scores(rng, n, name)
    decode = system.marginals if what == "marginals" else system.decoder(what, BEYOND_BEAM if what == "beam" else None)
    before, start = peak_mb(), time.process_time()
    decode(**tensors, single_root=True)
    return time.process_time() - start, peak_mb() - before


def longest(name, what, seconds):
    """Return the length of a sentence that takes this many seconds, with its seconds and MB.

    If a whole window takes less, return those of the window.
    """
    most, lengths, times = window_of(SYSTEMS[name].tensors), [], []
    n = most if what == "beam" else SHORTEST
    while not times or times[-1] < seconds and lengths[-1] < most:
        lengths.append(min(n, most))
        times.append(elsewhere(measure, name, what, lengths[-1])[0])
        n *= 2
    if len(times) == 1:
        most = lengths[0]
    elif times[-1] >= seconds:
        exponent = math.log(times[-1] / times[-2]) / math.log(lengths[-1] / lengths[-2])
        n = round(lengths[-2] * (seconds / times[-2]) ** (1 / exponent))
        taken, _ = elsewhere(measure, name, what, n)
        most = min(most, round(n * (seconds / taken) ** (1 / exponent)))  # corrects deviations from a power
    return (most, *elsewhere(measure, name, what, most))


def table(names, seconds):
    yield "| system | decoding | words | seconds | MB | default |"
    yield "|---|---|--:|--:|--:|--:|"
    for name in names:
        system = SYSTEMS[name]
        for what in ["exact", *(["marginals"] if system.marginals else []), *(["beam"] if "beam" in system.decoders else [])]:
            most = window_of(system.tensors)
            chosen = {"exact": EXACT, "marginals": MARGINALS}.get(what, {}).get(name, most)
            n, taken, megabytes = longest(name, what, seconds)
            default = "%d%s" % (chosen, ", a window" * (chosen == most))
            yield "| %s | %s | %d | %.2f | %.0f | %s |" % (name, what, n, taken, megabytes, default)


def main():
    names = [name for name, system in SYSTEMS.items() if isinstance(system, GlobalSystem)]
    parser = argparse.ArgumentParser(description="The lengths at which decoders take a second.")
    parser.add_argument("systems", nargs="*", default=names, metavar="SYSTEM")
    parser.add_argument("--seconds", type=float, default=1.0)
    asked = parser.parse_args()
    page(
        "The longest sentences",
        "longest.py",
        "The words of a sentence whose decoding takes %g s of processor time, on random scores, or of a window if that takes less; "
        "the megabytes that decoding adds to the scores; and the default of `mh4 parse --longest`. `beam`: of width %d, which decodes "
        "longer ones. Marginals take about ten times as long for scores that vary so much that float64 does not suffice, as random ones "
        "of more than a thousand words may; scores of trained models vary less." % (asked.seconds, BEYOND_BEAM),
    )
    print()
    for line in table(asked.systems, asked.seconds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
