"""Where the experiments are, and how files, folders and commands are written down: never with what only this machine has."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Union

EXPERIMENTS = Path(__file__).resolve().parent


def shown(path: Path) -> str:
    """The path from the repository's folder on, when it is inside."""
    try:
        return str(path.relative_to(EXPERIMENTS.parent))
    except ValueError:
        return str(path)


def make_command(target: str, **variables: Union[str, Sequence[str], None]) -> str:
    """``make TARGET`` with the variables that have a value: lists in quotes, a folder's absolute path cut to its name."""
    parts = ["make " + target]
    for name, value in variables.items():
        if isinstance(value, str) and value:
            parts.append("%s=%s" % (name, Path(value).name if os.path.isabs(value) else value))
        elif value:
            parts.append('%s="%s"' % (name, " ".join(value)))
    return " ".join(parts)


def without_machine(command: str) -> str:
    """A command line with each absolute path cut to its last name."""
    return re.sub(r"(^|[\s='\"])/(?:[^\s/]+/)*", r"\1", command)


def commit(folder: Path = EXPERIMENTS) -> str:
    """The commit that the code is at, with "+changes" if the work tree differs (results, which runs write, aside)."""
    git = ["git", "-C", str(folder)]
    changed = ["status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)experiments/results"]
    try:
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        status = subprocess.run([*git, *changed], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.decode().strip()[:12] + ("+changes" if status.strip() else "")
