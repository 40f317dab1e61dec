"""``make coverage``: the paper's Table 3 for the treebanks in a folder."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS, make_command, report_written
from tables import table3

from mh4.analysis import coverage
from mh4.data import treebanks


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; returns its exit code: 0, 2 for bad input, 130 if interrupted. Pages go to the results folder in `home`."""
    parser = argparse.ArgumentParser(usage="make coverage [UD=folder]")
    parser.add_argument("--ud", default="", help="the folder of treebanks; by default data/ud-2.0")
    typed = os.path.expanduser(parser.parse_args(arguments).ud)
    return options.answered("coverage", parser.format_usage, False, lambda: _coverage(typed, home / "results"))


def _coverage(typed: str, results: Path) -> int:
    try:
        measured = table3.measure(Path(typed) if typed else treebanks.default_folder())
        pages = table3.write(measured, results, make_command("coverage", UD=typed and str(Path(typed))))
    except KeyboardInterrupt:  # nothing to resume
        print("coverage: interrupted", file=sys.stderr)
        return 130
    print(coverage.table([(file.path.name, file.counts) for file in measured]))
    print()
    print("\n".join(table3.agreement(measured)))
    report_written(pages)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
