"""The command ``mh4``: a module for each of its commands, and what they share.

Every module imports what its command needs only when it runs (DyNet only if it needs a model), so that `--help` responds at once.
"""

import click

import mh4
from mh4.cli.compare import compare
from mh4.cli.corpus import corpus
from mh4.cli.coverage import coverage
from mh4.cli.data import data
from mh4.cli.ensemble import ensemble
from mh4.cli.evaluate import evaluate
from mh4.cli.group import Commands, describe
from mh4.cli.info import info
from mh4.cli.install_dynet import install_dynet
from mh4.cli.pack import pack
from mh4.cli.parse import parse
from mh4.cli.segmenter import segmenter
from mh4.cli.serve import serve
from mh4.cli.settings import settings
from mh4.cli.test import test
from mh4.cli.train import train
from mh4.cli.view import view


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mh4.__version__, prog_name="mh4")
def main() -> None:
    """Exact global transition-based non-projective dependency parsing (Gómez-Rodríguez, Shi & Lee, ACL 2018)."""


for command in (
    train,
    parse,
    corpus,
    ensemble,
    test,
    evaluate,
    compare,
    info,
    pack,
    coverage,
    data,
    segmenter,
    view,
    serve,
    settings,
    install_dynet,
):
    main.add_command(command)
describe(main)
