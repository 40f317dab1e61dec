"""When memory runs out, every decoder raises MemoryError and works again afterwards.

This is tried in two child processes, which may crash. In one, allocations fail from a number on, for every number.
In the other, the address space is limited. See exhaust.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import preloading

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent


def exhaust(how, environment):
    command = [sys.executable, str(HERE / "exhaust.py"), how]
    done = subprocess.run(command, stdout=-1, stderr=-1, env=environment)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return dict(line.rsplit(" ", 1) for line in done.stdout.decode().splitlines())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")
def test_every_allocation_may_fail(tmp_path):
    failures = exhaust("allocations", preloading(HERE / "failing.cpp", tmp_path))
    assert len(failures) >= 15
    assert all(int(count) >= 3 for count in failures.values()), failures  # every call needs three allocations or more


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere, the limit may be ignored")
def test_limited_address_space():
    # These variables make malloc return freed memory to the system, and not reserve memory for each thread.
    failures = exhaust("space", dict(os.environ, MALLOC_MMAP_THRESHOLD_="65536", MALLOC_ARENA_MAX="1"))
    assert len(failures) >= 15
    for name, count in failures.items():
        small = name.startswith("mhk") or name.endswith("1ec, one tree")  # these need little for feasible lengths
        assert int(count) >= 1 or small, (name, failures)
