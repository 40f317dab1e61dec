"""Find out how much memory this process may use, on simulated systems and with real limits."""

import os
import subprocess
import sys

import pytest

from mh4.util.memory import available

MB = 2**20
UNLIMITED_V1 = 2**63 - 4096
STATUS = "Name:\tpython\nVmPeak:\t  999999 kB\nVmSize:\t  102400 kB\nVmData:\t   51200 kB\nThreads:\t1\n"
LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max data size             %-20s unlimited            bytes
Max address space         %-20s unlimited            bytes
"""
MEMINFO = """\
MemTotal:       8192000 kB
MemFree:         102400 kB
MemAvailable:   4096000 kB
SwapTotal:      %7d kB
SwapFree:       %7d kB
HugePages_Free:       0
"""


@pytest.fixture
def system(tmp_path):
    """A function that writes files of proc and sys, given by path, and returns the memory available."""

    def make(files):
        for path, text in files.items():
            path = tmp_path / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(text) + ("" if str(text).endswith("\n") else "\n"))
        return available(str(tmp_path))

    return make


def v2(folder, limit, used, inactive=0, active=0, swap_limit=None, swap_used=None):
    files = {"memory.max": limit, "memory.current": used}
    files["memory.stat"] = "anon 5\ninactive_file %d\nactive_file %d\n" % (inactive, active)
    if swap_limit is not None:
        files.update({"memory.swap.max": swap_limit, "memory.swap.current": swap_used})
    return {os.path.join("sys/fs/cgroup", folder, name): value for name, value in files.items()}


def v1(folder, limit, used, cache=0, limit_with_swap=None, used_with_swap=None):
    files = {"memory.limit_in_bytes": limit, "memory.usage_in_bytes": used}
    # "total_..." includes the groups below, as does the usage.
    files["memory.stat"] = "inactive_file 1\ntotal_inactive_file %d\ntotal_active_file 0\n" % cache
    if limit_with_swap is not None:
        files.update({"memory.memsw.limit_in_bytes": limit_with_swap, "memory.memsw.usage_in_bytes": used_with_swap})
    return {os.path.join("sys/fs/cgroup/memory", folder, name): value for name, value in files.items()}


EVERYTHING = 4096000 * 1024  # the memory of the machine
MACHINE, WITH_SWAP = {"proc/meminfo": MEMINFO % (0, 0)}, {"proc/meminfo": MEMINFO % (90000, 51200)}
PROCESS = {**MACHINE, "proc/self/status": STATUS}
V2 = {**MACHINE, "proc/self/cgroup": "0::/jobs/mine\n"}
V1 = {
    "proc/self/cgroup": "5:cpu,cpuacct:/cpus\n4:memory:/docker/1234\n1:name=systemd:/x:y\n0::/elsewhere\n",
    **v1("", UNLIMITED_V1, 0),
    **v1("docker", UNLIMITED_V1, 0),
    **v1("docker/1234", 100 * MB, 70 * MB, 20 * MB),
}
V1_SWAP = {**WITH_SWAP, "proc/self/cgroup": "4:memory:/a\n"}
V2_SWAP = {**WITH_SWAP, "proc/self/cgroup": "0::/a\n"}


@pytest.mark.parametrize(
    "files, expected",
    [
        ({}, None),  # as on other systems
        (MACHINE, EVERYTHING),
        ({"proc/meminfo": MEMINFO % (300, 200)}, EVERYTHING + 200 * 1024),  # with free swap
        ({**PROCESS, "proc/self/limits": LIMITS % ("unlimited", "unlimited")}, EVERYTHING),
        ({**PROCESS, "proc/self/limits": LIMITS % ("unlimited", 300 * MB)}, 200 * MB),
        ({**PROCESS, "proc/self/limits": LIMITS % (60 * MB, 300 * MB)}, 10 * MB),
        ({**PROCESS, "proc/self/limits": LIMITS % (40 * MB, "unlimited")}, 0),  # less than is in use
        # Control groups: the minimum over the group and those above it; page cache counts as free.
        (V2, EVERYTHING),  # no such folder
        ({**V2, **v2("jobs/mine", "max", 5 * MB)}, EVERYTHING),
        ({**V2, **v2("jobs/mine", 100 * MB, 70 * MB)}, 30 * MB),
        ({**V2, **v2("jobs/mine", 100 * MB, 70 * MB, 20 * MB, 4 * MB)}, 54 * MB),
        ({**V2, **v2("jobs/mine", 100 * MB, 70 * MB), **v2("jobs", 900 * MB, 890 * MB)}, 10 * MB),
        ({**V2, **v2("jobs/mine", 100 * MB, 70 * MB), **v2("jobs", 900 * MB, 950 * MB)}, 0),
        # In a container with its own namespace, the process is in the top group.
        ({"proc/self/cgroup": "0::/\n", **v2("", 100 * MB, 70 * MB)}, 30 * MB),
        ({"proc/self/cgroup": "0::/../../elsewhere\n", **v2("", 100 * MB, 70 * MB)}, 30 * MB),
        ({**V2_SWAP, **v2("a", 100 * MB, 70 * MB, swap_limit="max", swap_used=0)}, 80 * MB),
        ({**V2_SWAP, **v2("a", 100 * MB, 70 * MB, swap_limit=30 * MB, swap_used=10 * MB)}, 50 * MB),
        (V1, 50 * MB),
        ({**V1, **v1("docker", 500 * MB, 480 * MB)}, 20 * MB),
        ({"proc/self/cgroup": "4:memory:/docker/1234\n", **v1("", 100 * MB, 70 * MB)}, 30 * MB),  # in a container
        ({**V1_SWAP, **v1("a", 100 * MB, 70 * MB)}, 80 * MB),
        ({**V1_SWAP, **v1("a", 100 * MB, 70 * MB, limit_with_swap=120 * MB, used_with_swap=75 * MB)}, 45 * MB),
    ],
)
def test_what_is_available(system, files, expected):
    assert system(files) == expected


@pytest.mark.parametrize("path", ["proc/meminfo", "proc/self/status", "proc/self/limits", "proc/self/cgroup"])
@pytest.mark.parametrize(
    "text", ["", "\n\n", "a", "Max address space", "MemAvailable:", ": - :", "0::", "a b c d e f - g", "\0\xff"]
)
def test_files_of_another_form(system, path, text):
    files = {"proc/meminfo": MEMINFO % (0, 0), "proc/self/cgroup": "0::/a\n", **v2("a", 7 * MB, 0)}
    assert system({**files, path: text}) in (None, 7 * MB, 4096000 * 1024)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux reports it")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_a_real_process(limit):
    """Nearly all of the available memory can be allocated, and no more."""
    code = """
import resource, sys, mmap
from mh4.util.memory import available
limit = getattr(resource, %r)
before = available()
resource.setrlimit(limit, (1 << 30, resource.getrlimit(limit)[1]))
free = available()
assert 500 << 20 < free < 1 << 30 and free < before, (free, before)
had = mmap.mmap(-1, free - (8 << 20), flags=mmap.MAP_PRIVATE)
assert available() < 16 << 20, available()
try:
    mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE)
except OSError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code % limit], capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stdout + done.stderr


def test_not_even_enough_to_read_the_figures(monkeypatch):
    """If memory does not even suffice to read the figures, as after a decoder ran out of memory, 0 is available."""

    def run_out(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("builtins.open", run_out)
    assert available() == 0
