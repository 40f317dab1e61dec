"""The command `mh4 ensemble`."""

from contextlib import closing

import click

from mh4.cli.options import limit_options, output_options, set_verbosity
from mh4.cli.paths import NAMED_PATH, PATH
from mh4.errors import InputError
from mh4.parser.choices import TREES


@click.command()
@click.option(
    "--model", "folders", multiple=True, type=NAMED_PATH, metavar="DIR", help="A member: any trained parser; may be repeated."
)
@click.option(
    "--vote", "files", multiple=True, type=PATH, metavar="FILE.conllu", help="A member: IN.conllu as parsed by another parser."
)
@click.option(
    "--tree", type=click.Choice(list(TREES)), default="mst", show_default=True, help="Class of the output tree; mst: any tree."
)
@click.argument("input_file", type=PATH, metavar="IN.conllu")
@output_options
@limit_options
def ensemble(
    folders: tuple[str, ...],
    files: tuple[str, ...],
    tree: str,
    input_file: str,
    output: str,
    tags: bool,
    keep_deps: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
    longest: int | None,
    beyond: str | None,
) -> None:
    """Parse a CoNLL-U file with several parsers that vote for one tree.

    The tree is the one whose arcs have the most votes; ties go to the members named first, models before files. A file must
    have the same sentences and words as IN.conllu. The output is written as by `mh4 parse`, also if it is compressed.

    Beyond --longest (by default that of its slowest member), members search as `mh4 parse` would have them, and vote for any tree.
    """
    from mh4.cli.output import write
    from mh4.data import conllu
    from mh4.parser import parallel
    from mh4.parser.beyond import Limit
    from mh4.parser.ensemble import Ensemble, with_votes

    if not folders and not files:
        raise InputError("an ensemble needs a member: --model DIR or --vote FILE.conllu")
    if tags and not folders:
        raise InputError("--tags needs a --model to predict them")
    set_verbosity(quiet, verbose)
    blocks = with_votes(conllu.blocks(input_file, trees=False), files)
    with closing(parallel.parse(Ensemble.load, (folders, tree), blocks, jobs, limit=Limit(longest, beyond))) as parsed:
        write(parsed, input_file, output, tags=tags, keep_deps=keep_deps, quiet=quiet, verbose=verbose)
