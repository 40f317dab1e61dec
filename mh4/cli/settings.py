"""The command `mh4 settings`."""

import click

from mh4.cli.group import say


@click.command()
def settings() -> None:
    """List all settings of a parser and its training, with their defaults and allowed values, as a file with comments.

    `mh4 train --set section.name=value` changes one of them; `mh4 settings >my.toml` writes a file to be edited, and
    `mh4 train --config my.toml` reads it.
    """
    from mh4.parser.settings_help import as_toml

    say(*as_toml().split("\n"))
