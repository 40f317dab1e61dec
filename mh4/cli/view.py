"""The command `mh4 view`."""

import os
import shlex
import shutil
import sys
from contextlib import suppress
from itertools import chain

import click

from mh4.cli.group import say_written
from mh4.cli.paths import NAMED_PATH, PATH, Input, Path
from mh4.errors import InputError, counted

PAGE, PICTURE = (Path(standard=False, written=True, late=True, extensions=(extension,)) for extension in (".html", ".svg"))


@click.command()
@click.argument("file", cls=Input, type=PATH, metavar="FILE.conllu")
@click.argument("second", type=PATH, metavar="[SECOND.conllu]", required=False)
@click.option("--model", "folder", type=NAMED_PATH, metavar="DIR", help="Instead of a second file: parse FILE with this model.")
@click.option("--sentence", metavar="N|SENT_ID", help="Show only this sentence: its number, from 1, or its sent_id.")
@click.option("--html", "page_file", type=PAGE, metavar="PAGE.html", help="Write an interactive page that needs no network.")
@click.option("--svg", "picture_file", type=PICTURE, metavar="FILE.svg", help="Write a picture of one --sentence.")
def view(
    file: str, second: str | None, folder: str | None, sentence: str | None, page_file: str | None, picture_file: str | None
) -> None:
    """Show the trees of a CoNLL-U file in the terminal, as a page or as a picture.

    FILE.conllu may be a folder, whose .conllu files are shown one after another. Without it, or for "-", standard input is read.

    With a second file of the same sentences and words, or with a model, both trees of each sentence are shown, and where they
    differ.

    The page shows crossed arcs in colour, tags of words, probabilities of arcs if there are any (`mh4 parse --confidence`, or a
    model that has them) and the transitions of each sentence one by one: those that the model chose, if it is
    transition-based, or canonical ones of the tree.
    """
    from mh4.util.output import open_output
    from mh4.util.text_tables import short_names
    from mh4.viewing import analyses

    if second and folder:
        raise InputError("choose a second file or --model, not both")
    if picture_file and (sentence is None or page_file or second or folder):
        raise InputError("--svg draws one tree: it needs --sentence and goes without --html, a second file and --model")
    sentences = analyses.read(file, second, folder, sentence)
    other = second or folder
    names = short_names([file, other] if other else [file])
    if picture_file:
        from mh4.drawing.svg import picture

        (shown,) = sentences
        tree = shown.analyses[0]
        with open_output(picture_file) as output:
            output.write(picture(shown.words, tree.heads, tree.deprels, tree.probabilities))
        say_written(counted(1, "sentence"), picture_file)
    elif page_file:
        from mh4.viewing.page import page

        views = list(sentences)
        with open_output(page_file) as output:
            output.write(page(views, names))
        say_written(counted(len(views), "sentence"), page_file)
    else:
        from mh4.viewing.terminal import draw

        on_terminal = sys.stdout.isatty()
        color = on_terminal and _pager_shows_colours() and not os.environ.get("NO_COLOR")
        columns = shutil.get_terminal_size().columns if on_terminal else sys.maxsize
        texts = (draw(shown, names, color, columns) + "\n" for shown in sentences)
        if on_terminal:
            # less shows colours (R), and leaves text that fits on one screen there (F, X). The user's options come
            # last, so that they can switch these off.
            os.environ["LESS"] = "-FRX " + os.environ.get("LESS", "")
            if sys.stdout.encoding.lower() == "utf-8":  # in the locale C, too, where less would expect ASCII
                os.environ.setdefault("LESSCHARSET", "utf-8")
            first = next(texts, "")  # opens the input, which may be the standard input that is replaced below
            if not (sys.stdin and sys.stdin.isatty()):  # click would start no pager, though pagers read keys from /dev/tty
                with suppress(OSError):
                    sys.stdin = open("/dev/tty", encoding="utf-8")
            click.echo_via_pager(chain([first], texts), color=color)
        else:
            for text in texts:
                click.echo(text, nl=False)


def _pager_shows_colours() -> bool:
    """Return whether the user's pager is known to pass escape codes to the terminal: only less and cat are."""
    try:
        command = shlex.split(os.environ.get("PAGER", "")) or ["less"]
    except ValueError as error:
        raise InputError("PAGER=%s is not a command: %s" % (os.environ["PAGER"], error)) from None
    return os.path.basename(command[0]) in ("less", "cat") and os.environ.get("TERM") != "dumb"
