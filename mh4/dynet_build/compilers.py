"""Find a C++ compiler that works, and the environment to run it in."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping

from mh4.errors import InputError
from mh4.util import cpu, memory


def find_compiler(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` with the C and C++ compilers to use as CC and CXX.

    Raises InputError if there are none, or if the C++ compiler or Python's headers do not work.
    """
    path = env.get("PATH", os.defpath)
    c, cxx = (
        env.get(variable) or next((name for name in names if shutil.which(name, path=path)), None)
        for variable, names in (("CC", ("gcc", "clang", "cc")), ("CXX", ("g++", "clang++", "c++")))
    )
    if c is None or cxx is None:
        raise InputError(
            "there is no C++ compiler, which DyNet and the decoders need: install one, on Debian or Ubuntu with "
            "`apt install g++ python3-dev`, on macOS with `xcode-select --install`."
        )
    headers = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(headers, "Python.h")):
        raise InputError(
            "the headers of Python %d.%d are missing (no Python.h in %s): install them, on Debian or Ubuntu with "
            "`apt install python3-dev`." % (sys.version_info[:2] + (headers,))
        )
    try:
        check = subprocess.run(
            [*shlex.split(cxx), "-x", "c++", "-std=c++11", "-fsyntax-only", "-I", headers, "-"],
            input=b"#include <Python.h>\n#include <vector>\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
        )  # fmt: skip
        output, works = check.stdout.decode(errors="replace"), check.returncode == 0
    except (OSError, ValueError) as error:  # shlex raises ValueError for an unclosed quote
        output, works = str(error), False
    if not works:
        raise InputError(
            "the C++ compiler `%s` does not work (%s): install another, or select one with CXX."
            % (cxx, (output.strip().splitlines() or ["no output"])[-1])
        )
    return {**env, "CC": c, "CXX": cxx}


def processes(jobs: str | int | None = None) -> int:
    """Return the number of compilers to run in parallel: one per core and 1.5 GB of free memory, but at most `jobs`.

    Raises InputError if `jobs` is not a whole number from 1 to 9999.
    """
    free, most = memory.available(), cpu.cores()
    if free is not None:
        most = max(1, min(most, free // 1500000000))
    if jobs is None:
        return most
    if not re.fullmatch(r"[1-9][0-9]{0,3}", str(jobs)):
        raise InputError("JOBS: %s is not a whole number from 1 to 9999." % jobs)
    return min(int(jobs), most)


def clean_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for the commands of the setup, without variables that would redirect them."""
    unwanted = r"PYTHONPATH|PYTHONHOME|PIP_USER|PIP_TARGET|PIP_PREFIX|VIRTUAL_ENV|MAKEFLAGS|MFLAGS|MAKEOVERRIDES|MAKELEVEL"
    return {name: value for name, value in env.items() if not re.fullmatch(unwanted, name)}
