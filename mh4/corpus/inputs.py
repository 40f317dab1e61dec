"""Which files a corpus has, and the names of their parses."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from mh4.errors import InputError
from mh4.util.reading import CONLLU, named, open_regular

TEXT = ".txt"  # what is taken from folders as text; files that are named may have any name


class Input(NamedTuple):
    """An input file. path: absolute. given: the path in messages. name: its parse's, relative to the folder of all parses.

    folder: the absolute path of the folder that was given for it; empty if the file itself was.
    """

    path: str
    given: str
    name: str
    folder: str = ""


def inputs(arguments: Sequence[str], text: bool, output: str) -> list[Input]:
    """The files given by paths of files and folders, in this order, within a folder in the order of their names.

    Of a folder, including its subfolders, these are the files called .conllu, or for `text` .txt, also compressed.
    output: a folder from which nothing is taken.
    Raises InputError if a file that is given cannot be read, or a folder has no such files or is `output`, where the parses would be input
    the next time. What cannot be read in a folder is left to the parsing, which reports it and goes on.
    """
    for argument in arguments:
        if os.path.isdir(argument) and os.path.realpath(argument) == os.path.realpath(output):
            raise InputError("%s is the folder of the input: name another one, -o FOLDER" % output)
    found = named(arguments, TEXT if text else CONLLU, [output])
    for given, _, folder in found:
        if not folder:
            with open_regular(given):
                pass
    return [Input(os.path.abspath(given), given, name, folder and os.path.abspath(folder)) for given, name, folder in found]
