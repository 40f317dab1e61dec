"""How much memory this process may use, by what the system says: made-up systems, and limits of a child process."""

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
    """Make a folder with the files of proc and sys: by path, what is in them."""

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
    # The first is of this group alone, the second of those below it as well, as the usage is.
    files["memory.stat"] = "inactive_file 1\ntotal_inactive_file %d\ntotal_active_file 0\n" % cache
    if limit_with_swap is not None:
        files.update({"memory.memsw.limit_in_bytes": limit_with_swap, "memory.memsw.usage_in_bytes": used_with_swap})
    return {os.path.join("sys/fs/cgroup/memory", folder, name): value for name, value in files.items()}


def test_no_such_files(tmp_path):
    """As on other systems."""
    assert available(str(tmp_path)) is None
    assert available(str(tmp_path / "missing")) is None


def test_of_the_machine(system):
    assert system({"proc/meminfo": MEMINFO % (0, 0)}) == 4096000 * 1024
    assert system({"proc/meminfo": MEMINFO % (300, 200)}) == (4096000 + 200) * 1024


def test_limits_of_the_process(system):
    files = {"proc/meminfo": MEMINFO % (0, 0), "proc/self/status": STATUS}
    assert system({**files, "proc/self/limits": LIMITS % ("unlimited", "unlimited")}) == 4096000 * 1024
    assert system({**files, "proc/self/limits": LIMITS % ("unlimited", 300 * MB)}) == 200 * MB
    assert system({**files, "proc/self/limits": LIMITS % (60 * MB, 300 * MB)}) == 10 * MB
    assert system({**files, "proc/self/limits": LIMITS % (40 * MB, "unlimited")}) == 0  # it may be below what is in use


def test_cgroup_v2(system):
    """The least of the group and those above it; page cache is free."""
    files = {"proc/meminfo": MEMINFO % (0, 0), "proc/self/cgroup": "0::/jobs/mine\n"}
    assert system(files) == 4096000 * 1024  # no such folder
    assert system({**files, **v2("jobs/mine", "max", 5 * MB)}) == 4096000 * 1024
    assert system({**files, **v2("jobs/mine", 100 * MB, 70 * MB)}) == 30 * MB
    assert system({**files, **v2("jobs/mine", 100 * MB, 70 * MB, 20 * MB, 4 * MB)}) == 54 * MB
    assert system({**files, **v2("jobs", 900 * MB, 890 * MB)}) == 10 * MB
    assert system({**files, **v2("jobs", 900 * MB, 950 * MB)}) == 0


def test_cgroup_v2_in_a_container(system):
    """With a namespace of its own, the process is in the group at the top."""
    files = {"proc/self/cgroup": "0::/\n", **v2("", 100 * MB, 70 * MB)}
    assert system(files) == 30 * MB
    assert system({**files, "proc/self/cgroup": "0::/../../elsewhere\n"}) == 30 * MB


def test_cgroup_v2_with_swap(system):
    files = {"proc/meminfo": MEMINFO % (90000, 51200), "proc/self/cgroup": "0::/a\n"}
    assert system({**files, **v2("a", 100 * MB, 70 * MB, swap_limit="max", swap_used=0)}) == 80 * MB
    assert system({**files, **v2("a", 100 * MB, 70 * MB, swap_limit=30 * MB, swap_used=10 * MB)}) == 50 * MB


def test_cgroup_v1(system):
    groups = "5:cpu,cpuacct:/cpus\n4:memory:/docker/1234\n1:name=systemd:/x:y\n0::/elsewhere\n"
    files = {"proc/self/cgroup": groups}
    files.update({**v1("", UNLIMITED_V1, 0), **v1("docker", UNLIMITED_V1, 0), **v1("docker/1234", 100 * MB, 70 * MB, 20 * MB)})
    assert system(files) == 50 * MB
    assert system(v1("docker", 500 * MB, 480 * MB)) == 20 * MB


def test_cgroup_v1_in_a_container(system):
    """Where only the process's own group is there, at the top."""
    files = {"proc/self/cgroup": "4:memory:/docker/1234\n"}
    assert system({**files, **v1("", 100 * MB, 70 * MB)}) == 30 * MB


def test_cgroup_v1_with_swap(system):
    files = {"proc/meminfo": MEMINFO % (90000, 51200), "proc/self/cgroup": "4:memory:/a\n"}
    assert system({**files, **v1("a", 100 * MB, 70 * MB)}) == 80 * MB
    assert system({**files, **v1("a", 100 * MB, 70 * MB, limit_with_swap=120 * MB, used_with_swap=75 * MB)}) == 45 * MB


@pytest.mark.parametrize("path", ["proc/meminfo", "proc/self/status", "proc/self/limits", "proc/self/cgroup"])
@pytest.mark.parametrize(
    "text", ["", "\n\n", "a", "Max address space", "MemAvailable:", ": - :", "0::", "a b c d e f - g", "\0\xff"]
)
def test_files_of_another_form(system, path, text):
    files = {"proc/meminfo": MEMINFO % (0, 0), "proc/self/cgroup": "0::/a\n", **v2("a", 7 * MB, 0)}
    assert system({**files, path: text}) in (None, 7 * MB, 4096000 * 1024)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says")
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_a_real_process(limit):
    """What is said to be available, less a little, can be had, and what is not, cannot."""
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
    """As a decoder asks that has just run out of memory."""

    def run_out(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("builtins.open", run_out)
    assert available() == 0
