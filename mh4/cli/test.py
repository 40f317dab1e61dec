"""The command `mh4 test`."""

from typing import TYPE_CHECKING

import click

import mh4
from mh4.cli.group import say
from mh4.cli.options import contextual_option, decoding_options, width
from mh4.cli.paths import NAMED_PATH, PATH, Input

if TYPE_CHECKING:
    from mh4.data.conllu import Sentence
    from mh4.parser.parsing import Parser


@click.command()
@click.option("--model", "folder", required=True, type=NAMED_PATH, metavar="DIR", help="The trained parser.")
@click.argument("gold_file", cls=Input, type=PATH, metavar="GOLD.conllu")
@contextual_option
@decoding_options
def test(folder: str, gold_file: str, contextual_files: tuple[str, ...], decode: str | None, beam: int | None) -> None:
    """Parse the words of GOLD.conllu and score against its trees: UAS and LAS in percent of all words.

    GOLD.conllu may be a folder, whose .conllu files count as one file. Without it, or for "-", standard input is read.
    """
    from mh4.data import conllu

    gold = conllu.read(gold_file)
    scores = _test(mh4.load(folder, decode, width(decode, beam), contextual=contextual_files), gold)
    words = sum(map(len, gold))
    say("UAS %.2f  LAS %.2f  (%d sentences, %d words)" % (scores["uas"], scores["las"], len(gold), words))


def _test(parser: "Parser", sentences: list["Sentence"]) -> dict[str, float]:
    """The scores, with a progress bar if standard error is a terminal."""
    from mh4.util.progress import words_bar

    with words_bar() as bar:
        task = bar.add_task("parsing", total=sum(map(len, sentences)), note="")
        return parser.test(sentences, lambda words: bar.advance(task, words))
