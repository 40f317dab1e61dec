"""Which files a corpus has, and the names of their parses."""

import os
from collections.abc import Sequence
from itertools import chain, count
from pathlib import PurePath
from typing import NamedTuple

from mh4.errors import InputError
from mh4.util import compression
from mh4.util.reading import files_in, open_regular

CONLLU, TEXT = ".conllu", ".txt"  # what is taken from folders; files that are named may have any name


class Input(NamedTuple):
    """An input file. path: absolute. given: the path in messages. name: that of its parse, relative to the folder of all parses."""

    path: str
    given: str
    name: str


def inputs(arguments: Sequence[str], text: bool, output: str) -> list[Input]:
    """The files given by paths of files and folders, in this order, within a folder in the order of their names.

    Of a folder, including its subfolders, these are the files called .conllu, or for `text` .txt, also compressed. Their parses have the
    same names, relative to the folder, but end with .conllu; where two would be the same, or a file and a folder, the later one, or the
    file, is called NAME-2.conllu, and so on.
    output: a folder from which nothing is taken.
    Raises InputError if a path does not exist, or is a folder without such files, or is `output`, where the parses would be input the
    next time.
    """
    for argument in arguments:
        if os.path.isdir(argument) and os.path.realpath(argument) == os.path.realpath(output):
            raise InputError("%s is the folder of the input: name another one, -o FOLDER" % output)
    found = named(arguments, TEXT if text else CONLLU, output)
    for given, _ in found:
        with open_regular(given):
            pass
    return [Input(os.path.abspath(given), given, name) for given, name in found]


def named(arguments: Sequence[str], extension: str, output: str, below: bool = True) -> list[tuple[str, str]]:
    """The paths of the files, each with the name of its parse; see inputs. below: whether subfolders are included."""
    found: list[tuple[str, str]] = []
    for argument in arguments:
        if os.path.isdir(argument):
            found += [(path, os.path.relpath(path, argument)) for path in files_in(argument, extension, below, output)]
        else:
            found.append((argument, os.path.basename(argument)))
    taken = {str(folder) for _, name in found for folder in PurePath(name).parents}
    return [(given, _unused(compression.with_extension(name, CONLLU), taken)) for given, name in found]


def _unused(name: str, taken: set[str]) -> str:
    stem, dot, extension = name.rpartition(CONLLU)
    names = chain([name], ("%s-%d%s" % (stem, number, dot + extension) for number in count(2)))
    unused = next(name for name in names if name not in taken)
    taken.add(unused)
    return unused
