"""The command `mh4 curves`."""

import click

from mh4.cli.group import say_written
from mh4.cli.paths import LATE_OUTPUT, NAMED_PATH


@click.command()
@click.argument("runs", type=NAMED_PATH, metavar="RUN...", nargs=-1, required=True)
@click.option(
    "-o", "--output", type=LATE_OUTPUT, required=True, metavar="FILE.svg", help="The plot: .svg, .png, .pdf, or a page, .html."
)
def curves(runs: tuple[str, ...], output: str) -> None:
    """Plot how trainings went: UAS on dev, and loss per word, by updates and by minutes.

    RUN is the folder of a model, whose training may still be running, or a folder with several of them in it. Needs matplotlib.
    """
    from mh4.analysis import curves as measuring
    from mh4.util.plots import check_plot

    check_plot(output)
    measuring.plot(output, measuring.runs(runs))
    say_written("the plot", output)
