"""Return the provenance of a record: the commit, the machine, and commands without private parts of paths."""

import importlib.util
import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from mh4 import version
from mh4.decoders import sentences
from mh4.errors import one_line
from mh4.util import cpu
from mh4.util.files import relative_if_inside

PACKAGES = ("dyNET", "numpy", "udtools")  # those that scores depend on


def make_command(target: str, **variables: str | Sequence[object] | None) -> str:
    """Return ``make TARGET`` with the variables that have a value, quoted if needed.

    Absolute paths become relative to the working folder if they are inside it; otherwise only their last component is kept.
    """
    parts = ["make " + target]
    for name, value in variables.items():
        if isinstance(value, str) and value:
            inside = relative_if_inside(Path(value), Path.cwd()) if os.path.isabs(value) else value
            parts.append("%s=%s" % (name, shlex.quote(one_line(Path(value).name if os.path.isabs(inside) else inside))))
        elif value:
            parts.append('%s="%s"' % (name, " ".join(map(str, value))))
    return " ".join(parts)


def without_machine(words: Sequence[str]) -> str:
    """Return a command line of these words, quoted if needed, with only the last component of each absolute path."""
    return shlex.join(re.sub(r"(^|[='\"])/(?:[^/]+/)*", r"\1", word) for word in words)


def commit() -> str:
    """Return the commit of the code, with "+changes" if the work tree differs.

    Changes in results and documentation do not count, as runs write these.
    """
    return version.commit(*version.WRITTEN) or "unknown"


def _builds() -> dict[str, str]:
    """Return the known compilers and target processors of DyNet and the decoders."""
    found = {"decoders": sentences.VARIANT}
    with suppress(OSError, ValueError, KeyError):
        setup = json.loads((Path(sys.prefix) / "mh4-setup.json").read_text(encoding="utf-8"))
        # The processor is MH4_MARCH, or what "native" stands for.
        found.update({"dynet_build": setup["dynet"], "dynet_processor": setup["processor"]})
    spec = importlib.util.find_spec("_dynet")
    if spec and spec.origin:
        compiler = re.search(rb"GCC: \([^)]*\) [0-9.]+|clang version [0-9.]+", Path(spec.origin).read_bytes())
        found.update({"compiler": compiler[0].decode()} if compiler else {})
    return found


@cache
def machine() -> dict[str, str | int]:
    """Return what can change results between machines: the processor, its instruction sets, and versions of software.

    Nothing in it identifies a particular machine. Without /proc/cpuinfo, the flags are missing.
    """
    fields = cpu.fields()
    found: dict[str, str | int] = {
        "processor": cpu.model(),
        "cores": os.cpu_count() or 1,
        "system": "%s %s" % (platform.system(), platform.machine()),
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    found.update(_builds())
    flags = fields.get("flags") or fields.get("Features")
    return {**found, "flags": " ".join(sorted(flags.split()))} if flags else found
