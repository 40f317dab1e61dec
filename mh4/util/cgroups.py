"""The control groups of this process, whose limits on memory and cores hold in containers and jobs."""

import os
from collections.abc import Iterator


def folders(controller: str, root: str = "/") -> Iterator[tuple[str, bool]]:
    """Yield the folders of the process's groups that may have limits of a controller, and whether they are of cgroup v2.

    The process's own group comes first, its parents follow. A container's own group is at the top, even if
    /proc/self/cgroup has a path of the host, which has no folder here. root: the folder of proc and sys, for tests.
    """
    for line in lines(os.path.join(root, "proc/self/cgroup")):
        _, _, rest = line.rstrip("\n").partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top = os.path.join(root, "sys/fs/cgroup", controller if controllers else "")
        below = [] if ".." in path.split("/") else path.strip("/").split("/")
        for depth in range(len(below), -1, -1):
            yield os.path.join(top, *below[:depth]), not controllers


def lines(path: str) -> list[str]:
    """Return the lines of a file; none if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readlines()
    except OSError:
        return []
