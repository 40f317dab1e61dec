"""The commands `mh4 corpus ...`."""

import os
from typing import Any

import click
from click.exceptions import Exit

from mh4.cli import options
from mh4.cli.group import Group, say, say_written
from mh4.cli.paths import NAMED_OUTPUT, NAMED_PATH
from mh4.errors import InputError, counted, listed

FOLDER = click.argument("folder", type=NAMED_PATH, metavar="FOLDER")


@click.group(cls=Group)
def corpus() -> None:
    """Parse corpora of any size, on one machine or on many, in shards, each of which is kept once it is parsed.

    `parse` may be stopped, or killed, at any time, and its workers as well: started again, it parses what is missing.
    """


# Who does the work.
worker_options = options.together(
    click.option(
        "--workers",
        type=click.IntRange(1, 10_000),
        metavar="N",
        help="Number of workers; by default one per core here. With --scheduler, which has its own, N only sets the size of shards.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler, such as tls://node1:8786."),
    click.option(
        "--slurm",
        metavar="OPTIONS",
        help='Run the workers as Slurm jobs, with these options of sbatch, such as "--time=8:00:00 --mem=2G".',
    ),
)


@corpus.command()
@click.argument("inputs", type=NAMED_PATH, metavar="IN...", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=NAMED_OUTPUT, metavar="FOLDER", help="For shards and their records.")
@click.option("--model", required=True, type=NAMED_PATH, metavar="DIR")
@options.input_option
@options.text_options
@options.confidence_option
@click.option("--rejects", is_flag=True, help="Set aside blocks that are not CoNLL-U, rather than fail.")
@options.column_options
@options.limit_options
@options.decoding_options
@worker_options
@click.option(
    "--plan",
    is_flag=True,
    help="Only parse a sample, here, and estimate what parsing all with so many --workers takes: core-hours, memory and disk.",
)
@click.option(
    "--shard-size",
    type=click.IntRange(1, 4096),
    metavar="MB",
    help="Size of a shard of the input; by default about a minute's work, or less.",
)
@click.option("--quiet", is_flag=True, help="Print only what went wrong.")
def parse(
    inputs: tuple[str, ...],
    output: str,
    model: str,
    format_of_input: str | None,
    text: bool,
    segmenter: str | None,
    workers: int | None,
    scheduler: str | None,
    slurm: str | None,
    plan: bool,
    shard_size: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Parse files, and all .conllu files in folders (for text, .txt), as `mh4 parse` would, into shards in FOLDER.

    A file that is given twice, by itself or in a folder, is parsed once. Files are cut between sentences, without being copied;
    compressed ones (.gz, .bz2, .xz, .zst) as they are read. Finished shards are kept: the same command, started again, parses the rest,
    and files that were added. A shard that fails three times is named, with its log; the others are parsed, and the exit code is 1.

    `mh4 corpus join` turns the shards into what `mh4 parse` would have written.
    """
    from mh4.corpus import driver, estimate, parsing
    from mh4.corpus.cutting import shard_bytes
    from mh4.corpus.display import Display
    from mh4.corpus.folder import Corpus
    from mh4.corpus.inputs import inputs as found_in
    from mh4.corpus.parse_options import Settings
    from mh4.corpus.workers import start
    from mh4.util import cpu
    from mh4.util.files import make_folder

    form = options.input_format(format_of_input, text, segmenter, rejects=given["rejects"])
    _check_workers(scheduler, slurm)
    for option, value in (("scheduler", scheduler), ("slurm", slurm), ("shard-size", shard_size), ("quiet", quiet or None)):
        if plan and value is not None:
            raise InputError("--plan parses a sample here and prints an estimate, on which --%s has no effect: omit it" % option)
    options.set_verbosity(quiet, False)
    files = found_in(inputs, form != "conllu", output)
    settings = Settings.of(model, segmenter, input=form, **given)
    number = workers or cpu.cores()
    if plan:
        say(*estimate.report(files, settings, number))
        return
    parsing.check(settings)
    total = sum(estimate.sizes(files))
    size = shard_size << 20 if shard_size else shard_bytes(total, number, form != "conllu")
    make_folder(output)
    wanted = Corpus(os.path.abspath(output), settings, dict(enumerate(files)), size)
    with wanted.driving():
        begun = wanted.begin()
        if begun.removed and not quiet:
            removed = listed([one.given for one in begun.removed.values()])
            say("mh4: %s: no longer part of the input: %s" % (output, removed), err=True)
        if shard_size and begun.shard_bytes != size:
            raise InputError("%s: begun with shards of %d bytes, not %d: omit --shard-size" % (output, begun.shard_bytes, size))
        with Display(begun, total, quiet) as display, start(begun, number, scheduler, slurm) as pool:
            driver.parse(begun, pool, display)
        if not quiet:
            say(display.summary(), *display.notes(), err=True)
    raise Exit(display.failures > 0)  # the failures have already been reported


@corpus.command()
@FOLDER
def status(folder: str) -> None:
    """Say what is done in FOLDER, what has failed, and whether a process is at work in it."""
    from mh4.corpus.folder import Corpus
    from mh4.corpus.status import report

    say(*report(Corpus.load(folder)))


@corpus.command()
@FOLDER
@worker_options
@click.option("--quiet", is_flag=True, help="Print only what is wrong.")
def verify(folder: str, workers: int | None, scheduler: str | None, slurm: str | None, quiet: bool) -> None:
    """Compare what is parsed in FOLDER with the input: checksums, and every line of every sentence, apart from what is predicted.

    What differs is named, and parsed again by the next `mh4 corpus parse`; the exit code is 1.
    """
    from mh4.corpus import driver, planning, verifying
    from mh4.corpus.display import Display
    from mh4.corpus.folder import Corpus
    from mh4.corpus.workers import problem, start
    from mh4.util import cpu

    _check_workers(scheduler, slurm)
    begun = Corpus.load(folder)
    other = problem(begun.settings)
    if other:
        raise InputError("%s: this process cannot verify it: %s" % (folder, other))
    with begun.driving():
        missing = planning.missing(begun)
        done = {shard for shard in planning.all_shards(begun)[0] if os.path.exists(begun.file(shard, "record"))}
        total = sum(shard.length for shard in done)
        number = workers or cpu.cores()
        with Display(begun, total, quiet) as display, start(begun, number, scheduler, slurm) as pool:
            driver.drive(verifying.verify, begun, pool, display, done.__contains__, tries=1)
            if missing:
                display.problem("%s: %s" % (folder, missing))
        if not (display.failures or quiet):
            say(display.summary())
    raise Exit(display.failures > 0)


@corpus.command()
@FOLDER
@click.option(
    "-o", "--output", required=True, type=NAMED_OUTPUT, metavar="OUT", help="A file, or for several files or a folder, a folder."
)
@click.option("--rejects", type=NAMED_OUTPUT, metavar="FILE", help="Write here what `mh4 corpus parse --rejects` set aside.")
def join(folder: str, output: str, rejects: str | None) -> None:
    """Write the parse of each file of the input that is done in FOLDER, byte for byte what `mh4 parse` writes.

    Files that are not done are named, and the exit code is 1.

    In the folder OUT, each has the name of its input, relative to the folder that was given; of two with the same name, the second is
    called NAME-2.conllu. OUT is compressed if it is called .gz, .bz2, .xz or .zst, as are those whose input is. A file that has changed
    since it was parsed is named.
    """
    from mh4.corpus import joining
    from mh4.corpus.folder import Corpus

    begun = Corpus.load(folder)
    if rejects and not begun.settings.rejects:
        raise InputError("%s: nothing was set aside, as it was parsed without --rejects" % folder)
    joined = joining.join(begun, output, rejects)
    for path in dict.fromkeys(joined.changed):
        say("mh4: %s: changed since it was parsed, or its modification time has; its earlier parse was joined" % path, err=True)
    files = " in " + counted(len(joined.paths), "file") if len(begun.inputs) > 1 else ""
    if joined.paths:
        say_written(counted(joined.sentences, "sentence") + files, output)
    left_out = 0 if rejects else joining.rejected(begun)
    if left_out:
        are = "block is" if left_out == 1 else "blocks are"
        say("mh4: %d %s left out because not CoNLL-U: --rejects FILE writes what was set aside" % (left_out, are), err=True)
    for problem in joined.damaged:
        say("mh4: " + problem, err=True)
    if joined.missing:
        what = "not done (`mh4 corpus status` says more), so nothing is written for "
        say("mh4: %s: %s" % (folder, what + listed(joined.missing)), err=True)
    raise Exit(bool(joined.missing))


def _check_workers(scheduler: str | None, slurm: str | None) -> None:
    if scheduler is not None and slurm is not None:
        raise InputError("--scheduler and --slurm name different workers: choose one of them")
