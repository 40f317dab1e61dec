"""Measure used and available memory, so that an error is raised before the system kills the process."""

import os
import resource
import sys
from collections.abc import Iterator

from mh4.util.cgroups import folders, lines

# File names of cgroup v2 and v1: limit and use of memory; limit and use of swap (v1: of memory and swap together); and
# the fields of memory.stat for the page cache, which the system frees when memory is needed.
_V2 = ("memory.max", "memory.current", "memory.swap.max", "memory.swap.current", ("inactive_file", "active_file"))
_V1 = (
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.memsw.usage_in_bytes",
    ("total_inactive_file", "total_active_file"),
)


# Bytes left for allocations that are not checked, such as indices. Smaller requests are not checked.
_LEFT = 32 << 20


def require(size: int, what: str) -> None:
    """Raise MemoryError if this process may not use `size` more bytes. what: what needs them, for the message."""
    if size > _LEFT:
        there_is = available()
        if there_is is not None and size > there_is - _LEFT:
            raise MemoryError("%s needs another %d MB, and there are %d" % (what, size >> 20, max(there_is - _LEFT, 0) >> 20))


def peak_mb(usage: resource.struct_rusage | None = None) -> int:
    """Return the peak memory in MB of this process, or of the one whose resource usage is given."""
    usage = usage or resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_maxrss >> (20 if sys.platform == "darwin" else 10)


def available(root: str = "/") -> int | None:
    """Return the number of bytes that this process may still use; None if unknown, as outside Linux.

    This is the least of what is free in the machine, in the control groups of the process (a container's, cgroup v1 or
    v2), and under its own limits on address space and data (`ulimit -v`, `ulimit -d`). Page cache and swap count as free.
    If there is not even enough memory to read these numbers, it is 0. root: the folder of proc and sys, for tests.
    Takes about 1 ms.
    """
    try:
        return min(_rooms(root), default=None)
    except MemoryError:
        return 0


def _rooms(root: str) -> Iterator[int]:
    machine = _numbers(os.path.join(root, "proc/meminfo"), unit=1024)
    swap = machine.get("SwapFree:", 0)
    if "MemAvailable:" in machine:
        yield machine["MemAvailable:"] + swap
    used = _numbers(os.path.join(root, "proc/self/status"), unit=1024)
    for line in lines(os.path.join(root, "proc/self/limits")):
        for limit, size in (("Max address space ", "VmSize:"), ("Max data size ", "VmData:")):
            soft = "".join(line[len(limit) :].split()[:1])
            if line.startswith(limit) and soft.isdigit() and size in used:
                yield max(int(soft) - used[size], 0)
    for folder, is_v2 in folders("memory", root):
        room = _room_in(folder, _V2 if is_v2 else _V1, swap)
        if room is not None:
            yield room


def _room_in(folder: str, names: tuple, swap: int) -> int | None:
    """Return the free memory of a control group, given the free swap of the machine; None if the group has no limit."""
    limit, used, limit_with_swap, used_with_swap = (_number(os.path.join(folder, name)) for name in names[:4])
    if limit is None or used is None:
        return None
    stat = _numbers(os.path.join(folder, "memory.stat"))
    cache = sum(stat.get(name, 0) for name in names[4])
    in_memory = limit - used + cache
    if limit_with_swap is None or used_with_swap is None:
        return max(in_memory + swap, 0)
    in_swap = limit_with_swap - used_with_swap
    return max(in_memory + min(in_swap, swap) if names is _V2 else min(in_memory + swap, in_swap + cache), 0)


def _numbers(path: str, unit: int = 1) -> dict[str, int]:
    """Return the numbers in a file of names and numbers, by name."""
    fields = (line.split() for line in lines(path))
    return {field[0]: int(field[1]) * unit for field in fields if len(field) > 1 and field[1].isdigit()}


def _number(path: str) -> int | None:
    """Return the number in a file; None if there is none, as for "max"."""
    text = "".join(lines(path)).strip()
    return int(text) if text.isdigit() else None
