"""The command ``mh4``: a module for each of its commands, and what they share.

Each module imports what its command needs only when the command runs (DyNet only if it needs a model), so that `--help`
responds at once.
"""

from importlib import import_module

import click

from mh4 import version
from mh4.cli.group import Commands, describe, say


def _version(context: click.Context, _: click.Parameter, given: bool) -> None:
    if given:
        say("mh4, version " + version.described())
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit.")
def main() -> None:
    """Exact global transition-based non-projective dependency parsing (Gómez-Rodríguez, Shi & Lee, ACL 2018)."""


for name in (
    "train parse corpus ensemble review test evaluate compare curves info pack coverage data segmenter view serve settings install_dynet"
).split():
    main.add_command(getattr(import_module("mh4.cli." + name), name))
describe(main)
