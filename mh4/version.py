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
    git = ["git", "-C", str(PACKAGE.parent)]
    changed = ["status", "--porcelain", "--untracked-files=no", "--", ".", *(":(exclude)" + each for each in exclude)]
    try:
        head, status = (
            subprocess.run([*git, *command], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            .stdout.decode()
            .strip()
            for command in (["rev-parse", "HEAD"], changed)
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head[:12] + "+changes" * bool(status)


def described() -> str:
    """Return the version, with the commit where it is known: "1.0.0 (commit 0123456789ab)"."""
    found = commit(*WRITTEN)
    return __version__ + (" (commit %s)" % found if found else "")
