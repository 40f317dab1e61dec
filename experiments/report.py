"""Rewrites the pages of Tables 4, 5 and 6 from the records in ``experiments/results/NAME/``, without any model.

    .venv/bin/python experiments/report.py hu

NAME is the treebank's code, with the release if that is not UD 2.0 (``eu-ud1.4``).
"""

import sys

from provenance import shown
from tables import treebank_pages
from training.records import names

from mh4.errors import InputError

USAGE = "usage: .venv/bin/python experiments/report.py [hu eu-ud1.4 ...]    (by default, all with results)"

if __name__ == "__main__":
    asked = sys.argv[1:] or names()
    if not asked or any(name.startswith("-") for name in asked):
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    try:
        for name in asked:
            print(" ".join(map(shown, treebank_pages.write(name))))
    except InputError as error:
        print("report: %s" % error, file=sys.stderr)
        sys.exit(2)
