"""List the input files of a corpus, and name their parses."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from mh4.errors import InputError
from mh4.util.reading import CONLLU, TEXT, named, open_regular


class Input(NamedTuple):
    """An input file.

    path: its absolute path. given: the path in messages. name: the path of its parse, relative to the folder of all
    parses. folder: the absolute path of the given folder that contains the file; empty if the file itself was given.
    """

    path: str
    given: str
    name: str
    folder: str = ""


def inputs(arguments: Sequence[str], text: bool, output: str) -> list[Input]:
    """Return the files given by paths of files and folders, in this order; the files of a folder are sorted by name.

    In a folder and its subfolders, these are the .conllu files or, with `text`, the .txt files, also compressed ones.
    output: a folder to leave out.
    Raises InputError if a given file cannot be read, if a folder has no such files, and if a folder is `output`, where
    the parses would be input the next time. Unreadable files in a folder are reported when they are parsed.
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
