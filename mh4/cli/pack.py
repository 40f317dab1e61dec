"""The command `mh4 pack`."""

import os

import click

from mh4.cli.group import say
from mh4.cli.paths import LATE_PLAIN_OUTPUT, NAMED_PATH


@click.command()
@click.argument("folder", type=NAMED_PATH, metavar="DIR")
@click.option("-o", "--output", required=True, type=LATE_PLAIN_OUTPUT, metavar="FILE", help="The file to write, such as hu.mh4.")
@click.option("--name", help="What to call the model.")
@click.option("--language", metavar="CODE", help="The language, such as hu.")
@click.option("--treebank", metavar="NAME", help='The treebank and its release, such as "UD_Hungarian 2.0".')
@click.option("--licence", metavar="NAME", help='The licence of the treebank, such as "CC BY-NC-SA 3.0".')
@click.option("--test", "test_file", type=NAMED_PATH, metavar="GOLD.conllu", help="Also test the model on this treebank.")
def pack(folder: str, output: str, test_file: str | None, **about: str | None) -> None:
    """Pack the model in DIR into a single file that can be handed on.

    The file has checksums, and a card: scores, data, settings, and how the model was made. Wherever a command or mh4.load takes the
    folder of a model, it takes this file, too. `mh4 info --card FILE` shows its card.
    """
    from mh4.training.card import pack as pack_model

    card = pack_model(folder, output, {name: value for name, value in about.items() if value}, test_file)
    into_output = os.path.samestat(os.stat(output), os.fstat(1))  # as with `-o /dev/stdout`
    for data, scores in card["scores"].items():
        say("%s UAS %.2f  LAS %.2f" % (data, scores["uas"], scores["las"]), err=into_output)
    say("Written: %s" % output, err=into_output)
