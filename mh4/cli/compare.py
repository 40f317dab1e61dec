"""The command `mh4 compare`."""

import click

from mh4.cli.group import say, say_json, say_written
from mh4.cli.options import check_format, format_option, json_option, plot_option
from mh4.cli.paths import PATH
from mh4.errors import InputError
from mh4.util.text_tables import Form


@click.command()
@click.argument("gold_file", type=PATH, metavar="GOLD.conllu")
@click.argument("parsed", type=PATH, metavar="[A.conllu B.conllu]", nargs=-1)
@click.option(
    "--a", "a_files", type=PATH, multiple=True, metavar="A.conllu", help="The output of one run of A; repeat it for each run."
)
@click.option(
    "--b", "b_files", type=PATH, multiple=True, metavar="B.conllu", help="The output of one run of B; repeat it for each run."
)
@format_option
@json_option
@plot_option
def compare(
    gold_file: str,
    parsed: tuple[str, ...],
    a_files: tuple[str, ...],
    b_files: tuple[str, ...],
    form: Form,
    as_json: bool,
    plot_file: str | None,
) -> None:
    """Show where parsed file A is better than B, and whether the difference may be due to chance.

    If the parsers were trained with several seeds, name the output of every run by --a and --b, instead of A.conllu and B.conllu.

    The first table has UAS, LAS (F1 of the official scorer, which aligns words where segmentation differs) and the percentage of
    sentences parsed without error. Each has two p-values: how often a difference as large as that between A and B, in either
    direction, would arise by chance if both were equally good. One is from the paired bootstrap, the other from approximate
    randomisation, both over gold sentences, with 10,000 samples and a fixed seed. A small p (below 0.05, say) is evidence of a
    real difference between these two outputs; it says nothing about other seeds or other kinds of text. Fewer than 30 sentences
    are too few for a test. For several runs, scores are means. The bootstrap then draws runs as well as sentences, so its
    interval and its p cover other seeds, though not of a parser with one run; there is no randomisation.

    The other tables have recall and precision of arcs, unlabelled and labelled (without subtypes), by dependency length (with arcs from
    the root kept separate), by whether the arc is crossed, by distance to the root (the number of arcs from the root to the
    dependent) and by sentence length. Recall takes these properties from the gold tree, precision from the parsed tree.

    With --json, {"gold": ..., "a": {"files": [...], ...}, "b": ..., "samples": ..., "seed": ..., "scores": {"uas": ..., "las": ...,
    "exact_unlabelled": ..., "exact_labelled": ...}, "arcs": {"length": [...], "crossed": [...], "depth": [...],
    "sentence_length": [...]}}. Each score has a, b, difference, low, high (the bootstrap's 95 % interval), p_bootstrap and
    p_randomisation, which are null where there is no test; each group of arcs has counts for gold and both systems, and
    the number of correct arcs.
    """
    check_format(form, as_json)
    from mh4.analysis import comparison
    from mh4.util.plots import check_plot

    if len(parsed) == 2 and not a_files and not b_files:
        a_files, b_files = parsed[:1], parsed[1:]
    elif parsed or not a_files or not b_files:
        raise InputError("compare: expected A.conllu and B.conllu, or the runs of both by --a and --b")
    if plot_file:
        check_plot(plot_file)
    found = comparison.compare(gold_file, a_files, b_files)
    if plot_file:
        comparison.plot(plot_file, found)
        say_written("the plot", plot_file)
    if as_json:
        say_json(comparison.record(found))
    else:
        say(*comparison.table(found, form).split("\n"))
