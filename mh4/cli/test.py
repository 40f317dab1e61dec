"""The command `mh4 test`."""

import click

import mh4
from mh4.cli.group import say
from mh4.cli.options import contextual_option, decoding_options
from mh4.cli.paths import NAMED_PATH, PATH, Input
from mh4.errors import counted
from mh4.parser.choices import Decoding


@click.command()
@click.option("--model", "folder", required=True, type=NAMED_PATH, metavar="DIR", help="The trained parser.")
@click.argument("gold_file", cls=Input, type=PATH, metavar="GOLD.conllu")
@contextual_option
@decoding_options
def test(folder: str, gold_file: str, contextual: tuple[str, ...], decode: Decoding | None, beam: int | None) -> None:
    """Parse the words of GOLD.conllu and score against its trees: UAS and LAS in percent of all words.

    LAS is without subtypes of labels, as in the shared tasks. The trees are the same as with `mh4 parse`, also for sentences that
    are too long for the usual decoder.

    GOLD.conllu may be a folder, whose .conllu files count as one file. Without it, or for "-", standard input is read.
    """
    import os

    from mh4.data import conllu
    from mh4.parser.model import trained_on
    from mh4.util.files import git_blob_id
    from mh4.util.progress import counting

    gold = conllu.read(gold_file)
    words = sum(map(len, gold))
    parser = mh4.load(folder, decode, beam, contextual=contextual)
    if os.path.isfile(gold_file) and git_blob_id(gold_file) in trained_on(folder, "git_blob"):
        say("mh4: %s: the model was trained on it, so that scores say little about other texts" % gold_file, err=True)
    with counting("parsing", words) as progress:
        scores = parser.test(gold, progress)
    say("UAS %.2f  LAS %.2f  (%s, %s)" % (scores["uas"], scores["las"], counted(len(gold), "sentence"), counted(words, "word")))
