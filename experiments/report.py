"""``make report``: rewrites the pages made from the records in ``experiments/results/`` alone, without any model.

    .venv/bin/python experiments/report.py [hu eu-ud1.4 ...]

These are Tables 1, 2, 4, 5 and 6 of each treebank, the report on all of them, and the table of all results, which is also in README. A
treebank is named by its code, with the release if that is not UD 2.0 (``eu-ud1.4``).
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import report_written, shown
from tables import overview, summary
from training.records import RESULTS, names

from mh4.errors import InputError

USAGE = "usage: .venv/bin/python experiments/report.py [hu eu-ud1.4 ...]    (by default, all with results)"


def main(arguments: Sequence[str], results: Path = RESULTS) -> int:
    """The command; returns its exit code: 0, or 2 for bad input."""
    helped = any(name in ("-h", "--help") for name in arguments)

    def work() -> int:
        known = names(results)
        if not known:
            raise InputError("no records in %s: train first, with make reproduce or make paper" % shown(results))
        asked = list(arguments) or known
        for name in asked:
            if name not in known:
                raise InputError("no records of %s in %s, only of %s" % (name, shown(results), ", ".join(known)))
        written = overview.write_all(asked, results)
        if results == RESULTS:
            written += summary.write_into(summary.README)
        report_written(written)
        return 0

    return options.answered("report", lambda: USAGE, helped, work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
