"""The command `mh4 serve`."""

import math
import os
import re
import sys

import click

from mh4.cli.group import say
from mh4.cli.paths import LATE_OUTPUT, NAMED_PATH
from mh4.errors import InputError, needs, shown

_NAME = re.compile(r"[\w.][\w.-]{0,99}", re.ASCII)
Pairs = tuple[tuple[str, str], ...]  # names, each with a path


class _Named(click.ParamType):
    """The type of a parameter NAME=PATH, or PATH alone, which gets an empty name."""

    name = "name=path"

    def convert(self, value: str, parameter: click.Parameter | None, context: click.Context | None) -> tuple[str, str]:
        name, equals, path = value.partition("=") if "=" in value else ("", "", value)
        if equals and not _NAME.fullmatch(name):
            raise InputError("%s: expected NAME=PATH, with a name of letters, digits, _, - and ." % shown(value))
        return name, NAMED_PATH.convert(path, parameter, context)


@click.command()
@click.argument("file", type=NAMED_PATH, required=False)
@click.option(
    "--model",
    "models",
    type=_Named(),
    metavar="[NAME=]DIR",
    multiple=True,
    required=True,
    help="A model, called NAME, or like its folder; may be repeated.",
)
@click.option(
    "--segmenter",
    "segmenters",
    type=_Named(),
    metavar="[NAME=]FILE",
    multiple=True,
    help="The segmenter of raw text for the model of this name, or for the only one, from `mh4 segmenter train`; may be repeated.",
)
@click.option(
    "-o", "--output", type=LATE_OUTPUT, metavar="NEW", help="The new file, for the trees of FILE as they are corrected."
)
@click.option("--host", default="127.0.0.1", help="The address to listen on; 0.0.0.0 for all of this machine.")
@click.option(
    "--host-name",
    "host_names",
    metavar="NAME",
    multiple=True,
    help="A name by which clients may ask for the server, besides localhost and its addresses; may be repeated.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8080, help="The port; 0 for any that is free.")
@click.option("--workers", type=click.IntRange(1, 1000), default=1, help="Processes to parse with; each loads all models.")
@click.option("--max-words", type=click.IntRange(min=1), default=10_000, help="The largest number of words in a request.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=86_400),
    default=60,
    help="Seconds that a request may take to arrive, then to wait, and then to be parsed.",
)
@click.option("--queue", type=click.IntRange(min=0), default=100, help="The largest number of requests that wait.")
def serve(
    file: str | None,
    models: Pairs,
    segmenters: Pairs,
    output: str | None,
    host: str,
    host_names: tuple[str, ...],
    port: int,
    workers: int,
    max_words: int,
    timeout: float,
    queue: int,
) -> None:
    """Serve models over HTTP: UDPipe's REST API, and a page for browsers.

    The first model is the default one. The results are the same as with `mh4 parse`. The log, on standard error, is a line of JSON for each
    request; /health says that the server is up, and /metrics is for Prometheus. SIGTERM, SIGINT and SIGHUP end the server once all
    requests that it has received are answered.

    With FILE, in CoNLL-U, the page to correct trees on opens it, and saves it to NEW. Only those with the address that is then printed can
    read and save it.

    Anyone who can reach the address can use it: to open it to other machines (--host), put it behind a server that authenticates users
    and encrypts.
    """
    with needs("this", "serve"):
        from mh4.annotating.correction import Correction
        from mh4.serving.app import Limits
        from mh4.serving.server import serve

    if math.isnan(timeout):  # click's ranges do not exclude it
        raise InputError("--timeout nan: expected a number of seconds")
    models = tuple((name or _name_of(path), path) for name, path in models)
    names = [name for name, _ in models]
    if len(names) == 1:
        segmenters = tuple((name or names[0], path) for name, path in segmenters)
    for name, path in segmenters:
        if not name:
            raise InputError("--segmenter %s: expected NAME=FILE, as there are several models" % path)
        if name not in names:
            raise InputError("--segmenter %s: no --model of this name" % name)
    for option, given in (("--model", models), ("--segmenter", segmenters)):
        if len(dict(given)) < len(given):
            raise InputError("%s: a name is given twice" % option)
    files = {name: (folder, dict(segmenters).get(name)) for name, folder in models}
    limits = Limits(max_words, timeout, queue)
    correction = None
    if file and output:
        correction = Correction(file, output, os.path.exists(output) and _replaces(output))
    elif file or output:
        raise InputError("%s: expected FILE and -o NEW, or neither" % (file or "-o " + str(output)))
    what = "corrects %s, and saves it to %s" % (file, output) if correction else "serves " + ", ".join(names)
    serve(files, host, port, workers, limits, lambda address: say("%s %s" % (address, what)), host_names, correction)


def _replaces(output: str) -> bool:
    return bool(sys.stdin and sys.stdin.isatty()) and click.confirm(
        "%s exists. Replace it when trees are saved?" % shown(output), err=True
    )


def _name_of(path: str) -> str:
    """Return the name of a model that was given without one: that of its folder or, without .mh4, of its file."""
    name = os.path.basename(os.path.realpath(path)).removesuffix(".mh4")
    if not _NAME.fullmatch(name):
        raise InputError("--model %s: expected NAME=DIR, as %s is no name of letters, digits, _, - and ." % (path, shown(name)))
    return name
