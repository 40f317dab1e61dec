"""Checksums, by which a corpus knows a model, a segmenter and what it has written."""

import hashlib
import sys

from mh4.errors import unreadable
from mh4.parser import model_files

_OF_A_MODEL = tuple(name for name in model_files.PACKED if name != "summary.json")  # on which its trees and probabilities depend
_NEEDED = ("config.toml", "vocabulary.json", "weights.npz")


def of_file(path: str) -> str:
    """The SHA-256 of a file, in hexadecimal. Raises InputError if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def of_model(path: str) -> str:
    """The SHA-256 of the names and checksums of a model's files, the same for its folder and packed. InputError if there is no model."""
    files = model_files.opened(path)
    digest = hashlib.sha256()
    for name in _OF_A_MODEL:
        if name in _NEEDED:
            files.need(name)
        if not files.has(name):
            continue
        with files.open(name, sys.maxsize) as file:
            digest.update(("%s %s\n" % (name, hashlib.file_digest(file, "sha256").hexdigest())).encode())  # type: ignore[arg-type]
    return digest.hexdigest()
