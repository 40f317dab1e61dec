"""The command `mh4 parse`."""

import os
from contextlib import nullcontext

import click

from mh4.cli import options
from mh4.cli.group import say
from mh4.cli.paths import NAMED_OUTPUT, NAMED_PATH, PATH, Input
from mh4.errors import InputError, counted


@click.command()
@click.argument("input_files", cls=Input, type=PATH, metavar="IN.conllu...", nargs=-1, required=True)
@click.option("--model", "folder", required=True, type=NAMED_PATH, metavar="DIR", help="The trained parser.")
@options.input_option
@options.text_options
@options.confidence_option
@click.option(
    "--rejects",
    "rejects_file",
    type=NAMED_OUTPUT,
    metavar="FILE",
    help="Collect blocks that are not CoNLL-U in FILE instead of stopping at the first.",
)
@click.option("--keep-heads", is_flag=True, help="Words keep the HEAD and DEPREL that they have; only _ is filled in.")
@click.option(
    "--best", type=int, default=1, metavar="K", help="Write the K best trees of each sentence one after another, the best first."
)
@click.option("--flush", is_flag=True, help="Parse and write each sentence as it arrives, not thousands of words at a time.")
@options.contextual_option
@options.output_options
@options.limit_options
@options.decoding_options
def parse(
    input_files: tuple[str, ...],
    folder: str,
    format_of_input: str | None,
    text: bool,
    segmenter: str | None,
    output: str,
    tags: bool,
    keep_deps: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
    decode: str | None,
    beam: int | None,
    longest: int | None,
    beyond: str | None,
    confidence: bool,
    rejects_file: str | None,
    keep_heads: bool,
    best: int,
    flush: bool,
    contextual: tuple[str, ...],
) -> None:
    """Parse CoNLL-U files of any size, or with --input text, raw or split into words.

    Each word gets a new HEAD and DEPREL. The enhanced graph might contradict them, so it is left out of all sentences: DEPS becomes
    "_", and empty nodes are removed. Probabilities of an earlier parse are removed from MISC. Everything else stays byte for byte,
    including tags (but see --tags), comments and multiword tokens.

    A folder stands for the .conllu files (for text, the .txt files) in it and in its subfolders; a message names the other files. A
    file that is given twice, by itself or in a folder, is parsed once. The parse of a file without sentences is empty. If there is no
    file, or for "-", mh4 parses standard input. OUT is a file. For several files, or for a folder, OUT is a folder: each output has the
    name of its input there, relative to the input folder, and the second of two equal names becomes NAME-2.conllu. Files are parsed one
    after another, and each output is written once its file is parsed. Inputs and outputs called .gz, .bz2, .xz or .zst are compressed.

    If a sentence has more words than --longest, or is too long for the memory of the machine, --beyond says how it is decoded; very
    long sentences are decoded in windows. Such sentences have no probabilities. A comment in each, "# mh4 = ...", says how it was
    decoded, and a message at the end counts them.

    --keep-heads completes partly annotated trees: words keep what they have in HEAD and DEPREL, and each "_" is replaced by the value in
    the best tree with these heads, which is found exactly. Probabilities are conditional on these heads. A complete tree stays as
    it is, whatever its class. If the parser can produce no tree with these heads, the sentence is treated as --beyond says; if no tree
    at all has them (they have a cycle or two roots, for example), it stays as it is. A comment in it, "# mh4 = ...", names the word in the
    way.

    --best writes each sentence with each of its K best trees, which are found exactly. A comment in it, such as "# mh4 = tree 2 of 3,
    score 81.4000, probability 0.0214", says which tree it is.

    The probability of an arc is the total probability of all derivations with this arc (for mst and 1ec, of all trees with it);
    the probability of a label is conditional on its arc. Scores are first divided by the temperatures that were best on the
    development set.
    """
    from mh4.cli.output import destinations, say_parsed, write
    from mh4.data import conllu
    from mh4.data.rejects import open_rejects
    from mh4.parser import parallel
    from mh4.parser.parsing import Parser

    arguments = (folder, decode, beam, contextual)
    form = options.input_format(format_of_input, text, segmenter, rejects=rejects_file, keep_heads=keep_heads)
    if flush and segmenter:
        raise InputError("--flush is not for raw text, whose sentences end where later text says")
    if flush and jobs > 1:
        raise InputError("--flush parses one sentence at a time, so --jobs %d does not make sense with it" % jobs)
    options.set_verbosity(quiet, verbose)
    found = destinations(input_files, output, form)
    outputs = [destination for _, destination in found]
    is_device = rejects_file and os.path.exists(rejects_file) and not os.path.isfile(rejects_file)  # can take both
    if rejects_file and not is_device and os.path.realpath(rejects_file) in map(os.path.realpath, outputs):
        raise InputError("%s is both the output and the file of --rejects: choose another for one of them" % rejects_file)

    def say_rejected(number: int) -> None:  # number: of blocks in finished files, even if a later file fails
        if number and not quiet:
            are = counted(number, "block") + (" is" if number == 1 else " are")
            written = "it was written to %s" if number == 1 else "they were written to %s, each"
            say("mh4: %s not CoNLL-U; %s with the reason" % (are, written % rejects_file), err=True)

    rejects = open_rejects(rejects_file, say_rejected) if rejects_file else nullcontext()
    with rejects as rejected, parallel.processes(jobs) as pool:
        blocks = options.reader(form, segmenter, flush, trees=keep_heads, partial=keep_heads, rejected=rejected)
        written = []
        for file, destination in found:
            parsed = parallel.parse(
                Parser.load,
                arguments,
                conllu.to_parse(blocks(file.path)),
                pool,
                at_once=flush,
                confidence=confidence,
                tags=tags,
                longest=longest,
                beyond=beyond,
                keep_heads=keep_heads,
                best=best,
            )
            done = write(
                parsed, file.path, destination, tags=tags, keep_deps=keep_deps, quiet=quiet, verbose=verbose, flush=flush
            )
            written.append(done)
            if rejected:
                rejected.keep()
    if not quiet:
        say_parsed(outputs, written)
