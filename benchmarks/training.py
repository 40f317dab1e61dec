"""Measure the time of training by stage of a minibatch, tokens per second, and peak memory.

    .venv/bin/python benchmarks/training.py [--system SYSTEM] [--train FILE.conllu] [--minibatches N]
        [--config FILE.toml] [--set NAME=VALUE]

measures processor time on the toy treebank or any other CoNLL-U file.

    .venv/bin/python benchmarks/training.py --against FOLDER [--rounds N]

measures this checkout and another one, set up in FOLDER, in turns, and compares their tokens per second of processor
time. Without --system, it measures several systems of different kinds.
"""

import argparse
import re
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import ROOT, Stopwatch, commit, printed, table

from mh4.data import conllu, treebanks
from mh4.util.memory import peak_mb

STAGES = ("graph", "forward", "scores out of DyNet", "decoding, with costs", "decoding, gold", "loss", "forward of the loss")
STAGES += ("backward", "update")
COMPARED = ("mh3", "mst", "mh4-hybrid", "1ec")  # systems
WARM_UP = 5  # minibatches


def main():
    parser = argparse.ArgumentParser(description="Measure the time taken by training.")
    parser.add_argument("--system", help="by default mh4-hybrid")
    parser.add_argument("--train", metavar="FILE.conllu", help="by default the toy treebank")
    parser.add_argument("--minibatches", type=int, default=200, metavar="N")
    parser.add_argument("--config", action="append", default=[], metavar="FILE.toml", help="settings, as for mh4 train")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, as for mh4 train")
    parser.add_argument("--against", metavar="FOLDER", help="another checkout, set up")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the number of runs of each")
    options = parser.parse_args()
    train = options.train or str(treebanks.locate("toy")["train"])
    if options.against:
        compare(options, train)
    else:
        measure(options.system or "mh4-hybrid", options, train)


def measure(system, options, train):
    """Print the table of one training run."""
    watch = Stopwatch()
    trainer, batches = prepare(system, options, train, watch)
    for batch in batches[:WARM_UP]:
        trainer.learn(batch)
    once = {stage: watch.seconds.pop(stage) for stage in ("reading", "preparing")}
    watch.seconds.clear()
    words, timed = trainer.progress.words, batches[WARM_UP:]
    for batch in timed:
        trainer.learn(batch)
    words = trainer.progress.words - words
    print("%s on %s: %d minibatches of %.0f words" % (system, Path(train).name, len(timed), words / len(timed)))
    print("once: reading %(reading).2f s, network and training trees %(preparing).2f s" % once)
    print("per minibatch:\n\n%s\n" % watch.table(STAGES, len(timed)))
    print("%d tokens/s, peak memory %d MB" % (words / sum(watch.seconds.values()), peak_mb()))


def prepare(system, options, train, watch):
    """Return a trainer whose stages are timed, and minibatches of shuffled sentences."""
    from mh4.parser import config, systems
    from mh4.parser.model import Scores
    from mh4.parser.network.scorer import TensorScores
    from mh4.training import loss
    from mh4.training import trainer as training

    def stage_of_decoding(*tensors, heads=None, **rest):
        return "decoding, with costs" if heads is None else "decoding, gold"

    class Timed:
        """An expression or optimizer whose slow methods are timed."""

        def __init__(self, thing, **stages):
            for method, stage in stages.items():
                setattr(self, method, watch.timed(stage, getattr(thing, method)))

    def timed_loss(*arguments):
        value = minibatch_loss(*arguments)
        return None if value is None else Timed(value, value="forward of the loss", backward="backward")

    sentences = watch.timed("reading", conllu.read)(train)
    settings = config.with_settings(systems.settings(options.config, system), options.set)
    with tempfile.TemporaryDirectory() as folder:
        trainer = watch.timed("preparing", training.Trainer)(system, settings, sentences, sentences[:1], folder)
    model = trainer.model
    model.build, Scores.labels = watch.timed("graph", model.build), watch.timed("graph", Scores.labels)
    TensorScores.arrays = watch.timed("scores out of DyNet", TensorScores.arrays)
    timed = {how: watch.timed(stage_of_decoding, decode) for how, decode in model.system.decoders.items()}
    model.system = replace(model.system, decoders=timed)
    loss.forward = watch.timed("forward", loss.forward)
    minibatch_loss = watch.timed("loss", loss.minibatch_loss)
    training.minibatch_loss = timed_loss
    trainer.optimizer = Timed(trainer.optimizer, update="update")

    lengths = [len(sentence) for sentence in sentences]
    batches, rng = [], np.random.default_rng(1)
    while len(batches) < WARM_UP + options.minibatches:
        batches += training.shuffled_minibatches(lengths, settings.training.batch_tokens, rng)
    return trainer, batches[: WARM_UP + options.minibatches]


def compare(options, train):
    """Print the tokens per second of both checkouts, and their ratio, by system."""
    train, checkouts = str(Path(train).resolve()), (ROOT, Path(options.against).resolve())
    print("Tokens per second of processor time, the median of %d runs in turns:\n" % options.rounds)
    rows = []
    for system in [options.system] if options.system else COMPARED:
        rounds = [[tokens_per_second(checkout, system, options, train) for checkout in checkouts] for _ in range(options.rounds)]
        here, there = map(statistics.median, zip(*rounds, strict=True))
        rows.append([system, round(here), round(there), "%.2f" % (here / there)])
    print(table(["system", "tokens/s", commit(options.against), "ratio"], rows))


def tokens_per_second(checkout, system, options, train):
    """Return the tokens per second that this benchmark measures in a checkout."""
    command = [checkout / ".venv/bin/python", checkout / "benchmarks/training.py", "--system", system, "--train", train]
    command += ["--minibatches", options.minibatches, *(word for file in options.config for word in ("--config", file))]
    command += [word for setting in options.set for word in ("--set", setting)]
    return int(re.search(r"(\d+) tokens/s", printed(command, cwd=str(checkout))).group(1))


if __name__ == "__main__":
    sys.exit(main())
