"""The processor of this machine: its name and features, as /proc/cpuinfo has them, and its cores."""

import os
import platform
import re
from typing import Dict


def fields() -> Dict[str, str]:
    """What tells processors apart: the name, the instruction sets, and on other machines than PCs further fields; empty if unknown."""
    try:
        with open("/proc/cpuinfo") as file:
            return dict(re.findall(r"^(model name|flags|Features|CPU part|uarch|isa)\s*: (.*)$", file.read(), re.MULTILINE))
    except OSError:
        return {}


def name() -> str:
    """The name for people."""
    return fields().get("model name") or platform.processor() or platform.machine()


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
