"""The processor of this machine, as /proc/cpuinfo describes it."""

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
