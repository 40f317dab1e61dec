"""Merges the saved trees of a run into the treebank's file.

.venv/bin/python experiments/predictions.py results/hu/mh4-hybrid-seed1.trees.gz hu-ud-dev.conllu > parsed.conllu
"""

import sys
from pathlib import Path

from training.predictions import restored

from mh4.data import conllu
from mh4.errors import InputError
from mh4.util import streams

USAGE = "usage: .venv/bin/python experiments/predictions.py SYSTEM-seedN.trees.gz FILE.conllu > PARSED.conllu"

if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    try:
        streams.open_standard()
        with conllu.open_output("-") as output:
            output.write(restored(Path(sys.argv[1]), Path(sys.argv[2])))
    except (InputError, OSError) as error:
        print("predictions: %s" % error, file=sys.stderr)
        sys.exit(2)
