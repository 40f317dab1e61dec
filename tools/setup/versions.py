"""The versions of Python that mh4 runs on."""

import os
import sys

OLDEST, NEWEST = (3, 11), (3, 13)
VERSIONS = "Python %d.%d to %d.%d" % (OLDEST + NEWEST)


def executable():
    """The path of this Python: not of a virtual environment's."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def complaint(version):
    """Why this version of Python is of no use, in one sentence; None if it is."""
    if OLDEST <= version <= NEWEST:
        return None
    others = ["python3.%d" % minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [name for name in others if any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders)]
    remedy = "select another" if found else "install one of these and select it"
    word = "old" if version < OLDEST else "new"
    return "Python %d.%d is too %s, mh4 runs on %s: %s, as in `make setup PYTHON=%s`." % (
        version + (word, VERSIONS, remedy, (found + ["python3.11"])[0])
    )
