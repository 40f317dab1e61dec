"""The entry point of `make setup`. An old Python must be able to run this and versions.py: to hand over to that of .venv, or to report that
it is too old."""

import json
import os
import sys

from versions import complaint, executable

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

try:
    with open(os.path.join(ROOT, ".venv", "mh4-setup.json")) as record:
        python = json.load(record)["python"]["executable"]
except (IOError, OSError, ValueError, LookupError, TypeError):
    python = executable()
if python != executable() and "--this-python" not in sys.argv and os.access(python, os.X_OK):
    # Use a Python other than .venv's only if it was selected: a later `make test` need not select it again.
    os.execv(python, [python] + sys.argv)
problem = complaint(sys.version_info[:2])
if problem:
    sys.exit("mh4: " + problem)
sys.path.insert(0, ROOT)  # of mh4

from environment import main  # noqa: E402

sys.exit(main())
