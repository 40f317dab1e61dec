"""Types of paths on a command line. They record which files are read and written, and reject outputs that are inputs.

An input may be a folder, which stands for the files of its kind in it. It may be left out if something is piped in.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from mh4.errors import InputError
from mh4.util import streams


class Path(click.Path):
    """A path, which may not be empty.

    standard: whether "-" is allowed, for standard input or output. written: whether the command writes to the path,
    which then may not be a file that the command reads. late: whether the command writes only in the end, to a folder
    that it does not create; then the path is checked at once. extensions: the name must end in one of these, perhaps
    followed by the extension of a compressed file. plain: whether the file may not be compressed.
    """

    def __init__(
        self,
        standard: bool = True,
        written: bool = False,
        late: bool = False,
        extensions: tuple[str, ...] = (),
        plain: bool = False,
    ) -> None:
        super().__init__()
        self.standard, self.written, self.late, self.extensions, self.plain = standard, written, late, extensions, plain

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        given = parameter.opts[0] if isinstance(parameter, click.Option) else getattr(parameter, "human_readable_name", "path")
        if not value:
            raise InputError("%s is empty, expected a path" % given)
        if value == "-" and not self.standard:
            stream = "standard output" if self.written else "standard input"
            raise InputError("%s: expected a path, as - (%s) cannot be used here" % (given, stream))
        if context is not None:
            read, written = _paths(context)
            if value == "-" and value in read and not self.written:
                raise InputError("standard input can be read only once, so only one file can be -")
            if self.written:
                written.append(value)
                _check([value], read)
                if self.late:
                    from mh4.util.files import check_writable

                    check_writable(value)
            else:
                read.append(value)
                _check(written, [value])
        from mh4.util import compression

        if self.extensions and not compression.stem(value).lower().endswith(self.extensions):
            raise InputError("%s %s: expected a name that ends in %s" % (given, value, " or ".join(self.extensions)))
        if self.plain and compression.is_compressed(value):
            raise InputError("%s %s: cannot be compressed, so choose another name" % (given, value))
        return value


PATH, NAMED_PATH = Path(), Path(standard=False)
OUTPUT, NAMED_OUTPUT = Path(written=True), Path(standard=False, written=True)
LATE_OUTPUT = Path(standard=False, written=True, late=True)
PLAIN_OUTPUT = Path(standard=False, written=True, plain=True)
LATE_PLAIN_OUTPUT = Path(standard=False, written=True, late=True, plain=True)


class Input(click.Argument):
    """An argument for input. If it is left out, standard input is read if it is piped or redirected."""

    def process_value(self, context: click.Context, value: Any) -> Any:
        if self.value_is_missing(value) and streams.is_fed() and not context.resilient_parsing:
            value = "-" if self.nargs == 1 else ("-",)
        try:
            return super().process_value(context, value)
        except click.MissingParameter as error:
            error.message = "Name a file or a folder, or pipe a file in."  # type: ignore[misc]
            raise


def check_inputs(paths: Sequence[str]) -> None:
    """Raise InputError if the running command writes to one of these files, which it is to read."""
    read, written = _paths(click.get_current_context())
    read += set(paths) - set(read)
    _check(written, paths)


def check_outputs(paths: Iterable[str]) -> None:
    """Raise InputError if the running command reads one of these files, which it is to write."""
    read, written = _paths(click.get_current_context())
    _check(paths, read, written)


def _paths(context: click.Context) -> tuple[list[str], list[str]]:
    """Return the paths on the command line that are read, and those that are written.

    Standard output ("-") is always written.
    """
    return context.meta.setdefault(__name__, ([], ["-"]))


def _check(written: Iterable[str], read: Iterable[str], omitted: Sequence[str] = ()) -> None:
    """Raise InputError if a file to be written is also read, perhaps by another name, or in a model or folder.

    This includes new files in a folder of CoNLL-U files, which would be read the next time.
    omitted: folders from which nothing is read.
    """
    from mh4.util.files import identity

    outputs = {identity(1) if path == "-" else identity(path) or os.path.realpath(path): path for path in written}
    outputs.pop(None, None)
    keys: dict[str, Any]
    for path in read if outputs else ():
        if path == "-":
            keys = {path: identity(0)}
        elif os.path.isdir(path) or not os.path.exists(path):  # the files of a model count even if they do not exist
            keys = {file: identity(file) or os.path.realpath(file) for file in _in_folder(path, omitted)}
            for output in _next_input(path, outputs, omitted):
                raise InputError("%s would be in %s, and be read the next time: choose another output" % (output, path))
        else:
            keys = {path: identity(path)}
        for file, key in keys.items():
            if key in outputs:
                output = "standard output" if outputs[key] == "-" else outputs[key]
                name = "standard input" if file == "-" else file
                raise InputError("%s would overwrite %s, which is read: choose another output" % (output, name))


def _is_treebank(path: str) -> bool:
    """Return whether the path is a folder of CoNLL-U files, and not of a model."""
    return os.path.isdir(path) and not os.path.exists(os.path.join(path, "vocabulary.json"))


def _next_input(folder: str, outputs: Mapping[Any, str], omitted: Sequence[str]) -> list[str]:
    """Return the outputs that would be new CoNLL-U files in a folder of such files, outside the omitted folders.

    outputs: paths, by the real paths of new files and by the identities of existing ones.
    """
    if not _is_treebank(folder):
        return []
    inside = os.path.realpath(folder) + os.sep
    apart = tuple(os.path.realpath(each) + os.sep for each in omitted)
    new = {key: path for key, path in outputs.items() if isinstance(key, str) and key.startswith(inside)}
    return [path for key, path in new.items() if ".conllu" in key[len(inside) :].lower() and not key.startswith(apart)]


def _in_folder(folder: str, omitted: Sequence[str]) -> list[str]:
    """Return the files that are read in the folder of a model, or in a folder of CoNLL-U files."""
    from mh4.util.reading import all_files

    if _is_treebank(folder):
        with suppress(InputError):  # it is raised again when the folder is read
            return [path for path in all_files(folder, omitted) if ".conllu" in path.lower()]
    from mh4.parser.model_files import FILES

    return [os.path.join(folder, name) for name in FILES]
