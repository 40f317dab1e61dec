"""Measure training and parsing with the settings in experiments/settings/large.toml, beside the defaults.

    .venv/bin/python benchmarks/large.py FOLDER LANG... > benchmarks/results/large.md

FOLDER has the treebanks of UD 2.0. The networks have random weights, which do not change the time.
"""

import os
import sys

from common import ROOT, page, table
from pages import speed

SYSTEM, LARGE = "mh5-arcs", ROOT / "experiments" / "settings" / "large.toml"


def main():
    folder, *langs = sys.argv[1:]
    rows = []
    for lang in langs:
        train, dev = (os.path.join(folder, "%s-ud-%s.conllu" % (lang, split)) for split in ("train", "dev"))
        for settings, files in (("defaults", []), ("large", ["--config", str(LARGE)])):
            options = ["--system", SYSTEM, *files]
            measured = speed("training.py", "--train", train, *options) + speed("parsing.py", *options, dev)
            rows.append([lang, settings, *measured])
    header = ["treebank", "settings", "training, tokens/s", "MB", "parsing, words/s", "MB"]
    page("Larger networks", "large.py FOLDER " + " ".join(langs), "%s:" % SYSTEM, table(header, rows, right=2))


if __name__ == "__main__":
    sys.exit(main())
