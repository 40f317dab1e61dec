"""``python -m mh4`` is ``mh4``."""

from mh4.cli import main

if __name__ == "__main__":  # the worker processes of `mh4 parse --jobs` import this file
    main(prog_name="mh4")
