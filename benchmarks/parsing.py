"""Measure the time of parsing by stage or by sentence length, words per second, and peak memory.

    .venv/bin/python benchmarks/parsing.py [--model DIR | --system SYSTEM [--config FILE.toml]] [FILE.conllu]

measures processor time by stage, on the toy treebank or any other CoNLL-U file. Without --model, the network has random
weights, which do not change the time.

    .venv/bin/python benchmarks/parsing.py --command [--copies N] ...

runs `mh4 parse` on the file and on N concatenated copies of it, with one process and with two. It prints words per
second of wall time, including start-up and files, and memory.

    .venv/bin/python benchmarks/parsing.py --udpipe MODEL [--train FILE.conllu] [--rounds N] ...

parses the file alternately with mh4 and with a tagger and parser of UDPipe 1, from CoNLL-U to CoNLL-U, and prints words
per second of processor time. If the UDPipe model MODEL does not exist, it is trained on --train and saved. Training has
UDPipe's default settings, except that it takes two iterations.

    .venv/bin/python benchmarks/parsing.py --lengths ...

measures network and decoders on sentences of 10 to 300 words, made of words from the file, and draws the plot
benchmarks/results/lengths.png.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from timeit import timeit

import numpy as np
from common import ROOT, Stopwatch, printed, table
from peers import UDPIPE

from mh4.data import conllu, treebanks
from mh4.data.sentence import Sentence
from mh4.util.memory import peak_mb
from mh4.util.plots import plotted
from mh4.util.processes import with_parent

STAGES = ("reading", "graph", "forward", "scores out of DyNet", "decoding", "labels and tags", "writing")
LENGTHS = (10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300)
DECODERS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec")


def main():
    parser = argparse.ArgumentParser(description="Measure the time taken by parsing.")
    parser.add_argument("file", nargs="?", metavar="FILE.conllu", help="by default the test set of the toy treebank")
    parser.add_argument("--model", metavar="DIR", help="a trained model")
    parser.add_argument("--system", default="mh4-hybrid", help="the system of a random model, without --model")
    parser.add_argument("--config", action="append", default=[], metavar="FILE.toml", help="its settings, as for mh4 train")
    parser.add_argument("--command", action="store_true", help="measure `mh4 parse`")
    parser.add_argument("--copies", type=int, default=20, metavar="N", help="the number of copies in the long file of --command")
    parser.add_argument("--lengths", action="store_true", help="measure by sentence length")
    parser.add_argument("--udpipe", metavar="MODEL", help="compare with a model of UDPipe 1")
    parser.add_argument("--train", metavar="FILE.conllu", help="what to train the UDPipe model on")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the number of times to parse with each, for --udpipe")
    options = parser.parse_args()
    path = options.file or str(treebanks.locate("toy")["test"])
    if options.lengths:
        by_length(path)
    elif options.command:
        command(options, path)
    elif options.udpipe:
        against_udpipe(options, path)
    else:
        by_stage(options, path)


def random_parser(system, path, settings=()):
    """Return an untrained parser whose vocabulary has the words of the file. settings: files of settings."""
    from mh4.parser import systems
    from mh4.parser.model import Model
    from mh4.parser.parsing import Parser
    from mh4.parser.vocabulary import Vocabulary

    config = systems.settings(settings, system)
    return Parser(Model(system, config, Vocabulary.of(conllu.read(path), config), 1))


def saved_model(options, path, folder):
    """Return the folder of the requested model. If none is requested, write a random model into `folder`."""
    if options.model:
        return options.model
    model = os.path.join(folder, "model")
    os.mkdir(model)
    random_parser(options.system, path, options.config).model.save(model)
    return model


def number_of_words(text):
    """Return the number of words in the text of a CoNLL-U file."""
    return sum(line.split("\t")[0].isdigit() for line in text.splitlines())


def by_stage(options, path):
    """Print the table of one file."""
    import mh4
    from mh4.parser import model as model_module
    from mh4.parser.network.scorer import TensorScores

    parser = mh4.load(options.model) if options.model else random_parser(options.system, path, options.config)
    watch, model = Stopwatch(), parser.model
    model_module.Scores.__init__ = watch.timed("graph", model_module.Scores.__init__)
    TensorScores.arrays = watch.timed("scores out of DyNet", TensorScores.arrays)
    model_module.forward = watch.timed("forward", model_module.forward)
    parser.decode = watch.timed("decoding", parser.decode)
    parse = watch.timed("labels and tags", parser.parse)

    blocks = watch.timed("reading", lambda: list(conllu.blocks(path, trees=False)))()
    sentences = [block.sentence for block in blocks]
    parsed = parse(sentences)
    write = watch.timed("writing", lambda: "".join(b.text(s.columns()) for b, s in zip(blocks, parsed, strict=True)))
    write()
    words = sum(map(len, sentences))
    print("%s on %s: %d sentences of %.1f words" % (model.system.name, Path(path).name, len(sentences), words / len(sentences)))
    print("per sentence:\n\n%s\n" % watch.table(STAGES, len(sentences)))
    print("%d words/s, peak memory %d MB" % (words / sum(watch.seconds.values()), peak_mb()))


def against_udpipe(options, path):
    """Print the words per second of mh4 and of UDPipe 1."""
    from ufal.udpipe import Model, Pipeline, ProcessingError

    import mh4

    if not os.path.exists(options.udpipe):
        # Fewer iterations than by default (20 and 10) suffice: speed does not depend on them.
        printed([sys.executable, "-c", UDPIPE, "train", options.udpipe, options.train, options.train, "iterations=2"])
    text = Path(path).read_text(encoding="utf-8")
    model = Model.load(options.udpipe)  # the pipeline does not keep it alive
    pipeline = Pipeline(model, "conllu", Pipeline.DEFAULT, Pipeline.DEFAULT, "conllu")
    parser = mh4.load(options.model) if options.model else random_parser(options.system, path, options.config)

    def ours():
        blocks = list(conllu.blocks(path, trees=False))
        parsed = parser.parse([block.sentence for block in blocks])
        return "".join(block.text(sentence.columns(tags=True)) for block, sentence in zip(blocks, parsed, strict=True))

    def theirs():
        error = ProcessingError()
        parsed = pipeline.process(text, error)
        assert not error.occurred(), error.message
        return parsed

    words = number_of_words(text)
    speeds = {parser.model.system.name: [], "UDPipe": []}
    for _ in range(options.rounds + 1):
        for name, parse in zip(speeds, (ours, theirs), strict=True):
            speeds[name].append(round(words / timeit(parse, timer=time.process_time, number=1)))
    measured = {name: all_of_it[1:] for name, all_of_it in speeds.items()}  # the first was to warm up
    rows = [[name, "%d" % np.median(mine), " ".join(map(str, mine))] for name, mine in measured.items()]
    rows.append(["ratio", "%.2f" % np.divide(*map(np.median, measured.values())), ""])
    print(table(["with tags, on %s" % Path(path).name, "words/s, median", "all"], rows))


def command(options, path):
    """Print the words per second of `mh4 parse`."""
    with tempfile.TemporaryDirectory() as folder:
        model = saved_model(options, path, folder)
        text = Path(path).read_text(encoding="utf-8")
        files = {1: os.path.join(folder, "1.conllu"), options.copies: os.path.join(folder, "all.conllu")}
        for copies, name in files.items():
            Path(name).write_text(text * copies, encoding="utf-8")
        rows = []
        for (copies, name), jobs in product(files.items(), ("1", "2")):
            seconds, memory = run("parse", "--model", model, name, "-o", os.path.join(folder, "out"), "--jobs", jobs)
            words = copies * number_of_words(text)
            rows.append([words, "--jobs " + jobs, "%.1f" % seconds, "%d" % (words / seconds), memory])
        print(table(["words", "", "seconds", "words/s", "peak MB of a process"], rows, right=0))


def run(*arguments):
    """Return the seconds that a command of `mh4` takes, and the peak memory of one of its processes, in MB."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "mh4", *arguments, "--quiet"]
    process = subprocess.Popen(command, preexec_fn=with_parent(), env={**os.environ, "PYTHONPATH": str(ROOT)})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - start, peak_mb(usage)


def by_length(path):
    """Print and plot milliseconds per sentence by length, for the network and for decoders on its scores."""
    from mh4.parser.network.graph import forward

    words = [word for sentence in conllu.read(path) for word in sentence.words]
    rng = np.random.default_rng(1)
    parsers = {system: random_parser(system, path) for system in DECODERS}
    times = {name: [] for name in ("network",) + DECODERS}
    rows = []
    for n in LENGTHS:
        sentences = [Sentence(list(rng.choice(words, n))) for _ in range(max(3, 500 // n))]
        taken = {}
        for system, parser in parsers.items():
            if system == "1ec" and n > 150:
                continue
            model, network, decoding = parser.model, [], []
            for _ in range(3):
                start = time.process_time()
                scores = model.build(sentences)
                forward(scores.tags["feats"])
                values = scores.trees.arrays()
                middle = time.process_time()
                for tensors in values:
                    parser.decode(**tensors, single_root=True)
                network.append(middle - start)
                decoding.append(time.process_time() - middle)
            taken[system] = 1000 * min(decoding) / len(sentences)
            if system == "mh4-hybrid":
                taken["network"] = 1000 * min(network) / len(sentences)
        for name in times:
            times[name].append(taken.get(name, np.nan))
        rows.append([n, *("%.3g" % taken[name] if name in taken else "" for name in times)])
    print(table(["words", *times], rows, right=0))
    with plotted(str(ROOT / "benchmarks" / "results" / "lengths.png"), 6, 4) as figure:
        axes = figure.subplots()
        for name, milliseconds in times.items():
            axes.loglog(LENGTHS, milliseconds, "k--" if name == "network" else "o-", markersize=3, label=name)
        axes.set(xlabel="words in the sentence", ylabel="ms per sentence", title="The network of mh4-hybrid, and decoders")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend()
        axes.grid(alpha=0.3)


if __name__ == "__main__":
    sys.exit(main())
