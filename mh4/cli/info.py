"""The command `mh4 info`."""

import click

from mh4.cli.group import say
from mh4.cli.paths import NAMED_PATH


@click.command()
@click.argument("path", type=NAMED_PATH, metavar="MODEL")
@click.option("--card", is_flag=True, help="Print the card of a file made by `mh4 pack`, in Markdown.")
def info(path: str, card: bool) -> None:
    """Describe a model, in its folder or packed: its system, data, scores and settings."""
    from mh4.parser.model import Model, description
    from mh4.parser.model_files import opened
    from mh4.training.card import card_of, markdown
    from mh4.training.trainer import state_of

    files = opened(path)
    if card:
        description(files)
        return say(*markdown(card_of(files)).rstrip("\n").split("\n"))
    model = Model.load(path)
    training = state_of(files)
    tables = model.vocabulary
    size = model.parameters.parameter_count()
    say("%s: %s, seed %d, %d parameters" % (path, model.system.name, model.seed, size))
    say(
        "knows %d words, %d characters, %d UPOS, %d XPOS, %d FEATS, %d labels"
        % tuple(len(t) - 1 for t in (tables.words, tables.chars, tables.upos, tables.xpos, tables.feats, tables.labels))
    )
    if model.vectors is not None:
        say("has vectors of %d words, %d of them of the training treebank" % (len(model.vectors.words), model.vectors.learned))
    if model.temperature is not None:
        training.append("probabilities at temperature %.3f" % model.temperature)
    say(*training, "", *model.describe().rstrip().split("\n"))
