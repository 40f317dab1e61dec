"""The command `mh4 compare`."""

import click

from mh4.cli.group import say, say_written
from mh4.cli.options import json_option, plot_option
from mh4.cli.paths import PATH


@click.command()
@click.argument("gold_file", type=PATH, metavar="GOLD.conllu")
@click.argument("a_file", type=PATH, metavar="A.conllu")
@click.argument("b_file", type=PATH, metavar="B.conllu")
@json_option
@plot_option
def compare(gold_file: str, a_file: str, b_file: str, as_json: bool, plot_file: str | None) -> None:
    """Show where parsed file A is better than B, and whether the difference may be due to chance.

    First come UAS, LAS (F1 of the official scorer, which aligns words where segmentation differs) and the percentage of
    sentences parsed without error, each with two p-values: how often a difference as large as that between A and B, in either
    direction, would arise by chance if both were equally good. One is from the paired bootstrap, the other from approximate
    randomisation, both over gold sentences, with 10,000 samples and a fixed seed. A small p (below 0.05, say) is evidence of a
    real difference between these two outputs; it says nothing about other seeds or other kinds of text. Fewer than 10 sentences
    are too few for a test.

    Then come recall and precision of arcs, unlabelled and labelled (without subtypes), by dependency length (with arcs from
    the root kept separate), by whether the arc is crossed, by distance to the root (the number of arcs from the root to the
    dependent) and by sentence length. These properties are those of the gold tree for recall, of the parsed tree for precision.

    With --json, {"gold": ..., "a": ..., "b": ..., "samples": ..., "seed": ..., "scores": {"uas": ..., "las": ...,
    "exact_unlabelled": ..., "exact_labelled": ...}, "arcs": {"length": [...], "crossed": [...], "depth": [...],
    "sentence_length": [...]}}. Each score has a, b, difference, low, high (the bootstrap's 95 % interval), p_bootstrap and
    p_randomisation, which are null if there are too few sentences; each group of arcs has counts for gold and both systems, and
    the number of correct arcs.
    """
    import json

    from mh4.analysis import comparison
    from mh4.util.plots import check_plot

    if plot_file:
        check_plot(plot_file)
    found = comparison.compare(gold_file, a_file, b_file)
    if plot_file:
        comparison.plot(plot_file, found)
        say_written("the plot", plot_file)
    if as_json:
        click.echo(json.dumps(comparison.record(found), indent=1))
    else:
        say(*comparison.table(found).split("\n"))
