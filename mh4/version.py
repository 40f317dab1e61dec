"""The version of mh4, and the commit of its code. Models and records contain both."""

from pathlib import Path

__version__ = "1.0.0"
PACKAGE = Path(__file__).resolve().parent
WRITTEN = ("experiments/results", "docs")  # folders that runs write to; changes there do not change the code


def commit(*exclude: str) -> str:
    """Return the first 12 digits of the commit that is checked out; "" outside a checkout.

    "+changes" follows if tracked files differ from the commit, except in the folders `exclude`, which are relative to
    the top of the checkout.
    """
    import subprocess  # imported here, as every `import mh4` imports this module

    if not (PACKAGE.parent / ".git").exists():
        return ""

    def git(*command: str) -> str:
        return subprocess.check_output(["git", "-C", PACKAGE.parent, *command], stderr=subprocess.DEVNULL).decode().strip()

    try:
        head = git("rev-parse", "HEAD")
        changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", *(":(exclude)" + each for each in exclude))
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head[:12] + "+changes" * bool(changes)


def described() -> str:
    """Return the version, with the commit where it is known: "1.0.0 (commit 0123456789ab)"."""
    found = commit(*WRITTEN)
    return __version__ + (" (commit %s)" % found if found else "")
