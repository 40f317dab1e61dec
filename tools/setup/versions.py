"""The versions of Python that mh4 runs on."""

import os
import sys

OLDEST, NEWEST = (3, 11), (3, 14)  # of those that it was tested with
VERSIONS = "Python %d.%d to %d.%d" % (OLDEST + NEWEST)


def executable():
    """The path of this Python: not of a virtual environment's."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def complaint(version):
    """Why this version of Python is of no use, in one sentence; None if it is."""
    if version >= OLDEST:
        return None
    others = ["python3.%d" % minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = [name for name in others if any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders)]
    remedy = "select another" if found else "install one of these and select it"
    return "Python %d.%d is too old, mh4 runs on %s: %s, as in `make setup PYTHON=%s`." % (
        version + (VERSIONS, remedy, (found + ["python3.11"])[0])
    )


def warning(version):
    """What to expect of a version of Python that is newer than those tested, in one sentence; None of the others."""
    if version <= NEWEST:
        return None
    return "Python %d.%d is newer than those that mh4 was tested with, %s: if something fails, select one of these." % (
        version + (VERSIONS,)
    )
