"""The card of a packed model: its system, training data and scores, and the command that trains it again.

Everything comes from the records of training, except the name, language, treebank and licence, and the scores on a test
set.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from mh4.data import conllu
from mh4.errors import InputError, one_line, shown
from mh4.parser.model import Model
from mh4.parser.model_files import CARD, CARD_TEXT, ORIGIN, PACKED, Folder, check_ended, each_source, source, write_packed
from mh4.parser.parsing import Parser
from mh4.training.summary import resumed
from mh4.training.trainer import evaluate

_MOST = 1 << 31  # bytes of a file of a model
_SCORES = {"uas": "UAS", "las": "LAS", "upos": "UPOS", "xpos": "XPOS", "feats": "FEATS"}


def pack(folder: str, output: str, about: Mapping[str, str], test: str | None = None) -> dict[str, Any]:
    """Write the model in `folder` to the file `output`, with its card, which is returned.

    about: name, language, treebank and licence, if known. test: a treebank whose scores go on the card.
    Raises InputError if the folder has no model whose training has ended, or if the treebank is invalid.
    """
    if not os.path.isdir(folder):
        raise InputError("%s: not the folder of a trained model" % folder)
    for name, value in about.items():
        if not value.isprintable():
            raise InputError("%s: expected a single line without control characters, got %s" % (name, shown(value)))
    files = Folder(folder)
    parser = Parser.load(folder)  # raises an error for a damaged model
    check_ended(files)
    summary = files.record("summary.json")
    tested = (source(test), evaluate(parser, conllu.read(test))) if test else None
    with files.intact("summary.json"):
        card = {**about, **_card(files, summary, parser.model, tested)}
        texts = {CARD: json.dumps(card, indent=1, ensure_ascii=False) + "\n", CARD_TEXT: markdown(card)}
    members = {name: text.encode(errors="backslashreplace") for name, text in texts.items()}  # file names may not be UTF-8
    for name in filter(files.has, PACKED):
        with files.open(name, _MOST) as file:
            members[name] = file.read()
    write_packed(output, members)
    return card


def _card(
    files: Folder, summary: dict[str, Any], model: Model, tested: tuple[dict[str, str], dict[str, float]] | None
) -> dict[str, Any]:
    """Return the card, from the records of a training; tested: the record of a treebank, and the scores on it."""
    scores = {"dev": {name: summary["dev_" + name] for name in _SCORES if "dev_" + name in summary}}
    sources = {**summary["sources"]}
    if tested:
        sources["test"], scores["test"] = tested
    return {
        "system": model.system.name,
        "seed": model.seed,
        "parameters": model.parameters.parameter_count(),
        "scores": scores,
        "sources": sources,
        "mh4": summary["mh4"],
        **_origin(files, model.system.name, model.seed, sources, ["--partial"] if "partial" in summary else []),
        **({"resumed": resumed(summary)} if "changes" in summary else {}),
        "config": model.describe(),
    }


def _origin(files: Folder, system: str, seed: int, sources: Mapping[str, Any], options: Sequence[str]) -> dict[str, str]:
    """Return the command that trains this model and, where it is known, the commit of the code."""
    if files.has(ORIGIN):
        with files.intact(ORIGIN):
            origin = files.record(ORIGIN)
            return {"command": str(origin["command"]), "commit": ", ".join(map(str, origin["commits"]))}
    given = [(name, one["file"]) for name, one in each_source(sources) if name != "test"]
    options = [*options, *(word for name, file in given for word in ("--" + name, file))]
    command = ["mh4", "train", "--system", system, *options, "--seed", str(seed), "--config", "config.toml", "--model", "FOLDER"]
    return {"command": shlex.join(command)}


def card_of(files: Folder) -> dict[str, Any]:
    """Return the card of a packed model; InputError if it has none."""
    if not files.has(CARD):
        raise InputError("%s: no card there: only the files that mh4 pack makes have one" % files.path)
    card = files.record(CARD)
    with files.intact(CARD):
        markdown(card)
    return card


def _literal(text: str) -> str:
    """Escape text for a line of Markdown, so that it makes no table columns, HTML, links or emphasis."""
    return one_line(re.sub(r"[\\`*\[\]<>|&~]", r"\\\g<0>", text))


def markdown(card: Mapping[str, Any]) -> str:
    """Return the card as a page, with the header that model hubs read."""
    head: dict[str, Any] = {"library_name": "mh4", "tags": ["dependency-parsing", "universal-dependencies"]}
    if "language" in card:
        head["language"] = card["language"]
    if "licence" in card:
        head.update(license="other", license_name=card["licence"])
    lines = ["---", *("%s: %s" % (key, json.dumps(value, ensure_ascii=False)) for key, value in head.items()), "---", ""]
    lines += ["# %s" % _literal(card.get("name", "A dependency parser")), ""]
    lines += [
        "A dependency parser of the system `%(system)s`, trained with mh4 %(mh4)s (%(parameters)d parameters, seed %(seed)d)."
        % card
    ]
    lines += ["", "| | |", "|---|---|"]
    lines += [
        "| %s | %s |" % (name, _literal(card[name])) for name in ("language", "treebank", "licence", "commit") if name in card
    ]
    lines += [
        "| %s file | %s (git blob %s) |" % (name, _literal(one["file"]), one["git_blob"])
        for name, one in each_source(card["sources"])
    ]
    lines += ["", "Scores in percent of all words, given the words and sentences of the treebank:", ""]
    shown = [name for name in _SCORES if any(name in scores for scores in card["scores"].values())]
    lines += ["| | %s |" % " | ".join(_SCORES[name] for name in shown), "|---" * (len(shown) + 1) + "|"]
    for data, scores in card["scores"].items():
        lines.append("| %s | %s |" % (data, " | ".join("%.2f" % scores[name] if name in scores else "" for name in shown)))
    more = " --contextual VECTORS" if "contextual" in card["sources"] else ""
    lines += ["", "To parse with it:", "", "    mh4 parse --model FILE%s input.conllu" % more, "", "It was trained by:", ""]
    lines += ["    " + one_line(card["command"]), "", "with these settings:", "", "```toml", card["config"].rstrip("\n"), "```"]
    if "resumed" in card:
        message = "It was %s. So the command alone may make another model." % "; ".join(card["resumed"])
        lines += ["", message]
    return "\n".join(lines) + "\n"
