"""Describe the processor of this machine: its name, features and cores."""

import os
import platform
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from itertools import chain

from mh4.util.cgroups import folders, lines


def fields() -> dict[str, str]:
    """Return the fields of /proc/cpuinfo that identify the processor; empty if unknown."""
    try:
        with open("/proc/cpuinfo") as file:
            return dict(re.findall(r"^(model name|flags|Features|CPU part|uarch|isa)\s*: (.*)$", file.read(), re.MULTILINE))
    except OSError:
        return {}


def model() -> str:
    """Return the name of the model. In virtual machines, this is often only a family, such as "AMD EPYC"."""
    name = fields().get("model name") or platform.processor() or platform.machine()
    if sys.platform == "darwin":
        with suppress(OSError):
            name = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], stdout=-1, text=True).stdout.strip() or name
    return name


def described(processor: str, flags: str) -> str:
    """Describe a model with its widest vector instructions, which set the speed of matrix products."""
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags.split()), None)
    return "%s with %s" % (processor, widest) if widest else processor


def name() -> str:
    """Describe this processor, for reports of speed."""
    return described(model(), fields().get("flags", ""))


def cores(root: str = "/") -> int:
    """Return the number of cores that this process may use, by its affinity and by the limits of its control groups.

    A limit that is not a whole number is rounded up. root: the folder of proc and sys, for tests.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(count, _limit(root))


@cache  # every batch of sentences asks
def _limit(root: str) -> int:
    """Return the number of cores that the control groups allow."""
    limit = sys.maxsize
    for folder, is_v2 in folders("cpu", root):
        names = ["cpu.max"] if is_v2 else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        times = "".join(chain.from_iterable(lines(os.path.join(folder, name)) for name in names)).split()
        if len(times) == 2 and all(map(str.isdigit, times)):  # not "max" or -1, without a limit
            quota, period = map(int, times)  # microseconds
            limit = min(limit, max(1, -(-quota // period)))
    return limit
