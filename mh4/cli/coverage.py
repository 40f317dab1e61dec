"""The command `mh4 coverage`."""

import click

from mh4.cli.group import say, say_json, say_written
from mh4.cli.options import check_format, format_option, json_option, plot_option
from mh4.cli.paths import PATH, Input
from mh4.util.text_tables import Form, short_names


@click.command()
@click.argument("files", cls=Input, type=PATH, metavar="FILE...", nargs=-1, required=True)
@format_option
@json_option
@plot_option
def coverage(files: tuple[str, ...], form: Form, as_json: bool, plot_file: str | None) -> None:
    """Measure how much of the trees in CoNLL-U files each class of trees covers.

    Sentence coverage is the percentage of trees in the class, edge coverage the percentage of arcs kept by the nearest trees in
    the class: Table 3 of the paper, plus MH5. Then come, in percent of the sentences, gap degree (block degree - 1),
    well-nestedness and the number of pairs of crossing arcs. Each file has one row, as has each .conllu file
    in a folder; several files also have a total. Without a file, or for "-", standard input is measured.

    With --json, {"files": [{"file": ...}, ...], "total": {...}}, each with sentences, words, classes (by name:
    sentences, edges, sentence_coverage, edge_coverage), gap_degree, block_degree, well_nested, crossings and left_out; the
    last five are counts of sentences.

    Sentences in which the arcs of more than 200 words are entangled are left out, since their nearest trees would take too long.
    """
    check_format(form, as_json)
    from mh4.analysis import coverage as measuring
    from mh4.data import conllu
    from mh4.util.plots import check_plot
    from mh4.util.progress import counting

    if plot_file:
        check_plot(plot_file)
    rows = []
    with counting("measuring") as progress:
        for name, blocks in conllu.each_file(files):
            row = measuring.measure_coverage((block.sentence.heads for block in blocks), progress)
            if row.sentences or row.left_out:  # the file is not empty
                rows.append((name, row))
    total = measuring.total(rows)
    names = short_names([name for name, _ in rows])
    shown = [(name, row) for name, (_, row) in zip(names, rows, strict=True)] + ([("total", total)] if len(rows) > 1 else [])
    if plot_file:
        measuring.plot(plot_file, shown)
        say_written("the plot", plot_file)
    if as_json:
        records = [{"file": name, **measuring.record(row)} for name, row in rows]
        say_json({"files": records, "total": measuring.record(total)})
    else:
        say(*measuring.table(shown, form).split("\n"))
