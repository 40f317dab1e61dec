"""Plot with matplotlib, if it is installed. Files are written whole or not at all."""

import io
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mh4.errors import InputError, needs
from mh4.util.files import write_bytes

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>mh4</title><link rel="icon" href="data:,">
<style>svg { max-width: 100%%; height: auto; }</style></head>
<body>
%s</body></html>
"""


def require_matplotlib() -> None:
    """Raise NotInstalled without matplotlib, and InputError if it cannot be imported."""
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # it reports its search for fonts and their cache
    with needs("a plot", "plots", "matplotlib"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import matplotlib.figure  # noqa: F401


def check_plot(path: str) -> None:
    """Raise InputError if `path` is not the name of an image or page; also raise what require_matplotlib does."""
    require_matplotlib()
    from matplotlib.figure import Figure

    kinds = {*Figure().canvas.get_supported_filetypes(), "html"} - {"pgf"}  # which needs LaTeX
    if _kind(path) not in kinds:
        raise InputError("%s: not a file name for a plot: expected a name that ends in .png, .pdf, .svg or .html" % path)


@contextmanager
def plotted(path: str, width: float, height: float) -> Iterator[Any]:
    """Yield a new matplotlib figure of this size in inches, and write it to `path` when the block succeeds.

    The extension of `path` determines the format: an image (.png, .pdf, .svg), or a page with one (.html). Raises as check_plot does.
    """
    check_plot(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"text.parse_math": False, "text.usetex": False}):  # file names are not formulas
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        kind, image = _kind(path), io.BytesIO()  # matplotlib does not report all errors of writing a file
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about characters that no font has, which are drawn as boxes
            figure.savefig(image, format="svg" if kind == "html" else kind, dpi=150)
        content = image.getvalue()
        if kind == "html":
            content = PAGE.encode() % content[content.index(b"<svg") :]
        write_bytes(path, content)


def _kind(path: str) -> str:
    return os.path.splitext(path)[1][1:].lower()
