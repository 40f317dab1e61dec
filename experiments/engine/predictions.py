"""Store the predicted trees of a finished model without the words, and merge them into the treebank's files again.

``SYSTEM-seedN.trees.gz`` has, for each parsed file, a line ``# SPLIT FILE BLOB`` (its git blob id), then a line with head and
relation for each word, and an empty line after each sentence. Merged trees can be scored again or combined.
``python -m experiments predictions`` merges trees into a file.
"""

import gzip
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, STDOUT

import click

from experiments.engine.command import Command
from experiments.engine.executor import child
from experiments.engine.record_fields import Record
from experiments.engine.records import TREES_BLOB, trees_of
from experiments.engine.run import environment
from experiments.engine.workplace import shown
from mh4.data import conllu, text_lines
from mh4.data.cells import HEAD
from mh4.decoders import arguments
from mh4.errors import InputError
from mh4.util import compression
from mh4.util.files import atomic_path, git_blob_id, make_folder, write_text
from mh4.util.output import open_output


@click.command(cls=Command)
@click.argument("trees", metavar="SYSTEM-seedN.trees.gz")
@click.argument("file", metavar="FILE.conllu")
def predictions(trees: str, file: str) -> None:
    """Write FILE with the trees of a run to standard output."""
    text = restored(Path(trees), Path(file))
    with open_output("-") as output:
        output.write(text)


def parse(command: Sequence[str], folder: Path, files: dict[str, Path], lang: str) -> dict[str, Path]:
    """Parse the files of a language's treebank, given by split, into `folder`; return the parsed files.

    command: the command line before the file and ``-o OUTPUT``. Raises InputError if it fails.
    """
    parsed = {}
    for split, path in files.items():
        parsed[split] = folder / (split + ".conllu")
        line = [*command, str(path), "-o", str(parsed[split])]
        with child(line, environment(lang), stdout=PIPE, stderr=STDOUT) as process:
            printed = process.communicate()[0]
        if process.returncode:
            message = printed.decode(errors="replace").split("\n")
            why = next((line for line in reversed(message) if line.strip()), "it exited with code %d" % process.returncode)
            raise InputError("%s cannot parse %s: %s" % (folder, path.name, why))
    return parsed


def keep(path: Path, files: dict[str, Path], parsed: dict[str, Path]) -> None:
    """Write the trees of the parsed `files` to `path`; the same trees give the same bytes."""
    lines: list[str] = []
    for split, file in files.items():
        lines.append("# %s %s %s\n" % (split, file.name, git_blob_id(file)))
        for sentence in conllu.read(str(parsed[split])):
            lines += ["%d\t%s\n" % pair for pair in zip(sentence.heads[1:].tolist(), sentence.deprels, strict=True)]
            lines.append("\n")
    make_folder(path.parent)
    with atomic_path(str(path)) as temporary:
        with open(temporary, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            packed.write("".join(lines).encode("utf-8"))


def single_roots(parsed: Path) -> Path:
    """Write a copy of a parsed file, in which further roots depend on the first one, beside the file; return its path.

    A file without further roots is not copied; its own path is returned. With the authors' settings, trees may have
    several roots, which the official scorer rejects. The further roots keep the relation of a root, which is wrong
    below any other word. So LAS only changes where the first root is wrong and another one is right.
    """
    text, changed = [], False
    for block in conllu.blocks(str(parsed)):
        heads = block.sentence.heads[1:].tolist()
        first = heads.index(0) + 1
        columns = [str(first if head == 0 and word != first else head) for word, head in enumerate(heads, start=1)]
        changed |= heads.count(0) > 1
        text.append(block.text({HEAD: columns}))
    if not changed:
        return parsed
    copy = parsed.with_name(parsed.stem + "-single-roots" + parsed.suffix)
    write_text(str(copy), "".join(text))
    return copy


def of_record(results: Path, name: str, record: Record) -> Path:
    """Return the file of the trees of a recorded run on treebank `name`.

    Raises InputError if the file is missing, or has other trees than those that were scored.
    """
    trees = trees_of(results, name, record["system"], record["seed"])
    if not trees.exists() or git_blob_id(trees) != record.get(TREES_BLOB):
        message = "%s does not have the trees of %s seed %d: restore them, or make them again with make reproduce"
        raise InputError(message % (shown(trees), record["system"], record["seed"]))
    return trees


def restored(trees: Path, file: Path) -> str:
    """Return the CoNLL-U `file` as text, with the heads and relations in `trees`.

    Raises InputError unless these are trees for exactly this file.
    """
    blocks = list(conllu.blocks(str(file), trees=False))
    found = [[line.split("\t") for line in lines.split("\n")] for lines in _part(trees, file).split("\n\n") if lines]
    if list(map(len, found)) != [len(block.sentence) for block in blocks] or any(len(row) != 2 for rows in found for row in rows):
        raise InputError("%s does not have a head and a relation for every word of %s" % (trees, file))
    text = []
    for block, rows in zip(blocks, found, strict=True):
        try:
            heads = arguments.tree([-1, *(int(head) for head, _ in rows)])
        except (ValueError, OverflowError):
            raise InputError("%s does not have a tree for every sentence of %s" % (trees, file)) from None
        text.append(block.text(replace(block.sentence, heads=heads, deprels=[deprel for _, deprel in rows]).columns()))
    return "".join(text)


def _part(trees: Path, file: Path) -> str:
    """Return the lines in `trees` for `file`, without their heading."""
    with compression.opened(str(trees)) as content:
        parts = re.split("(?m)^# ", "".join(text_lines.decoded(content, str(trees))))[1:]
    blob = git_blob_id(file)
    part = next((part for part in parts if part.partition("\n")[0].endswith(" " + blob)), None)
    if part is None:
        known = ", ".join(part.partition("\n")[0] for part in parts)
        raise InputError("%s has no trees for %s (git blob %s), only for %s" % (trees, file, blob, known))
    return part.partition("\n")[2]
