"""Measure training and parsing, and write the pages training.md and parsing.md in benchmarks/results.

    .venv/bin/python benchmarks/pages.py FOLDER [--against CHECKOUT] [--udpipe MODEL [--model DIR]]

FOLDER has the Hungarian treebank of UD 2.0. This takes about ten minutes, during which nothing else should run.
--against compares training with another checkout, which takes ten more. --udpipe compares parsing by the model --model
with parsing by UDPipe 1, as in parsing.py.
"""

import argparse
import os
import re
import sys

from common import ROOT, commit, printed, table

from mh4.parser.systems import with_marginals
from mh4.util import cpu
from mh4.util.files import write_text

SYSTEMS = ("mh3", "mst", "mh4-two", "mh4-hybrid", "mh4-arcs", "mh5-hybrid", "mh5-arcs", "1ec", "greedy-mh4")


def output(*command):
    """Return what a benchmark prints."""
    print(" ".join(command), file=sys.stderr, flush=True)
    return printed([sys.executable, ROOT / "benchmarks" / command[0], *command[1:]])


def section(heading, *command):
    """Return a section of a page: the command, without folders, and what it prints."""
    shown = " ".join(os.path.basename(word) for word in command)
    return "## %s\n\n    .venv/bin/python benchmarks/%s\n\n%s" % (heading, shown, output(*command))


def speed(*command):
    """Return the speed and the memory that a benchmark prints in its last line."""
    return re.search(r"(\d+) (?:tokens|words)/s, peak memory (\d+) MB", output(*command)).groups()


def by_system(train, dev):
    """Return a table of the speeds of training, of training on likelihood, and of parsing, by system."""
    rows = []
    for system in SYSTEMS:
        training = ["training.py", "--train", train, "--system", system]
        likelihood = speed(*training, "--set", "training.loss=likelihood")[0] if system in with_marginals() else ""
        rows.append([system, *speed(*training), likelihood, *speed("parsing.py", "--system", system, dev)])
    return table(["system", "training, tokens/s", "MB", "on likelihood, tokens/s", "parsing, words/s", "MB"], rows)


def write(name, *parts):
    measured = "One core of %s; Hungarian of UD 2.0, default settings; by `benchmarks/pages.py`, at commit %s."
    text = "\n\n".join(["# " + name.capitalize(), measured % (cpu.name(), commit()), *parts])
    write_text(str(ROOT / "benchmarks" / "results" / (name + ".md")), text + "\n")


def main():
    parser = argparse.ArgumentParser(description="Write the pages on the speed of training and parsing.")
    parser.add_argument("folder", metavar="FOLDER", help="has the Hungarian treebank")
    parser.add_argument("--against", metavar="CHECKOUT", help="another checkout, to compare training with")
    parser.add_argument("--udpipe", metavar="MODEL", help="a model of UDPipe 1, to compare parsing with")
    parser.add_argument("--model", metavar="DIR", help="our model to compare with that; by default one with random weights")
    options = parser.parse_args()
    train, dev = (os.path.join(options.folder, "hu-ud-%s.conllu" % split) for split in ("train", "dev"))
    training = [
        section("Breakdown", "training.py", "--train", train),
        section("Breakdown of 1ec", "training.py", "--train", train, "--system", "1ec"),
        section("Breakdown on the toy treebank", "training.py"),
        "## By system\n\nThe same with `--system SYSTEM`, and with `--set training.loss=likelihood`; and "
        "`benchmarks/parsing.py --system SYSTEM hu-ud-dev.conllu`:\n\n" + by_system(train, dev),
    ]
    if options.against:
        training.append(section("Against an earlier version", "training.py", "--train", train, "--against", options.against))
    write("training", *training)
    parsing = [
        section("Breakdown", "parsing.py", dev),
        section("Files of any size, processes", "parsing.py", "--command", dev),
        section("By sentence length", "parsing.py", "--lengths", dev) + "\n\nMilliseconds per sentence; `network` is the one of "
        "mh4-hybrid, from words to scores.\n\n![](lengths.png)",
    ]
    if options.udpipe:
        model = ["--model", options.model] if options.model else []
        ours = section("Against UDPipe 1", "parsing.py", "--udpipe", options.udpipe, "--train", train, *model, dev)
        parsing.append(ours + "\n\nBoth read CoNLL-U, predict tags and trees, and write CoNLL-U, on one core, in turns.")
    write("parsing", *parsing)


if __name__ == "__main__":
    main()
