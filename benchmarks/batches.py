"""Measure the time for batches of sentences with random scores, beside a loop over single calls.

    .venv/bin/python benchmarks/batches.py [--rounds N] >benchmarks/results/batches.md

This takes about a minute, during which nothing else should run: wall time is measured, as threads are to reduce it. The
ways of decoding take turns, so that other load on the machine affects all of them equally. The best time of each is
reported.

Short sentences could share the vectors of mh4, one sentence per lane. In an experiment, a sentence of 10 words then
took .54 to .62 of the time. That does not justify a second chart of the same recurrences, so each sentence of a batch
is decoded by itself.
"""

import argparse
import os
from functools import partial
from itertools import product
from timeit import timeit

import numpy as np
from common import page, rounded, table

from mh4.decoders import batch
from mh4.decoders.batch import DECODERS, single

SIZES = [(10, 256), (40, 64)]  # words and sentences


def random_scores(name, words, sentences):
    """Return scores of transitions or, if there are none, of arcs; float32, by tensor."""
    rng = np.random.default_rng(words)
    return {
        tensor: rng.normal(size=(sentences, *shape.of(words))).astype(np.float32)
        for tensor, shape in DECODERS[name].tensors.items()
        if tensor != "arcs" or not shape.optional
    }


def ways(name, function, words, sentences, threads):
    """Return functions that decode the same sentences in different ways, by heading."""
    decoder, scores = DECODERS[name], random_scores(name, words, sentences)
    lengths = np.full(sentences, words)
    alone = [single(name, scores, b, words) for b in range(sentences)]
    call, together = getattr(decoder, function), getattr(batch, function)

    def loop():
        for arguments in alone:
            call(**arguments)

    names = {count: "batch, %d thread%s" % (count, "s" * (count > 1)) for count in threads}
    in_batches = {names[count]: partial(together, name, scores, lengths, threads=count) for count in threads}
    return {"one by one": loop, **in_batches}


def microseconds(functions, sentences, rounds):
    """Return the best time per sentence of each function, by heading."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for heading, function in functions.items():
            best[heading] = min(best[heading], timeit(function, number=1))
    return {heading: 1e6 * seconds / sentences for heading, seconds in best.items()}


def main():
    parser = argparse.ArgumentParser(description="Time for batches of sentences with random scores.")
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="turns of each way")
    options = parser.parse_args()
    threads = sorted({1, min(2, os.cpu_count() or 1), os.cpu_count() or 1})
    rows = []
    for function, name in product(("decode", "marginals"), DECODERS):
        for words, sentences in SIZES if getattr(DECODERS[name], function) else ():
            times = microseconds(ways(name, function, words, sentences, threads), sentences, options.rounds)
            first, *others = times.values()
            ratios = ["%.2f" % (value / first) for value in others]
            rows.append(["%s, `%s`" % (name, function), words, *map(rounded, times.values()), *ratios])
    headings = [*times, *("%s, ratio" % heading for heading in list(times)[1:])]
    page(
        "Batches",
        "batches.py",
        "Microseconds of wall time for a sentence with random float32 scores, the best of %d turns, in batches of %s. "
        "One by one: a loop over calls of the decoder itself. A ratio is that to this loop."
        % (options.rounds, " and ".join("%d sentences of %d words" % (b, n) for n, b in SIZES)),
        table(["", "words", *headings], rows),
        cores=os.cpu_count() or 1,
    )


if __name__ == "__main__":
    main()
