"""The command `mh4 info`."""

import click

from mh4.cli.group import say
from mh4.cli.paths import NAMED_PATH


@click.command()
@click.argument("folder", type=NAMED_PATH, metavar="DIR")
def info(folder: str) -> None:
    """Describe the model in DIR: its system, data, scores and settings."""
    from mh4.parser.model import Model
    from mh4.training.trainer import state_of

    model = Model.load(folder)
    training = state_of(folder)
    tables = model.vocabulary
    size = model.parameters.parameter_count()
    say("%s: %s, seed %d, %d parameters" % (folder, model.system.name, model.seed, size))
    say(
        "knows %d words, %d characters, %d UPOS, %d XPOS, %d FEATS, %d labels"
        % tuple(len(t) - 1 for t in (tables.words, tables.chars, tables.upos, tables.xpos, tables.feats, tables.labels))
    )
    if model.temperature is not None:
        training.append("probabilities at temperature %.3f" % model.temperature)
    say(*training, "", *model.describe().rstrip().split("\n"))
