"""Makes the pages of Table 4 again from the records in ``experiments/results/NAME/``, without any model.

    .venv/bin/python experiments/report.py hu

NAME is the treebank's code, with the release when that is not UD 2.0 (``eu-ud1.4``).
"""

import sys

from mh4.errors import InputError
from provenance import shown
from tables import table4
from training.records import RESULTS

USAGE = "usage: .venv/bin/python experiments/report.py [hu eu-ud1.4 ...]    (all with results if none is named)"

if __name__ == "__main__":
    names = sys.argv[1:] or sorted(folder.name for folder in RESULTS.glob("*") if folder.is_dir())
    if not names or any(name.startswith("-") for name in names):
        print(USAGE, file=sys.stderr)
        sys.exit(2)
    try:
        for name in names:
            print(" ".join(map(shown, table4.write(name))))
    except InputError as error:
        print("report: %s" % error, file=sys.stderr)
        sys.exit(2)
