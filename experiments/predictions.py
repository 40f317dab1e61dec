"""``python -m experiments predictions``, as the pages in ``results/`` call it: ``experiments/predictions.py TREES FILE``."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from experiments.__main__ import main

    main(["predictions", *sys.argv[1:]], prog_name="experiments")
