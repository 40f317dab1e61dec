"""The command `mh4 ensemble`."""

import os

import click

from mh4.cli import options
from mh4.cli.group import say
from mh4.cli.paths import NAMED_PATH, PATH, Input
from mh4.errors import InputError
from mh4.parser.choices import TREES


@click.command()
@click.option(
    "--model", "folders", multiple=True, type=NAMED_PATH, metavar="DIR", help="A member: any trained parser; may be repeated."
)
@click.option(
    "--vote",
    "files",
    multiple=True,
    type=PATH,
    metavar="FILE.conllu",
    help="A member: IN.conllu as parsed by another parser; may be repeated.",
)
@click.option("--tree", type=click.Choice(list(TREES)), default="mst", help="Class of the output tree; mst: any tree.")
@click.argument("input_files", cls=Input, type=PATH, metavar="IN.conllu...", nargs=-1, required=True)
@options.input_option
@options.text_options
@options.output_options
@options.limit_options
def ensemble(
    folders: tuple[str, ...],
    files: tuple[str, ...],
    tree: str,
    input_files: tuple[str, ...],
    format_of_input: str | None,
    text: bool,
    segmenter: str | None,
    output: str,
    tags: bool,
    keep_deps: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
    longest: int | None,
    beyond: str | None,
) -> None:
    """Parse CoNLL-U files, or with --input text, with several parsers that vote for one tree.

    The result is the single-root tree whose arcs have the most votes, even if the trees of members have several roots. Ties go to the
    members named first, models before files. With two members, the first always wins; only with three or more can the result differ
    from its trees. A file that votes must have the same sentences and words as IN.conllu. For several files, or for a folder, name a
    folder that has the parses under the names that `mh4 parse` gives them. Input and output are as in `mh4 parse`, compressed
    files included.

    In sentences of more words than --longest (by default the limit of the slowest member), members search as in `mh4 parse`, and vote
    for any tree.
    """
    from mh4.cli.output import destinations, say_parsed, write
    from mh4.data import conllu
    from mh4.parser import parallel
    from mh4.parser.ensemble import Ensemble, with_votes

    if not folders and not files:
        raise InputError("an ensemble needs a member: --model DIR or --vote FILE.conllu")
    if tags and not folders:
        raise InputError("--tags needs a --model to predict them")
    form = options.input_format(format_of_input, text, segmenter)
    options.set_verbosity(quiet, verbose)
    if (len(input_files) > 1 or os.path.isdir(input_files[0])) and not all(map(os.path.isdir, files)):
        raise InputError("several files are parsed, so each --vote has to be a folder with their parses by another parser")
    found, written = destinations(input_files, output, form, files), []
    blocks = options.reader(form, segmenter, trees=False)
    in_folders = {vote: conllu.files_of([vote]) for vote in files if os.path.isdir(vote)}
    with parallel.processes(jobs) as pool:
        for (path, name, _), destination in found:
            votes = [in_folders[vote].get(name, os.path.join(vote, name)) if vote in in_folders else vote for vote in files]
            of_file = with_votes(conllu.to_parse(blocks(path)), votes)
            parsed = parallel.parse(Ensemble.load, (folders, tree), of_file, pool, longest=longest, beyond=beyond, tags=tags)
            written.append(write(parsed, path, destination, tags=tags, keep_deps=keep_deps, quiet=quiet, verbose=verbose))
    if not quiet:
        say_parsed([destination for _, destination in found], written)
    if len(folders + files) == 2 and tree == "mst" and not quiet:
        say(
            "mh4: where two members differ, the first wins, unless it has several roots: it takes a third to outvote it", err=True
        )
