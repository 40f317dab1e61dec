"""The command `mh4 info`."""

import click

from mh4.cli.group import say, say_json
from mh4.cli.paths import NAMED_PATH
from mh4.errors import counted


@click.command()
@click.argument("path", type=NAMED_PATH, metavar="MODEL")
@click.option("--card", is_flag=True, help="Print the card of a file made by `mh4 pack`, in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print all this, or the card, as JSON.")
def info(path: str, card: bool, as_json: bool) -> None:
    """Describe a model, in its folder or packed: its system, data, scores and settings.

    With --json, {"model": ..., "system": ..., "seed": ..., "parameters": ..., "knows": {"words": ..., "chars": ..., "upos": ...,
    "xpos": ..., "feats": ..., "labels": ...}, "predicts": [...], "vectors": ..., "temperature": ..., "label_temperature": ...,
    "training": {...}, "settings": {...}}, where "predicts" has columns of tags, "vectors" the number of words that have them, and
    "training" scores, files and more; what the model does not have is null.
    """
    from dataclasses import asdict

    from mh4.parser.model import Model, description
    from mh4.parser.model_files import opened
    from mh4.training.card import card_of, markdown
    from mh4.training.summary import state_of

    files = opened(path)
    if card:
        description(files)
        if as_json:
            return say_json(card_of(files))
        return say(*markdown(card_of(files)).rstrip("\n").split("\n"))
    model = Model.load(path)
    training = state_of(files)
    tables = model.vocabulary
    size = model.parameters.parameter_count()
    knows = {name: len(getattr(tables, name)) - 1 for name in ("words", "chars", "upos", "xpos", "feats", "labels")}
    if as_json:
        described = {
            "model": path,
            "system": model.system.name,
            "seed": model.seed,
            "parameters": size,
            "knows": knows,
            "predicts": model.predicted_tags,
            "vectors": len(model.vectors.words) if model.vectors else None,
            "temperature": model.temperature,
            "label_temperature": model.label_temperature,
            "training": files.record("summary.json") if files.has("summary.json") else None,
            "settings": asdict(model.config),
        }
        return say_json(described)
    say("%s: %s, seed %d, %d parameters" % (path, model.system.name, model.seed, size))
    words, chars, *tags, labels = knows.values()
    sizes = counted(words, "word"), counted(chars, "character"), *tags, counted(labels, "label")
    say("vocabulary: %s, %s, %s UPOS, %s XPOS, %s FEATS, %s" % sizes)
    if model.vectors is not None:
        known = counted(len(model.vectors.words), "word")
        sources = files.record("summary.json").get("sources", {}) if files.has("summary.json") else {}
        whose = "treebank of the first model" if "init" in sources else "training treebank"
        say("vectors of %s, %d of them in the %s" % (known, model.vectors.learned, whose))
    if model.temperature is not None:
        training.append("probabilities at temperature %.3f, of labels %.3f" % (model.temperature, model.label_temperature))
    say(*training, "", *model.describe().rstrip().split("\n"))
