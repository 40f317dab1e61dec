"""Milliseconds per sentence of greedy and beam search compared with the exact decoders, by length, on random scores.

    .venv/bin/python benchmarks/search.py [LENGTH ...] [--model mh4-hybrid]      by default 10 to 300 words

The decoders take turns in random order, sentence by sentence, so that other load on the machine affects all of them equally;
the median is reported. The last column shows which searches are faster than exact decoding.
"""

import argparse
import statistics
import time

import numpy as np

from mh4.decoders import beam, mh3, mh4

LENGTHS = (10, 15, 20, 25, 30, 40, 60, 100, 150, 200, 300)
BEAMS = (1, 2, 4, 8, 16, 64)
SECONDS = 1.0  # for each length and decoder, but at least five sentences
MODELS = {"mh3": (mh3.decode, 2, 1), "mh4-two": (mh4.decode, 6, 1), "mh4-hybrid": (mh4.decode, 6, 2)}


def milliseconds(model, n):
    """The median time of exact decoding (None) and of each beam width."""
    exact, reduces, tensors = MODELS[model]
    rng = np.random.default_rng(n)
    times = {width: [] for width in (None, *BEAMS)}
    while any(len(taken) < 5 or (sum(taken) < SECONDS and len(taken) < 200) for taken in times.values()):
        scores = [rng.normal(size=(n + 2, n + 2)).astype(np.float32)]
        scores += [rng.normal(size=(reduces, n + 2, n + 2)).astype(np.float32) for _ in range(tensors)]
        for k in rng.permutation(len(times)):  # the first decoder loads the scores into the caches
            width, taken = list(times.items())[k]
            if len(taken) < 5 or sum(taken) < SECONDS:
                start = time.perf_counter()
                if width is None:
                    exact(*scores, single_root=True)
                else:
                    beam.decode(*scores, beam=width, single_root=True)
                taken.append(time.perf_counter() - start)
    return {width: 1000 * statistics.median(taken) for width, taken in times.items()}


def main():
    parser = argparse.ArgumentParser(description="Milliseconds per sentence of search and of exact decoding, on random scores.")
    parser.add_argument("lengths", type=int, nargs="*", default=LENGTHS, metavar="LENGTH", help="words")
    parser.add_argument("--model", choices=MODELS, default="mh4-hybrid")
    asked = parser.parse_args()
    names = ["greedy" if width == 1 else "beam %d" % width for width in BEAMS]
    print("| n | exact | " + " | ".join(names) + " | faster than exact |")
    print("|---" * (len(names) + 3) + "|")
    for n in asked.lengths:
        medians = milliseconds(asked.model, n)
        faster = [name for name, width in zip(names, BEAMS, strict=True) if medians[width] < medians[None]]
        said = "all" if faster == names else "none" if not faster else "up to " + faster[-1]
        print("| %d | " % n + " | ".join("%.3g" % taken for taken in medians.values()) + " | %s |" % said, flush=True)


if __name__ == "__main__":
    main()
