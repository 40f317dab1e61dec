"""The command ``mh4``, which is also ``python -m mh4``."""

import os


def main() -> None:
    """Run the command line."""
    os.environ["PYTHONSAFEPATH"] = "1"  # or child processes would import what is in the current folder, which may be anybody's
    try:
        from mh4.cli import main as command
    except KeyboardInterrupt:  # before there is anything that reports it
        raise SystemExit(130) from None
    command(prog_name="mh4")


if __name__ == "__main__":  # the worker processes of `mh4 parse --jobs` import this file
    main()
