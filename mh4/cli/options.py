"""Options that several commands have: how a parser searches, where its output goes, and how results are shown."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import click

from mh4.cli.paths import LATE_OUTPUT, NAMED_PATH, OUTPUT
from mh4.errors import InputError, ignore_warnings
from mh4.parser.choices import BEAM, BEYOND, BEYOND_BEAM, DECODING_METHODS, INPUTS, SEGMENTED
from mh4.util.text_tables import Form

if TYPE_CHECKING:
    from mh4.data.block import Block

Decorator = Callable[[Callable[..., None]], Callable[..., None]]  # of a command


def together(*options: Decorator) -> Decorator:
    """Return one decorator that adds these options to a command. Its help lists them in this order."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


# How a parser searches.
decoding_options = together(
    click.option(
        "--decode",
        type=click.Choice(DECODING_METHODS),
        help="Exact decoding, greedy search, beam search, or minimum Bayes risk (the tree with the highest sum of probabilities "
        "of arcs); by default exact, or greedy for greedy systems.",
    ),
    click.option("--beam", type=int, metavar="WIDTH", help="The width of the beam; by default %d." % BEAM),
)

# Which sentences are too long, and how they are decoded.
limit_options = together(
    click.option(
        "--longest",
        type=click.IntRange(min=1),
        metavar="N",
        help="Decode sentences of up to N words as usual; by default, up to the length that takes about a second.",
    ),
    click.option(
        "--beyond",
        type=click.Choice(BEYOND),
        help="How longer ones are decoded: a beam of %d, the best tree by the scores of arcs, or not at all; by default "
        "beam, or mst for systems without transitions and around given heads." % BEYOND_BEAM,
    ),
)

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    default="text",
    help="How tables are printed; latex is for its package booktabs.",
)

contextual_option = click.option(
    "--contextual",
    multiple=True,
    type=NAMED_PATH,
    metavar="FILE",
    help="Vectors of the words of all sentences, in the format safetensors; may be repeated.",
)

# For text; see input_format.
text_options = together(
    click.option("--text", is_flag=True, help="The input is raw text in UTF-8, to be segmented into sentences and words."),
    click.option("--segmenter", type=NAMED_PATH, metavar="FILE", help="For raw text, from `mh4 segmenter train`."),
)
input_option = click.option(
    "--input",
    "format_of_input",
    type=click.Choice(INPUTS),
    help="What the input is: conllu (the default); horizontal, a sentence in a line, with spaces between words; vertical, a word in "
    "a line, with a blank line between sentences; presegmented, a sentence in a line, to be segmented into words; or text, the same "
    "as --text.",
)


def input_format(format_of_input: str | None, text: bool, segmenter: str | None, **for_conllu: object) -> str:
    """Return which of INPUTS the options name.

    for_conllu: options that are only for CoNLL-U. Raises InputError if these are given for text, and if a segmenter is
    missing or given needlessly.
    """
    if text and format_of_input not in (None, "text"):
        raise InputError("--text is the same as --input text, so it excludes --input %s" % format_of_input)
    found = "text" if text else format_of_input or "conllu"
    given = "--text" if text else "--input %s" % found
    if (found in SEGMENTED) != bool(segmenter):
        needed = "--segmenter is for raw text: it needs --text or --input presegmented"
        raise InputError("%s needs --segmenter FILE" % given if found in SEGMENTED else needed)
    for name, value in for_conllu.items():
        if found != "conllu" and value:
            raise InputError("--%s is for CoNLL-U, and not for %s" % (name.replace("_", "-"), given))
    return found


def reader(form: str, segmenter: str | None, at_once: bool = False, **for_conllu: Any) -> "Callable[[str], Iterator[Block]]":
    """Return the function that yields the sentences of a file in one of INPUTS.

    at_once: see conllu.blocks; not for text that needs a segmenter. for_conllu: further arguments of conllu.blocks.
    """
    if form == "conllu":
        from mh4.data import conllu

        return partial(conllu.blocks, at_once=at_once, **for_conllu)
    if segmenter:
        from mh4.data.segmenter import Segmenter

        return partial(Segmenter(segmenter).blocks, options="presegmented" if form == "presegmented" else "")
    from mh4.data import split_text

    return partial(split_text.blocks, split=form, at_once=at_once)


# What a parse writes.
column_options = together(
    click.option("--tags", is_flag=True, help="Also write UPOS, XPOS and FEATS, as far as the model predicts them."),
    click.option(
        "--keep-deps", is_flag=True, help="Keep DEPS and empty nodes, although they may contradict the new HEAD and DEPREL."
    ),
)

confidence_option = click.option(
    "--confidence",
    is_flag=True,
    help="Also write the probabilities of each arc and label to MISC: ArcProb=0.9712|LabelProb=0.9954.",
)

# For commands that measure.
json_option = click.option("--json", "as_json", is_flag=True, help="Print counts and unrounded percentages as JSON.")
plot_option = click.option(
    "--plot", "plot_file", type=LATE_OUTPUT, metavar="FILE.png", help="Also draw a plot (.png, .pdf, .svg; needs matplotlib)."
)

# For commands that write parsed files: messages, output, columns and processes.
output_options = together(
    click.option("--verbose", is_flag=True, help="Say how much was parsed, and how fast."),
    click.option("--quiet", is_flag=True, help="No progress bar and no notes."),
    click.option(
        "-o", "--output", default="-", show_default="standard output", type=OUTPUT, metavar="OUT", help="File or folder."
    ),
    column_options,
    click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Number of processes to parse with."),
)


def check_format(form: Form, as_json: bool) -> None:
    if as_json and form != "text":
        raise InputError("--json and --format exclude each other")


def set_verbosity(quiet: bool, verbose: bool) -> None:
    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other")
    if quiet:
        ignore_warnings()
