"""Write parsed files, and determine their paths."""

import os
import sys
import time
from collections.abc import Sequence

from mh4.cli.group import say, say_written
from mh4.cli.paths import check_inputs, check_outputs
from mh4.errors import InputError, counted
from mh4.parser import writing
from mh4.parser.writing import Parses, Written
from mh4.util.files import make_folder
from mh4.util.output import open_output
from mh4.util.progress import counting
from mh4.util.reading import CONLLU, TEXT, Named, name_of, named


def write(
    parses: Parses, source: str, output_file: str, *, tags: bool, keep_deps: bool, quiet: bool, verbose: bool, flush: bool = False
) -> Written:
    """Write each block with its parse to `output_file` ("-" is standard output), whole or not at all.

    tags, keep_deps: see Sentence.columns. flush: write out each sentence at once. source: the name of the input, for
    messages. Unless `quiet`, a progress bar is shown if standard error, but not the output, is a terminal, and sentences that were not
    parsed as usual are counted on standard error. If `verbose`, a line on standard error reports at the end how much
    was parsed, and how fast.
    """
    start = time.perf_counter()
    on_screen = output_file == "-" and sys.stdout.isatty()  # where the bar would run into the sentences
    with open_output(output_file) as output, counting("parsing", hidden=quiet or on_screen) as progress:
        written = writing.write(parses, output, tags=tags, keep_deps=keep_deps, flush=flush, progress=progress)
    if written.noted and not quiet:
        say("mh4: %s: %s" % (name_of(source), written.notes()), err=True)
    if verbose:
        seconds = time.perf_counter() - start
        done = (counted(written.sentences, "sentence"), counted(written.words, "word"), seconds, written.words / seconds)
        say("%s: %s, %s in %.1f s, %d words/s" % (name_of(source), *done), err=True)
    return written


def say_parsed(outputs: Sequence[str], written: Sequence[Written]) -> None:
    """Print how much was written to a file, or to several files in one folder."""
    trees, sentences, words = (sum(getattr(one, noun) for one in written) for noun in ("trees", "sentences", "words"))
    done = "%s with %s" % (counted(sentences, "sentence"), counted(words, "word"))
    done = done if trees == sentences else "%s of %s" % (counted(trees, "tree"), done)
    if len(outputs) == 1:
        say_written(done, outputs[0])
    else:
        say_written("%s in %d files" % (done, len(outputs)), os.path.commonpath(outputs))


def destinations(inputs: Sequence[str], output: str, form: str, omitted: Sequence[str] = ()) -> list[tuple[Named, str]]:
    """Return the files to parse, each with the path of its parse.

    inputs: files, and folders, which stand for the files in them, .conllu or for text .txt, except those in `output`
    and the omitted folders. form: one of INPUTS. `output` is a folder if it ends with a slash, if it is an existing
    folder, or if the input is several files or a folder; otherwise it is the file for the only parse. In a folder,
    which is created if needed, parses have the names that mh4.util.reading.named returns. Raises InputError if a parse
    in a folder has no name, as its input is standard input, if an output is a folder, and if an output is an input of
    the running command.
    """
    to_parse = named(inputs, CONLLU if form == "conllu" else TEXT, [output, *omitted])
    files = [file.path for file in to_parse]
    check_inputs(files)
    if [file.folder for file in to_parse] == [""] and not (output.endswith(os.sep) or os.path.isdir(output)):
        return [(to_parse[0], output)]
    if output == "-":
        several = "several files" if len(files) > 1 else "the files of a folder"
        raise InputError("%s cannot all go to standard output: name a folder for them, -o FOLDER" % several)
    if "-" in files:
        raise InputError("standard input has no name, so its parse cannot go into a folder: %s" % output)
    found: dict[str, Named] = {}
    for file in to_parse:
        os.stat(file.path)  # raises OSError for a missing file before any file is parsed
        path = os.path.join(output, file.name)
        if os.path.isdir(path):
            raise InputError("%s is a folder, so the parse of %s cannot be written there" % (path, file.path))
        found[path] = file
    if os.path.lexists(output) and not os.path.isdir(output):
        raise InputError("%s: not a folder, as the output of several files has to be" % output)
    check_outputs(found)
    for folder in dict.fromkeys(map(os.path.dirname, found)):
        make_folder(folder)
    return [(file, path) for path, file in found.items()]
