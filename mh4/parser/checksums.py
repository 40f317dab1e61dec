"""Checksums of models and of the program, for corpora and the server."""

import hashlib
from functools import cache
from pathlib import Path

from mh4.parser import model_files
from mh4.util.reading import sha256

# The files of a model on which its trees and probabilities depend.
_OF_A_MODEL = tuple(name for name in model_files.PACKED if name != "summary.json")
_NEEDED = ("config.toml", "vocabulary.json", "weights.npz")
_PARSING = ("data", "decoders", "parser", "transitions.py", "trees", "util")  # the parts on which parses depend
_SOURCES = (".py", ".pyx", ".pxd", ".hpp", ".cc")  # wheels contain only .py


@cache
def of_program() -> str:
    """Return the SHA-256 of the names and checksums of the installed source files that parsing uses, without compiled files."""
    package, digest = Path(__file__).parents[1], hashlib.sha256()
    inside = (path for part in _PARSING for path in (package / part, *(package / part).rglob("*")))
    found = (path for path in inside if path.is_file() and path.suffix in _SOURCES)
    for name, path in sorted((path.relative_to(package).as_posix(), path) for path in found):
        digest.update(("%s %s\n" % (name, sha256(str(path)))).encode())
    return digest.hexdigest()


def of_model(path: str) -> str:
    """Return the SHA-256 of the names and checksums of a model's files. Raises InputError if there is no model."""
    files = model_files.opened(path)
    digest = hashlib.sha256()
    for name in _OF_A_MODEL:
        if name in _NEEDED:
            files.need(name)
        if files.has(name):
            digest.update(("%s %s\n" % (name, files.checksum(name))).encode())
    return digest.hexdigest()
