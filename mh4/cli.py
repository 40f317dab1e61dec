"""The commands ``train``, ``parse``, ``ensemble``, ``test``, ``evaluate``, ``compare``, ``info``, ``coverage``, ``data``, ``segmenter``,
``view`` and ``install-dynet``.

Everything else is imported only by the commands that need it (DyNet only by those that need a model), so that `--help` responds
at once.
"""

import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Optional

import click

import mh4
from mh4.choices import BEAM, DECODING_METHODS, TREES
from mh4.commands import NAMED_OUTPUT, NAMED_PATH, OUTPUT, PATH, Commands, check_outputs, say
from mh4.errors import InputError
from mh4.text.command import segmenter
from mh4.viewing.command import view

if TYPE_CHECKING:
    from mh4.conllu import Block, Sentence
    from mh4.parsing import Parser


class _SystemOption(click.Option):
    """The option --system, whose help names all systems."""

    def get_help_record(self, context: click.Context) -> Optional[tuple[str, str]]:
        from mh4.systems import SYSTEMS

        of_paper, beyond = ([s.name for s in SYSTEMS.values() if s.in_paper is paper] for paper in (True, False))
        self.help = "%s; beyond the paper %s." % (_either(of_paper), _either(beyond))
        return super().get_help_record(context)


def _either(names: list[str]) -> str:
    return " or ".join(", ".join(names).rsplit(", ", 1))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mh4.__version__, prog_name="mh4")
def main() -> None:
    """Exact global transition-based non-projective dependency parsing (Gómez-Rodríguez, Shi & Lee, ACL 2018)."""


main.add_command(segmenter)
main.add_command(view)


@main.command()
@click.option("--system", required=True, cls=_SystemOption)
@click.option("--train", "train_file", required=True, type=NAMED_PATH, metavar="FILE", help="Training treebank (CoNLL-U).")
@click.option(
    "--dev",
    "dev_file",
    required=True,
    type=NAMED_PATH,
    metavar="FILE",
    help="Development treebank, for early stopping (CoNLL-U).",
)
@click.option(
    "--model",
    "folder",
    required=True,
    type=NAMED_PATH,
    metavar="DIR",
    help="Model folder: a new one, or that of a run to resume.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True)
@click.option(
    "--config",
    "config_files",
    multiple=True,
    type=NAMED_PATH,
    metavar="FILE.toml",
    help="Settings, as in the config.toml of any model; may be repeated.",
)
@click.option("--set", "settings", multiple=True, metavar="SECTION.NAME=VALUE", help="One setting; may be repeated.")
def train(
    system: str, train_file: str, dev_file: str, folder: str, seed: int, config_files: tuple[str, ...], settings: list[str]
) -> None:
    """Train a parser.

    DIR always holds the model that is best on dev so far. Run the same command again to resume an interrupted training run,
    with the same result as an uninterrupted one; if training has finished, this only prints the result again.
    """
    from mh4 import config as configuration
    from mh4 import conllu, systems
    from mh4.progress import TrainingProgress

    systems.get(system)
    config = configuration.with_settings(configuration.read_all(config_files, system), settings)
    for path in (train_file, dev_file):
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError("%s: not a file; training reads its files more than once" % path)
    sentences, dev = conllu.read(train_file), conllu.read(dev_file)
    from mh4.training.trainer import Trainer

    with TrainingProgress() as listener:
        sources = {"train": _source(train_file), "dev": _source(dev_file)}
        trainer = Trainer(system, config, sentences, dev, folder, seed, sources, listener)
        summary = trainer.run()
    reached = "dev UAS %(dev_uas).2f, LAS %(dev_las).2f after %(updates)d updates, %(tokens_per_second)d tokens/s" % summary
    say("%s: %s, seed %d: %s" % (folder, system, seed, reached))


def decoding(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that set how a parser searches."""
    how = "Exact decoding, greedy search, beam search, or minimum Bayes risk (the tree with the highest sum of probabilities "
    how += "of arcs); by default exact, or greedy for greedy systems."
    command = click.option("--beam", type=int, metavar="WIDTH", help="The width of the beam; by default %d." % BEAM)(command)
    return click.option("--decode", type=click.Choice(DECODING_METHODS), help=how)(command)


def written(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a command that writes parsed files: output, columns, processes and how much it says."""
    for decorate in (
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes to parse with."
        ),
        click.option("--keep-deps", is_flag=True, help="Keep DEPS, although it may contradict the new HEAD and DEPREL."),
        click.option("--tags", is_flag=True, help="Also write the predicted UPOS, XPOS and FEATS."),
        click.option("-o", "--output", "output", default="-", type=OUTPUT, metavar="OUT", help="By default, standard output."),
        click.option("--quiet", is_flag=True, help="No progress bar and no notes."),
        click.option("--verbose", is_flag=True, help="Say how much was parsed, and how fast."),
    ):
        command = decorate(command)
    return command


@main.command()
@click.argument("input_files", type=PATH, metavar="IN.conllu...", nargs=-1, required=True)
@click.option("--model", "folder", required=True, type=NAMED_PATH, metavar="DIR")
@click.option("--text", is_flag=True, help="The input is raw text in UTF-8, to be segmented into sentences and words.")
@click.option("--segmenter", "segmenter_file", type=NAMED_PATH, metavar="FILE", help="For --text, from `mh4 segmenter train`.")
@click.option("--confidence", is_flag=True, help="Also write the probability of each arc to MISC, such as ArcProb=0.9712.")
@written
@decoding
def parse(
    input_files: tuple[str, ...],
    folder: str,
    text: bool,
    segmenter_file: Optional[str],
    output: str,
    tags: bool,
    keep_deps: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
    decode: Optional[str],
    beam: Optional[int],
    confidence: bool,
) -> None:
    """Parse CoNLL-U files of any size ("-" is standard input), or with --text raw text.

    Each word gets a new HEAD and DEPREL; DEPS, which would otherwise contradict them, becomes "_". Everything else, including
    comments, multiword tokens and empty nodes, is kept byte for byte.

    OUT is a file, or for several files a folder, in which each output has the name of its input. Files are parsed one after another,
    and each output is written once its file is parsed.

    If a sentence is too long for the memory of the machine, parsing stops with a message that names it, and its output is not
    written. Greedy and beam search (--decode) need far less memory than exact decoding.

    The probability of an arc is that of all derivations with this arc (or for mst, all trees), after division of the scores by
    the temperature that was best on the development set.
    """
    from mh4 import calibration, conllu, parallel, writing
    from mh4.parsing import Parser

    arguments = (folder, decode, _width(decode, beam))
    blocks: Callable[[str], Iterable[Block]] = partial(conllu.blocks, trees=False)
    if text != bool(segmenter_file):
        raise InputError("--text needs --segmenter FILE" if text else "--segmenter is for raw text: it needs --text")
    if segmenter_file:
        from mh4.text.segmenter import Segmenter

        blocks = Segmenter(segmenter_file).blocks
    _set_verbosity(quiet, verbose)
    destinations = writing.destinations(input_files, output)
    check_outputs(destinations)
    for file, destination in zip(input_files, destinations):
        with closing(parallel.parse(Parser.load, arguments, blocks(file), jobs, confidence=confidence)) as parsed:
            writing.write(parsed, file, destination, tags=tags, keep_deps=keep_deps, quiet=quiet, verbose=verbose)
    if confidence and not quiet and calibration.load(folder) is None:
        say("mh4: %s has no %s, so its probabilities are at temperature 1" % (folder, calibration.FILE), err=True)


@main.command()
@click.option(
    "--model", "folders", multiple=True, type=NAMED_PATH, metavar="DIR", help="A member: any trained parser; may be repeated."
)
@click.option(
    "--vote", "files", multiple=True, type=PATH, metavar="FILE.conllu", help="A member: IN.conllu as parsed by another parser."
)
@click.option(
    "--tree", type=click.Choice(list(TREES)), default="mst", show_default=True, help="Class of the output tree; mst: any tree."
)
@click.argument("input_file", type=PATH, metavar="IN.conllu")
@written
def ensemble(
    folders: tuple[str, ...],
    files: tuple[str, ...],
    tree: str,
    input_file: str,
    output: str,
    tags: bool,
    keep_deps: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
) -> None:
    """Parse a CoNLL-U file with several parsers that vote for one tree.

    The tree is the one whose arcs have the most votes; ties go to the members named first, models before files. A file must
    have the same sentences and words as IN.conllu. The output is written as by `mh4 parse`.
    """
    from mh4 import conllu, parallel, writing
    from mh4.ensemble import Ensemble, with_votes

    if not folders and not files:
        raise InputError("an ensemble needs a member: --model DIR or --vote FILE.conllu")
    if tags and not folders:
        raise InputError("--tags needs a --model to predict them")
    _set_verbosity(quiet, verbose)
    blocks = with_votes(conllu.blocks(input_file, trees=False), files)
    with closing(parallel.parse(Ensemble.load, (folders, tree), blocks, jobs)) as parsed:
        writing.write(parsed, input_file, output, tags=tags, keep_deps=keep_deps, quiet=quiet, verbose=verbose)


@main.command()
@click.option("--model", "folder", required=True, type=NAMED_PATH, metavar="DIR")
@click.argument("gold_file", type=PATH, metavar="GOLD.conllu")
@decoding
def test(folder: str, gold_file: str, decode: Optional[str], beam: Optional[int]) -> None:
    """Parse the words of GOLD.conllu and score against its trees: UAS and LAS in percent of all words."""
    from mh4 import conllu
    from mh4.evaluation import attachment_scores

    gold = conllu.read(gold_file)
    parsed = _parse(mh4.load(folder, decode, _width(decode, beam)), gold)
    scores = attachment_scores(gold, parsed)
    words = sum(map(len, gold))
    say("UAS %.2f  LAS %.2f  (%d sentences, %d words)" % (scores["uas"], scores["las"], len(gold), words))


@main.command()
@click.argument("gold_file", type=PATH, metavar="GOLD.conllu")
@click.argument("system_files", type=PATH, metavar="SYSTEM.conllu...", nargs=-1, required=True)
@click.option("--by", type=click.Choice(["deprel"]), help="Also show LAS by relation.")
@click.option("--counts", is_flag=True, help="Show counts instead of percentages.")
@click.option("--json", "as_json", is_flag=True, help="Print counts and unrounded percentages as JSON.")
def evaluate(gold_file: str, system_files: tuple[str, ...], by: Optional[str], counts: bool, as_json: bool) -> None:
    """Score parsed files against gold with the official scorer of the CoNLL 2018 shared task.

    For one system, this prints the scorer's own table; for several, the F1 of every metric, one column per system. With --by
    deprel, also LAS by relation (without subtypes): precision is correct / predicted, recall correct / gold, where an arc is
    correct if both its head and its relation are. The total is the official LAS.

    With --json, {"gold": FILE, "systems": [{"file": ..., "metrics": {"UAS": ...}, "deprel": {"nsubj": ...}}, ...]}, "deprel"
    only with --by deprel. For each metric or relation, gold, system, correct and aligned are counts, and precision, recall, f1
    and aligned_accuracy are percentages.
    """
    import json

    from mh4 import score_tables

    results = score_tables.score_files(gold_file, system_files)
    if as_json:
        click.echo(json.dumps(score_tables.record(gold_file, results, relations=bool(by)), indent=1))
        return
    say(*score_tables.metric_table(results, counts).split("\n"))
    if by:
        say("", *score_tables.relation_table(results, counts).split("\n"))


@main.command()
@click.argument("gold_file", type=PATH, metavar="GOLD.conllu")
@click.argument("a_file", type=PATH, metavar="A.conllu")
@click.argument("b_file", type=PATH, metavar="B.conllu")
@click.option("--json", "as_json", is_flag=True, help="Print counts and unrounded percentages as JSON.")
@click.option(
    "--plot", "plot_file", type=NAMED_OUTPUT, metavar="FILE.png", help="Draw them as well (.png, .pdf, .svg; needs matplotlib)."
)
def compare(gold_file: str, a_file: str, b_file: str, as_json: bool, plot_file: Optional[str]) -> None:
    """Show where parsed file A is better than B, and whether the difference may be due to chance.

    First come UAS, LAS (F1 of the official scorer, which aligns words where segmentation differs) and the percentage of
    sentences parsed without error, each with two p-values: how often a difference as large as that between A and B, in either
    direction, would arise by chance if both were equally good. One is from the paired bootstrap, the other from approximate
    randomisation, both over gold sentences, with 10,000 samples and a fixed seed. A small p (below 0.05, say) is evidence of a
    real difference between these two outputs; it says nothing about other seeds or other kinds of text.

    Then come recall and precision of arcs, unlabelled and labelled (without subtypes), by dependency length (with arcs from
    the root kept separate), by whether the arc is crossed, by distance to the root (the number of arcs from the root to the
    dependent) and by sentence length. These properties are those of the gold tree for recall, of the parsed tree for precision.

    With --json, {"gold": ..., "a": ..., "b": ..., "samples": ..., "seed": ..., "scores": {"uas": ..., "las": ...,
    "exact_unlabelled": ..., "exact_labelled": ...}, "arcs": {"length": [...], "crossed": [...], "depth": [...],
    "sentence_length": [...]}}. Each score has a, b, difference, low, high (the bootstrap's 95 % interval), p_bootstrap and
    p_randomisation; each group of arcs has counts for gold and both systems, and the number of correct arcs.
    """
    import json

    from mh4 import comparison

    if plot_file:
        comparison.check_plot(plot_file)
    found = comparison.compare(gold_file, a_file, b_file)
    if plot_file:
        comparison.plot(plot_file, found)
    if as_json:
        click.echo(json.dumps(comparison.record(found), indent=1))
    else:
        say(*comparison.table(found).split("\n"))


@main.command()
@click.argument("folder", type=NAMED_PATH, metavar="DIR")
def info(folder: str) -> None:
    """Describe the model in DIR: its system, data, scores and settings."""
    from mh4.model import Model
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


@main.command()
@click.argument("files", type=PATH, metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print counts and unrounded percentages as JSON.")
@click.option(
    "--plot", "plot_file", type=NAMED_OUTPUT, metavar="FILE.png", help="Draw them as well (.png, .pdf, .svg; needs matplotlib)."
)
def coverage(files: tuple[str, ...], as_json: bool, plot_file: Optional[str]) -> None:
    """Measure how much of the trees in CoNLL-U files ("-" is standard input) each class of trees covers.

    Sentence coverage is the percentage of trees in the class, edge coverage the percentage of arcs kept by the nearest trees in
    the class: Table 3 of the paper, plus MH5. Then come, in percent of the sentences, gap degree (block degree - 1),
    well-nestedness and the number of pairs of crossing arcs. Each file has a row; several files also have a total.

    With --json, {"files": [{"file": ...}, ...], "total": {...}}, each with sentences, words, classes (by name:
    sentences, edges, sentence_coverage, edge_coverage), gap_degree, block_degree, well_nested, crossings and left_out; the
    last five are counts of sentences.

    Sentences in which the arcs of more than 200 words are entangled are left out, since their nearest trees would take too long.
    """
    import json

    from mh4 import conllu
    from mh4 import coverage as measuring
    from mh4.progress import words_bar

    if plot_file:
        measuring.check_plot(plot_file)
    with words_bar() as bar:
        task = bar.add_task("measuring", total=None, note="")
        rows = []
        for name in files:
            trees = (block.sentence.heads for block in conllu.blocks(name))
            rows.append((name, measuring.measure_coverage(trees, lambda words: bar.advance(task, words))))
    total = measuring.total(rows)
    shown = measuring.short_names(rows) + ([("total", total)] if len(rows) > 1 else [])
    if plot_file:
        measuring.plot(plot_file, shown)
    if as_json:
        records = [{"file": name, **measuring.record(row)} for name, row in rows]
        click.echo(json.dumps({"files": records, "total": measuring.record(total)}, indent=1))
    else:
        say(*measuring.table(shown).split("\n"))


@main.command()
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
    help="Where from; by default github, or what the environment variable MH4_DATA_SOURCE says.",
)
def data(language: str, to: Optional[str], ud: Optional[str], conll17: bool, source: Optional[str]) -> None:
    """Fetch and verify a treebank of UD 2.0 ("toy": generate the toy treebank)."""
    from pathlib import Path

    from mh4 import conll17 as shared_task
    from mh4 import treebanks
    from mh4.files import relative_if_inside

    if conll17 and language == treebanks.TOY:
        raise InputError("the shared task has no toy treebank: --conll17 is for the others")
    here = Path.cwd()
    for split, path in treebanks.locate(language, ud=ud, to=to, source=source).items():
        row = treebanks.identify(path)
        release = "UD %s" % row.release if row else "generated" if language == treebanks.TOY else "not a file of UD 2.0"
        say("%-5s  %s  (%s)" % (split, relative_if_inside(path, here), release))
    if conll17:
        for system, path in shared_task.download(language, to=to, source=source).items():
            say("%-8s  %s  (%s)" % (system, relative_if_inside(path, here), shared_task.SYSTEMS[system]))


@main.command("install-dynet")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of compilers to run in parallel; by default all cores."
)
def install_dynet(jobs: Optional[int]) -> None:
    """Compile DyNet for this Python and processor, and install it.

    The neural network needs DyNet, which pip cannot build by itself; the decoders and all commands that use no
    model do not. This takes several minutes, once, and needs a C++ compiler, make and network access.
    """
    from mh4.setup.console import SetupError
    from mh4.setup.install import install

    try:
        install(jobs)
    except SetupError as error:
        raise InputError(str(error)) from None


def _source(path: str) -> dict[str, str]:
    from mh4.files import git_blob_id

    return {"file": os.path.basename(path), "git_blob": git_blob_id(path)}


def _set_verbosity(quiet: bool, verbose: bool) -> None:
    if quiet and verbose:
        raise InputError("--quiet and --verbose exclude each other")
    if quiet:
        warnings.simplefilter("ignore")


def _width(decode: Optional[str], beam: Optional[int]) -> int:
    """The width of the beam; InputError if one is given without --decode beam."""
    if beam is not None and decode != "beam":
        raise InputError("--beam %d only makes sense with --decode beam" % beam)
    return BEAM if beam is None else beam


def _parse(parser: "Parser", sentences: list["Sentence"]) -> list["Sentence"]:
    """Parse, with a progress bar if standard error is a terminal."""
    from mh4.progress import words_bar

    with words_bar() as bar:
        task = bar.add_task("parsing", total=sum(map(len, sentences)), note="")
        return parser.parse(sentences, lambda words: bar.advance(task, words))
