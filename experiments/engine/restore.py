"""Merges the saved trees of a run into the treebank's file.

.venv/bin/python -m experiments predictions experiments/results/hu/mh4-hybrid-seed1.trees.gz hu-ud-dev.conllu > parsed.conllu
"""

from pathlib import Path

import click

from experiments.engine.command import Command
from experiments.engine.predictions import restored
from mh4.data import conllu


@click.command(cls=Command)
@click.argument("trees", metavar="SYSTEM-seedN.trees.gz")
@click.argument("file", metavar="FILE.conllu")
def predictions(trees: str, file: str) -> None:
    """Write FILE with the trees of a finished run to standard output."""
    text = restored(Path(trees), Path(file))
    with conllu.open_output("-") as output:
        output.write(text)
