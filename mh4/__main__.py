"""Run the command ``mh4``, also as ``python -m mh4``."""

import os


def main() -> None:
    """Run the command line."""
    # Otherwise, child processes would import modules from the current folder, where anyone may have put them.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        from mh4.cli import main as command
    except KeyboardInterrupt:  # the code that reports it is not imported yet
        raise SystemExit(130) from None
    command(prog_name="mh4")


if __name__ == "__main__":  # the worker processes of `mh4 parse --jobs` import this file
    main()
