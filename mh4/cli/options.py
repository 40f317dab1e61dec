"""Options that several commands have: how a parser searches, and where its output goes."""

import warnings
from collections.abc import Callable

import click

from mh4.cli.paths import NAMED_PATH, OUTPUT
from mh4.errors import InputError
from mh4.parser.choices import BEAM, BEYOND, BEYOND_BEAM, DECODING_METHODS


def decoding_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that set how a parser searches."""
    how = "Exact decoding, greedy search, beam search, or minimum Bayes risk (the tree with the highest sum of probabilities "
    how += "of arcs); by default exact, or greedy for greedy systems."
    command = click.option("--beam", type=int, metavar="WIDTH", help="The width of the beam; by default %d." % BEAM)(command)
    return click.option("--decode", type=click.Choice(DECODING_METHODS), help=how)(command)


def limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that set which sentences are too long, and what becomes of them."""
    longest = "Words of the longest sentences that are decoded as usual; by default, about where that takes a second."
    how = (
        "How longer ones are decoded: a beam of %d, the best tree by the scores of arcs, or not at all; by default " % BEYOND_BEAM
    )
    how += "beam, or mst for systems without transitions."
    command = click.option("--beyond", type=click.Choice(BEYOND), help=how)(command)
    return click.option("--longest", type=click.IntRange(min=1), metavar="N", help=longest)(command)


def contextual_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option --contextual."""
    return click.option(
        "--contextual",
        "contextual_files",
        multiple=True,
        type=NAMED_PATH,
        metavar="FILE",
        help="Vectors of the words of all sentences, in the format safetensors; may be repeated.",
    )(command)


def text_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for raw text; see check_text."""
    for decorate in (
        click.option("--segmenter", type=NAMED_PATH, metavar="FILE", help="For --text, from `mh4 segmenter train`."),
        click.option("--text", is_flag=True, help="The input is raw text in UTF-8, to be segmented into sentences and words."),
    ):
        command = decorate(command)
    return command


def check_text(text: bool, segmenter: str | None, **for_conllu: object) -> None:
    """InputError unless the options for raw text are given together, and without those that are only for CoNLL-U."""
    if text != bool(segmenter):
        raise InputError("--text needs --segmenter FILE" if text else "--segmenter is for raw text: it needs --text")
    for name, value in for_conllu.items():
        if text and value:
            raise InputError("--%s is for CoNLL-U, and not for --text" % name)


def column_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what is written of a parse."""
    for decorate in (
        click.option("--keep-deps", is_flag=True, help="Keep DEPS, although it may contradict the new HEAD and DEPREL."),
        click.option("--tags", is_flag=True, help="Also write the predicted UPOS, XPOS and FEATS."),
    ):
        command = decorate(command)
    return command


confidence_option = click.option(
    "--confidence", is_flag=True, help="Also write the probability of each arc to MISC, such as ArcProb=0.9712."
)


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a command that writes parsed files: output, columns, processes and how much it says."""
    for decorate in (
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="Number of processes to parse with.",
        ),
        column_options,
        click.option(
            "-o",
            "--output",
            "output",
            default="-",
            type=OUTPUT,
            metavar="OUT",
            help="File or folder; by default, standard output.",
        ),
        click.option("--quiet", is_flag=True, help="No progress bar and no notes."),
        click.option("--verbose", is_flag=True, help="Say how much was parsed, and how fast."),
    ):
        command = decorate(command)
    return command


def width(decode: str | None, beam: int | None) -> int:
    """The width of the beam; InputError if one is given without --decode beam."""
    if beam is not None and decode != "beam":
        raise InputError("--beam %d only makes sense with --decode beam" % beam)
    return BEAM if beam is None else beam


def set_verbosity(quiet: bool, verbose: bool) -> None:
    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other")
    if quiet:
        warnings.simplefilter("ignore")
