"""The commands `mh4 segmenter ...`."""

import click

from mh4.cli.group import Group, say_written
from mh4.cli.paths import LATE_PLAIN_OUTPUT, NAMED_PATH, PATH, Input


@click.group(cls=Group)
def segmenter() -> None:
    """Train segmenters, which find sentences and words in raw text, for `mh4 parse --text`."""


@segmenter.command()
@click.argument("train_file", cls=Input, type=PATH, metavar="TRAIN.conllu")
@click.option("--dev", "dev_file", required=True, type=NAMED_PATH, metavar="FILE", help="Development treebank (CoNLL-U).")
@click.option(
    "-o", "--output", "output_file", required=True, type=LATE_PLAIN_OUTPUT, metavar="FILE", help="Where the segmenter goes."
)
@click.option("--epochs", type=click.IntRange(1, 1000), default=20, metavar="N", help="Number of passes over the treebank.")
@click.option("--quiet", is_flag=True, help="No messages of UDPipe.")
def train(train_file: str, dev_file: str, output_file: str, epochs: int, quiet: bool) -> None:
    """Train a segmenter on the words and spaces (SpaceAfter=No) of a treebank.

    It is a tokenizer of UDPipe 1, from the epoch with the best result on the development treebank. Training
    takes one to a few minutes for a thousand sentences.
    """
    from mh4.data.segmenter import train as train_segmenter

    train_segmenter(train_file, dev_file, output_file, epochs, quiet)
    if not quiet:
        say_written("the segmenter", output_file)
