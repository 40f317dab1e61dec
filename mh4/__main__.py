"""``python -m mh4`` is ``mh4``."""

from mh4.cli import main

main(prog_name="mh4")
