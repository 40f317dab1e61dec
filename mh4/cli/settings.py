"""The command `mh4 settings`."""

import click

from mh4.cli.group import say


@click.command()
@click.option("--toml", is_flag=True, help="As a file for `mh4 train --config`, with comments, to be edited.")
def settings(toml: bool) -> None:
    """List all settings of a parser and its training, with their defaults and allowed values.

    `mh4 train --set section.name=value` changes one of them; `mh4 settings --toml >my.toml` writes a file to be edited, and
    `mh4 train --config my.toml` reads it.
    """
    from mh4.parser.settings_help import as_text, as_toml

    say(*(as_toml() if toml else as_text()).split("\n"))
