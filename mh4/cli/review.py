"""The command `mh4 review`."""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mh4.cli.group import resumable, say, say_written
from mh4.cli.paths import NAMED_PATH, PATH, Input, Path
from mh4.errors import InputError, counted, listed, one_line, telling_warnings

if TYPE_CHECKING:
    from mh4.annotating.review import Doubt, Reviewed
    from mh4.data.block import Block

Numbered = list[tuple[str, int, "Block"]]  # sentences, each with its file and its number in the file
OUTPUT = Path(standard=False, written=True, late=True, extensions=(".tsv", ".json", ".conllu", ".html"))
LIKELIHOOD = {"training": {"loss": "likelihood"}}  # finds more errors than the hinge loss (make review)


@click.command()
@click.argument("treebanks", cls=Input, type=PATH, metavar="TREEBANK.conllu...", nargs=-1, required=True)
@click.option("--model", "model", type=NAMED_PATH, metavar="DIR", help="A parser that has learned none of these sentences.")
@click.option(
    "--folder", type=NAMED_PATH, metavar="DIR", help="Without --model: where parsers are trained; to resume, the same one."
)
@click.option("--folds", type=click.IntRange(3, 100), default=5, metavar="K", help="The number of parts, and of parsers trained.")
@click.option("--system", default="mh4-hybrid", metavar="NAME", help="The system that is trained.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, metavar="N", help="Seed of all random numbers.")
@click.option(
    "--config", multiple=True, type=NAMED_PATH, metavar="FILE.toml", help="Settings, as for `mh4 train`; may be repeated."
)
@click.option("--set", "settings", multiple=True, metavar="SECTION.NAME=VALUE", help="One setting; may be repeated.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Number of parsers trained at a time.")
@click.option("--since", type=NAMED_PATH, metavar="FILE.tsv", help="Leave out what is in FILE, a table of an earlier review.")
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="List only the first N.")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=OUTPUT,
    metavar="FILE",
    help="A .tsv, .json, .conllu or .html file; may be repeated.",
)
@resumable
def review(
    treebanks: tuple[str, ...],
    model: str | None,
    folder: str | None,
    folds: int,
    since: str | None,
    most: int | None,
    outputs: tuple[str, ...],
    jobs: int,
    **training: Any,
) -> None:
    """List the heads and labels of treebanks that a parser finds improbable, the least probable first.

    Among them are errors of annotation. A parser must not have learned the sentences that it judges: so the treebanks are divided into K
    parts, and the sentences of each are judged by a parser that is trained on the others (one of which says when to stop), by
    likelihood, unless training.loss is set. All is kept in the folder, so that the same command resumes what was interrupted. Or name a
    parser, with --model, that was trained on other texts.

    The probability of a head is that of its arc over all trees, calibrated on the part that says when to stop; the probability of a
    label is the labeller's, given the annotated head. A word is listed if another head or label is more probable.

    Without -o, a table is printed. FILE.tsv and FILE.json are the list, FILE.conllu the treebanks with all probabilities in MISC and, where
    a word is listed, with what is more probable, and FILE.html a page with both trees of each sentence that has a word in the list, the
    worst sentence first. Inputs and outputs called .gz, .bz2, .xz or .zst are compressed. Sentences that are too long for probabilities
    are not judged, only counted.
    """
    from mh4.annotating import review
    from mh4.data import conllu
    from mh4.parser import systems
    from mh4.parser.parsing import Parser
    from mh4.training.train import settings_of
    from mh4.util.compression import stem
    from mh4.util.output import open_output
    from mh4.util.reading import name_of, named

    if bool(model) == bool(folder):
        raise InputError("choose --model, a parser of other texts, or --folder, where parsers are trained on parts of these")
    context = click.get_current_context()
    for option in context.command.params if model else ():
        name = option.name or ""
        if name in ("folds", "jobs", *training) and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise InputError("%s is for training, so it has no effect with --model: omit it" % option.opts[0])
    if folder and os.path.realpath(folder) in map(os.path.realpath, treebanks):
        raise InputError("%s is the folder of the treebank: name another --folder, where parsers are trained" % folder)
    if folder:
        settings_of(training["system"], training["config"], training["settings"])
        if systems.get(training["system"]).marginals is None:  # otherwise found only after training
            raise systems.no_marginals(training["system"])
    skip = review.known(since) if since else set()
    there = os.listdir(folder) if folder and os.path.isdir(folder) else []
    begun = max(map(int, filter(str.isdecimal, there)), default=0)
    if begun not in (0, folds):
        raise InputError("%s: begun with --folds %d, not %d: name another --folder" % (folder, begun, folds))
    omitted = [folder] if folder else []
    names = {
        file: os.path.relpath(file, of) if of else os.path.basename(name_of(file))
        for file, _, of in named(treebanks, omitted=omitted)
    }
    for file, times in Counter(map(os.path.realpath, names)).items():
        if times > 1:  # otherwise a parser would judge sentences that it has learned
            raise InputError("%s: this file is given twice" % file)
    if len(set(names.values())) < len(names):
        names = {file: name_of(file) for file in names}
    of_table = {file for file, *_ in skip}
    if of_table and of_table.isdisjoint(map(one_line, names.values())):
        raise InputError("%s: has doubts of %s, but of none of the files here" % (since, listed(sorted(of_table))))
    found = conllu.each_file(treebanks, omitted)
    blocks: Numbered = [(one_line(names[file]), *one) for file, content in found for one in enumerate(content, start=1)]
    reviewed: list[Reviewed] = []
    if model:
        reviewed = list(review.review(Parser.load(model), blocks))
    else:
        assert folder
        parts = [blocks[k::folds] for k in range(folds)]
        if not all(parts):
            few = counted(len(blocks), "sentence")
            raise InputError("found only %s, expected at least as many as --folds %d" % (few, folds))
        for part, path in zip(parts, _trained(parts, folder, jobs, training), strict=True):
            reviewed += review.review(Parser.load(path), part)
        place = {id(block): k for k, (_, _, block) in enumerate(blocks)}
        reviewed.sort(key=lambda one: place[id(one.block)])
    doubts = review.worst_first(reviewed, skip)[:most]
    if len(reviewed) < len(blocks):
        say("mh4: %s too long for probabilities" % counted(len(blocks) - len(reviewed), "sentence"), err=True)
    for output in outputs or ("-",):
        kind = os.path.splitext(stem(output))[1].lower()
        if kind == ".conllu":
            judged, marked = {id(one.block): one for one in reviewed}, frozenset(doubts)
            text = "".join(review.annotated(block, judged.get(id(block)), marked) for _, _, block in blocks)
        elif kind == ".html":
            text = _page(reviewed, doubts)
        else:
            text = review.as_json(doubts) if kind == ".json" else review.as_tsv(doubts)
        with open_output(output) as written:
            written.write(text)
        say_written(counted(len(doubts), "doubt"), output)


def _page(reviewed: Sequence["Reviewed"], doubts: Sequence["Doubt"]) -> str:
    """Return the page of `mh4 view` with the doubtful sentences, ordered by each sentence's first doubt."""
    from dataclasses import replace

    from mh4.viewing.analyses import shown
    from mh4.viewing.page import page

    ranks: dict[tuple[str, str], int] = {}  # of the first doubt of a sentence, by its file and name
    for rank, doubt in enumerate(doubts):
        ranks.setdefault((doubt.file, doubt.sentence), rank)
    doubtful = [one for one in reviewed if (one.file, one.name) in ranks]
    views = [
        shown(one.number, one.block, [replace(one.block.sentence, probabilities=one.heads), one.proposal])
        for one in sorted(doubtful, key=lambda one: ranks[one.file, one.name])
    ]
    return page(views, ["treebank", "parser"])


def _trained(parts: Sequence[Numbered], folder: str, jobs: int, training: dict[str, Any]) -> list[str]:
    """Train a parser for each part, and return the folders of the parsers.

    The development set is the next part, and the training set all others.
    """
    from mh4.util import reading
    from mh4.util.files import make_folder, write_text
    from mh4.util.processes import Pool

    arguments = []
    make_folder(os.path.join(folder, str(len(parts))))  # made first, as its name records the number of parts
    for k in range(len(parts)):
        place = os.path.join(folder, str(k + 1))
        make_folder(place)
        dev = (k + 1) % len(parts)
        split = {"train": [one for j, part in enumerate(parts) if j not in (k, dev) for one in part], "dev": parts[dev]}
        files = {name: os.path.join(place, name + ".conllu") for name in split}
        for name, sentences in split.items():
            content = "".join(block.alone({}) for _, _, block in sentences)
            if not os.path.exists(files[name]):
                write_text(files[name], content)
            elif reading.text(files[name], sys.maxsize) != content:
                raise InputError("%s: begun with other sentences: name another --folder" % folder)
        config = [LIKELIHOOD, *training["config"]]
        arguments.append({**files, "model": os.path.join(place, "model"), **training, "config": config})

    with Pool("the process that trains a parser", min(jobs, len(parts))) as pool:
        for training_of_part in [pool.submit(train_parser, of_part) for of_part in arguments]:
            training_of_part.result()
    return [of_part["model"] for of_part in arguments]


def train_parser(arguments: dict[str, Any]) -> None:
    """Train a parser or resume its training, as mh4.train does, and print a line for each warning and evaluation."""
    import mh4

    def tell(text: str) -> None:
        say("mh4: %s: %s" % (arguments["model"], text), err=True)

    def progress(metrics: dict[str, Any]) -> None:
        tell("evaluation %(evaluation)d, epoch %(epoch).1f, dev UAS %(dev_uas).2f, best %(best_dev_uas).2f" % metrics)

    with telling_warnings(tell):  # this is a child process, without the main process's handling of warnings
        mh4.train(progress=progress, **arguments)
