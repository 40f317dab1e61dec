"""The command `mh4 data`."""

import click

from mh4.cli.group import say
from mh4.cli.paths import NAMED_OUTPUT, NAMED_PATH
from mh4.errors import InputError


@click.command()
@click.argument("language", metavar="LANG")
@click.option(
    "--to", "to", type=NAMED_OUTPUT, metavar="DIR", help="Where the files go; by default data/ud-2.0, data/conll17 or data/toy."
)
@click.option("--ud", type=NAMED_PATH, metavar="FOLDER", help="Use the files in this folder instead of fetching them.")
@click.option(
    "--conll17", is_flag=True, help="Also fetch the test set's segmentation and outputs from the CoNLL 2017 shared task."
)
@click.option(
    "--source",
    type=click.Choice(["github", "lindat"]),
    help="The only place to fetch from, also named by the environment variable MH4_DATA_SOURCE; by default github, then lindat.",
)
def data(language: str, to: str | None, ud: str | None, conll17: bool, source: str | None) -> None:
    """Fetch and verify a treebank of UD 2.0, or generate the toy treebank.

    LANG is the code of one of the paper's treebanks, such as hu, or toy, a small artificial one. Files that are there
    already are verified, and not fetched again.
    """
    from pathlib import Path

    from mh4.data import conll17 as shared_task
    from mh4.data import treebanks
    from mh4.util.files import relative_if_inside

    if conll17 and language == treebanks.TOY:
        raise InputError("the shared task has no toy treebank: --conll17 is for the others")
    if to and ud and not conll17:
        raise InputError("--ud uses files where they are, so there is nothing to put into %s (--to)" % to)
    if source and (ud or language == treebanks.TOY) and not conll17:
        raise InputError("nothing is fetched, so --source %s has no effect" % source)
    if ud and language == treebanks.TOY:
        raise InputError("the toy treebank is generated, so it cannot be taken from %s (--ud)" % ud)
    here = Path.cwd()
    for split, path in treebanks.locate(language, ud=ud, to=to, source=source).items():
        row = treebanks.identify(path)
        release = "UD %s" % row.release if row else "generated" if language == treebanks.TOY else "not a file of UD 2.0"
        say("%-5s  %s  (%s)" % (split, relative_if_inside(path, here), release))
    if conll17:
        for system, path in shared_task.download(language, to=to, source=source).items():
            say("%-8s  %s  (%s)" % (system, relative_if_inside(path, here), shared_task.SYSTEMS[system]))
